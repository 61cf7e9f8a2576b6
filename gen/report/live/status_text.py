"""The state of runs for a terminal: a table, and below it why runs wait or fail."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from gen.cluster.model import Phase
from gen.diagnostics import counted
from gen.report.accelerators import accelerators
from gen.report.live.view import age
from gen.report.sanitize import sanitize
from gen.report.table import Column, table, wrapped
from gen.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.cluster.model import ClusterStatus, RunStatus
    from gen.report.live.view import View
    from gen.report.terminal import Terminal

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
        yield from wrapped(f"{run.namespace}/{run.name}: {run.message}", terminal)
    for finding in status.findings:
        for line in finding_lines(finding):
            yield from wrapped(line, terminal)
    if not status.changed:
        yield from wrapped(_summary(status), terminal)


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
        Column(name="GIT", texts=texts(*(run.wanted or NOT_IN_GIT for run in runs)), rank=3),
        Column(name="PHASE", texts=texts(*(run.phase for run in runs)), rank=0),
        Column(name="REASON", texts=texts(*map(_reason, runs)), rank=2, cut=True),
        Column(name="PODS", texts=texts(*map(_pods, runs)), rank=5, right=True),
        Column(name="RESTARTS", texts=texts(*(str(run.restarts or "") for run in runs)), rank=7, right=True),
        Column(name="GPUS", texts=texts(*(accelerators(run.gpus, run.accelerators) for run in runs)), rank=6),
        Column(name="AGE", texts=texts(*(age(run.created, status.time) for run in runs)), rank=8, right=True),
        Column(name="DRIFT", texts=texts(*(str(len(run.drift) or "") for run in runs)), rank=2, right=True),
    ]


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
    unknown = sum(run.wanted is None for run in status.runs)
    parts = [f"{differ} differ{'s' if differ == 1 else ''} from Git"] if differ else []
    parts += [f"{unknown} not in Git"] if unknown else []
    text = counted(len(status.runs), "run")
    return "; ".join([f"{text}: {named}" if named else text, *([", ".join(parts)] if parts else [])])
