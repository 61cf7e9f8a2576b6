"""Katib experiments (`kubeflow.org/v1beta1`). Their definition has no schema.

From `pkg/webhook/v1beta1/experiment/validator/validator.go` of kubeflow/katib 0.19.
"""

from __future__ import annotations

import json
from typing import Any

from gen.base import as_mapping, as_mappings, regex
from gen.kubernetes.facts.katib import EXPERIMENT
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule
from gen.kubernetes.rules.field_checks import unique
from gen.kubernetes.rules.operators.common import length_fault

_EXPERIMENT = str(EXPERIMENT)
_WEBHOOK = "The Katib webhook rejects the object."
_PLACE = regex(r"\$\{trialParameters\.([^}]+)\}")
_LISTED = ("discrete", "categorical")
_RANGED = ("double", "int")
_RESUME = ("Never", "LongRunning", "FromVolume")


def _part(view: ObjectView, field: str) -> Body:
    """A mapping below `spec`; empty for anything else, because no schema has checked it."""
    return as_mapping(view.spec.get(field))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@operator_rule(
    "experiment-name",
    _EXPERIMENT,
    reason=f"{_WEBHOOK} Trials are named `<experiment>-<8 characters>`.",
    remedy="Use at most 40 lower-case letters, digits and `-`, beginning with a letter.",
)
def experiment_name(view: ObjectView) -> Faults:
    """The name is longer than 40 characters."""
    yield from length_fault(view)


@operator_rule("experiment-parts", _EXPERIMENT, reason=_WEBHOOK, remedy="Add the part, with its name or type.")
def experiment_parts(view: ObjectView) -> Faults:
    """An experiment has no objective with type and metric, no algorithm, no trial template, or an unknown resume
    policy.
    """
    needed = {"objective": "objectiveMetricName", "algorithm": "algorithmName", "trialTemplate": "primaryContainerName"}
    for part, field in needed.items():
        if not _part(view, part).get(field):
            yield Fault(("spec", part) if _part(view, part) else ("spec",), f"`{part}.{field}` is missing")
    kind = _part(view, "objective").get("type")
    if _part(view, "objective") and kind not in {"minimize", "maximize"}:
        yield not_one_of(kind, ("minimize", "maximize")).at(("spec", "objective", "type"))
    policy = view.spec.get("resumePolicy", "")
    if policy and policy not in _RESUME:
        yield not_one_of(policy, _RESUME).at(("spec", "resumePolicy"))


@operator_rule(
    "experiment-counts",
    _EXPERIMENT,
    reason=_WEBHOOK,
    remedy="Use positive numbers, with `maxTrialCount` as the largest.",
)
def experiment_counts(view: ObjectView) -> Faults:
    """A number of trials is not positive, or more trials are parallel or may fail than there are in total."""
    counts = {
        field: view.spec[field]
        for field in ("maxTrialCount", "parallelTrialCount", "maxFailedTrialCount")
        if isinstance(view.spec.get(field), int)
    }
    most = counts.get("maxTrialCount")
    for field, count in counts.items():
        if count < (0 if field == "maxFailedTrialCount" else 1):
            yield Fault(("spec", field), f"{count} is too small")
        elif most is not None and count > most:
            yield Fault(("spec", field), f"{count} is more than `maxTrialCount` ({most})")


@operator_rule(
    "experiment-parameters",
    _EXPERIMENT,
    reason=_WEBHOOK,
    remedy="Set `min` and `max` of `double` and `int`, and `list` of `discrete` and `categorical`.",
)
def experiment_parameters(view: ObjectView) -> Faults:
    """An experiment does not have exactly one of `parameters` and `nasConfig`, or the space of a parameter does not
    match its type.
    """
    parameters = as_mappings(view.spec.get("parameters"))
    if bool(parameters) == bool(view.spec.get("nasConfig")):
        yield Fault(("spec",) if "spec" in view.body else (), "exactly one of `parameters` and `nasConfig` is required")
    at = ("spec", "parameters")
    yield from unique(parameters, at, "name", "parameter", "")
    for index, parameter in enumerate(parameters):
        yield from _space(parameter, (*at, index))


def _space(parameter: Body, route: tuple[str | int, ...]) -> Faults:
    kind, found = parameter.get("parameterType"), parameter.get("feasibleSpace")
    space: Body = found if isinstance(found, dict) else {}
    at = (*route, "feasibleSpace")
    if not parameter.get("name"):
        yield Fault(route, "`name` is missing")
    if kind in _LISTED:
        if not space.get("list"):
            yield Fault(at, f"a `{kind}` parameter requires a `list`")
        for field in ("min", "max", "step"):
            if space.get(field):
                yield Fault((*at, field), f"not allowed for a `{kind}` parameter")
    elif kind in _RANGED:
        if space.get("list"):
            yield Fault((*at, "list"), f"not allowed for a `{kind}` parameter")
        low, high = _number(space.get("min")), _number(space.get("max"))
        if space.get("min") in (None, "") or space.get("max") in (None, ""):
            yield Fault(at, f"a `{kind}` parameter requires `min` and `max`")
        elif low is not None and high is not None and low > high:
            yield Fault((*at, "min"), f"`{space['min']}` is more than `max`")
    else:
        yield not_one_of(kind, (*_RANGED, *_LISTED)).at((*route, "parameterType"))


@operator_rule(
    "experiment-trials",
    _EXPERIMENT,
    reason=f"{_WEBHOOK} Katib names the trials, and replaces `${{trialParameters.…}}`.",
    remedy="Use an object with `apiVersion` and `kind`, without a name, that uses all trial parameters.",
)
def experiment_trials(view: ObjectView) -> Faults:
    """A trial template has no object or two, sets its name or namespace, or does not use the trial parameters as
    declared.
    """
    template, at = _part(view, "trialTemplate"), ("spec", "trialTemplate")
    trial = template.get("trialSpec")
    if (trial is None) == (template.get("configMap") is None):
        if template:
            yield Fault(at, "exactly one of `trialSpec` and `configMap` is required")
        return
    if not isinstance(trial, dict):
        return
    for field in ("apiVersion", "kind"):
        if not trial.get(field):
            yield Fault((*at, "trialSpec"), f"`{field}` is missing")
    metadata: Body = as_mapping(trial.get("metadata"))
    for field in ("name", "namespace"):
        if metadata.get(field):
            yield Fault((*at, "trialSpec", "metadata", field), "set by Katib")
    yield from _parameters(view, template, trial)


def _parameters(view: ObjectView, template: Body, trial: Body) -> Faults:
    at = ("spec", "trialTemplate")
    given = as_mappings(template.get("trialParameters"))
    used = set(_PLACE.findall(json.dumps(trial, default=str)))
    known = {parameter.get("name") for parameter in as_mappings(view.spec.get("parameters"))}
    yield from unique(given, (*at, "trialParameters"), "name", "trial parameter", "")
    for index, parameter in enumerate(given):
        reference = str(parameter.get("reference", ""))
        if parameter.get("name") not in used:
            yield Fault((*at, "trialParameters", index, "name"), f"`{parameter.get('name')}` is not used in the trial")
        if known and reference not in known and not reference.startswith("${trialSpec."):
            yield Fault((*at, "trialParameters", index, "reference"), f"the experiment has no parameter `{reference}`")
    for name in sorted(used - {parameter.get("name") for parameter in given}):
        yield Fault((*at, "trialSpec"), f"`${{trialParameters.{name}}}` is not a trial parameter")
