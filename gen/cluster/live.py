"""Follow the state of runs: watches of all clusters keep the answers up to date."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from gen.cluster.errors import ClusterError
from gen.cluster.lists import watch_objects
from gen.cluster.pods import pod_of
from gen.cluster.read import ask, joined
from gen.cluster.snapshot import PODS, slim
from gen.cluster.waiting import read_waiting
from gen.diagnostics import Findings
from gen.kubernetes import at

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from gen.cluster.lists import Event
    from gen.cluster.model import ClusterStatus
    from gen.cluster.read import Question
    from gen.cluster.snapshot import ListedCollection, Snapshot
    from gen.cluster.waiting import Waiting

_SETTLE_S: Final = 0.3
"""Changes that come together are answered together."""
_AGAIN_S: Final = 20.0
"""When to ask again a cluster that did not answer, or that does not permit a watch."""


class _Followed(Struct, kw_only=True):
    """One cluster, and whether something changed since the last answer."""

    question: Question
    snapshot: Snapshot
    waiting: Mapping[str, Waiting]
    incomplete: bool = False
    """Whether a part of it is not watched, so that it is asked again."""
    asked: float = field(default_factory=time.monotonic)


def follow(questions: Sequence[Question], found: Findings, deadline: float | None) -> Generator[ClusterStatus]:
    """The state now, and after every change. It ends at the deadline, a time of the monotonic clock."""
    following = _Following(questions)
    try:
        while True:
            yield joined([one.question for one in following.all], following.answers(), Findings(list(found.items)))
            if not following.wait(deadline):
                return
    finally:
        following.stop()


class _Following:
    def __init__(self, questions: Sequence[Question]) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Event()
        self.stopped = False
        with ThreadPoolExecutor(max_workers=len(questions) or 1) as pool:
            answers = list(pool.map(ask, questions))
        self.all = [
            _Followed(question=question, snapshot=snapshot, waiting=waiting)
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
            one.waiting = read_waiting(one.question.target.api, snapshot, one.question.namespaces)
        return True

    def _ask_again(self) -> None:
        for one in self.all:
            if one.incomplete and time.monotonic() - one.asked > _AGAIN_S:
                snapshot, waiting = ask(one.question)
                with self.lock:
                    one.snapshot, one.waiting, one.incomplete = snapshot, waiting, False
                    one.asked = time.monotonic()
                self._watch(one)
                self.changed.set()

    def _watch(self, one: _Followed) -> None:
        one.incomplete = bool(one.snapshot.problems) and not one.snapshot.listed
        for listed in one.snapshot.listed:
            threading.Thread(target=self._follow, args=(one, one.snapshot, listed), daemon=True).start()

    def _follow(self, one: _Followed, snapshot: Snapshot, listed: ListedCollection) -> None:
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
