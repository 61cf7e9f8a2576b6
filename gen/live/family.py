"""Runs that other runs start: steps of a pipeline, runs of a schedule, trials of a search; and the pods of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gen.base import at
from gen.base.labels import JOB_LABEL, RUN_LABEL, STEP_LABEL
from gen.kubernetes.objects import Body
from gen.live.pods import Pod, controller
from gen.live.snapshot import Snapshot

Group = tuple[str, str, str]
"""Namespace, job and hash of a run, as the labels of its pods have them."""


def group_of(body: Body) -> Group:
    """All objects of one run are in one group: its steps, its trials, and what its schedule started."""
    labels = at(body, "metadata", "labels")
    return _namespace(body), str(at(labels, JOB_LABEL) or ""), str(at(labels, RUN_LABEL) or "")


def step_of(body: Body) -> str:
    """The step of a pipeline with this object; empty for others."""
    return str(at(body, "metadata", "labels", STEP_LABEL) or "")


class Family:
    """Parents, children and pods of the runs in a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._runs = snapshot.runs
        self._heads: dict[Group, str] = {}
        for uid, body in snapshot.runs.items():
            if not controller(body):
                self._heads.setdefault(group_of(body), uid)
        self._children: dict[str, list[Body]] = defaultdict(list)
        for body in snapshot.runs.values():
            if (parent := self._parent(body)) is not None:
                self._children[parent].append(body)
        self._by_group: dict[Group, list[Pod]] = defaultdict(list)
        self._by_owner: dict[str, list[Pod]] = defaultdict(list)
        self._by_name: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        for pod in snapshot.pods.values():
            self._by_group[pod.namespace, pod.job, pod.run].append(pod)
            self._by_owner[pod.owner].append(pod)
            for name in pod.runs:
                self._by_name[pod.namespace, name].append(pod)

    def _parent(self, body: Body) -> str | None:
        """UID of the run that started another one: its controller, or across objects that gen does not read, such as
        trials, the run of its group.
        """
        owner = controller(body)
        if not owner:
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
        if not controller(body):
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
