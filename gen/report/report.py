"""The report of a command: findings and file changes, independent of the output format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.report.documentation import Documentation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gen.diagnostics import Diagnostic
    from gen.render.write import Change


class Edit(Struct, frozen=True, kw_only=True):
    """A file of people with another text."""

    path: str
    old: str
    new: str


class Report(Struct, frozen=True):
    """The result of `render` or `check`."""

    findings: tuple[Diagnostic, ...]
    changes: tuple[Change, ...]
    summary: str
    done: bool = True
    """Whether the changes were written. Otherwise formats include their diffs."""
    root: Path | None = None
    """Folder that the places are relative to; None if its files may have changed since."""
    edits: tuple[Edit, ...] = ()
    """Files of people that fixes change. Formats for people include the differences."""
    documentation: Documentation = Documentation()
    """Where findings are explained."""
    fixes: Mapping[Diagnostic, Edit] = {}
    """The certain fix of each finding that has one, for formats that offer it."""
