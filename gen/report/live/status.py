"""The state of runs as text and as JSON. The text is a table, with the reasons why runs wait or fail below it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from gen.base.findings import counted
from gen.kubernetes import quantity
from gen.live.model import ClusterStatus, Phase, Progress, RunStatus
from gen.report.escaping import json_document, sanitize
from gen.report.findings.json import finding_data
from gen.report.findings.text import finding_lines
from gen.report.plan.phrases import accelerators
from gen.report.terminal import Column, Terminal, View, table, wrap_line

_COLORS: Final = {
    Phase.RUNNING: "green",
    Phase.SUCCEEDED: "green",
    Phase.FAILED: "red",
    Phase.MISSING: "red",
    Phase.PENDING: "yellow",
    Phase.QUEUED: "yellow",
    Phase.UNKNOWN: "magenta",
}
_MOST_MESSAGES: Final = 20
NOT_IN_GIT: Final = "not in Git"


def as_text(view: View[ClusterStatus]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(status: ClusterStatus, terminal: Terminal) -> Iterator[str]:
    if status.runs:
        made = table(_columns(status), terminal, {"PHASE": [_COLORS.get(run.phase, "") for run in status.runs]})
        yield from made.lines
        if made.left_out and not status.changed:
            yield terminal.fit(f"(no room for {', '.join(made.left_out)})")
    for run in [run for run in status.runs if run.message][:_MOST_MESSAGES]:
        yield from wrap_line(f"{run.namespace}/{run.name}: {run.message}", terminal)
    for finding in status.findings:
        for line in finding_lines(finding):
            yield from wrap_line(line, terminal)
    if not status.changed and (status.runs or not status.findings):
        yield from wrap_line(_summary(status), terminal)


def _columns(status: ClusterStatus) -> list[Column]:
    runs = [*status.runs]
    several = len({run.overlay for run in runs}) > 1

    def texts(*values: str) -> tuple[str, ...]:
        return tuple(map(sanitize, values))

    return [
        Column(name="OVERLAY", texts=texts(*(run.overlay if several else "" for run in runs)), rank=1),
        Column(name="NAMESPACE", texts=texts(*(run.namespace for run in runs)), rank=4),
        Column(name="RUN", texts=texts(*(run.name for run in runs)), rank=0, cut=True),
        Column(name="KIND", texts=texts(*(run.kind for run in runs)), rank=9),
        Column(name="GIT", texts=texts(*(run.desired or NOT_IN_GIT for run in runs)), rank=3),
        Column(name="PHASE", texts=texts(*(run.phase for run in runs)), rank=0),
        Column(name="REASON", texts=texts(*map(_reason, runs)), rank=2, cut=True),
        Column(name="PODS", texts=texts(*map(_pods, runs)), rank=5, right=True),
        Column(name="RESTARTS", texts=texts(*(str(run.restarts or "") for run in runs)), rank=7, right=True),
        Column(name="GPUS", texts=texts(*(accelerators(run.gpus, run.accelerators) for run in runs)), rank=6),
        Column(name="AGE", texts=texts(*(age(run.created, status.time) for run in runs)), rank=8, right=True),
        Column(name="DRIFT", texts=texts(*(str(len(run.drift) or "") for run in runs)), rank=2, right=True),
    ]


def age(created: str, now: str) -> str:
    """`3d4h`, from two times as Kubernetes writes them; empty without a time."""
    seconds = _seconds(now) - _seconds(created) if created and now else -1
    if seconds < 0:
        return ""
    days, hours, minutes = seconds // 86400, seconds // 3600, seconds // 60
    if days:
        return quantity.duration(days * 86400 + (hours % 24) * 3600)
    return quantity.duration(hours * 3600 + (minutes % 60) * 60 if hours else minutes * 60 or seconds)


def _seconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return 0


def _reason(run: RunStatus) -> str:
    if run.phase is Phase.QUEUED:
        place = f"{run.position}. in " if run.position is not None else ""
        return f"{place}{run.queue}"
    if run.progress is not None and not run.phase.ended:
        return f"{run.reason}, {run.progress}" if run.reason else str(run.progress)
    return run.reason


def _pods(run: RunStatus) -> str:
    if run.phase in {Phase.SUCCEEDED, Phase.GONE, Phase.SCHEDULED, Phase.UNKNOWN, Phase.MISSING}:
        return ""
    running = "?" if run.running is None else str(run.running)
    return f"{running}/{'?' if run.pods is None else run.pods}"


def _summary(status: ClusterStatus) -> str:
    """`4 runs: 2 running, 1 failed, 1 queued; 1 differs from Git, 1 not in Git`."""
    phases = Counter(run.phase for run in status.runs)
    named = ", ".join(f"{phases[phase]} {phase}" for phase in Phase if phases[phase])
    differ = sum(bool(run.drift) for run in status.runs)
    unknown = sum(run.desired is None for run in status.runs)
    parts = [f"{differ} differ{'s' if differ == 1 else ''} from Git"] if differ else []
    parts += [f"{unknown} not in Git"] if unknown else []
    text = counted(len(status.runs), "run")
    return "; ".join([f"{text}: {named}" if named else text, *([", ".join(parts)] if parts else [])])


def as_json(view: View[ClusterStatus]) -> str:
    status = view.data
    document = {
        "version": 1,
        "time": status.time,
        "changed": status.changed,
        "runs": [_row(run) for run in status.runs],
        "findings": [finding_data(finding) for finding in status.findings],
    }
    return json_document(document)


def _row(run: RunStatus) -> dict[str, object]:
    return {
        "overlay": run.overlay,
        "context": run.context,
        "namespace": run.namespace,
        "job": run.job,
        "file": run.file or None,
        "manifest": run.rendered or None,
        "kind": run.kind,
        "run": run.name,
        "values": json.loads(run.values) if _is_json(run.values) else None,
        "git": run.desired,
        "phase": run.phase.value,
        "reason": run.reason or None,
        "message": run.message or None,
        "pods": {"running": run.running, "total": run.pods},
        "settled": run.settled,
        "restarts": run.restarts,
        "created": run.created or None,
        "gpus": run.gpus,
        "accelerators": dict(run.accelerators),
        "queue": run.queue or None,
        "position": run.position,
        "drift": list(run.drift),
        "parent": run.parent or None,
        "step": run.step or None,
        "progress": _progress(run.progress),
    }


def _progress(progress: Progress | None) -> dict[str, object] | None:
    return None if progress is None else {"done": progress.done, "total": progress.total, "unit": progress.unit}


def _is_json(text: str) -> bool:
    """Other users can change the annotation in the cluster."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
