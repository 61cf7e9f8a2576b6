"""The state of runs in all clusters: read once, or after every change that a watch reports."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from gen.base import Findings, Location, at, quoted
from gen.base.codes.clusters import DRIFT
from gen.base.repository.layout import JobFile
from gen.live.client import ClusterError
from gen.live.desired import DesiredRun, desired_runs
from gen.live.diagnosis import Waiting, read_waiting
from gen.live.model import ClusterStatus, RunStatus
from gen.live.pods import pod_of
from gen.live.requests import Event, watch_objects
from gen.live.snapshot import PODS, ListedCollection, Problem, Scope, Snapshot, read_snapshot, slim
from gen.live.status import Answers, statuses
from gen.live.target import Target

_MOST_THREADS: Final = 16
_MOST_NAMES: Final = 5
"""Namespaces that a message lists."""
_OTHERS: Final = "*"
"""Name of the defaults of all namespaces that an overlay does not list."""
_SETTLE_S: Final = 0.3
"""Delay after a change, so that several changes give one answer."""
_AGAIN_S: Final = 20.0
"""Interval of requests to a cluster that did not answer, or that does not permit a watch."""


class Question(Struct, frozen=True, kw_only=True):
    """The runs to look up in one cluster."""

    target: Target
    scope: Scope
    diagnose: bool = False
    """Whether it is about one job. Its pods are listed."""

    @property
    def desired(self) -> tuple[DesiredRun, ...]:
        return self.scope.desired


def questions(root: Path, targets: Sequence[Target], jobs: Sequence[JobFile] | None) -> list[Question]:
    """A question for each cluster: about the runs of some jobs, or all runs, also those that are not in Git."""
    asked = [_question(root, target, jobs) for target in targets]
    return asked if jobs is None else [one for one in asked if one.desired]


def _question(root: Path, target: Target, jobs: Sequence[JobFile] | None) -> Question:
    chosen = None if jobs is None else frozenset(jobs)
    names = (name for overlay in target.overlays for name in overlay.fields.namespaces if name != _OTHERS)
    granted = frozenset(names) if chosen is None else None
    return Question(target=target, scope=Scope(find=partial(desired_runs, root, target.names, chosen), granted=granted))


def read_status(
    asked: Sequence[Question], found: Findings, progress: Callable[[int, int], None] | None = None
) -> ClusterStatus:
    """Ask all clusters at the same time. A missing answer is a finding and hides no other answer.

    `progress` gets the number of runs and pods that are read, and how many there are at least: each run has a pod.
    """
    lock, done = threading.Lock(), 0

    def listed(number: int) -> None:
        nonlocal done
        with lock:
            done += number
            if progress is not None:
                progress(done, max(done, 2 * sum(one.scope.known for one in asked)))

    with ThreadPoolExecutor(max_workers=min(len(asked), _MOST_THREADS) or 1) as pool:
        answers = list(pool.map(lambda question: read_answers(question, listed), asked))
    return cluster_status(asked, answers, found)


def cluster_status(
    asked: Sequence[Question], answers: Iterable[tuple[Snapshot, Mapping[str, Waiting]]], found: Findings
) -> ClusterStatus:
    """The rows of all clusters, with findings."""
    runs: list[RunStatus] = []
    own = Findings(list(found.items))
    for question, (snapshot, waiting) in zip(asked, answers, strict=True):
        target = question.target
        answer = Answers(
            target=target,
            snapshot=snapshot,
            waiting=waiting,
            namespaces=question.scope.namespaces,
            diagnose=question.diagnose,
        )
        runs += statuses(answer, question.desired)
        for problem in snapshot.problems:
            report(target, problem, own)
    for run in runs:
        if run.drift:
            _warn_of_drift(run, own)
    return ClusterStatus(runs=tuple(runs), findings=tuple(own), time=now())


def read_answers(
    question: Question, listed: Callable[[int], None] | None = None
) -> tuple[Snapshot, Mapping[str, Waiting]]:
    api = question.target.api
    snapshot = read_snapshot(api, question.scope, listed)
    return snapshot, read_waiting(api, snapshot, question.scope.namespaces)


def report(target: Target, problem: Problem, found: Findings) -> None:
    """Report a missing answer at the overlay of the cluster."""
    error = problem.error
    several = problem.namespaces
    where = f" (namespaces {quoted(several, _MOST_NAMES)})" if len(several) > 1 else ""
    found.error(error.code, target.overlays[0].place("cluster"), f"{error.message}{where}", error.hint)


def _warn_of_drift(run: RunStatus, found: Findings) -> None:
    fields = quoted(run.drift)
    message = f"{run.kind} `{run.namespace}/{run.name}` differs from this file in {fields}"
    hint = "delete the object so that the engine creates it again, or change the job so that it is a new run"
    found.warning(DRIFT, Location(run.rendered), message, hint)


def now() -> str:
    """The time, as Kubernetes writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Cluster(Struct, kw_only=True):
    """One cluster, and whether something changed since the last answer."""

    question: Question
    snapshot: Snapshot
    waiting: Mapping[str, Waiting]
    incomplete: bool = False
    """Whether a part of it is not watched, so that it is asked again."""
    asked: float = field(default_factory=time.monotonic)


def follow(questions: Sequence[Question], found: Findings, deadline: float | None) -> Generator[ClusterStatus]:
    """The state now, and after every change. It ends at the deadline, a time of the monotonic clock."""
    following = _Watches(questions)
    try:
        while True:
            yield cluster_status(
                [one.question for one in following.all], following.answers(), Findings(list(found.items))
            )
            if not following.wait(deadline):
                return
    finally:
        following.stop()


class _Watches:
    def __init__(self, questions: Sequence[Question]) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Event()
        self.stopped = False
        with ThreadPoolExecutor(max_workers=len(questions) or 1) as pool:
            answers = list(pool.map(read_answers, questions))
        self.all = [
            _Cluster(question=question, snapshot=snapshot, waiting=waiting)
            for question, (snapshot, waiting) in zip(questions, answers, strict=True)
        ]
        for one in self.all:
            self._watch(one)

    def stop(self) -> None:
        self.stopped = True
        for one in self.all:
            one.question.target.api.stop()

    def answers(self) -> list[tuple[Snapshot, Mapping[str, Waiting]]]:
        with self.lock:
            return [(_copy(one.snapshot), one.waiting) for one in self.all]

    def wait(self, deadline: float | None) -> bool:
        """Wait for a change; False at the deadline."""
        while not self.changed.wait(_left(deadline, 1.0)):
            self._ask_again()
            if deadline is not None and time.monotonic() >= deadline:
                return False
        time.sleep(_SETTLE_S)
        self.changed.clear()
        for one in self.all:
            with self.lock:
                snapshot = _copy(one.snapshot)
            one.waiting = read_waiting(one.question.target.api, snapshot, one.question.scope.namespaces)
        return True

    def _ask_again(self) -> None:
        for one in self.all:
            if one.incomplete and time.monotonic() - one.asked > _AGAIN_S:
                snapshot, waiting = read_answers(one.question)
                with self.lock:
                    one.snapshot, one.waiting, one.incomplete = snapshot, waiting, False
                    one.asked = time.monotonic()
                self._watch(one)
                self.changed.set()

    def _watch(self, one: _Cluster) -> None:
        one.incomplete = bool(one.snapshot.problems) and not one.snapshot.listed
        for listed in one.snapshot.listed:
            threading.Thread(target=self._follow, args=(one, one.snapshot, listed), daemon=True).start()

    def _follow(self, one: _Cluster, snapshot: Snapshot, listed: ListedCollection) -> None:
        try:
            for event in watch_objects(
                one.question.target.api,
                listed.collection,
                listed.version,
                lambda: self.stopped or one.snapshot is not snapshot,
            ):
                with self.lock:
                    apply_event(snapshot, listed, event)
                self.changed.set()
        except ClusterError:  # it may not be watched
            one.incomplete = True


def apply_event(snapshot: Snapshot, listed: ListedCollection, event: Event) -> None:
    """Put a change into the answers."""
    if event.kind == "RELISTED":
        present = {str(at(body, "metadata", "uid")) for body in event.items}
        known = snapshot.pods if listed.kind == PODS[1] else snapshot.runs
        for uid in [uid for uid in known if uid not in present and _is_of(snapshot, listed, uid)]:
            del known[uid]
        for body in event.items:
            _put(snapshot, listed, body)
    elif event.kind == "DELETED":
        uid = str(at(event.body, "metadata", "uid"))
        snapshot.pods.pop(uid, None)
        snapshot.runs.pop(uid, None)
    else:
        _put(snapshot, listed, event.body)


def _put(snapshot: Snapshot, listed: ListedCollection, body: dict[str, object]) -> None:
    if listed.kind == PODS[1]:
        pod = pod_of(body)
        snapshot.pods[pod.uid] = pod
    else:
        snapshot.add(slim(body), listed.api_version, listed.kind)


def _is_of(snapshot: Snapshot, listed: ListedCollection, uid: str) -> bool:
    """Whether a known object belongs to a collection."""
    namespace = listed.collection.namespace
    if listed.kind == PODS[1]:
        return namespace in ("", snapshot.pods[uid].namespace)
    body = snapshot.runs[uid]
    same = (body["kind"], body["apiVersion"]) == (listed.kind, listed.api_version)
    return same and namespace in ("", at(body, "metadata", "namespace"))


def _copy(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, runs=dict(snapshot.runs), pods=dict(snapshot.pods), problems=list(snapshot.problems))


def _left(deadline: float | None, most: float) -> float:
    return most if deadline is None else max(0.0, min(most, deadline - time.monotonic()))
