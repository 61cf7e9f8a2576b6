"""The state of runs as text and as JSON. The text is a table, with the reasons why runs wait or fail below it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import to_builtins
from msgspec.structs import replace

from gen.base import counted
from gen.kubernetes import quantity
from gen.live.diagnosis import Diagnosis
from gen.live.model import ClusterStatus, Phase, RunStatus
from gen.live.pods import Pod
from gen.report.escaping import json_document, sanitize
from gen.report.findings.json import finding_data
from gen.report.findings.text import wrapped_findings
from gen.report.listing import accelerators
from gen.report.terminal import Column, Terminal, View, column, table, table_lines, wrap_line

_COLORS: Final = {
    Phase.RUNNING: "green",
    Phase.SUCCEEDED: "green",
    Phase.FAILED: "red",
    Phase.MISSING: "red",
    Phase.PENDING: "yellow",
    Phase.QUEUED: "yellow",
    Phase.UNKNOWN: "magenta",
}
_URGENT: Final = (Phase.FAILED, Phase.MISSING, Phase.UNKNOWN, Phase.PENDING, Phase.QUEUED)
"""Phases that need attention, the worst first; then runs with trouble, and all others."""
_MOST_MESSAGES: Final = 20
_MOST_DIAGNOSES: Final = 5
NOT_IN_GIT: Final = "not in Git"


def as_text(view: View[ClusterStatus]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(status: ClusterStatus, terminal: Terminal) -> Iterator[str]:
    status = replace(status, runs=_urgent_first(status.runs))
    if status.runs:
        colors = {"PHASE": [_COLORS.get(run.phase, "") for run in status.runs]}
        yield from table_lines(_columns(status), terminal, colors, whole=not status.changed)
    diagnosed = [(run, run.diagnosis) for run in status.runs if run.diagnosis is not None]
    for run, diagnosis in diagnosed[:_MOST_DIAGNOSES]:
        yield from _diagnosis(run, diagnosis, terminal)
    for run in [run for run in status.runs if run.message and not run.diagnosis][:_MOST_MESSAGES]:
        yield from wrap_line(f"{run.namespace}/{run.name}: {run.message}", terminal)
    yield from wrapped_findings(status.findings, terminal)
    if not status.changed and (status.runs or not status.findings):
        yield from wrap_line(_summary(status), terminal)


def _urgent_first(runs: Sequence[RunStatus]) -> tuple[RunStatus, ...]:
    """Runs that need attention first, each followed by those that it started."""
    groups: list[list[RunStatus]] = []
    for run in runs:
        if run.parent and groups:
            groups[-1].append(run)
        else:
            groups.append([run])
    return tuple(run for group in sorted(groups, key=lambda group: _urgency(group[0])) for run in group)


def _urgency(run: RunStatus) -> int:
    if run.phase in _URGENT:
        return _URGENT.index(run.phase)
    return len(_URGENT) + (not run.reason) + run.in_order


def _diagnosis(run: RunStatus, diagnosis: Diagnosis, terminal: Terminal) -> Iterator[str]:
    """The present blocker with its remedy and the end of its log, and a timeline for each pod."""
    blocker = next((pod for pod in diagnosis.pods if pod.name == diagnosis.blocker), None)
    yield ""
    if blocker is not None:
        word = "blocked by" if blocker.blocked else "last failure:"
        cause = f"{blocker.reason}: {blocker.message}" if blocker.message else blocker.reason
        yield from wrap_line(f"{run.name} {word} {blocker.name}: {cause}", terminal)
    elif run.phase.ended or run.phase is Phase.RUNNING:
        yield terminal.fit(f"{run.name}: no pod is in trouble")
    else:
        yield terminal.fit(f"{run.name}: {run.phase}{f', {run.reason}' if run.reason else ''}, and no pod says why")
    if diagnosis.remedy:
        yield from wrap_line(f"    {diagnosis.remedy}", terminal)
    if diagnosis.log:
        yield terminal.fit(f"last lines of {diagnosis.blocker}:")
        yield from (terminal.fit(f"    {sanitize(line)}") for line in diagnosis.log)
    if diagnosis.pods:
        yield from table(_pod_columns(diagnosis.pods, run.created), terminal, {}).lines


def _pod_columns(pods: Sequence[Pod], start: str) -> list[Column]:
    """Times are since the creation of the run; those of events that have not come are empty."""

    def since(time: str) -> str:
        return f"+{age(start, time) or '0s'}" if time else ""

    return [
        column("POD", (pod.title for pod in pods), 0, cut=True),
        column("PHASE", (pod.state for pod in pods), 1),
        column("CREATED", (since(pod.created) for pod in pods), 6, right=True),
        column("SCHEDULED", (since(pod.scheduled) for pod in pods), 5, right=True),
        column("STARTED", (since(pod.started) for pod in pods), 3, right=True),
        column("ENDED", (since(pod.ended) for pod in pods), 4, right=True),
        column("RESTARTS", (str(pod.restarts or "") for pod in pods), 7, right=True),
        column("NODE", (pod.node for pod in pods), 8, cut=True),
        column("REASON", (pod.reason for pod in pods), 2, cut=True),
    ]


def _columns(status: ClusterStatus) -> list[Column]:
    runs = [*status.runs]
    several = len({run.overlay for run in runs}) > 1
    return [
        column("OVERLAY", (run.overlay if several else "" for run in runs), 1),
        column("NAMESPACE", (run.namespace for run in runs), 4),
        column("RUN", (run.name for run in runs), 0, cut=True),
        column("KIND", (run.kind for run in runs), 9),
        column("GIT", (run.desired or NOT_IN_GIT for run in runs), 3),
        column("PHASE", (run.phase for run in runs), 0),
        column("REASON", map(_reason, runs), 2, cut=True),
        column("PODS", map(_pods, runs), 5, right=True),
        column("RESTARTS", (str(run.restarts or "") for run in runs), 7, right=True),
        column("GPUS", (accelerators(run.gpus, run.accelerators) for run in runs), 6),
        column("AGE", (age(run.created, status.time) for run in runs), 8, right=True),
        column("DRIFT", (str(len(run.drift) or "") for run in runs), 2, right=True),
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
        "values": json.loads(run.values) if run.values and _is_json(run.values) else None,
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
        "progress": None if run.progress is None else to_builtins(run.progress),
        "diagnosis": None if run.diagnosis is None else _diagnosis_data(run.diagnosis),
    }


_OF_PODS: Final = (
    *("name", "title", "phase", "node", "created", "scheduled", "started", "ended"),
    *("restarts", "reason", "message", "blocked"),
)


def _diagnosis_data(diagnosis: Diagnosis) -> dict[str, object]:
    pods = [{**{name: getattr(pod, name) for name in _OF_PODS}, "phase": pod.state} for pod in diagnosis.pods]
    return {"pods": pods, "blocker": diagnosis.blocker, "log": list(diagnosis.log), "remedy": diagnosis.remedy}


def _is_json(text: str) -> bool:
    """Other users can change the annotation in the cluster."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
