"""The state of runs in all clusters at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.cluster.model import ClusterStatus, RunStatus
from gen.cluster.snapshot import Problem, Scope, Snapshot, read_snapshot
from gen.cluster.status import Answers, statuses
from gen.cluster.waiting import Waiting, read_waiting
from gen.cluster.wanted import wanted_runs
from gen.diagnostics import Findings, Location
from gen.findings.clusters import DRIFT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gen.cluster.target import Target
    from gen.cluster.wanted import Wanted
    from gen.repository.layout import JobFile

_MOST_THREADS = 16
_OTHERS = "*"
"""Stands in an overlay for all namespaces that it does not list."""


class Question(Struct, frozen=True, kw_only=True):
    """The runs to ask one cluster for."""

    target: Target
    wanted: tuple[Wanted, ...]
    scope: Scope
    namespaces: frozenset[str]
    """Namespaces of the repository."""


def questions(root: Path, targets: Sequence[Target], jobs: Sequence[JobFile] | None) -> list[Question]:
    """What to ask each cluster: the runs of some jobs, or of all with those that Git does not have."""
    asked = [_question(root, target, jobs) for target in targets]
    return asked if jobs is None else [one for one in asked if one.wanted]


def _question(root: Path, target: Target, jobs: Sequence[JobFile] | None) -> Question:
    chosen = None if jobs is None else frozenset(jobs)
    wanted = tuple(wanted_runs(root, target.names, chosen))
    granted = {name for overlay in target.overlays for name in overlay.fields.namespaces if name != _OTHERS}
    used = {one.namespace for one in wanted}
    names = tuple(sorted({one.job for one in wanted})) if chosen is not None else ()
    namespaces = frozenset(used if chosen is not None else used | granted)
    scope = Scope(namespaces=tuple(sorted(namespaces)), jobs=names)
    return Question(target=target, wanted=wanted, scope=scope, namespaces=namespaces)


def read_status(asked: Sequence[Question], found: Findings) -> ClusterStatus:
    """Ask all clusters at the same time. A missing answer is a finding and hides no other answer."""
    with ThreadPoolExecutor(max_workers=min(len(asked), _MOST_THREADS) or 1) as pool:
        answers = list(pool.map(ask, asked))
    return joined(asked, answers, found)


def joined(
    asked: Sequence[Question], answers: Iterable[tuple[Snapshot, Mapping[str, Waiting]]], found: Findings
) -> ClusterStatus:
    """The rows of all clusters, with the findings about them."""
    runs: list[RunStatus] = []
    own = Findings(list(found.items))
    for question, (snapshot, waiting) in zip(asked, answers, strict=True):
        target = question.target
        answer = Answers(target=target, snapshot=snapshot, waiting=waiting, namespaces=question.namespaces)
        runs += statuses(answer, question.wanted)
        for problem in snapshot.problems:
            report(target, problem, own)
    for run in runs:
        if run.drift:
            _warn_of_drift(run, own)
    return ClusterStatus(runs=tuple(runs), findings=tuple(own), time=now())


def ask(question: Question) -> tuple[Snapshot, Mapping[str, Waiting]]:
    """The answers of one cluster."""
    api = question.target.api
    snapshot = read_snapshot(api, question.wanted, question.scope)
    return snapshot, read_waiting(api, snapshot, question.namespaces)


def report(target: Target, problem: Problem, found: Findings) -> None:
    """Report a missing answer at the overlay of the cluster."""
    error = problem.error
    names = ", ".join(f"`{name}`" for name in problem.namespaces[:_MOST_NAMES])
    more = f" and {len(problem.namespaces) - _MOST_NAMES} more" if len(problem.namespaces) > _MOST_NAMES else ""
    where = f" (namespaces {names}{more})" if len(problem.namespaces) > 1 else ""
    found.error(error.code, target.overlays[0].place("cluster"), f"{error.message}{where}", error.hint)


_MOST_NAMES = 5


def _warn_of_drift(run: RunStatus, found: Findings) -> None:
    fields = ", ".join(f"`{field}`" for field in run.drift)
    message = f"{run.kind} `{run.namespace}/{run.name}` differs from this file in {fields}"
    hint = "delete the object so that the engine creates it again, or change the job so that it is a new run"
    found.warning(DRIFT, Location(run.rendered), message, hint)


def now() -> str:
    """The time, as Kubernetes writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
