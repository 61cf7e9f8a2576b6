"""Logs as text and as JSON.

In text, each line begins with the role and the rank of its pod, in a color of its own. JSON has one object on each
line; the last lines can be findings.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Final

from gen.base import regex
from gen.live.logs import LogLine, LogPiece
from gen.report.escaping import escape_json, sanitize
from gen.report.findings.json import finding_data
from gen.report.findings.text import finding_lines
from gen.report.terminal import COLORS, Terminal, View


def as_json(view: View[LogPiece]) -> str:
    rows = [_row(line) for line in view.data.lines]
    rows += [{"finding": finding_data(finding)} for finding in view.data.findings]
    return "".join(f"{escape_json(json.dumps(row, ensure_ascii=False))}\n" for row in rows)


def _row(line: LogLine) -> dict[str, object]:
    pod = line.source.pod
    return {
        "time": line.time,
        "overlay": line.source.overlay,
        "namespace": pod.namespace,
        "run": line.source.run,
        "part": line.source.part or None,
        "pod": pod.name,
        "role": pod.role or None,
        "rank": pod.index,
        "container": line.source.container.name,
        "text": line.text,
    }


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
