"""An open file as the features of the editor see it: its text, its fields, its overlays, and places in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsprotocol.types import CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, Position, Range
from lsprotocol.types import Diagnostic as Shown
from lsprotocol.types import Location as Target

from gen.base import Diagnostic, Location, Route, Severity
from gen.base.repository.files import MAX_BYTES, read_regular
from gen.base.repository.layout import OVERLAY_FILE, JobFile, is_job, overlay_of
from gen.base.yaml.source import Source
from gen.editor.checker import Checker
from gen.editor.document import Document
from gen.editor.fields import Fields
from gen.overlay.overlay import Overlay
from gen.report.formats import Documentation

if TYPE_CHECKING:
    from pygls.workspace import PositionCodec

JOB: Final = "job"
OVERLAY: Final = "overlay"
_SEVERITIES: Final = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.NOTE: DiagnosticSeverity.Information,
}


def kind_of(path: str) -> str:
    """Which schema describes a file; empty for those without fields of gen."""
    if is_job(path) and path.endswith(".yaml"):
        return JOB
    return OVERLAY if path.endswith(f"/{OVERLAY_FILE}") and overlay_of(path) else ""


class View:
    """One file as it is in the editor. Lines and columns count from 0, in characters."""

    def __init__(
        self, path: str, text: str, checker: Checker, schemas: dict[str, Fields], codec: PositionCodec
    ) -> None:
        self.path, self.text, self.checker = path, text, checker
        self.kind = kind_of(path)
        self.fields = schemas.get(self.kind)
        self._schemas, self._codec = schemas, codec

    def other(self, path: str) -> View | None:
        """Another file of the repository; None if it cannot be read."""
        try:
            raw = read_regular(self.checker.workspace.copy / path, MAX_BYTES)
        except OSError:
            return None
        return View(path, raw.decode("utf-8", "replace"), self.checker, self._schemas, self._codec)

    @cached_property
    def document(self) -> Document:
        return Document(self.text)

    @property
    def is_overlay(self) -> bool:
        return self.kind == OVERLAY

    @property
    def namespace(self) -> str:
        """The namespace of a job; empty for another file."""
        return self.path.split("/")[1] if self.kind == JOB else ""

    @property
    def job(self) -> JobFile:
        return JobFile(self.namespace, self.path.rpartition("/")[2].removesuffix(".yaml"))

    @cached_property
    def source(self) -> Source | None:
        """The parsed file; the last one that could be parsed is not kept."""
        return self.checker.source(self.path)

    @cached_property
    def overlays(self) -> Sequence[Overlay]:
        """The overlays that select a job; those with the file for an overlay."""
        if self.is_overlay:
            return [
                one
                for one in self.checker.overlays
                if any(self.path == layer.source.file for layer in one.layers.layers)
            ]
        data = self.source.data if self.source is not None else {}
        return self.checker.selecting(self.job, data) or self.checker.overlays

    def kind_at(self, route: Route) -> str:
        """The kind that the text has for the job or a step."""
        return self.document.value(*route, "kind")

    def position(self, line: int, column: int) -> Position:
        """A position in the units of the client."""
        return self._codec.position_to_client_units(self.document.lines, Position(line=line, character=column))

    def range(self, line: int, start: int, end: int) -> Range:
        return Range(start=self.position(line, start), end=self.position(line, end))

    def from_client(self, position: Position) -> tuple[int, int]:
        """The line and the column of a position in the units of the client."""
        lines = self.document.lines
        if position.line >= len(lines):
            return len(lines) - 1, len(lines[-1])
        units, column = 0, 0
        for char in lines[position.line]:
            if units >= position.character:
                break
            units += self._codec.client_num_units(char)
            column += 1
        return position.line, column

    def word_at(self, place: Location) -> Range:
        """The range of the word, or of the quoted text, at a place that counts from 1."""
        line = min(place.line - 1, len(self.document.lines) - 1)
        text = self.document.lines[line].rstrip("\r")
        start = min(place.column - 1, len(text))
        rest = text[start:]
        if rest[:1] in {'"', "'"} and (end := rest.find(rest[0], 1)) > 0:
            return self.range(line, start, start + end + 1)
        length = next((at for at, char in enumerate(rest) if char in " ,]}" or rest[at : at + 2] == ": "), len(rest))
        length = length - 1 if rest[:length].endswith(":") and length > 1 else length
        return self.range(line, start, start + max(length, 1 if rest else 0))


def shown(
    item: Diagnostic, view: View | None, other: Callable[[str], View | None], root: Path, site: Documentation
) -> Shown:
    """A finding as the client shows it. A file without a view cannot be read."""
    related = [
        DiagnosticRelatedInformation(
            location=Target(uri=(root / place.file).as_uri(), range=_range(other(place.file), place)), message=message
        )
        for place, message in item.related
    ]
    page = site.finding(item.code)
    return Shown(
        range=_range(view, item.place),
        message=f"{item.message}\n{item.hint}" if item.hint else item.message,
        severity=_SEVERITIES[item.severity],
        code=item.code,
        code_description=CodeDescription(href=page) if page else None,
        source="gen",
        related_information=related or None,
    )


def _range(view: View | None, place: Location) -> Range:
    if view is not None:
        return view.word_at(place)
    position = Position(line=max(place.line - 1, 0), character=max(place.column - 1, 0))
    return Range(start=position, end=position)
