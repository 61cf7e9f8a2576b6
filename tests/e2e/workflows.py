"""Argo Workflows' own validator and libraries, built from their Go modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.go_programs import answers, go_program

if TYPE_CHECKING:
    from pathlib import Path

Ask = Callable[[Iterable[dict[str, Any]]], list[dict[str, Any]]]
"""A function from requests to replies."""


def built(folder: Path) -> Ask:
    """A function that sends requests to the program."""
    return partial(answers, go_program("workflowref", folder))
