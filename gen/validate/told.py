"""Sentences about a fault that bring a remedy of their own, which is nearer than that of the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable


class Told(str):
    """What is wrong, and what to do about it."""

    __slots__ = ("hint",)

    hint: str


def none_of(value: object, words: Iterable[str]) -> Told:
    """Where a field takes one of some words, and this is another."""
    words = tuple(words)
    told = Told(f"`{value}` is none of {', '.join(f'`{word}`' for word in words)}")
    told.hint = did_you_mean(str(value), words)
    return told
