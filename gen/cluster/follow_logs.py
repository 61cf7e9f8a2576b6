"""Follow the logs of a job: containers that restart, and pods that start later, join the stream."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Final

from gen.cluster.errors import ClusterError, NotFoundError
from gen.cluster.family import group_of
from gen.cluster.lists import watch_objects
from gen.cluster.live import apply_event
from gen.cluster.logs import LogLine, line_of, report, sources
from gen.cluster.snapshot import read_snapshot
from gen.diagnostics import Findings
from gen.resources import resource_of_object
from gen.resources.state import State, state_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from gen.cluster.logs import Source, Wish
    from gen.cluster.read import Question
    from gen.cluster.snapshot import ListedCollection, Snapshot

_IDLE_S: Final = 120.0
"""After so much silence, the connection is made again: it may be dead."""
_PAUSE_S: Final = 1.0
_POLL_S: Final = 0.5
_BATCH: Final = 200


def follow_logs(asked: Sequence[Question], wish: Wish, found: Findings) -> Generator[list[LogLine]]:
    """Lines as they come, until all runs have ended."""
    following = _Following(asked, wish, found)
    try:
        while True:
            batch = following.batch()
            if batch:
                yield batch
            elif following.ended():
                return
            following.start()
    finally:
        following.stop()


class _Following:
    def __init__(self, asked: Sequence[Question], wish: Wish, found: Findings) -> None:
        self.wish, self.found = wish, found
        self.lock, self.stopped = threading.Lock(), False
        self.lines: queue.Queue[LogLine] = queue.Queue(maxsize=10_000)
        self.tails: dict[tuple[str, str], tuple[threading.Thread, int]] = {}
        """By pod and container: the thread that reads it, and the restarts that it knows."""
        self.last: dict[tuple[str, str], str] = {}
        """Time of the last line."""
        self.known = [
            (question, read_snapshot(question.target.api, question.wanted, question.scope)) for question in asked
        ]
        for question, snapshot in self.known:
            for listed in snapshot.listed:
                threading.Thread(target=self._watch, args=(question, snapshot, listed), daemon=True).start()
        self.start()

    def batch(self) -> list[LogLine]:
        """Lines that have come, in the order of their times."""
        found: list[LogLine] = []
        try:
            found.append(self.lines.get(timeout=_POLL_S))
            while len(found) < _BATCH:
                found.append(self.lines.get_nowait())
        except queue.Empty:
            pass
        return sorted(found, key=lambda line: line.time)

    def start(self) -> None:
        """Follow the containers that have started since."""
        with self.lock:
            current = [one for question, snapshot in self.known for one in sources(question, snapshot, self.wish)]
        for source in current:
            key, restarts = (source.pod.uid, source.container.name), source.container.restarts
            thread, known = self.tails.get(key, (None, -1))
            if thread is None or (not thread.is_alive() and known != restarts):
                thread = threading.Thread(target=self._tail, args=(source, key), daemon=True)
                self.tails[key] = thread, restarts
                thread.start()

    def ended(self) -> bool:
        """Whether nothing can come any more: all runs have ended, and all their logs are read."""
        if any(thread.is_alive() for thread, _ in self.tails.values()) or not self.lines.empty():
            return False
        with self.lock:
            return all(_has_ended(question, snapshot, self.wish) for question, snapshot in self.known)

    def stop(self) -> None:
        self.stopped = True
        for question, _ in self.known:
            question.target.api.stop()

    def _watch(self, question: Question, snapshot: Snapshot, listed: ListedCollection) -> None:
        api = question.target.api
        try:
            for event in watch_objects(api, listed.collection, listed.version, lambda: self.stopped):
                with self.lock:
                    apply_event(snapshot, listed, event)
        except ClusterError as error:
            place = question.target.overlays[0].place("cluster")
            self.found.error(error.code, place, error.message, error.hint)

    def _tail(self, source: Source, key: tuple[str, str]) -> None:
        """One container until it stops. A connection that is cut off, and a restart, go on after the last line."""
        while not self.stopped:
            last = self.last.get(key, "")
            start = {"timestamps": "true", "sinceTime": last} if last else self.wish.query
            query = {**start, "follow": "true", "container": source.container.name}
            try:
                for raw in source.question.target.api.lines(source.path, query, _IDLE_S):
                    line = line_of(source, raw, last)
                    if line.time > last or not line.time:
                        self.lines.put(line)
                        self.last[key] = line.time
            except (ClusterError, NotFoundError) as error:
                if not self._runs(source):
                    report(source, error, self.found)
                    return
            if not self._runs(source):
                return
            time.sleep(_PAUSE_S)

    def _runs(self, source: Source) -> bool:
        """Whether the container runs, as far as is known."""
        with self.lock:
            pods = (snapshot.pods.get(source.pod.uid) for _, snapshot in self.known)
            pod = next((pod for pod in pods if pod is not None), None)
        return pod is not None and any(one.running and one.name == source.container.name for one in pod.containers)


def _has_ended(question: Question, snapshot: Snapshot, wish: Wish) -> bool:
    chosen = {(one.namespace, one.job, one.run) for one in question.wanted}
    for body in snapshot.runs.values():
        facts = resource_of_object(body["apiVersion"], body["kind"])
        own = str(body["metadata"].get("name")) in wish.runs if wish.runs else group_of(body) in chosen
        ended = facts is not None and state_of(facts, body) in (State.SUCCEEDED, State.FAILED)
        if own and not ended:
            return False
    return True
