"""Labels and a ConfigMap that let the client of Arena find a run that it has not submitted.

`arena list`, `get`, `logs` and `top` select objects and pods by the labels `app` and `release`, and read the number of
GPUs from an annotation; `arena delete` deletes the objects that a ConfigMap names (`pkg/training`, `pkg/workflow` and
`pkg/util/kubectl` of kubeflow/arena 0.15).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gen.job.kinds.base import Job
from gen.job.plan import Plan
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body
from gen.render.parts.metadata import BOARD, add_metadata

GPUS: Final = "requestGPUsOfJobOwner"


def show_to_arena(job: Job, plan: Plan, pods: Mapping[str, Body], workload: Body) -> None:
    """Add the labels and the annotation of a run and its pods; `arena` of the plan must be set."""
    labels = {"app": plan.arena, "release": plan.run}
    gpus = {GPUS: str(plan.gpus)}
    add_metadata(workload["metadata"], "labels", labels)
    add_metadata(workload["metadata"], "annotations", gpus)
    for role, template in pods.items():
        add_metadata(template["metadata"], "labels", {**labels, **job.arena_labels(role)})
        add_metadata(template["metadata"], "annotations", gpus)


def state_of(plan: Plan, facts: Resource) -> Body:
    """The ConfigMap that `arena delete` reads. It names the run, and has no values of it."""
    name = f"{plan.run}-{plan.arena}"
    data = {"app": f"{facts.kind.lower()}.{facts.group}/{plan.run}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def board_labels(plan: Plan) -> Mapping[str, str]:
    """Labels of the Service of TensorBoard, which `arena get` looks for."""
    return {"role": BOARD, "release": plan.run} if plan.arena else {}
