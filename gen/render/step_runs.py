"""The steps of a pipeline: each is read like a job, with the fields of the pipeline below its own."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.diagnostics import Findings, counted, did_you_mean
from gen.findings.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT, UNKNOWN_KIND
from gen.kinds import KINDS
from gen.kinds.pipeline import MAIN, WAIT
from gen.kubernetes import MAX_NAME
from gen.load import Layer, Layers, lay_over
from gen.model.annotations import fields_at
from gen.model.explain import explain
from gen.model.step import STEPS_HAVE, Order
from gen.render.job_run import JobRun
from gen.render.parse.job import WrittenJob, named_kind, parse_run, unknown_kind
from gen.render.parse.unused_params import used_params
from gen.render.run_names import most_characters
from gen.render.run_values import RunValues
from gen.resources.antichain import ancestors
from gen.resources.names import is_derived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gen.diagnostics import Diagnostic, Location
    from gen.kinds.pipeline import PipelineJob
    from gen.load import Data
    from gen.render.parse.job import JobInput

_ORDER = frozenset(str(field.alias) for field in Order.model_fields.values())
_INHERITED = frozenset({"params", "name"})
"""Fields of a pipeline that its steps have, too. Not its labels: a new label must not change the workflow."""


class ExpandedStep(Struct, frozen=True, kw_only=True):
    """A step of a run, with the findings about it."""

    name: str
    order: Order
    run: JobRun | None
    """None if the step cannot be used at all."""
    found: Findings


def step_runs(written: WrittenJob, given: JobInput, run: str, found: Findings) -> tuple[ExpandedStep, ...]:
    """The steps of a pipeline, each after those that it needs; `run` is the name of its run without the hash."""
    names = cast("PipelineJob", given.job).steps
    steps = [_step(written, given, run, name) for name in names]
    by_name = {step.name: step for step in sorted(steps, key=lambda step: step.name)}
    for step in by_name.values():
        _check_name(step.name, written, by_name, found)
        _check_needs(step, written, cast("dict[str, Data]", written.data["steps"]), found)
    _check_common(written, given, found)
    ordered = _ordered(by_name)
    if len(ordered) < len(by_name) and not found.failed():
        _report_cycle({name: step for name, step in by_name.items() if name not in ordered}, written, found)
    return tuple(ordered.values())


def most_for_steps(steps: Data | None) -> int:
    """The longest name of a run without its hash that leaves room for the names of all steps."""
    known = steps.items() if isinstance(steps, dict) else ()
    found = [MAX_NAME]
    for name, fields in known:
        kind = fields.get("kind") if isinstance(fields, dict) else None
        if isinstance(kind, str) and kind in KINDS:
            roles = fields_at(KINDS[kind], ("roles",))
            found.append(most_characters(KINDS[kind].facts, roles, hashed=True) - len(name) - 1)
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
    data = _data(written, given, kind, fields)
    overlay = written.overlay
    layers = Layers((own, Layer(written.source), *(overlay.layers_of(kind) if overlay is not None else ())))
    one = replace(written, model=KINDS[kind], kind=kind, data=data, layers=layers, step=name)
    params = given.own.params if given.own is not None else {}
    read = parse_run(one, found, RunValues(name=run, params=params))
    _check_params(fields, data, own, found)
    job_run = JobRun(given=read, name=f"{run}-{name}", step=name, pipeline=run) if read is not None else None
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


def _check_name(name: str, written: WrittenJob, steps: Mapping[str, ExpandedStep], found: Findings) -> None:
    place = written.place("steps", name, key=True)
    if name == MAIN:
        message = f"`{MAIN}` is the name of the graph of the steps"
        found.error(INVALID_VALUE, place, message, "choose another name for the step")
    elif name.endswith(WAIT) and name.removesuffix(WAIT) in steps:
        message = f"`{name}` is the name of the node that waits for the step `{name.removesuffix(WAIT)}`"
        found.error(INVALID_VALUE, place, message, "choose another name for one of the two steps")
    for other in _operated(name, steps):
        message = f"the operator of the step `{other}` gives the name `<run>-{name}` to one of its objects"
        found.error(INVALID_VALUE, place, message, "choose another name for one of the two steps")


def _operated(name: str, steps: Mapping[str, ExpandedStep]) -> Iterator[str]:
    """The steps whose operators make an object with the name of that of this step."""
    for other, step in steps.items():
        part = name.removeprefix(other)
        if step.run is not None and part != name and is_derived(step.run.given.job.facts, part):
            yield other


def _check_needs(step: ExpandedStep, written: WrittenJob, steps: Mapping[str, object], found: Findings) -> None:
    route = ("steps", step.name, "needs")
    for index, need in enumerate(step.order.needs):
        if need == step.name:
            found.error(INVALID_VALUE, written.place(*route, index), f"the step `{need}` needs itself", "remove it")
        elif need not in steps:
            hint = did_you_mean(need, [name for name in steps if name != step.name], otherwise="remove it")
            found.error(INVALID_VALUE, written.place(*route, index), f"the pipeline has no step `{need}`", hint)
        elif need in step.order.needs[:index]:
            found.error(INVALID_VALUE, written.place(*route, index), f"`{need}` is listed twice", "remove one")
    if step.order.when != "succeeded" and not step.order.needs:
        message = f"`when: {step.order.when}` has no effect without `needs`"
        place = written.place("steps", step.name, "when", key=True)
        found.error(NO_EFFECT, place, message, "add `needs` with the names of steps, or remove `when`")


def _ordered(steps: Mapping[str, ExpandedStep]) -> dict[str, ExpandedStep]:
    """Steps after those that they need, otherwise by name; without those in a cycle, and what needs them."""
    ordered: dict[str, ExpandedStep] = {}
    while ready := [
        step
        for name, step in steps.items()
        if name not in ordered and all(need in ordered or need not in steps for need in step.order.needs)
    ]:
        ordered |= {step.name: step for step in ready}
    return ordered


def _report_cycle(steps: Mapping[str, ExpandedStep], written: WrittenJob, found: Findings) -> None:
    above: Mapping[str, frozenset[str]] = {name: frozenset(step.order.needs) for name, step in steps.items()}
    circle = [name for name, before in ancestors(above).items() if name in before]
    path = list(_circle(steps, circle))
    message = f"the steps wait for each other: {' → '.join(f'`{name}`' for name in path)}"
    found.error(INVALID_VALUE, written.place("steps", path[0], "needs"), message, "remove one of these needs")


def _circle(steps: Mapping[str, ExpandedStep], within: list[str]) -> Iterator[str]:
    """One circle, from its first step back to that."""
    seen: list[str] = []
    step = within[0]
    while step not in seen:
        seen.append(step)
        step = next(need for need in steps[step].order.needs if need in within)
    yield from seen[seen.index(step) :]
    yield step


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
    hint = f"{finding.hint}; or set the field in the steps that can have it"
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
