"""Logs as JSON, one object on each line. The last lines can be findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.report.json import finding_data
from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.cluster.logs import LogLine, LogPiece
    from gen.report.live.view import View


def as_json(view: View[LogPiece]) -> str:
    rows = [_row(line) for line in view.data.lines]
    rows += [{"finding": finding_data(finding)} for finding in view.data.findings]
    return "".join(f"{escape_json(json.dumps(row, ensure_ascii=False))}\n" for row in rows)


def _row(line: LogLine) -> dict[str, Any]:
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
