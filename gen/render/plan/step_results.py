"""The results of a step: the pod with the log, and how to find the values in its lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import orjson

from gen.diagnostics import with_article
from gen.findings.grants import NO_PIPELINES
from gen.findings.jobs import INVALID_VALUE
from gen.kinds.pipeline import FOLDER
from gen.kinds.results_plan import ResultsPlan
from gen.kubernetes import COMPONENT, RUN, RUN_LABEL, STEP_LABEL, WORKFLOW_LABEL, results_in
from gen.model.metric import known_metrics
from gen.render.build.scripts import script
from gen.render.plan.context import Context
from gen.render.plan.images import of_platform
from gen.render.plan.lookups import RunPins
from gen.render.plan.places import literal
from gen.render.plan.search import first_pod
from gen.resources import definitions
from gen.resources.workflows import NAME_OF_RUN

if TYPE_CHECKING:
    from gen.kinds.definition_plan import DefinitionPlan
    from gen.kinds.plan import Plan
    from gen.model.metric import KnownMetric
    from gen.overlay.overlay import Overlay
    from gen.render.job_run import ExpandedStep, JobRun
    from gen.render.plan.lookups import Pins

_NUMBER: Final = r"([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?)"
_TEXT: Final = r"([A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*)"
"""No text that a shell or a template could read as anything else, and no option of a program."""
_BEFORE_NAME: Final = "^(.*[^A-Za-z0-9_./@%+-])?"
_BEFORE_NUMBER: Final = "^(.*[^A-Za-z0-9_.+-])?"
_BETWEEN: Final = """["']?[[:blank:]]*[=:][[:blank:]]*["']?"""
_AFTER_TEXT: Final = """([]"',})[:blank:]].*)?$"""


def plan_results(
    step: ExpandedStep, plan: Plan, overlay: Overlay, pins: Pins | None, defined: DefinitionPlan | None
) -> ResultsPlan | None:
    """None for a step without results, and for one that cannot have any, which is reported."""
    wanted, run = step.order.results, step.run
    if not wanted or run is None:
        return None
    place = run.given.place("results", key=True)
    fault = _fault(run)
    argo = overlay.argo
    image = defined.image if defined is not None else argo.reader if argo is not None else None
    if image is None and argo is not None:
        message = f"overlay `{overlay.name}` has no image that reads results"
        hint = "add `pipelines.argo.reader` to the overlay, or write the value to a file on a volume"
        step.found.error(NO_PIPELINES, place, message, hint)
    elif fault is not None:
        step.found.error(INVALID_VALUE, place, *fault)
    first = first_pod(run.given.job.facts, plan.pods)
    grant = overlay.grant(plan.namespace)
    if image is None or fault is not None or first is None or grant is None:
        return None
    context = Context(run, overlay, grant, plan.run, step.found, RunPins(shared=pins))
    metrics = {metric.name: metric for metric in known_metrics(run.given.job.metrics)}
    index = run.given.job.facts.trial.index if run.given.job.facts.trial is not None else {}
    own = {COMPONENT: first.role.name, RUN_LABEL: RUN, STEP_LABEL: step.name}
    if run.later:
        own[WORKFLOW_LABEL] = NAME_OF_RUN if defined is None else definitions.NAME_OF_RUN
    labels = {**own, **(index if first.role.most > 1 else {})}
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    pairs = (part for name, word in sorted(wanted.items()) for part in (name, expression(word, metrics.get(word))))
    return ResultsPlan(
        image=of_platform(context, image, "results") if defined is None else image,
        command=("sh", "-c", script("read_results.sh"), "results"),
        args=(plan.namespace, selector, plan.container, FOLDER, *map(literal, pairs)),
        names=tuple(sorted(wanted)),
    )


def uses(step: ExpandedStep) -> tuple[tuple[str, str], ...]:
    """Results of other steps in the texts of a step."""
    return tuple(results_in(orjson.dumps(dict(step.run.given.data)).decode())) if step.run is not None else ()


def _fault(run: JobRun) -> tuple[str, str] | None:
    """Why a step cannot have results; a message and a hint."""
    job = run.given.job
    hint = "write the value to a file on a volume, and read it in the other step"
    if job.facts.trial is None or not job.facts.pods:
        return f"{with_article(job.facts.kind)} cannot have `results`: gen does not label the pod with the log", hint
    if getattr(job, "cleanup", "") == "All":
        return "`cleanup: All` deletes the pod with the log of the step", "remove `cleanup`"
    return None


def expression(word: str, metric: KnownMetric | None) -> str:
    """A command of `sed -nE` that prints the value in a line. No name and no pattern of a metric has a `;`."""
    if metric is None:
        return rf"s;{_BEFORE_NAME}{_literal(word)}{_BETWEEN}{_TEXT}{_AFTER_TEXT};\2;p"
    pattern = metric.pattern or ""
    parts = [part for part in re.split(r"(\{name\}|\{value\})", pattern) if part]
    line = "".join({"{name}": _literal(word), "{value}": _NUMBER}.get(part) or _literal(part) for part in parts)
    if not pattern or pattern.startswith("{name}"):
        return rf"s;{_BEFORE_NAME}{line or _literal(word) + _BETWEEN + _NUMBER}.*$;\2;p"
    return rf"s;{_BEFORE_NUMBER if pattern.startswith('{value}') else '^(.*)'}{line}.*$;\2;p"


def _literal(text: str) -> str:
    """The text in an extended regular expression; a blank matches any number of blanks."""
    escaped = (char if char.isalnum() or not char.isascii() else r"\^" if char == "^" else f"[{char}]" for char in text)
    return re.sub(r"(?:\[ \])+", "[[:blank:]]+", "".join(escaped))
