"""Kubeflow Trainer 2 (`trainer.kubeflow.org/v1alpha1`), from `pkg/apis/trainer/v1alpha1` of kubeflow/trainer 2.3.

A TrainJob has no pod template: its runtime, which is in the cluster, has the templates of a JobSet.
"""

from __future__ import annotations

from typing import Final

from gen.resources.base import ANY_KEY, Conditions, Count, Derived, PodSet, Resource
from gen.resources.jobset import CLAIMS, COUNTS, TEMPLATE

_VERSIONS: dict[str, tuple[str, ...]] = {"trainer.kubeflow.org/v1alpha1": ()}

TRAINJOB: Final = Resource(
    group="trainer.kubeflow.org",
    kind="TrainJob",
    versions=_VERSIONS,
    partial_templates=("runtimePatches", "podTemplateOverrides"),  # the second one until 2.1
    container="node",
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    status=Conditions(succeeded="Complete", failed="Failed", suspended="Suspended"),
    queues=("kueue",),
    derived=(
        Derived(suffix="-node-0-{0}-xxxxx", counts=(Count(route=("spec", "trainer", "numNodes")),)),
        Derived(suffix="-{role}-initializer-0-0-xxxxx", each=("spec", "initializer", ANY_KEY)),
    ),
)

_PODS = PodSet(
    template=("spec", "template", *TEMPLATE),
    counts=tuple(Count(route=("spec", "template", *count.route), default=count.default) for count in COUNTS),
)

_CLAIMS = ("spec", "template", *CLAIMS)

TRAINING_RUNTIME: Final = Resource(
    group="trainer.kubeflow.org", kind="TrainingRuntime", versions=_VERSIONS, pods=(_PODS,), claims=(_CLAIMS,)
)
CLUSTER_TRAINING_RUNTIME: Final = Resource(
    group="trainer.kubeflow.org", kind="ClusterTrainingRuntime", versions=_VERSIONS, pods=(_PODS,), claims=(_CLAIMS,)
)
