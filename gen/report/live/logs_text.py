"""Logs for a terminal: each line after the role and the rank of its pod, in a color of its own."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from gen.regex import regex
from gen.report.sanitize import sanitize
from gen.report.terminal import COLORS
from gen.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.cluster.logs import LogLine, LogPiece
    from gen.report.live.view import View
    from gen.report.terminal import Terminal

_WIDTH: Final = 12
"""Columns of a usual prefix, so that texts start in the same column."""
_STYLES = regex(r"\x1b\[[0-9;]*[mK]")
"""Colors of programs, which are removed with everything else that controls a terminal."""
_PALETTE: Final = tuple(name for name in COLORS if name != "red")


def as_text(view: View[LogPiece]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(piece: LogPiece, terminal: Terminal) -> Iterator[str]:
    for line in piece.lines:
        prefix = _prefix(line, run=piece.several_runs)
        color = _PALETTE[zlib.crc32(prefix.encode()) % len(_PALETTE)]
        yield f"{terminal.styled(prefix.ljust(_WIDTH), color)} {plain(line.text)}"
    for finding in piece.findings:
        yield from finding_lines(finding)


def _prefix(line: LogLine, *, run: bool) -> str:
    source = line.source
    names = [source.run] if run else []
    names += [source.part] if source.part else []
    names += [source.pod.title]
    names += [source.container.name] if len(source.pod.containers) > 1 else []
    return sanitize("/".join(names))


def plain(text: str) -> str:
    """A line without control characters. Of a progress bar, which writes over itself, the last state stays."""
    last = _STYLES.sub("", text).rstrip("\r").rpartition("\r")[2]
    return sanitize(last)
