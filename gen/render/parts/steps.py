"""The steps of a pipeline: their plans and results, the findings about them, and their objects.

A pod reads the results of a step from the log of its first pod, with an expression of `sed` for each value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, cast

import orjson
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, counted, with_other
from gen.base.codes.commands import NO_NEEDS
from gen.base.codes.files import TOO_LARGE
from gen.base.codes.grants import NO_PIPELINES
from gen.base.codes.jobs import INVALID_VALUE, NO_EFFECT
from gen.base.engines import RECORDS
from gen.base.placeholders import RUN, results_in
from gen.base.yaml.strict import Data
from gen.job.kinds.pipeline import FOLDER
from gen.job.metric import KnownMetric, known_metrics
from gen.job.plan import Plan, ResultsPlan, StarterPlan, StepPlan
from gen.kubernetes.check.silence import warn
from gen.kubernetes.facts.state import waiting
from gen.kubernetes.objects import COMPONENT, RUN_LABEL, STEP_LABEL, WORKFLOW_LABEL
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins, RunPins
from gen.render.check import apply_policies, field_of_route
from gen.render.job_run import ExpandedRun, ExpandedStep, JobRun
from gen.render.parts import containers, grants
from gen.render.parts.context import Context, first_pod
from gen.render.results import PatchedObjects, ValidObjects
from gen.render.starters import starter_of
from gen.render.starters.start_values import check_step
from gen.render.work import PlannedRun

_NUMBER: Final = r"([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?)"
_TEXT: Final = r"([A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*)"
"""No text that a shell or a template could read as anything else, and no option of a program."""
_VALUE: Final = rf"""({_TEXT}|"{_TEXT}"|'{_TEXT}')[[:blank:]]*"""
_BEFORE_NAME: Final = "^(.*[^A-Za-z0-9_./@%+-])?"
_BEFORE_NUMBER: Final = "^(.*[^A-Za-z0-9_.+-])?"
_BETWEEN: Final = """["']?[[:blank:]]*[=:][[:blank:]]*["']?"""
_OF_LINE: Final = rf"[[:blank:]]*[=:][[:blank:]]*{_VALUE}$"
_OF_JSON: Final = rf"""["'][[:blank:]]*:[[:blank:]]*{_VALUE}([],}}].*)?$"""
"""What follows a name: a value up to the end of the line, or up to that of the entry if the name is in quotes."""


def plan_results(
    step: ExpandedStep, plan: Plan, overlay: Overlay, pins: Pins | None, starter: StarterPlan
) -> ResultsPlan | None:
    """None for a step without results, and for one that cannot have any, which is reported."""
    wanted, run = step.order.results, step.run
    if not wanted or run is None:
        return None
    place = run.given.place("results", key=True)
    fault = _fault(run)
    argo = overlay.argo
    own_image = starter.reader
    image = own_image or (argo.reader if argo is not None else None)
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
    if run.later is not None:
        own[WORKFLOW_LABEL] = run.later.name_of_run
    labels = {**own, **(index if first.role.most > 1 else {})}
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    pairs = (part for name, word in sorted(wanted.items()) for part in (name, expression(word, metrics.get(word))))
    return ResultsPlan(
        image=own_image or grants.of_platform(context, image, "results"),
        command=("sh", "-c", containers.script("read_results.sh"), "results"),
        args=(plan.namespace, selector, plan.container, FOLDER, *map(containers.literal, pairs)),
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
        return f"{job.facts.noun} cannot have `results`: gen does not label the pod with the log", hint
    if job.deleting:
        return f"`{job.deleting}` deletes the pod with the log of the step", "remove it"
    return None


def expression(word: str, metric: KnownMetric | None) -> str:
    """Commands of `sed -nE` that print the value in a line. No name and no pattern of a metric has a `;`."""
    if metric is None:  # a value that the first command has left has no quotes, so that the second one passes it over
        return ";".join(rf"s;{_BEFORE_NAME}{_literal(word)}{one};\3\4\5;p" for one in (_OF_LINE, _OF_JSON))
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


def _check_order(one: ExpandedRun, run: JobRun) -> None:
    """Warn about steps that start all at once."""
    steps = one.steps
    unclear = any(step.order.needs or uses(step) or step.found.failed() for step in steps)
    if len(steps) > 1 and not unclear:
        place = run.given.place("steps", key=True)
        message = f"the {len(steps)} steps start at the same time, because none has `needs`"
        hint = f"add `needs: [{steps[0].name}]` to a step that uses what `{steps[0].name}` writes"
        warn(one.found, run.given.job.annotations, NO_NEEDS, place, message, hint)


def plan_steps(
    one: ExpandedRun, plan: Plan | None, plans: Sequence[Plan | None], overlay: Overlay, pins: Pins | None
) -> Plan | None:
    """The plan of a pipeline with those of its steps; None if it cannot be rendered."""
    run = one.run
    if run is None:
        return None
    starter = starter_of(type(run.given.job), run.given.data)
    started = starter.plan_pipeline(one, plan.starter if plan is not None else None, overlay, pins)
    if plan is None:
        return None
    _check_cleanup(one.steps)
    for step in one.steps:
        _check_kind(step, one)
        starter.check_step(step)
    size = len(orjson.dumps(run.given.data["steps"]))
    if size > starter.most_bytes:
        message = f"the steps have {size} bytes in total; the maximum is {starter.most_bytes}"
        one.found.error(TOO_LARGE, run.given.place("steps", key=True), message, "keep long texts on a volume")
    for step, own in zip(one.steps, plans, strict=True):
        if own is not None:
            check_step(step, own)
    both = zip(one.steps, plans, strict=True)
    if started is not None:
        plan = replace(plan, starter=started)
    known = [_step_plan(step, own, plan, overlay, pins) for step, own in both if own is not None]
    if len(known) < len(plans) or one.found.failed():
        return None
    _check_order(one, run)
    return replace(
        plan,
        steps=tuple(known),
        checkpoints=next((step.plan.checkpoints for step in known if step.plan.checkpoints), ""),
        resumes=next((step.plan.resumes for step in known if step.plan.resumes), ""),
        pins={f"{step.name} {name}": pin for step in known for name, pin in step.plan.pins.items()},
        storage=tuple(sorted({*plan.storage, *(name for step in known for name in step.plan.storage)})),
        service_account=overlay.argo.service_account if overlay.argo is not None else None,
    )


def _step_plan(step: ExpandedStep, own: Plan, plan: Plan, overlay: Overlay, pins: Pins | None) -> StepPlan:
    """A step is active while its pipeline is suspended, which starts no more steps."""
    assert step.run is not None  # it has a plan
    state = plan.state if plan.state in RECORDS else "active"
    results = plan_results(step, own, overlay, pins, plan.starter)
    own = replace(own, state=state, labels=plan.labels, annotations=plan.annotations)
    order = step.order
    return StepPlan(
        name=step.name,
        needs=order.needs,
        when=order.when,
        facts=step.run.given.job.facts,
        plan=own,
        results=results,
        uses=uses(step),
        params=step.params,
    )


def _check_kind(step: ExpandedStep, one: ExpandedRun) -> None:
    """A workflow must know when the object of a step has ended."""
    if step.run is not None and waiting(step.run.given.job.facts) is None and one.run is not None:
        facts = step.run.given.job.facts
        message = f"{facts.noun} cannot be a step: Argo Workflows has no condition for its end"
        hint = "declare a `phase` in its `status`, with words of letters and digits; or use another kind"
        step.found.error(INVALID_VALUE, step.run.given.place("kind"), message, hint)


def _check_cleanup(steps: Sequence[ExpandedStep]) -> None:
    """Report pods that outlive a step which others need."""
    needed = {need: step.name for step in steps for need in step.order.needs}
    for step in steps:
        if step.run is not None and step.name in needed and (field := step.run.given.job.outlasting):
            message = f"`{field}` keeps pods after the end of the step, when `{needed[step.name]}` can start"
            hint = f"remove `{field}`: quotas would not count pods of both"
            step.found.error(INVALID_VALUE, step.run.given.place(field, key=True), message, hint)


def collect(found: Findings, run: JobRun, steps: tuple[ExpandedStep, ...]) -> None:
    """Move the findings of steps to those of their pipeline, each place and code once.

    A field of the pipeline has no effect only if it has none on every step.
    """
    having: dict[tuple[object, str], list[str]] = {}
    for step in steps:
        for key in dict.fromkeys((finding.place, finding.code) for finding in step.found.items):
            having.setdefault(key, []).append(step.name)
    known = {(finding.place, finding.code) for finding in found.items}
    owner = _owner(run)
    for step in steps:
        for finding in step.found.items:
            key = (finding.place, finding.code)
            some = len(having[key]) < len(steps) and owner(finding.place) != step.name
            if key in known or (some and finding.code == NO_EFFECT.name):
                continue
            known.add(key)
            found.items.append(_of_step(finding, having[key]) if some else finding)
        step.found.items.clear()


def _of_step(finding: Diagnostic, names: list[str]) -> Diagnostic:
    others = f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else ""
    hint = with_other(finding.hint, "or set the field in the steps that can have it")
    return replace(finding, message=f"{finding.message} (for step `{names[0]}`{others})", hint=hint)


def _owner(run: JobRun) -> Callable[[Location], str | None]:
    """Find the step with the fields at a place; None for fields of the pipeline, and for other files."""
    source = run.given.source
    data = cast("dict[str, Data]", source.data)
    lines: dict[int, str | None] = {source.place((name,), key=True).line: None for name in data}
    steps = data["steps"] if isinstance(data["steps"], dict) else {}
    lines |= {source.place(("steps", name), key=True).line: name for name in steps}
    ordered = sorted(lines)

    def owner(place: Location) -> str | None:
        index = bisect_right(ordered, place.line)
        return lines[ordered[index - 1]] if index and place.file == source.file else None

    return owner


def with_steps(
    run: PlannedRun, checked: Sequence[tuple[PatchedObjects, ValidObjects] | None]
) -> tuple[PatchedObjects, ValidObjects] | None:
    """The objects of a pipeline with those of its steps; None after an error."""
    parts = [part for part in checked if part is not None]
    if len(parts) == len(run.parts):
        for part, (patched, _) in zip(run.parts, parts, strict=True):
            apply_policies(patched, run.job.overlay, part.found, partial(field_of_route, part.run.given))
    collect(run.one.found, run.parts[0].run, run.one.steps)
    if len(parts) < len(run.parts):
        return None
    whole = PatchedObjects(
        manifests=tuple(manifest for patched, _ in parts for manifest in patched.manifests),
        built=tuple(manifest for patched, _ in parts for manifest in patched.built),
        provenance=tuple(source for patched, _ in parts for source in patched.provenance),
        matched=frozenset().union(*(patched.matched for patched, _ in parts)),
        deletions=frozenset().union(*(patched.deletions for patched, _ in parts)),
    )
    return whole, ValidObjects(tuple(manifest for _, valid in parts for manifest in valid.manifests))
