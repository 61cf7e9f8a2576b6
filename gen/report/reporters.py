"""The ways to show findings and changes: one file each, imported when it is asked for."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.report.types import Report

    Reporter = Callable[[Report], str]


def _shown(way: str, report: Report) -> str:
    module, _, function = way.partition(":")
    reporter: Reporter = getattr(import_module(f"gen.report.{module}"), function)
    return reporter(report)


REPORTERS: Final[dict[str, Reporter]] = {
    "text": partial(_shown, "text:text"),
    "json": partial(_shown, "json:as_json"),
    "github": partial(_shown, "github:github"),
    "sarif": partial(_shown, "sarif:sarif"),
    "junit": partial(_shown, "junit:junit"),
}
