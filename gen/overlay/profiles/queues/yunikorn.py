"""Apache YuniKorn: labels of pods with their application and queue, and annotations with the groups of its pods.

YuniKorn reserves room for all groups with placeholder pods before it starts one; these need the resources, nodes and
tolerations of the real ones (`pkg/cache/{amprotocol,placeholder,utils}.go`, `pkg/common/constants/constants.go` of
apache/yunikorn-k8shim). It reads `applicationId` and `queue` in every version.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import orjson

from gen.base import at, regex
from gen.job.queue import Gang, Member, PodChanges, Run
from gen.job.scalars import Duration, matching, schema
from gen.kubernetes import quantity
from gen.kubernetes.objects import Body, present

_PREFIX = "yunikorn.apache.org/"

QueuePath = Annotated[
    str,
    matching(
        regex(r"root(?:\.[A-Za-z0-9](?:[-A-Za-z0-9_]*[A-Za-z0-9])?)+"),
        63,
        "a path of a YuniKorn queue",
        "use a form like `root.team`",
        form=schema("path of a queue", "string"),
    ),
]


class YuniKorn(Gang):
    """Queue of Apache YuniKorn. All pods of a run start together, or none."""

    short: ClassVar[str] = "queue"
    known_as: ClassVar[str] = "yunikorn"
    keys: ClassVar[tuple[str, ...]] = (_PREFIX, "applicationId", "queue")

    queue: QueuePath
    """Full path of the queue, such as `root.team`."""
    style: Literal["Soft", "Hard"] | None = None
    """What happens after the timeout: `Soft` starts the pods one by one, `Hard` fails the run. [default: Soft]"""
    timeout: Duration | None = None
    """How long YuniKorn keeps the room that it reserved for a part of the pods, such as `10m`. [default: 15m]"""

    @property
    def scheduler_name(self) -> str:
        return self.known_as

    @property
    def queue_name(self) -> str | None:
        return self.queue

    @property
    def settings(self) -> Mapping[str, object]:
        return {"queue": self.queue}

    def joined(self, run: Run, member: Member) -> PodChanges:
        labels = {"applicationId": run.name, "queue": self.queue}
        if not member.grouped:
            return PodChanges(scheduler=self.scheduler_name, labels=labels)
        groups = [_task_group(other) for other in run.members if other.grouped]
        annotations = present(
            **{
                f"{_PREFIX}task-group-name": member.role,
                f"{_PREFIX}task-groups": orjson.dumps(groups).decode(),
                f"{_PREFIX}schedulingPolicyParameters": self._policy,
            }
        )
        return PodChanges(scheduler=self.scheduler_name, labels=labels, annotations=annotations)

    @property
    def _policy(self) -> str:
        given = {"placeholderTimeoutInSeconds": self.timeout, "gangSchedulingStyle": self.style}
        return " ".join(f"{name}={value}" for name, value in given.items() if value is not None)


def _task_group(member: Member) -> Body:
    spec = member.template["spec"]
    group = present(
        name=member.role,
        minMember=member.least,
        nodeSelector=spec.get("nodeSelector"),
        tolerations=spec.get("tolerations"),
        affinity=spec.get("affinity"),
    )
    return {**group, "minResource": _requests(spec)}


def _requests(spec: Body) -> dict[str, str]:
    """As the scheduler counts: the sum of the containers, which is one, or an init container that requests more."""
    found: dict[str, str] = {}
    for name, amount in _amounts(spec):
        if name not in found or quantity.amount(amount) > quantity.amount(found[name]):
            found[name] = amount
    return dict(sorted(found.items()))


def _amounts(spec: Body) -> Iterator[tuple[str, str]]:
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        yield from (at(container, "resources", "requests") or {}).items()
