"""Reports with excerpts for the terminal, and the files that these are from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.commands.terminal import terminal
from gen.report.full import full
from gen.repository.safe_files import MAX_BYTES, linked_folder, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.report.report import Report


def with_excerpts(report: Report) -> str:
    """The report for this terminal, with the lines that findings are about."""
    return full(report, terminal(report.root), lines_below(report.root))


def lines_below(root: Path | None) -> Callable[[str], list[str]]:
    """Reads the lines of files by their paths in a repository; none of those that are not readable text."""
    known: dict[str, list[str]] = {}

    def lines(file: str) -> list[str]:
        if file not in known:
            known[file] = _lines(root, file)
        return known[file]

    return lines


def _lines(root: Path | None, file: str) -> list[str]:
    if root is None or linked_folder(root, file) is not None:  # a link may lead to a file of another owner
        return []
    try:
        return read_regular(root / file, MAX_BYTES).decode("utf-8").split("\n")
    except (OSError, ValueError):
        return []
