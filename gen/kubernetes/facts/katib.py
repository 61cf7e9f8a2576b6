"""Katib (`kubeflow.org/v1beta1`), from `pkg/apis/controller` of kubeflow/katib 0.19, and its algorithms.

Settings are from `ValidateAlgorithmSettings` of the services in `pkg/suggestion/v1beta1` and
`pkg/earlystopping/v1beta1`, which check them after the experiment was created: it then fails. `suggestion_trial_dir` is
missing here: it mounts a volume at any path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from gen.base import placeholders
from gen.kubernetes.facts.base import ANY_ITEM, Conditions, FilledField, Held, Resource, Status, retired


def trial_resource(kind: str, api_version: str) -> str:
    """A kind as `trialResources` of the KatibConfig names it."""
    group, _, version = api_version.rpartition("/")
    return f"{kind}.{version}.{group}"


OF_TRIAL: Final = "run-id"
"""Trial parameter with the name of the trial. No parameter of a job can have a name with `-`."""
TRIAL_NAME: Final = "${trialSpec.Name}"
"""The name of the trial, as trial parameters refer to it."""


def with_trial_parameters(text: str) -> str:
    """The text with trial parameters of Katib in place of the placeholders of a run."""
    return placeholders.with_parameters(
        text.replace(placeholders.TRIAL, f"${{trialParameters.{OF_TRIAL}}}"), r"${trialParameters.\1}"
    )


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
    # `experiment_defaults.go`; the definition has no schema, so the whole object is compared
    # `experiment_defaults.go`
    defaults={
        ("spec", "parallelTrialCount"): 3,
        ("spec", "resumePolicy"): "Never",
        ("spec", "parameters", ANY_ITEM, "feasibleSpace", "distribution"): "uniform",
        ("spec", "trialTemplate", "retain"): False,
    },
    filled=(
        FilledField(place=("spec", "parameters", ANY_ITEM, "feasibleSpace"), field=("distribution",), value="uniform"),
        # the webhook writes the whole object, without a false value
        FilledField(place=("spec", "trialTemplate"), field=("retain",), value=False, in_all=False),
    ),
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


class Setting(Struct, frozen=True, kw_only=True):
    """The values that a setting accepts: one of `words`, or a number."""

    words: tuple[str, ...] = ()
    whole: bool = True
    least: float = 0
    above: bool = False
    """Whether the number must be more than `least`."""
    below: float | None = None
    """A number that it must be less than."""
    parameter: bool = False
    """Whether it is the name of a parameter of the experiment."""


class Algorithm(Struct, frozen=True, kw_only=True):
    """An algorithm that suggests or stops trials."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    """Settings without a default."""
    ranges: int = 0
    """The least number of parameters with a range."""
    finite: bool = False
    """Whether it tries each combination once, so that every range needs steps."""
    brackets: bool = False
    """Whether the trials of a bracket must run at the same time."""
    steps: bool = True
    """Whether it obeys `step`."""
    distributions: tuple[str, ...] = ()
    """The distributions that it obeys, except the uniform one."""


_SEED: Final = {"random_state": Setting()}
_OPTUNA: Final = {**_SEED, "n_startup_trials": Setting(), "n_ei_candidates": Setting()}
_ALL: Final = ("logUniform", "normal", "logNormal")

ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "random": Algorithm(settings=_SEED, distributions=_ALL),
    "grid": Algorithm(settings=_SEED, finite=True),
    "tpe": Algorithm(
        settings={
            **_SEED,
            "gamma": Setting(whole=False, above=True, below=1),
            "prior_weight": Setting(whole=False, above=True),
            "n_EI_candidates": Setting(above=True),
        },
        distributions=_ALL,
    ),
    "multivariate-tpe": Algorithm(settings=_OPTUNA, distributions=("logUniform",)),
    "bayesianoptimization": Algorithm(
        settings={
            **_SEED,
            "base_estimator": Setting(words=("GP", "RF", "ET", "GBRT")),
            "n_initial_points": Setting(),
            "acq_func": Setting(words=("gp_hedge", "LCB", "EI", "PI", "EIps", "PIps")),
            "acq_optimizer": Setting(words=("auto", "sampling", "lbfgs")),
        },
        steps=False,
    ),
    "cmaes": Algorithm(
        settings={**_SEED, "sigma": Setting(whole=False), "restart_strategy": Setting(words=("none", "None", "ipop"))},
        ranges=2,
    ),
    "sobol": Algorithm(),
    "hyperband": Algorithm(
        settings={
            "r_l": Setting(whole=False, least=1, below=1e9),
            "eta": Setting(least=2),
            "resource_name": Setting(parameter=True),
        },
        needed=("r_l", "resource_name"),
        brackets=True,
        steps=False,
    ),
}
STOPPERS: Final[Mapping[str, Algorithm]] = {
    "medianstop": Algorithm(settings={"min_trials_required": Setting(least=1), "start_step": Setting(least=1)})
}
DEFAULT_ETA: Final = 3
