"""Experiments (`kubeflow.org/v1beta1`), whose definition has no schema.

From `pkg/webhook/v1beta1/experiment/validator/validator.go` of kubeflow/katib 0.19.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gen.rules.fault import none_of
from gen.rules.field_checks import doubled
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.field_checks import Faults
    from gen.rules.object_view import View

_EXPERIMENT = "kubeflow.org/Experiment"
_WEBHOOK = "The webhook of Katib refuses it."
_LONGEST = 40
_PLACE = re.compile(r"\$\{trialParameters\.([^}]+)\}")
_LISTED = ("discrete", "categorical")
_RANGED = ("double", "int")
_RESUME = ("Never", "LongRunning", "FromVolume")


def _part(view: View, field: str) -> Body:
    """A mapping below `spec`, empty when it is anything else: no schema has looked."""
    found = view.spec.get(field)
    return found if isinstance(found, dict) else {}


def _entries(value: Any) -> list[Body]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@operators(
    "experiment-name",
    _EXPERIMENT,
    reason=f"{_WEBHOOK} Trials are called `<experiment>-<8 characters>`.",
    remedy="Write at most 40 lower case letters, digits and `-`, beginning with a letter.",
)
def experiment_name(view: View) -> Faults:
    """The name has at most 40 characters."""
    name = view.metadata.get("name", "")
    if len(name) > _LONGEST:
        yield ("metadata", "name"), f"longer than {_LONGEST} characters"


@operators("experiment-parts", _EXPERIMENT, reason=_WEBHOOK, remedy="Add the part, with its name or type.")
def experiment_parts(view: View) -> Faults:
    """An experiment has an objective with a type and a metric, an algorithm with a name, and a trial template."""
    needed = {"objective": "objectiveMetricName", "algorithm": "algorithmName", "trialTemplate": "primaryContainerName"}
    for part, field in needed.items():
        if not _part(view, part).get(field):
            yield ("spec", part) if _part(view, part) else ("spec",), f"needs `{part}.{field}`"
    kind = _part(view, "objective").get("type")
    if _part(view, "objective") and kind not in {"minimize", "maximize"}:
        yield ("spec", "objective", "type"), none_of(kind, ("minimize", "maximize"))
    policy = view.spec.get("resumePolicy", "")
    if policy and policy not in _RESUME:
        yield ("spec", "resumePolicy"), none_of(policy, _RESUME)


@operators("experiment-counts", _EXPERIMENT, reason=_WEBHOOK, remedy="Write numbers in order, more than 0.")
def experiment_counts(view: View) -> Faults:
    """Numbers of trials are more than 0, and neither more at a time nor more failures than trials."""
    counts = {
        field: view.spec[field]
        for field in ("maxTrialCount", "parallelTrialCount", "maxFailedTrialCount")
        if isinstance(view.spec.get(field), int)
    }
    most = counts.get("maxTrialCount")
    for field, count in counts.items():
        if count < (0 if field == "maxFailedTrialCount" else 1):
            yield ("spec", field), f"{count} is too few"
        elif most is not None and count > most:
            yield ("spec", field), f"{count} is more than `maxTrialCount`, {most}"


@operators(
    "experiment-parameters",
    _EXPERIMENT,
    reason=_WEBHOOK,
    remedy="Write `min` and `max` of `double` and `int`, and a `list` of `discrete` and `categorical`.",
)
def experiment_parameters(view: View) -> Faults:
    """There are parameters, or a `nasConfig`; each has a space that goes with its type."""
    parameters = _entries(view.spec.get("parameters"))
    if bool(parameters) == bool(view.spec.get("nasConfig")):
        yield ("spec",) if "spec" in view.body else (), "needs either `parameters` or `nasConfig`"
    at = ("spec", "parameters")
    for here, (name,) in doubled(parameters, at, "name"):
        yield (*here, "name"), f"two parameters are called `{name}`"
    for index, parameter in enumerate(parameters):
        yield from _space(parameter, (*at, index))


def _space(parameter: Body, route: tuple[str | int, ...]) -> Faults:
    kind, found = parameter.get("parameterType"), parameter.get("feasibleSpace")
    space: Body = found if isinstance(found, dict) else {}
    at = (*route, "feasibleSpace")
    if not parameter.get("name"):
        yield route, "a parameter has a name"
    if kind in _LISTED:
        if not space.get("list"):
            yield at, f"a `{kind}` parameter has a `list`"
        for field in ("min", "max", "step"):
            if space.get(field):
                yield (*at, field), f"is not for a `{kind}` parameter"
    elif kind in _RANGED:
        if space.get("list"):
            yield (*at, "list"), f"is not for a `{kind}` parameter"
        low, high = _number(space.get("min")), _number(space.get("max"))
        if low is None and high is None:
            yield at, f"a `{kind}` parameter has a `min` or a `max`"
        elif low is not None and high is not None and low > high:
            yield (*at, "min"), f"`{space['min']}` is more than `max`"
    else:
        yield (*route, "parameterType"), none_of(kind, (*_RANGED, *_LISTED))


@operators(
    "experiment-trials",
    _EXPERIMENT,
    reason=f"{_WEBHOOK} Katib names the trials, and fills in what is `${{trialParameters.…}}`.",
    remedy="Write an object with `apiVersion` and `kind`, without a name, that uses all trial parameters.",
)
def experiment_trials(view: View) -> Faults:
    """A trial is an object of a kind, without a name, that uses the trial parameters and no others."""
    template, at = _part(view, "trialTemplate"), ("spec", "trialTemplate")
    trial = template.get("trialSpec")
    if (trial is None) == (template.get("configMap") is None):
        if template:
            yield at, "needs either `trialSpec` or `configMap`"
        return
    if not isinstance(trial, dict):
        return
    for field in ("apiVersion", "kind"):
        if not trial.get(field):
            yield (*at, "trialSpec"), f"has no `{field}`"
    found = trial.get("metadata")
    metadata: Body = found if isinstance(found, dict) else {}
    for field in ("name", "namespace"):
        if metadata.get(field):
            yield (*at, "trialSpec", "metadata", field), "is given by Katib"
    yield from _parameters(view, template, trial)


def _parameters(view: View, template: Body, trial: Body) -> Faults:
    at = ("spec", "trialTemplate")
    given = _entries(template.get("trialParameters"))
    used = set(_PLACE.findall(json.dumps(trial, default=str)))
    known = {parameter.get("name") for parameter in _entries(view.spec.get("parameters"))}
    for here, (name,) in doubled(given, (*at, "trialParameters"), "name"):
        yield (*here, "name"), f"two trial parameters are called `{name}`"
    for index, parameter in enumerate(given):
        reference = str(parameter.get("reference", ""))
        if parameter.get("name") not in used:
            yield (*at, "trialParameters", index, "name"), f"`{parameter.get('name')}` is not used in the trial"
        if known and reference not in known and not reference.startswith("${trialSpec."):
            yield (*at, "trialParameters", index, "reference"), f"`{reference}` is no parameter"
    for name in sorted(used - {parameter.get("name") for parameter in given}):
        yield (*at, "trialSpec"), f"`${{trialParameters.{name}}}` is no trial parameter"
