"""Decisions about values that a step of a pipeline passes on."""

from __future__ import annotations

from msgspec import Struct


class ResultsPlan(Struct, frozen=True, kw_only=True):
    """The pod that reads the results of a step from a log."""

    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    names: tuple[str, ...]
    """The results, each a file of the pod."""
