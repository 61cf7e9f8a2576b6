"""Kubeflow Trainer 2 (`trainer.kubeflow.org/v1alpha1`), from `pkg/apis/trainer/v1alpha1` of kubeflow/trainer 2.3.

A TrainJob has no pod template: its runtime, which is in the cluster, has the templates of a JobSet.
"""

from __future__ import annotations

from typing import Final

from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.jobset import CLAIMS, COUNTS, JOBSET, TEMPLATE

_VERSIONS: dict[str, tuple[str, ...]] = {"trainer.kubeflow.org/v1alpha1": ()}

_V1ALPHA1 = "trainer.kubeflow.org/v1alpha1"

_PATCHES: base.Pattern = ("spec", "runtimePatches", base.ANY_ITEM)
_JOBS: base.Pattern = (*_PATCHES, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
_PODS = base.PodSet(
    template=("spec", "template", *TEMPLATE),
    counts=tuple(base.Count(route=("spec", "template", *count.route), default=count.default) for count in COUNTS),
)

_OF_CLUSTER: Final = "ClusterTrainingRuntime"
CONTROLLER: Final = "trainer.kubeflow.org/trainjob-controller"
"""The operator, as `managedBy` names it."""
OPERATOR: Final = "train"
"""Key of its release in `operators` of an overlay: the kind of the jobs."""
TRAINJOB: Final = base.Resource(
    group="trainer.kubeflow.org",
    kind="TrainJob",
    versions={_V1ALPHA1: ("OnFailure",)},  # of the runtimes that the Trainer installs; a job cannot change it
    releases=dict.fromkeys(("2.3", "2.2", "2.1", "2.0"), _V1ALPHA1),
    nodes=base.Nodes(
        count=("spec", "trainer", "numNodes"),
        resources=("spec", "trainer", "resourcesPerNode"),
        changes=(*_JOBS, base.ANY_ITEM, "template", "spec", "template"),
        name="node",
        made=JOBSET,
    ),
    # since 2.2, in 2.1, and in 2.0, as their labels
    partial_templates=("runtimePatches", "podTemplateOverrides", "podSpecOverrides"),
    container="node",
    defaults={  # of its definition
        ("spec", "managedBy"): CONTROLLER,
        ("spec", "runtimeRef", "apiGroup"): "trainer.kubeflow.org",
        ("spec", "runtimeRef", "kind"): _OF_CLUSTER,
    },
    implied={
        ("spec", "trainer", "env", base.ANY_ITEM, "value"): "",
        ("spec", "trainer", "env", base.ANY_ITEM, "valueFrom", "fieldRef", "apiVersion"): "v1",
    },
    numbers_hosts=True,
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    status=base.Conditions(succeeded="Complete", failed="Failed", suspended="Suspended"),
    trial=base.Trial(
        index={"batch.kubernetes.io/job-completion-index": "0"}, role_label="jobset.sigs.k8s.io/replicatedjob-name"
    ),
    # `pkg/runtime/framework/plugins/jobset` gives it the name of the TrainJob
    awaited=base.EndCondition(instead=JOBSET),
    scheduled_by=CRON_WORKFLOW,
    kueue=base.Queueing(framework="trainer.kubeflow.org/trainjob", appends=("spec", "runtimePatches")),
    derived=(
        base.DerivedName(suffix="-node-0-{0}-xxxxx", counts=(base.Count(route=("spec", "trainer", "numNodes")),)),
        base.DerivedName(suffix="-{role}-initializer-0-0-xxxxx", each=("spec", "initializer", base.ANY_KEY)),
    ),
)

RESERVED_ENV: Final = {
    "torch": frozenset(
        f"PET_{name}" for name in ("NNODES", "NPROC_PER_NODE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")
    ),
    "xgboost": frozenset(f"DMLC_{name}" for name in ("TRACKER_URI", "TRACKER_PORT", "TASK_ID", "NUM_WORKER")),
    "mpi": frozenset(
        f"OMPI_MCA_{name}"
        for name in ("orte_default_hostfile", "orte_keep_fqdn_hostnames", "orte_set_default_slots", "plm_rsh_args")
    ),
}
"""Variables that the Trainer sets, by framework (`pkg/runtime/framework/plugins/*/`)."""
_FRAMEWORKS = {"torch": "torch", "xgboost": "xgboost", "mpi": "mpi", "deepspeed": "mpi", "mlx": "mpi", "jax": ""}


def frameworks_of(runtime: str) -> list[str]:
    """Frameworks with reserved variables, guessed from the name of a runtime; all frameworks if the name has none."""
    found = [framework for word, framework in _FRAMEWORKS.items() if word in runtime]
    return found or list(RESERVED_ENV)


_CLAIMS = ("spec", "template", *CLAIMS)

TRAINING_RUNTIME: Final = base.Resource(
    group="trainer.kubeflow.org", kind="TrainingRuntime", versions=_VERSIONS, pods=(_PODS,), claims=(_CLAIMS,)
)
CLUSTER_TRAINING_RUNTIME: Final = base.Resource(
    group="trainer.kubeflow.org", kind=_OF_CLUSTER, versions=_VERSIONS, pods=(_PODS,), claims=(_CLAIMS,)
)
RUNTIME_KINDS: Final = (CLUSTER_TRAINING_RUNTIME.kind, TRAINING_RUNTIME.kind)
"""Kinds that a job can refer to, the default first."""
