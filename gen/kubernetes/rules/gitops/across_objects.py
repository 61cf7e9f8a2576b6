"""Checks across objects: two that are the same, or that conflict over a volume.

Each object yields facts: its identity, and the objects and paths that it uses. Facts of one cluster with the same key
are compared.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Location, Route, Severity, at, message_text
from gen.base.engines import is_finished
from gen.kubernetes.facts import builtin, resource_of
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.objects import Body, identity
from gen.kubernetes.rules import DAMAGED, Rule, RuleSource, is_generated, silences

SAME_OBJECT: Final = Rule(
    "same-object",
    "Several files of a cluster define the same object.",
    "Two files or two Applications overwrite the object at every sync, and removing one removes it for both "
    "(argo-cd#22607). Files of one overlay below `rendered/` belong to one cluster; elsewhere, files of one folder do.",
    "Remove one of the two.",
    source=RuleSource.GITOPS,
)
SAME_HANDLE: Final = Rule(
    "same-volume-handle",
    "Two volumes of a CSI driver have the same `volumeHandle`. Drivers that find a file system by its handle need "
    "different ones only within a namespace.",
    "A node mounts one of them for both, or refuses to mount the second.",
    "Give each volume a unique handle, such as its name.",
    source=RuleSource.GITOPS,
)
SHARED_SUB_PATH: Final = Rule(
    "shared-sub-path",
    "Two active runs write to the same `subPath` of a claim.",
    "They overwrite each other's checkpoints. A new run also starts before the old one is gone.",
    "Mount a path that contains `{{ run.id }}`, or mount one of them read-only.",
    source=RuleSource.GITOPS,
    severity=Severity.WARNING,
)
CLAIM_ACROSS_NODES: Final = Rule(
    "claim-across-nodes",
    "Several pods use a claim that only one node can mount.",
    "Pods on other nodes never start, such as workers or a TensorBoard (kubeflow/kubeflow#5039).",
    "Use a claim with `ReadWriteMany`, or keep the pods on one node and silence the rule.",
    source=RuleSource.GITOPS,
    severity=Severity.WARNING,
)
OF_FINISHED: Final = Rule(
    "part-of-finished",
    "An active run uses a ConfigMap or claim of a finished one, which engines do not apply.",
    "No engine creates the object again, so the pods of the active run wait for it.",
    "Give the active run its own object, or make the other run active as well.",
    source=RuleSource.GITOPS,
)
SET_RULES: Final = {
    rule.name: rule for rule in (SAME_OBJECT, SAME_HANDLE, SHARED_SUB_PATH, CLAIM_ACROSS_NODES, OF_FINISHED)
}

_ONE_NODE = ({"ReadWriteOnce"}, {"ReadWriteOncePod"})


class Fact(Struct, frozen=True):
    """Something that one object is or uses, to compare with the facts of other objects."""

    rule: str
    about: tuple[str, ...]
    route: Route
    who: str
    """Kind and name of the object."""
    pods: int = 0
    decides: bool = True
    """Whether facts with the same key conflict only if one of them has this set."""
    ours: bool = False
    reason: str = ""
    """The reason that the object gives for silencing the rule."""


def facts(body: Any) -> list[Fact]:
    """The facts of an object; none for anything else."""
    try:
        # the schema of a kind, if it has one, reports names of other types
        found = [fact for fact in _facts(body) if {*map(type, fact.about)} == _TEXT]
    except DAMAGED:  # other checks report the fault
        return []
    reasons = silences(at(body, "metadata", "annotations"))
    return [replace(fact, reason=reasons[fact.rule]) if fact.rule in reasons else fact for fact in found]


_TEXT = {str}


def _facts(body: Body) -> Iterator[Fact]:
    metadata, kind, group = body["metadata"], body["kind"], body["apiVersion"].rpartition("/")[0]
    name, namespace = metadata["name"], metadata.get("namespace", "")
    who, ours = identity(kind, namespace, name), is_generated(body)

    def fact(rule: Rule, about: tuple[str, ...], route: Route, pods: int = 0, *, decides: bool = True) -> Fact:
        return Fact(rule.name, about, route, who, pods, decides, ours)

    yield fact(SAME_OBJECT, (group, kind, namespace, name), ("metadata", "name"))
    if (group, kind) == builtin.PERSISTENT_VOLUME.key and (csi := body["spec"].get("csi")):
        # the claims of one pod are in one namespace
        scope = str(at(body, "spec", "claimRef", "namespace")) if csi["driver"] in builtin.SHARED_HANDLES else ""
        yield fact(SAME_HANDLE, (csi["driver"], csi["volumeHandle"], scope), ("spec", "csi", "volumeHandle"))
    if (group, kind) == builtin.PERSISTENT_VOLUME_CLAIM.key and set(body["spec"]["accessModes"]) in _ONE_NODE:
        yield fact(CLAIM_ACROSS_NODES, (namespace, name), ("spec", "accessModes"))
    if group == "" and kind in _PARTS and is_finished(metadata):
        yield fact(OF_FINISHED, (kind, namespace, name), ("metadata", "annotations"))
    resource = resource_of(group, kind)
    if resource is not None and (resource.is_run or resource is builtin.DEPLOYMENT) and not is_finished(metadata):
        yield from _uses(resource, body, namespace, fact)


_PARTS = {
    builtin.CONFIG_MAP.kind: ("configMap", "name"),
    builtin.PERSISTENT_VOLUME_CLAIM.kind: ("persistentVolumeClaim", "claimName"),
}
_SOURCES = frozenset(source for source, _ in _PARTS.values())


def _uses(resource: Resource, body: Body, namespace: str, fact: Callable[..., Fact]) -> Iterator[Fact]:
    for found in pod_sets(resource, body):
        route, pods = found.route, math.prod(int(count) for count in found.counts)
        spec = found.template["spec"]
        claims = {}
        for index, volume in enumerate(spec.get("volumes") or ()):
            if not isinstance(volume, dict) or _SOURCES.isdisjoint(volume):
                continue
            here = (*route, "spec", "volumes", index)
            for kind, (source, field) in _PARTS.items():
                if used := at(volume, source, field):
                    yield fact(OF_FINISHED, (kind, namespace, used), (*here, source), decides=False)
            if claim := at(volume, "persistentVolumeClaim", "claimName"):
                claims[volume["name"]] = (claim, bool(volume["persistentVolumeClaim"].get("readOnly")))
                yield fact(CLAIM_ACROSS_NODES, (namespace, claim), here, pods=pods, decides=False)
        for number, container in enumerate(spec["containers"]) if resource.is_run else ():
            for index, mount in enumerate(container.get("volumeMounts") or ()):
                claim, read_only = claims.get(mount["name"], ("", True))
                if mount.get("subPath") and not (read_only or mount.get("readOnly")):
                    here = (*route, "spec", "containers", number, "volumeMounts", index, "subPath")
                    yield fact(SHARED_SUB_PATH, (namespace, claim, mount["subPath"]), here)


class FactPlace(Struct, frozen=True):
    """Where a fact is: file, number of the document in it, and route. Its line is only looked up for a finding."""

    file: str
    document: int
    route: Route


class Conflict(NamedTuple):
    """A fact that conflicts with others."""

    rule: Rule
    fact: Fact
    spot: FactPlace
    what: str
    other: FactPlace | None = None
    """One of the others, if the finding names its place."""
    noun: str = ""
    """Description of the other."""

    def finding(self, places: Mapping[FactPlace, Location]) -> Diagnostic:
        rule, fact = self.rule, self.fact
        severity = Severity.WARNING if rule.severity is Severity.ERROR and not fact.ours else rule.severity
        message, hint = f"{fact.who} {self.what}", message_text(rule.hint)
        if fact.reason:
            severity, message, hint = Severity.NOTE, f"silenced ({fact.reason}): {message}", ""
        related = ((places[self.other], self.noun),) if self.other is not None else ()
        return Diagnostic(places[self.spot], rule.name, message_text(message), hint, related, severity)


_Entries = list[tuple[Fact, FactPlace]]


def conflicts(known: Iterable[tuple[str, Fact, FactPlace]]) -> Iterator[Conflict]:
    """Conflicts among facts. Each fact comes with its cluster."""
    groups: dict[tuple[str, str, tuple[str, ...]], _Entries] = defaultdict(list)
    for cluster, fact, spot in known:
        groups[cluster, fact.rule, fact.about].append((fact, spot))
    for (_, rule, _), entries in groups.items():
        if len(entries) > 1:
            yield from _CONFLICTS.get(rule, _twice)(SET_RULES[rule], entries)


def _twice(rule: Rule, entries: _Entries) -> Iterator[Conflict]:
    first, there = entries[0]
    seen = {first.who}
    for fact, spot in entries[1:]:
        if rule is SAME_OBJECT or fact.who not in seen:
            seen.add(fact.who)
            what = (
                "is already defined elsewhere"
                if rule is SAME_OBJECT
                else f"and {first.who} share `{'` `'.join(fact.about[1:])}`"
            )
            yield Conflict(rule, fact, spot, what, there, "the other one")


def _pods(rule: Rule, entries: _Entries) -> Iterator[Conflict]:
    decides = [entry for entry in entries if entry[0].decides]
    uses = [fact for fact, _ in entries if not fact.decides]
    if decides and (count := sum(fact.pods for fact in uses)) > 1:
        users = ", ".join(dict.fromkeys(fact.who for fact in uses))
        yield Conflict(rule, *decides[0], f"can be mounted by one node only, but {count} pods use it: {users}")


def _parts(rule: Rule, entries: _Entries) -> Iterator[Conflict]:
    decides = [entry for entry in entries if entry[0].decides]
    for fact, spot in entries:
        if decides and not fact.decides:
            other, there = decides[0]
            yield Conflict(rule, fact, spot, f"uses {other.who} of a finished run", there, "there")


_CONFLICTS = {CLAIM_ACROSS_NODES.name: _pods, OF_FINISHED.name: _parts}
