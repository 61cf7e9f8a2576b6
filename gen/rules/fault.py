"""Sentences about a fault that bring their remedy along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean, near

if TYPE_CHECKING:
    from collections.abc import Iterable


class Told(str):
    """What is wrong, and what to do about it."""

    __slots__ = ("hint",)

    hint: str


def told(message: str, hint: str) -> Told:
    """The sentence, and the remedy as a report says it below: in lower case, without a full stop."""
    sentence = Told(message)
    sentence.hint = hint
    return sentence


def none_of(value: object, words: Iterable[str]) -> Told:
    """Where a field takes one of some words, and this is another."""
    words = tuple(words)
    guess = near(str(value), words)
    hint = f"did you mean `{guess}`?" if guess else "write one of them" if len(words) > 1 else f"write `{words[0]}`"
    what = f"none of {', '.join(f'`{word}`' for word in words)}" if len(words) > 1 else f"not `{words[0]}`"
    return told(f"`{value}` is {what}", hint)


def unknown(message: str, name: object, known: Iterable[str], otherwise: str) -> Told:
    """Where a name refers to something that is not there: the near name, else what there is, else `otherwise`."""
    return told(message, did_you_mean(str(name), known, otherwise=otherwise))
