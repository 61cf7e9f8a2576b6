"""Katib (`kubeflow.org/v1beta1`), from `pkg/apis/controller` of kubeflow/katib 0.19."""

from __future__ import annotations

from typing import Final

from gen.resources.base import Conditions, Resource, Status, retired
from gen.resources.trials import Held


def trial_resource(kind: str, api_version: str) -> str:
    """A kind as `trialResources` of the KatibConfig names it."""
    group, _, version = api_version.rpartition("/")
    return f"{kind}.{version}.{group}"


def condition(status: Status | None, *, failed: bool = False) -> str | None:
    """The state of a trial in the syntax of GJSON, which finds a list or an object; None if it cannot be written.

    From `GetDeployedJobStatus` in `pkg/controller.v1beta1/trial/util/job_util.go`.
    """
    if isinstance(status, Conditions):
        kind = status.failed if failed else status.succeeded
        return f'status.conditions.#(type=="{kind}")#|#(status=="True")#'
    phases = (status.failed if failed else status.succeeded) if status is not None else ()
    if len(phases) != 1:
        return None
    (phase,) = phases
    holder, word = ".".join(phase.field[:-1]), phase.field[-1]
    queries = [f'[{holder}]|#({word}=="{value}")#' for value in phase.values]
    return queries[0] if len(queries) == 1 else f"[{','.join(queries)}]|@flatten"


_V1BETA1 = "kubeflow.org/v1beta1"
_RETIRED = retired(_V1BETA1, "kubeflow.org/v1alpha3")
_STATUS = Conditions(succeeded="Succeeded", failed="Failed")

_ENDED = ("trialsSucceeded", "trialsFailed", "trialsKilled", "trialsEarlyStopped", "trialMetricsUnavailable")

EXPERIMENT: Final = Resource(
    group="kubeflow.org",
    kind="Experiment",
    versions={_V1BETA1: ()},
    retired=_RETIRED,
    partial_templates=("trialTemplate",),
    is_run=True,
    holds=Held(
        route=("spec", "trialTemplate", "trialSpec"),
        at_once=("spec", "parallelTrialCount"),
        in_all=("spec", "maxTrialCount"),
        # `pkg/apis/controller/experiments/v1beta1/experiment_types.go`
        ended=tuple(("status", name) for name in _ENDED),
    ),
    status=_STATUS,
    max_name=40,  # trials are named `<experiment>-<8 characters>`
)
RANDOM_PART: Final = 9
"""Characters that a trial's name adds to that of its experiment."""
TRIAL_RESOURCES: Final = frozenset(
    {
        *("TrainJob.v1alpha1.trainer.kubeflow.org", "Job.v1.batch", "TFJob.v1.kubeflow.org"),
        *("PyTorchJob.v1.kubeflow.org", "MPIJob.v1.kubeflow.org", "XGBoostJob.v1.kubeflow.org"),
    }
)
"""Kinds that the controller watches as shipped (`manifests/v1beta1/installs/katib-standalone/katib-config.yaml`)."""
TRIAL: Final = Resource(group="kubeflow.org", kind="Trial", versions={_V1BETA1: ()}, retired=_RETIRED, status=_STATUS)
SUGGESTION: Final = Resource(group="kubeflow.org", kind="Suggestion", versions={_V1BETA1: ()}, retired=_RETIRED)
