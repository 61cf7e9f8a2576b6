"""A queue of every scheduler, the jobs in it, and how a scheduler reads their groups."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from gen.base.routes import follow
from gen.commands.new import job_text
from gen.job.kinds import KINDS
from gen.job.queue import QueueProfile
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.pods import pod_sets
from gen.overlay.profiles.queues import QUEUES

if TYPE_CHECKING:
    from tests.support import Repository

FRAMEWORKS = [f"kubeflow.org/{kind}job" for kind in ("jax", "paddle", "pytorch", "tf", "xgboost")]
EXAMPLES: dict[str, dict[str, Any]] = {
    "ack": {},
    "coscheduling": {},
    "kueue": {"localQueue": "research", "frameworks": FRAMEWORKS},
    "volcano": {"queue": "research"},
    "yunikorn": {"queue": "root.research"},
}
PAIRS = [(kind, name) for kind in KINDS if not KINDS[kind].own_fields for name in EXAMPLES]


def profile(name: str) -> QueueProfile:
    return QUEUES[name].model_validate(EXAMPLES[name])


def declared(name: str, fields: dict[str, Any] | None = None, /, **more: Any) -> str:
    """An overlay with one queue `gold`."""
    queue = {name: EXAMPLES[name] if fields is None else fields}
    runtimes: dict[str, Any] = {"torch-distributed": {}}
    document = {
        "kubernetes": "1.34",
        "runtimes": runtimes,
        "queues": {"gold": queue},
        "namespaces": {"team": {"queues": ["gold"]}},
        **more,
    }
    return yaml.safe_dump(document, sort_keys=False)


def is_refused(kind: str, name: str) -> bool:
    facts = KINDS[kind].facts
    return profile(name).refusal(facts, facts.api_version(facts.served[0])) is not None


def queued(repo: Repository, kind: str, more: str = "") -> dict[str, Any]:
    """The rendered workload of a job in the queue `gold`."""
    repo.job(job_text(kind, with_schema=False) + "queue: gold\n" + more)
    facts = KINDS[kind].facts
    return next(one for one in repo.objects() if (one["apiVersion"], one["kind"]) == (served(kind), facts.kind))


def served(kind: str) -> str:
    facts = KINDS[kind].facts
    return facts.api_version(facts.served[0])


def members(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    facts = resource_of_object(body["apiVersion"], body["kind"])
    assert facts is not None
    found = []
    for one in pod_sets(facts, body):
        number = 1
        for count in one.counts:
            number *= count
        found.append((number, one.template))
    return found


def group_size(body: dict[str, Any], objects: list[dict[str, Any]]) -> int | None:
    """The size of the group as its scheduler reads it; None without a group."""
    templates = [template for _, template in members(body)]
    metadata = [template["metadata"] for template in templates]
    for group in objects:
        if group["kind"] == "PodGroup":
            name = group["metadata"]["name"]
            for one in metadata:
                joined = one["labels"].get("scheduling.x-k8s.io/pod-group")
                assert name in (joined, one.get("annotations", {}).get("scheduling.k8s.io/group-name"))
            return int(group["spec"]["minMember"])
    policy = follow(body, ("spec", "runPolicy", "schedulingPolicy")) or {}
    size = policy.get("minAvailable") or body["spec"].get("minAvailable")
    for one in metadata:
        if "yunikorn.apache.org/task-groups" in one.get("annotations", {}):
            groups = json.loads(one["annotations"]["yunikorn.apache.org/task-groups"])
            assert one["annotations"]["yunikorn.apache.org/task-group-name"] in {group["name"] for group in groups}
            size = sum(group["minMember"] for group in groups)
        size = one["labels"].get("pod-group.scheduling.sigs.k8s.io/min-available", size)
    return None if size is None else int(size)
