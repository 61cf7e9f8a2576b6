"""Algorithms of Katib 0.19 and their settings.

From `ValidateAlgorithmSettings` of the services in `pkg/suggestion/v1beta1` and `pkg/earlystopping/v1beta1` of
kubeflow/katib. The services check them after the experiment was created, which then fails. The setting
`suggestion_trial_dir` is missing here: it mounts a volume at any path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        settings={
            **_SEED,
            "sigma": Setting(whole=False),
            "restart_strategy": Setting(words=("none", "None", "ipop")),
        },
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
