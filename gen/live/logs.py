"""Logs of all pods of a job, line by line in the order of their times: until now, or until all runs have ended."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Diagnostic, Findings, Location
from gen.base.codes.clusters import CLUSTER_ANSWER, NO_LOGS
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.state import State, state_of
from gen.live.client import ClusterError, NotFoundError
from gen.live.clusters import Question, apply_event
from gen.live.pods import Container, Pod
from gen.live.requests import base_of, watch_objects
from gen.live.snapshot import ListedCollection, Ownership, Snapshot, group_of, read_snapshot

_BATCH: Final = 200
"""Lines that are printed together."""
_IDLE_S: Final = 120.0
"""A silent connection may be dead: after this time, it is made again."""
_PAUSE_S: Final = 1.0
_POLL_S: Final = 0.5


class LogSelection(Struct, frozen=True, kw_only=True):
    """Selection of log lines, from flags."""

    roles: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    runs: tuple[str, ...] = ()
    """Names of runs, or of runs that they started; empty for those in Git."""
    steps: tuple[str, ...] = ()
    """Steps of a pipeline."""
    since: int | None = None
    """Seconds."""
    tail: int | None = None
    """Last lines of each container."""
    previous: bool = False
    """Whether to read the containers before their last restart."""

    @property
    def query(self) -> dict[str, str]:
        given = {"sinceSeconds": self.since, "tailLines": self.tail}
        found = {name: str(value) for name, value in given.items() if value is not None}
        return {**found, **({"previous": "true"} if self.previous else {}), "timestamps": "true"}


class Source(Struct, frozen=True, kw_only=True):
    """A container of a pod."""

    question: Question
    overlay: str
    run: str
    part: str
    """The step of a pipeline, or the run that a schedule or a search started; empty for other runs."""
    pod: Pod
    container: Container

    @property
    def path(self) -> str:
        return f"{base_of('v1')}/namespaces/{self.pod.namespace}/pods/{self.pod.name}/log"


class LogLine(Struct, frozen=True, kw_only=True):
    source: Source
    time: str
    """As the kubelet writes it; empty for a line without a time."""
    text: str


class LogPiece(Struct, frozen=True, kw_only=True):
    """Lines that come together, or findings."""

    lines: tuple[LogLine, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    several_runs: bool = False
    """Whether to show the names of runs."""


def sources(question: Question, snapshot: Snapshot, selection: LogSelection) -> list[Source]:
    """The containers that have started, in the order of roles and ranks."""
    found = []
    for run, overlay, part, pod in _pods(question, snapshot, selection):
        if _is_chosen(pod, selection):
            found += [
                Source(question=question, overlay=overlay, run=run, part=part, pod=pod, container=one)
                for one in pod.containers
            ]
    return found


def _is_chosen(pod: Pod, selection: LogSelection) -> bool:
    return (
        (not selection.roles or pod.role in selection.roles)
        and (not selection.ranks or pod.index in selection.ranks)
        and (not selection.steps or pod.step in selection.steps)
    )


def _pods(question: Question, snapshot: Snapshot, selection: LogSelection) -> Iterator[tuple[str, str, str, Pod]]:
    """Name of a run, its overlay, the part of the run, and a pod of it."""
    ownership = Ownership(snapshot)
    desired = {(one.namespace, one.job, one.run): one for one in question.desired}
    groups: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in snapshot.pods.values():
        if pod.run:  # TensorBoard belongs to no run
            groups.setdefault((pod.namespace, pod.job, pod.run), []).append(pod)
    heads = [body for body in snapshot.runs.values() if not ownership.is_child(body)]
    named = {group_of(body): str(body["metadata"]["name"]) for body in heads}
    for key, pods in sorted(groups.items()):
        own = desired.get(key)
        name = own.name if own is not None else named.get(key, key[2])
        overlay = own.overlay if own is not None else question.target.overlays[0].name
        made = ownership.parts(key)
        for pod in sorted(pods, key=lambda pod: (made.get(pod.uid, ""), *_order(pod))):
            part = made.get(pod.uid, "")
            if name in selection.runs or part in selection.runs or (own is not None and not selection.runs):
                yield name, overlay, pod.step or part, pod


def _order(pod: Pod) -> tuple[str, int, str]:
    return pod.role, pod.index if pod.index is not None else -1, pod.name


def read_logs(chosen: Sequence[Source], selection: LogSelection, found: Findings) -> Iterator[list[LogLine]]:
    """The lines until now. Lines with the same time keep the order of their pods."""
    merged = heapq.merge(*(_lines(source, selection, found) for source in chosen), key=lambda line: line.time)
    batch: list[LogLine] = []
    for line in merged:
        batch.append(line)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _lines(source: Source, selection: LogSelection, found: Findings) -> Iterator[LogLine]:
    query = {**selection.query, "container": source.container.name}
    try:
        last = ""
        for raw in source.question.target.api.lines(source.path, query):
            line = line_of(source, raw, last)
            last = line.time
            yield line
    except (ClusterError, NotFoundError) as error:
        report(source, error, found)


def line_of(source: Source, raw: bytes, last: str) -> LogLine:
    """A line with its time; one without a time has that of the line before."""
    text = raw.decode("utf-8", "replace")
    time, space, rest = text.partition(" ")
    if space and time[:4].isdecimal() and time.endswith(("Z", "0")) and "T" in time:
        return LogLine(source=source, time=time, text=rest)
    return LogLine(source=source, time=last, text=text)


def report(source: Source, error: ClusterError | NotFoundError, found: Findings) -> None:
    """A container without a log: it has not started, or its pod or its node is gone."""
    place = source.question.target.overlays[0].place("cluster")
    message = f"no log of `{source.container.name}` in `{source.pod.namespace}/{source.pod.name}`: {error}"
    if isinstance(error, NotFoundError):
        found.error(NO_LOGS, place, message, "run `gen status` to see its state")
    else:
        found.error(NO_LOGS if error.code is CLUSTER_ANSWER else error.code, place, message, error.hint)


def report_none(question: Question, found: Findings) -> None:
    """No container has started."""
    for one in question.desired:
        message = f"no container of `{one.namespace}/{one.name}` in overlay `{one.overlay}` has a log"
        found.warning(NO_LOGS, Location(one.path), message, f"run `gen status {one.namespace}/{one.job}` to see why")


def follow_logs(asked: Sequence[Question], selection: LogSelection, found: Findings) -> Generator[list[LogLine]]:
    """Lines as they come, until all runs have ended."""
    following = _LogStream(asked, selection, found)
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


class _LogStream:
    def __init__(self, asked: Sequence[Question], selection: LogSelection, found: Findings) -> None:
        self.selection, self.found = selection, found
        self.lock, self.stopped = threading.Lock(), False
        self.lines: queue.Queue[LogLine] = queue.Queue(maxsize=10_000)
        self.tails: dict[tuple[str, str], tuple[threading.Thread, int]] = {}
        """By pod and container: the thread that reads it, and the restarts that it knows."""
        self.last: dict[tuple[str, str], str] = {}
        """Time of the last line."""
        self.known = [(question, read_snapshot(question.target.api, question.scope)) for question in asked]
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
            current = [one for question, snapshot in self.known for one in sources(question, snapshot, self.selection)]
        for source in current:
            key, restarts = (source.pod.uid, source.container.name), source.container.restarts
            thread, known = self.tails.get(key, (None, -1))
            if thread is None or (not thread.is_alive() and known != restarts):
                thread = threading.Thread(target=self._tail, args=(source, key), daemon=True)
                self.tails[key] = thread, restarts
                thread.start()

    def ended(self) -> bool:
        """Whether all runs have ended, and all their logs are read."""
        if any(thread.is_alive() for thread, _ in self.tails.values()) or not self.lines.empty():
            return False
        with self.lock:
            return all(_has_ended(question, snapshot, self.selection) for question, snapshot in self.known)

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
            start = {"timestamps": "true", "sinceTime": last} if last else self.selection.query
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


def _has_ended(question: Question, snapshot: Snapshot, selection: LogSelection) -> bool:
    chosen = {(one.namespace, one.job, one.run) for one in question.desired}
    for body in snapshot.runs.values():
        facts = resource_of_object(body["apiVersion"], body["kind"])
        own = str(body["metadata"].get("name")) in selection.runs if selection.runs else group_of(body) in chosen
        ended = facts is not None and state_of(facts, body) in (State.SUCCEEDED, State.FAILED)
        if own and not ended:
            return False
    return True
