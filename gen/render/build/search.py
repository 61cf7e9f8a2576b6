"""The object that searches values for parameters: a Katib Experiment around the run of a job.

The run was patched and checked as one of its kind. Katib names its trials, so `TRIAL` and the placeholders of
parameters become those of Katib here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from gen.kubernetes import METRICS, PARAMETER, TRIAL, Body, present
from gen.regex import regex
from gen.render.build.metadata import run_metadata
from gen.render.build.metrics import metrics_annotation

if TYPE_CHECKING:
    from gen.kinds.plan import Plan, SearchPlan
    from gen.model.search import SearchAlgorithm, Space
    from gen.render.manifest import Manifest

_OF_TRIAL = "run-id"
"""No parameter of a job can have a name with `-`."""
_MARK = regex(f"{PARAMETER}([^{PARAMETER}]*){PARAMETER}")


def experiment(manifest: Manifest, plan: Plan, search: SearchPlan) -> Manifest:
    """The search with the object as its trial."""
    trial, references = _trial(manifest.body)
    metadata = run_metadata(plan, plan.run, plan.kind)
    metadata["annotations"] = {**metadata.get("annotations", {}), METRICS: metrics_annotation(plan)}
    body = {
        "apiVersion": search.facts.api_version(search.facts.served[0]),
        "kind": search.facts.kind,
        "metadata": metadata,
        "spec": _spec(search, plan.container, trial, references),
    }
    return replace(manifest, body=body, suspend=(), queue=None)


def _spec(search: SearchPlan, container: str, trial: Body, references: dict[str, str]) -> Body:
    wanted = search.wanted
    first, *others = search.metrics
    return {
        "objective": present(
            type=wanted.direction,
            goal=_number(wanted.goal) if wanted.goal is not None else None,
            objectiveMetricName=first.name,
            additionalMetricNames=[metric.name for metric in others],
        ),
        "algorithm": _algorithm(search.algorithm),
        **present(earlyStopping=_algorithm(search.stopper) if search.stopper is not None else None),
        "parallelTrialCount": wanted.parallel_trials,
        # without it, a completed experiment starts again (`experiment_controller.go`)
        "maxTrialCount": wanted.max_trials,
        "maxFailedTrialCount": wanted.most_failed,
        # an edited search is another experiment, so nothing resumes this one
        "resumePolicy": "Never",
        "parameters": [_parameter(name, search.spaces[name]) for name in sorted(search.spaces)],
        "metricsCollectorSpec": {
            "collector": {"kind": "StdOut"},
            "source": {"filter": {"metricsFormat": [metric.regex for metric in search.metrics]}},
        },
        "trialTemplate": {
            "retain": True,  # otherwise Katib removes a trial with its logs when it ends
            "primaryContainerName": container,
            "primaryPodLabels": dict(search.primary),
            "successCondition": search.succeeded,
            "failureCondition": search.failed,
            "trialParameters": [{"name": name, "reference": references[name]} for name in sorted(references)],
            "trialSpec": trial,
        },
    }


def _number(text: str) -> float:
    """A whole number is an integer, as the API server writes it."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _trial(run: Body) -> tuple[Body, dict[str, str]]:
    """The run as Katib makes it for each trial, and the references of the placeholders in it."""
    metadata = {key: value for key, value in run["metadata"].items() if key not in ("name", "namespace")}
    text = orjson.dumps({**run, "metadata": metadata}).decode()
    references = {name: name for name in _MARK.findall(text)}
    if TRIAL in text:
        references[_OF_TRIAL] = "${trialSpec.Name}"
    text = _MARK.sub(lambda mark: _place(mark[1]), text.replace(TRIAL, _place(_OF_TRIAL)))
    trial: Body = orjson.loads(text)
    return trial, references


def _place(name: str) -> str:
    return f"${{trialParameters.{name}}}"


def _algorithm(algorithm: SearchAlgorithm) -> Body:
    settings = [{"name": name, "value": value} for name, value in sorted(algorithm.settings.items())]
    return present(algorithmName=algorithm.name, algorithmSettings=settings)


def _parameter(name: str, space: Space) -> dict[str, Any]:
    feasible = present(
        min=space.min,
        max=space.max,
        step=space.step,
        list=list(space.values or ()),
        distribution=space.distribution if space.distribution != "uniform" else None,
    )
    return {"name": name, "parameterType": space.kind, "feasibleSpace": feasible}
