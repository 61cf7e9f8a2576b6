"""Logs of all pods of a job, line by line in the order of their times."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.cluster.errors import ClusterError, NotFoundError
from gen.cluster.family import Family, group_of
from gen.cluster.served import base_of
from gen.diagnostics import Location
from gen.findings.clusters import CLUSTER_ANSWER, NO_LOGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.cluster.pods import Container, Pod
    from gen.cluster.read import Question
    from gen.cluster.snapshot import Snapshot
    from gen.diagnostics import Diagnostic, Findings

_BATCH: Final = 200
"""Lines that are printed together."""


class Wish(Struct, frozen=True, kw_only=True):
    """Which lines to read."""

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
    """A line of a log."""

    source: Source
    time: str
    """As the kubelet writes it; empty for a line without a time."""
    text: str


class LogPiece(Struct, frozen=True, kw_only=True):
    """Lines that come together, or findings."""

    lines: tuple[LogLine, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    several_runs: bool = False
    """Whether the names of runs are shown, too."""


def sources(question: Question, snapshot: Snapshot, wish: Wish) -> list[Source]:
    """The containers that have started, in the order of roles and ranks."""
    found = []
    for run, overlay, part, pod in _pods(question, snapshot, wish):
        if _is_chosen(pod, wish):
            found += [
                Source(question=question, overlay=overlay, run=run, part=part, pod=pod, container=one)
                for one in pod.containers
            ]
    return found


def _is_chosen(pod: Pod, wish: Wish) -> bool:
    return (
        (not wish.roles or pod.role in wish.roles)
        and (not wish.ranks or pod.index in wish.ranks)
        and (not wish.steps or pod.step in wish.steps)
    )


def _pods(question: Question, snapshot: Snapshot, wish: Wish) -> Iterator[tuple[str, str, str, Pod]]:
    """Name of a run, its overlay, the part of the run, and a pod of it."""
    family = Family(snapshot)
    wanted = {(one.namespace, one.job, one.run): one for one in question.wanted}
    groups: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in snapshot.pods.values():
        if pod.run:  # TensorBoard belongs to no run
            groups.setdefault((pod.namespace, pod.job, pod.run), []).append(pod)
    heads = [body for body in snapshot.runs.values() if not family.is_child(body)]
    named = {group_of(body): str(body["metadata"]["name"]) for body in heads}
    for key, pods in sorted(groups.items()):
        own = wanted.get(key)
        name = own.name if own is not None else named.get(key, key[2])
        overlay = own.overlay if own is not None else question.target.overlays[0].name
        made = family.parts(key)
        for pod in sorted(pods, key=lambda pod: (made.get(pod.uid, ""), *_order(pod))):
            part = made.get(pod.uid, "")
            if name in wish.runs or part in wish.runs or (own is not None and not wish.runs):
                yield name, overlay, pod.step or part, pod


def _order(pod: Pod) -> tuple[str, int, str]:
    return pod.role, pod.index if pod.index is not None else -1, pod.name


def read_logs(chosen: Sequence[Source], wish: Wish, found: Findings) -> Iterator[list[LogLine]]:
    """The lines until now. Lines with the same time keep the order of their pods."""
    merged = heapq.merge(*(_lines(source, wish, found) for source in chosen), key=lambda line: line.time)
    batch: list[LogLine] = []
    for line in merged:
        batch.append(line)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _lines(source: Source, wish: Wish, found: Findings) -> Iterator[LogLine]:
    query = {**wish.query, "container": source.container.name}
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
    for one in question.wanted:
        message = f"no container of `{one.namespace}/{one.name}` in overlay `{one.overlay}` has a log"
        found.warning(NO_LOGS, Location(one.path), message, f"run `gen status {one.namespace}/{one.job}` to see why")
