"""Facts of Kubernetes kinds: one module for each API group, and the registry that is computed from them.

Other modules derive from these facts: `demand` the GPUs of an object, `pods`, `graphs` and `steps` its pods,
`permissions` what it may do, `state` its phase.

Everything that depends on a kind looks here: the patch guard, rules, health checks, ignored differences, the demand in
`gen plan` and the kinds of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from gen.base import at
from gen.kubernetes.facts import argo, builtin, jobset, katib, kfp, kubeflow, ray, scheduling, trainer, volcano
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import PRIORITY_LABEL, QUEUE, QUEUE_LABEL, Body

_GROUPS = (builtin, argo, scheduling, jobset, katib, kfp, kubeflow, ray, trainer, volcano)

RESOURCES: Final[dict[tuple[str, str], Resource]] = {
    fact.key: fact for module in _GROUPS for fact in vars(module).values() if isinstance(fact, Resource)
}
"""By group and kind."""


def resource_of(group: str, kind: str) -> Resource | None:
    return RESOURCES.get((group, kind))


def resource_of_object(api_version: object, kind: object) -> Resource | None:
    """The facts for an object with this `apiVersion` and `kind`, which can have any type."""
    return RESOURCES.get((str(api_version).rpartition("/")[0], str(kind)))


def held_object(body: Body) -> Body | None:
    """The object that another object makes several times; None without one."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    found = at(body, *resource.holds.route) if resource is not None and resource.holds is not None else None
    return found if isinstance(found, dict) else None


class Having(AbstractSet[tuple[str, str]]):
    """Groups and kinds of the registered resources that meet a condition, also of those registered later.

    Documents call the list `name`.
    """

    def __init__(self, name: str, condition: Callable[[Resource], object]) -> None:
        self.name = name
        self._condition = condition

    def __contains__(self, key: object) -> bool:
        found = RESOURCES.get(key) if isinstance(key, tuple) else None
        return found is not None and bool(self._condition(found))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return (key for key, resource in RESOURCES.items() if self._condition(resource))

    def __len__(self) -> int:
        return sum(1 for _ in self)


RUNS: Final = Having("kinds of runs", lambda resource: resource.is_run)
"""Kinds of objects that are single runs."""


def queue_labels() -> frozenset[str]:
    """Labels of objects that decide where a run is queued. They cannot change while it exists."""
    return _queue_labels(tuple(RESOURCES))


@cache
def _queue_labels(kinds: tuple[tuple[str, str], ...]) -> frozenset[str]:
    settings = (route for kind in kinds for group in RESOURCES[kind].groups for route in group.settings.values())
    labels = (route[-1] for route in settings if route[:2] == ("metadata", "labels"))
    return frozenset({QUEUE, QUEUE_LABEL, PRIORITY_LABEL, *labels})
