"""The steps of a pipeline: each is read like a job, with the fields of the pipeline below its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace
from pydantic import ValidationError

from gen.diagnostics import Findings
from gen.findings.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT, UNKNOWN_KIND
from gen.kinds import KINDS
from gen.kubernetes import MAX_NAME
from gen.load import Layer, Layers, lay_over
from gen.model.annotations import fields_at
from gen.model.explain import explain
from gen.model.step import STEPS_HAVE, Order
from gen.render.job_run import ExpandedStep, JobRun
from gen.render.parse.job import WrittenJob, chosen, named_kind, named_later, parse_run, unknown_kind
from gen.render.parse.unused_params import used_params
from gen.render.plan.names import MORE_TIME
from gen.render.run_names import most_characters
from gen.render.run_values import RunValues
from gen.render.steps.order import check_name, check_needs, in_order, report_cycle
from gen.render.steps.results import References

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Location
    from gen.kinds.pipeline import PipelineJob
    from gen.load import Data
    from gen.render.parse.job import JobInput

_ORDER = frozenset(str(field.alias) for field in Order.model_fields.values())
_INHERITED = frozenset({"params", "name"})
"""Fields of a pipeline that its steps have, too. Not its labels: a new label must not change the workflow."""


def step_runs(written: WrittenJob, given: JobInput, run: str, found: Findings) -> tuple[ExpandedStep, ...]:
    """The steps of a pipeline, each after those that it needs; `run` is the name of its run without the hash."""
    names = cast("PipelineJob", given.job).steps
    steps = [_step(written, given, run, name) for name in names]
    by_name = {step.name: step for step in sorted(steps, key=lambda step: step.name)}
    for step in by_name.values():
        check_name(step.name, written, by_name, found)
        check_needs(step, written, cast("dict[str, Data]", written.data["steps"]), found)
    _check_common(written, given, found)
    ordered = in_order(by_name)
    if len(ordered) < len(by_name) and not found.failed():
        report_cycle({name: step for name, step in by_name.items() if name not in ordered}, written, found)
    return tuple(ordered.values())


def most_for_steps(steps: Data | None, *, scheduled: bool) -> int:
    """The longest name of a run without its hash that leaves room for the names of all steps."""
    known = steps.items() if isinstance(steps, dict) else ()
    found = [MAX_NAME]
    more = MORE_TIME if scheduled else 0
    for name, fields in known:
        kind = fields.get("kind") if isinstance(fields, dict) else None
        if isinstance(kind, str) and kind in KINDS:
            roles = fields_at(KINDS[kind], ("roles",))
            found.append(most_characters(KINDS[kind].facts, roles, hashed=True) - len(name) - 1 - more)
    return max(min(found), 1)


def _step(written: WrittenJob, given: JobInput, run: str, name: str) -> ExpandedStep:
    found = Findings()
    fields = cast("dict[str, dict[str, Data]]", written.data["steps"])[name]
    own = Layer(written.source, ("steps", name))
    order = _order(fields, Layers((own,)), found)
    kind = _kind(fields, own, written, found)
    if kind is None:
        return ExpandedStep(name=name, order=order, run=None, found=found)
    for field in fields:
        if field in given.job.own_fields and field not in STEPS_HAVE:
            message = f"a step cannot have `{field}`, which is a field of the pipeline as a whole"
            hint = f"remove it, or set `{field}` for the whole pipeline, next to `steps`"
            found.error(INVALID_VALUE, own.find((field,)).key, message, hint)
    overlay = written.overlay
    layers = Layers((own, Layer(written.source), *(overlay.layers_of(kind) if overlay is not None else ())))
    data = _data(written, given, kind, fields)
    every = cast("dict[str, Data]", written.data["steps"])
    references = References(step=name, order=order, steps=every, layers=layers, found=found)
    data = cast("dict[str, Data]", references.replaced(data))
    later = named_later(written.model, written.data)
    one = replace(written, model=KINDS[kind], kind=kind, data=data, layers=layers, step=name, later=later)
    params = {**(given.own.params if given.own is not None else {}), **chosen(written.model, written.data)}
    read = parse_run(one, found, RunValues(name=run, params=params))
    _check_params(fields, data, own, found)
    _check_chosen(fields, chosen(written.model, written.data), own, found)
    job_run = (
        JobRun(given=read, name=f"{run}-{name}", step=name, pipeline=run, later=later) if read is not None else None
    )
    return ExpandedStep(name=name, order=order, run=job_run, found=found)


def _order(fields: Mapping[str, Data], layers: Layers, found: Findings) -> Order:
    written = {field: value for field, value in fields.items() if field in _ORDER}
    try:
        return Order.model_validate(written)
    except ValidationError as error:
        explain(error, Order, layers, found)
        return Order()


def _kind(fields: Mapping[str, Data], own: Layer, written: WrittenJob, found: Findings) -> str | None:
    def place() -> Location:
        return own.find(("kind",)).value

    kind = fields.get("kind")
    if kind is None:
        hint = f"add `kind`: {', '.join(f'`{name}`' for name in KINDS if not KINDS[name].own_fields)}"
        found.error(MISSING_FIELD, own.find(()).key, "`kind` of the step is missing", hint)
    elif not isinstance(kind, str) or kind not in KINDS:
        found.error(UNKNOWN_KIND, place(), *unknown_kind(dict(fields), kind))
    elif KINDS[kind].own_fields:
        message = f"a step cannot be a `{kind}`"
        found.error(INVALID_VALUE, place(), message, "write the steps of that pipeline as steps of this one")
    elif written.overlay is None or named_kind(kind, place, written.overlay, found):
        return kind
    return None


def _data(written: WrittenJob, given: JobInput, kind: str, fields: Mapping[str, Data]) -> dict[str, Data]:
    """The fields of a step: its own, those of the pipeline, and the defaults of the overlay."""
    beside = given.job.own_fields - _INHERITED
    defaults = written.overlay.defaults_of(kind) if written.overlay is not None else {}
    whole = cast("dict[str, Data]", written.source.data)
    common = {name: value for name, value in whole.items() if name not in beside}
    base = {name: value for name, value in defaults.items() if name not in beside}
    own = {name: value for name, value in fields.items() if name not in _ORDER}
    return lay_over(
        lay_over(base, common), {name: value for name, value in own.items() if name not in beside - STEPS_HAVE}
    )


def _check_params(fields: Mapping[str, Data], data: Mapping[str, Data], own: Layer, found: Findings) -> None:
    params = fields.get("params")
    if not isinstance(params, dict):
        return
    used = used_params(data, params)
    for name in params:
        if name not in used:
            message = f"no expression of the step uses the parameter `{name}`"
            hint = f"use it as `{{{{ params.{name} }}}}`, or remove it"
            found.warning(NO_EFFECT, own.find(("params", name)).key, message, hint)


def _check_chosen(fields: Mapping[str, Data], names: Iterable[str], own: Layer, found: Findings) -> None:
    """A value of the step would hide the one that is chosen when a run starts."""
    params = fields.get("params")
    for name in names:
        if isinstance(params, dict) and name in params:
            message = f"the step cannot set `{name}`: `kfp.params` opens it for people who start runs"
            hint = "remove it from the step, or from `kfp.params`"
            found.error(INVALID_VALUE, own.find(("params", name)).key, message, hint)


def _check_common(written: WrittenJob, given: JobInput, found: Findings) -> None:
    """Report fields of the pipeline that every step replaces."""
    whole = cast("dict[str, Data]", written.source.data)
    steps = [fields for fields in cast("dict[str, Data]", whole["steps"]).values() if isinstance(fields, dict)]
    for field, value in whole.items():
        if field not in given.job.own_fields and all(_replaced(value, step.get(field)) for step in steps):
            message = f"`{field}` has no effect: every step sets its own"
            hint = f"remove it, or remove `{field}` from a step"
            found.error(NO_EFFECT, written.place(field, key=True), message, hint)


def _replaced(value: Data, own: Data | None) -> bool:
    """Whether nothing is left of a field; mappings are merged by key."""
    if isinstance(value, dict) and isinstance(own, dict):
        return bool(value) and value.keys() <= own.keys()
    return own is not None
