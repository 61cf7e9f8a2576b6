"""The plan of a pipeline with its steps. Checks the overlay and the kinds of the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from gen.findings.files import TOO_LARGE
from gen.findings.grants import NO_PIPELINES
from gen.findings.jobs import INVALID_VALUE
from gen.kinds.plan import StepPlan
from gen.render.parse.job import is_definition
from gen.render.plan.definition import MOST_DEFINED, check_defined, params_of, plan_definition
from gen.render.plan.outlasting import check_followed
from gen.render.plan.step_results import plan_results, uses
from gen.render.plan.steps_named_later import check_named_later
from gen.resources.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.kinds.plan import Plan
    from gen.overlay.overlay import Overlay
    from gen.render.expand import Expanded
    from gen.render.job_run import ExpandedStep, JobRun
    from gen.render.plan.lookups import Pins

_MOST_BYTES = 1 << 20
"""Limit for the fields of all steps. etcd takes objects of 1.5 MiB, and Argo adds the status of the nodes."""


def plan_steps(
    one: Expanded, plan: Plan | None, plans: Sequence[Plan | None], overlay: Overlay, pins: Pins | None
) -> Plan | None:
    """The plan of a pipeline with those of its steps; None if it cannot be rendered."""
    definition = plan_definition(one, overlay, pins)
    _check_overlay(one, overlay)
    if plan is None or one.run is None:
        return None
    check_followed(one.steps)
    for step in one.steps:
        _check_kind(step, one)
        check_defined(step, one)
    size = len(orjson.dumps(one.run.given.data["steps"]))
    most = _MOST_BYTES if definition is None else MOST_DEFINED
    if size > most:
        message = f"the steps have {size} bytes in total; the maximum is {most}"
        one.found.error(TOO_LARGE, one.run.given.place("steps", key=True), message, "keep long texts on a volume")
    for step, own in zip(one.steps, plans, strict=True):
        if own is not None:
            check_named_later(step, own)
    both = zip(one.steps, plans, strict=True)
    plan = replace(plan, definition=definition)
    known = [_step_plan(step, own, plan, overlay, pins) for step, own in both if own is not None]
    if len(known) < len(plans) or one.found.failed():
        return None
    return replace(
        plan,
        steps=tuple(known),
        pins={f"{step.name} {name}": pin for step in known for name, pin in step.plan.pins.items()},
        storage=tuple(sorted({*plan.storage, *(name for step in known for name in step.plan.storage)})),
        service_account=overlay.argo.service_account if overlay.argo is not None else None,
    )


def _step_plan(step: ExpandedStep, own: Plan, plan: Plan, overlay: Overlay, pins: Pins | None) -> StepPlan:
    """A step is active while its pipeline is suspended, which starts no more steps."""
    assert step.run is not None  # noqa: S101 - it has a plan
    state = "finished" if plan.state == "finished" else "active"
    results = plan_results(step, own, overlay, pins, plan.definition)
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
        params=params_of(step),
    )


def _check_overlay(one: Expanded, overlay: Overlay) -> None:
    if overlay.argo is None and one.run is not None and not _is_defined(one.run):
        message = f"overlay `{overlay.name}` has no `pipelines`"
        hint = "add `pipelines: {argo: {serviceAccount: …}}` to the overlay, or exclude the job in `select`"
        one.found.error(NO_PIPELINES, one.run.given.place("kind"), message, hint)


def _is_defined(run: JobRun) -> bool:
    return is_definition(type(run.given.job), run.given.data)


def _check_kind(step: ExpandedStep, one: Expanded) -> None:
    """A workflow must know when the object of a step has ended."""
    if step.run is not None and waiting(step.run.given.job.facts) is None and one.run is not None:
        facts = step.run.given.job.facts
        message = f"a {facts.kind} cannot be a step: Argo Workflows has no condition for its end"
        hint = "declare a `phase` in its `status`, with words of letters and digits; or use another kind"
        step.found.error(INVALID_VALUE, step.run.given.place("kind"), message, hint)
