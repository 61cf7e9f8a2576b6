"""The runs of gen in one cluster: objects, pods, and errors instead of answers, and the runs that other runs start.

A run starts others as steps of a pipeline, runs of a schedule, or trials of a search.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Final

from msgspec import UNSET, Struct, field

from gen.base import as_mapping, at
from gen.base.codes.clusters import CLUSTER_FORBIDDEN, NOT_SERVED
from gen.kubernetes.facts import RESOURCES, resource_of_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import JOB_LABEL, RUN_LABEL, STEP_LABEL, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.desired import DesiredRun
from gen.live.pods import Pod, controller, pod_of
from gen.live.requests import Collection, Decode, Discovery, Metadata, Page, base_of, list_objects, only, with_metadata
from gen.render.starters import starter_of_object


def child_kinds(one: DesiredRun) -> Iterator[tuple[str, Resource]]:
    """API versions and kinds of the objects that a run starts."""
    starter = starter_of_object(one.resource)
    for body in starter.started(one.resource, one.body) if starter.unit else ():
        known = resource_of_object(at(body, "apiVersion"), at(body, "kind"))
        if known is not None and known.is_run:
            yield str(body["apiVersion"]), known
    yield from ((one.version, other) for other in starter.started_kinds())


FEW: Final = 3
"""So many namespaces are asked one by one; more are asked all at once, if the user may."""
_MOST_NAMED: Final = 20
"""Jobs in a selector."""
PODS: Final = ("v1", "Pod")


class Scope(Struct, frozen=True, kw_only=True, dict=True):
    """The part of a cluster to read. Runs in Git are read when they are needed, while the cluster lists its objects."""

    find: Callable[[], Sequence[DesiredRun]]
    """Reads the runs in Git."""
    granted: frozenset[str] | None = None
    """Namespaces of the overlays, to read all their jobs; None to read only the jobs of the runs in Git."""
    _lock: Lock = field(default_factory=Lock)

    @property
    def desired(self) -> tuple[DesiredRun, ...]:
        """The runs in Git, read once by the first thread that needs them."""
        with self._lock:
            return self._desired

    @cached_property
    def _desired(self) -> tuple[DesiredRun, ...]:
        return tuple(self.find())

    @property
    def known(self) -> int:
        """Number of runs in Git; 0 until they are read."""
        return len(self._desired) if "_desired" in self.__dict__ else 0

    @property
    def every(self) -> bool:
        """Whether all jobs are read, also those that are not in Git."""
        return self.granted is not None

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """Namespaces of the repository."""
        return (self.granted or frozenset()).union(one.namespace for one in self.desired)

    @cached_property
    def jobs(self) -> tuple[str, ...]:
        """Names of the chosen jobs; empty for all."""
        return () if self.every else tuple(sorted({one.job for one in self.desired}))

    @property
    def selector(self) -> str:
        if 0 < len(self.jobs) <= _MOST_NAMED:
            return f"{JOB_LABEL} in ({','.join(self.jobs)})"
        return JOB_LABEL


class Problem(Struct, frozen=True, kw_only=True):
    """A question without an answer."""

    error: ClusterError
    namespaces: tuple[str, ...] = ()


class ListedCollection(Struct, frozen=True, kw_only=True):
    """A collection that was listed, and the version of the list, from which a watch goes on."""

    collection: Collection
    api_version: str
    kind: str
    version: str


class Snapshot(Struct, kw_only=True):
    """Objects of a cluster at one time."""

    runs: dict[str, Body] = field(default_factory=dict)
    """Runs and schedules by UID."""
    pods: dict[str, Pod] = field(default_factory=dict)
    """By UID."""
    silent: set[tuple[str, str, str]] = field(default_factory=set)
    """Group, kind and namespace of objects that could not be listed."""
    unserved: set[tuple[str, str]] = field(default_factory=set)
    """API versions and kinds that the cluster does not serve."""
    problems: list[Problem] = field(default_factory=list)
    listed: list[ListedCollection] = field(default_factory=list)

    def add(self, body: Body, version: str, kind: str) -> None:
        """Add or replace a run. Items of lists do not have their kind."""
        if not isinstance(body.get("metadata"), dict):
            return
        self.runs[str(at(body, "metadata", "uid"))] = {**body, "apiVersion": version, "kind": kind}

    def join(self, other: Snapshot) -> None:
        """Add all that another one has."""
        self.runs |= other.runs
        self.pods |= other.pods
        self.silent |= other.silent
        self.problems += other.problems
        self.listed += other.listed

    def knows(self, resource: Resource, namespace: str) -> bool:
        return (resource.group, resource.kind, namespace) not in self.silent


def read_snapshot(api: Api, scope: Scope, listed: Callable[[int], None] | None = None) -> Snapshot:
    """All runs of gen in a scope, with their pods. Errors are in the result. `listed` gets the sizes of pages."""
    snapshot = Snapshot()
    try:
        served = Discovery(api)
        with ThreadPoolExecutor(2) as pool:  # the server prepares pages while this process reads files
            beside = Snapshot()
            pods = pool.submit(read_pods, api, beside, scope, listed)
            early = pool.submit(_read_kinds, api, served, scope, listed) if scope.every else None
            desired = scope.desired
            known = early.result() if early is not None else {}
            for version, resource in _kinds(served, desired, every=scope.every):
                one = known.get((version, resource.kind)) or _read_kind(api, served, scope, (version, resource), listed)
                if one is None:
                    snapshot.unserved.add((version, resource.kind))
                else:
                    snapshot.join(one)
            pods.result()
        snapshot.join(beside)
    except ClusterError as error:
        snapshot.problems.append(Problem(error=error))
        everything = {(one.resource.group, one.resource.kind, one.namespace) for one in scope.desired}
        snapshot.silent |= everything | {("", "Pod", namespace) for namespace in scope.namespaces}
    for version, kind in sorted(snapshot.unserved):
        message = f"context `{api.context}` does not serve `{kind}` of `{version}`"
        hint = "install its operator, or set its API version in `operators` of the overlay"
        snapshot.problems.append(Problem(error=ClusterError(NOT_SERVED, message, hint)))
    return snapshot


def _read_kinds(
    api: Api, served: Discovery, scope: Scope, listed: Callable[[int], None] | None
) -> dict[tuple[str, str], Snapshot]:
    """The runs of all kinds that the cluster serves, by version and kind."""
    kinds = _kinds(served, (), every=True)
    read = {(version, one.kind): _read_kind(api, served, scope, (version, one), listed) for version, one in kinds}
    return {key: found for key, found in read.items() if found is not None}


def _read_kind(
    api: Api, served: Discovery, scope: Scope, asked: tuple[str, Resource], listed: Callable[[int], None] | None
) -> Snapshot | None:
    """The runs of a kind in one version; None if the cluster does not serve it."""
    version, kind = asked[0], asked[1].kind
    plural = served.resource(version, kind)
    if plural is None:
        return None
    snapshot = Snapshot()
    collection = Collection(base=base_of(version), resource=plural, selector=scope.selector)
    for body in _Reader(api, snapshot, scope, version, kind, listed).read(collection, slim, _DECODE_RUNS):
        snapshot.add(body, version, kind)
    return snapshot


def read_pods(api: Api, snapshot: Snapshot, scope: Scope, listed: Callable[[int], None] | None = None) -> None:
    """Add the pods of a scope."""
    collection = Collection(base=base_of(PODS[0]), resource="pods", selector=scope.selector)
    for body in _Reader(api, snapshot, scope, *PODS, listed).read(
        collection, lambda body: {"pod": pod_of(body)}, _DECODE_PODS
    ):
        snapshot.pods[body["pod"].uid] = body["pod"]


def slim(body: Body) -> Body:
    """An object without `managedFields`, which take the most memory; lists are decoded without them."""
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and "managedFields" not in metadata:
        return body
    kept = {key: value for key, value in as_mapping(metadata).items() if key != "managedFields"}
    return {**body, "metadata": kept}


def _kinds(served: Discovery, desired: Sequence[DesiredRun], *, every: bool) -> list[tuple[str, Resource]]:
    """Versions and kinds to list: those in Git, those that they start, and with `every` all other kinds of runs that
    the cluster serves.
    """
    found = {(one.version, one.resource.kind): one.resource for one in desired}
    found |= {(version, made.kind): made for one in desired for version, made in child_kinds(one)}
    known = {resource.key for resource in found.values()}
    started = [one for one in RESOURCES.values() if one.scheduled_by is not None and one.scheduled_by.key in known]
    others = [one for one in RESOURCES.values() if every and one.is_workload and starter_of_object(one).runs_in_git]
    for resource in (*started, *others):
        if resource.key not in known:
            versions = served.versions(resource.group)
            own = next((version for version in (*resource.versions, *resource.retired) if version in versions), None)
            if own is not None:
                found[own, resource.kind] = resource
                known.add(resource.key)
    return [(version, resource) for (version, _), resource in sorted(found.items(), key=lambda item: item[0])]


class _PodSpec(Struct, gc=False, rename="camel"):
    node_name: object = UNSET


class _Pod(Struct, gc=False):
    """The fields of a pod that `pod_of` reads."""

    metadata: Metadata
    spec: _PodSpec
    status: object = UNSET


class _Pods(Page):
    items: list[_Pod] = []


_DECODE_RUNS: Final = with_metadata(Metadata)
_DECODE_PODS: Final = only(_Pods)


class _Reader:
    """Reads the objects of one kind in a scope, namespace by namespace if the user may not read all at once."""

    def __init__(
        self, api: Api, snapshot: Snapshot, scope: Scope, version: str, kind: str, listed: Callable[[int], None] | None
    ) -> None:
        self.api, self.snapshot, self.scope, self.version, self.kind = api, snapshot, scope, version, kind
        self.listed = listed

    def read(self, collection: Collection, keep: Callable[[Body], Body], decode: Decode) -> list[Body]:
        if self.scope.jobs and len(self.scope.namespaces) <= FEW:
            return self._each(collection, keep, decode)
        try:
            return self._list(collection, keep, decode)
        except ClusterError as error:
            if error.code is not CLUSTER_FORBIDDEN or not self.scope.namespaces:
                raise
            return self._each(collection, keep, decode)

    def _each(self, collection: Collection, keep: Callable[[Body], Body], decode: Decode) -> list[Body]:
        found: list[Body] = []
        refused: dict[str, ClusterError] = {}
        for namespace in sorted(self.scope.namespaces):
            own = Collection(
                base=collection.base, resource=collection.resource, namespace=namespace, selector=collection.selector
            )
            try:
                found += self._list(own, keep, decode)
            except ClusterError as error:
                if error.code is not CLUSTER_FORBIDDEN:
                    raise
                refused[namespace] = error
        group = self.version.rpartition("/")[0]
        self.snapshot.silent |= {(group, self.kind, namespace) for namespace in refused}
        if refused:
            self.snapshot.problems.append(Problem(error=next(iter(refused.values())), namespaces=tuple(refused)))
        return found

    def _list(self, collection: Collection, keep: Callable[[Body], Body], decode: Decode) -> list[Body]:
        try:
            listed = list_objects(self.api, collection, keep, self.listed, decode)
        except NotFoundError:  # a definition that was removed just now
            return []
        one = ListedCollection(collection=collection, api_version=self.version, kind=self.kind, version=listed.version)
        self.snapshot.listed.append(one)
        return listed.items


Group = tuple[str, str, str]
"""Namespace, job and hash of a run, as the labels of its pods have them."""


def group_of(body: Body) -> Group:
    """All objects of one run are in one group: its steps, its trials, and what its schedule started."""
    labels = at(body, "metadata", "labels")
    return _namespace(body), str(at(labels, JOB_LABEL) or ""), str(at(labels, RUN_LABEL) or "")


def step_of(body: Body) -> str:
    """The step of a pipeline with this object; empty for others."""
    return str(at(body, "metadata", "labels", STEP_LABEL) or "")


class Ownership:
    """Parents, children and pods of the runs in a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._runs, self._pods = snapshot.runs, snapshot.pods
        self._owners = {uid: owner for uid, body in snapshot.runs.items() if (owner := controller(body))}
        self._heads: dict[Group, str] = {}
        for uid, body in snapshot.runs.items():
            if uid not in self._owners:
                self._heads.setdefault(group_of(body), uid)
        self._children: dict[str, list[Body]] = defaultdict(list)
        for uid in self._owners:
            body = snapshot.runs[uid]
            if (parent := self._parent(body)) is not None:
                self._children[parent].append(body)
        self._by_group: dict[Group, list[Pod]] = defaultdict(list)
        for pod in snapshot.pods.values():
            self._by_group[pod.namespace, pod.job, pod.run].append(pod)

    @cached_property
    def _by_owner(self) -> Mapping[str, list[Pod]]:
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self._pods.values():
            found[pod.owner].append(pod)
        return found

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], list[Pod]]:
        found: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        for pod in self._pods.values():
            for name in pod.runs:
                found[pod.namespace, name].append(pod)
        return found

    def _parent(self, body: Body) -> str | None:
        """UID of the run that started another one: its controller, or across objects that gen does not read, such as
        trials, the run of its group.
        """
        owner = self._owners.get(_uid(body))
        if owner is None:
            return None
        return owner if owner in self._runs else self._heads.get(group_of(body))

    def children(self, body: Body) -> list[Body]:
        """In the order of their creation."""
        return sorted(self._children.get(_uid(body), ()), key=_created)

    def is_child(self, body: Body) -> bool:
        return self._parent(body) is not None

    def pods(self, body: Body) -> list[Pod]:
        """The pods of a run, with those of the runs that it started. Objects that a run started have equal labels, so
        their pods are found by their owner, or by the name that the operator gives them in a label.
        """
        if _uid(body) not in self._owners:
            return self._by_group.get(group_of(body), [])
        found: dict[str, Pod] = {}
        for one in self._line(body):
            name = str(at(one, "metadata", "name") or "")
            for pod in (*self._by_owner.get(_uid(one), ()), *self._by_name.get((_namespace(one), name), ())):
                found[pod.uid] = pod
        return list(found.values())

    def _line(self, body: Body) -> list[Body]:
        """An object, and all that it started. Anybody can write owners that own each other."""
        line, known = [body], {_uid(body)}
        for one in line:
            for child in self.children(one):
                if _uid(child) not in known:
                    known.add(_uid(child))
                    line.append(child)
        return line

    def parts(self, group: Group) -> dict[str, str]:
        """By UID of a pod: the name of the object of the group that has it; without pods of the run itself."""
        head = self._runs.get(self._heads.get(group, ""))
        return dict(self._named(head)) if head is not None else {}

    def _named(self, parent: Body) -> Iterator[tuple[str, str]]:
        for child in self.children(parent):
            name = str(at(child, "metadata", "name") or "")
            yield from ((pod.uid, name) for pod in self.pods(child))


def _uid(body: Body) -> str:
    return str(at(body, "metadata", "uid"))


def _namespace(body: Body) -> str:
    return str(at(body, "metadata", "namespace") or "")


def _created(body: Body) -> tuple[str, str]:
    return str(at(body, "metadata", "creationTimestamp") or ""), str(at(body, "metadata", "name") or "")
