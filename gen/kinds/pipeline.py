"""A pipeline: steps of any kind, in a Workflow of Argo Workflows.

Each step is two nodes: one creates the object of the step, as its kind builds it, and one waits for its end. No pod of
a step runs with the service account of the workflow, which can create objects: it belongs to Argo's executor alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from gen.diagnostics import BugError
from gen.kinds.base import Job
from gen.kubernetes import Body
from gen.model.names import JobName
from gen.model.step import MAX_STEPS, StepFields
from gen.resources.argo import WORKFLOW
from gen.resources.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.kinds.plan import Plan, StepPlan
    from gen.kinds.role import Role
    from gen.resources.base import Resource

WAIT: Final = "-wait"
"""End of the names of nodes that wait for a step."""
MAIN: Final = "main"
"""Name of the template with the graph, which no step can have."""
_RETRIES: Final = {"limit": "20", "retryPolicy": "Always", "backoff": {"duration": "15s"}}
"""For nodes that wait: Kubernetes can evict them, and the JobSet of a TrainJob appears late. After a failure, a node
reads the object again for five minutes."""


class PipelineJob(Job):
    """Steps of any kind that wait for each other, as a Workflow of Argo Workflows. Other fields apply to all steps."""

    facts: ClassVar[Resource] = WORKFLOW
    called: ClassVar[tuple[str, ...]] = ("workflow", "argo", "dag", "kfp")
    own_fields: ClassVar[frozenset[str]] = frozenset(
        {"kind", "name", "clusters", "state", "attempt", "schedule", "params", "sweep", "tensorboard", "steps"}
        | {"labels", "annotations", "metrics", "search"}
    )
    unsupported: ClassVar[Mapping[str, str]] = {
        "schedule": "the Services of its steps belong to one run",
        "search": "Katib cannot read the metrics of steps",
    }
    example: ClassVar[Mapping[str, object]] = {
        "image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
        "command": "python main.py --stage {{ params.stage }}",
        "steps": {
            "prepare": {"kind": "batch", "params": {"stage": "prepare"}},
            "train": {
                "kind": "pytorch",
                "needs": ["prepare"],
                "params": {"stage": "train"},
                "workers": 2,
                "gpus": 1,
            },
        },
    }

    kind: Literal["pipeline"]
    """Kind of job."""
    steps: Annotated[dict[JobName, StepFields], Field(min_length=1, max_length=MAX_STEPS)]
    """Steps by name: the fields of a job of any kind, with `needs` and `when`. `docs/pipelines.md` describes them."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the steps have pods
        return ()

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:  # noqa: ARG002 - the steps have pods
        return workflow_spec(plan.steps, plan.service_account or "")


def workflow_spec(steps: tuple[StepPlan, ...], account: str) -> Body:
    """The `spec` of a workflow, whose executor has this ServiceAccount."""
    return {
        "entrypoint": MAIN,
        "serviceAccountName": account,
        "podGC": {"strategy": "OnWorkflowSuccess"},
        "podMetadata": {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
        "templates": [_graph(steps), *(one for step in steps for one in _templates(step))],
    }


def _graph(steps: tuple[StepPlan, ...]) -> Body:
    """All nodes that wait are targets: a step that handles a failure does not make the pipeline succeed."""
    tasks = [task for step in steps for task in _tasks(step)]
    targets = " ".join(step.name + WAIT for step in steps)
    return {"name": MAIN, "dag": {"failFast": False, "target": targets, "tasks": tasks}}


def _tasks(step: StepPlan) -> Iterator[Body]:
    create = {"name": step.name, "template": step.name}
    yield {**create, "depends": depends(step)} if step.needs else create
    yield {"name": step.name + WAIT, "template": step.name + WAIT, "depends": f"{step.name}.Succeeded"}


def depends(step: StepPlan) -> str:
    """The condition under which a step starts. Argo evaluates it when all nodes in it have ended."""
    if step.when == "succeeded":
        return " && ".join(f"{need}{WAIT}.Succeeded" for need in step.needs)
    failed = [f"{need}{part}.{end}" for need in step.needs for part in ("", WAIT) for end in ("Failed", "Errored")]
    if step.when == "failed":
        return " || ".join(failed)
    return " && ".join(f"({_ended(need)})" for need in step.needs)


def _ended(need: str) -> str:
    return " || ".join(f"{need}{WAIT}.{end}" for end in ("Succeeded", "Failed", "Errored", "Omitted", "Skipped"))


def _templates(step: StepPlan) -> Iterator[Body]:
    found = waiting(step.facts)
    if found is None:
        raise BugError(f"no conditions for {step.facts.kind}, which the plan refuses")
    version = step.plan.api_version if found.of is step.facts else found.of.served[0]
    group, _, version = version.rpartition("/")
    yield {
        "name": step.name,
        "resource": {"action": "create", "setOwnerReference": True, "manifest": step.plan.run},
    }
    yield {
        "name": step.name + WAIT,
        "retryStrategy": _RETRIES,
        "resource": {
            "action": "get",
            "flags": [f"{found.of.kind.lower()}.{version}.{group}", step.plan.run],
            "successCondition": found.success,
            "failureCondition": found.failure,
        },
    }
