"""The steps of a pipeline, each expanded like a job with the fields of the pipeline below its own; and their order.

A reference to the result of another step, such as `{{ steps.train.results.best }}`, becomes a placeholder, which the
seal stage writes as a parameter of Argo Workflows. It can only be used where a job can write any text: in commands,
arguments and variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.base import Findings, Location, Route, as_mapping, at, did_you_mean, regex
from gen.base.codes.jobs import INVALID_EXPRESSION, INVALID_VALUE, MISSING_FIELD, NO_EFFECT, UNKNOWN_KIND
from gen.base.placeholders import result
from gen.base.yaml.layers import Layer, Layers, lay_over
from gen.base.yaml.strict import Data
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.pipeline import EXIT, MAIN, RESULTS, STEPS_HAVE, WAIT, Order, PipelineJob
from gen.job.model import fields_at
from gen.job.plan import StarterPlan
from gen.job.synonyms import normal
from gen.job.validation_errors import explain
from gen.kubernetes.facts.pods import is_derived
from gen.kubernetes.objects import MAX_NAME
from gen.render.job_run import ExpandedStep, JobInput, JobRun, RunValues, WrittenJob
from gen.render.model import named_kind, parse_run, unknown_kind
from gen.render.parts.names import most_characters
from gen.render.starters import starter_of
from gen.render.starters.start_values import is_free
from gen.render.text_mistakes import warn_unused_params

if TYPE_CHECKING:
    import re


_OWN = {MAIN: "the graph of the steps", EXIT: "the node that sends a message at the end"}
_NODES = {WAIT: "waits for", RESULTS: "reads the results of"}
_REFERENCE: Final = regex(r"\{\{-?\s*steps\.(?P<step>[A-Za-z0-9_-]+)\.results\.(?P<name>[A-Za-z0-9_-]+)\s*-?\}\}")
_ORDER = frozenset(str(field.alias) for field in Order.model_fields.values())
_INHERITED = frozenset({"params", "name"})
"""Fields of a pipeline that its steps have, too. Not its labels: a new label must not change the workflow."""


def step_runs(written: WrittenJob, given: JobInput, run: str, found: Findings) -> tuple[ExpandedStep, ...]:
    """The steps of a pipeline, each after those that it needs; `run` is the name of its run without the hash."""
    names = cast("PipelineJob", given.job).steps
    steps = [_step(written, given, run, name) for name in names]
    by_name = {step.name: step for step in sorted(steps, key=lambda step: step.name)}
    for step in by_name.values():
        _check_name(step.name, written, by_name, found)
        _check_needs(step, written, cast("dict[str, Data]", written.data["steps"]), found)
    _check_common(written, given, found)
    ordered = tuple(_in_order(by_name, written, found))
    for step in by_name.values():
        if step not in ordered:
            found.extend(step.found)
    return ordered


def most_for_steps(steps: Data | None, starter: type[StarterPlan]) -> int:
    """The longest name of a run without its hash that leaves room for the names of all steps."""
    known = steps.items() if isinstance(steps, dict) else ()
    found = [MAX_NAME]
    for name, fields in known:
        kind = fields.get("kind") if isinstance(fields, dict) else None
        if isinstance(kind, str) and kind in ALL_KINDS:
            roles = fields_at(ALL_KINDS[kind], ("roles",))
            found.append(
                most_characters(ALL_KINDS[kind].facts, roles, hashed=True) - len(name) - 1 - starter.run_digits
            )
    return max(min(found), 1)


def _step(written: WrittenJob, given: JobInput, run: str, name: str) -> ExpandedStep:
    found = Findings()
    fields = cast("dict[str, dict[str, Data]]", written.data["steps"])[name]
    own = Layer(written.source, ("steps", name))
    kind = _kind(fields, own, written, found)
    of_order = {field for field in fields if field in _ORDER or (kind is not None and _is_of_order(field, kind))}
    order = _order({field: fields[field] for field in of_order}, Layers((own,)), found)
    if kind is None:
        return ExpandedStep(name=name, order=order, run=None, found=found)
    for field in fields:
        if field in given.job.own_fields and field not in STEPS_HAVE:
            message = f"a step cannot have `{field}`, which is a field of the pipeline as a whole"
            hint = f"remove it, or set `{field}` for the whole pipeline, next to `steps`"
            found.error(INVALID_VALUE, own.find((field,)).key, message, hint)
    overlay = written.overlay
    layers = Layers((own, Layer(written.source), *(overlay.layers_of(kind) if overlay is not None else ())))
    own_values = {field: value for field, value in fields.items() if field not in of_order}
    data = _data(written, given, kind, own_values)
    every = cast("dict[str, Data]", written.data["steps"])
    references = _References(step=name, order=order, steps=every, layers=layers, found=found)
    data = cast("dict[str, Data]", references.replaced(data))
    starter = starter_of(written.model, written.data)
    later = starter if starter.named_later else None
    one = replace(written, model=ALL_KINDS[kind], kind=kind, data=data, layers=layers, step=name, later=later)
    params = {**(given.own.params if given.own is not None else {}), **starter.step_params(written.data)}
    own_fields = {name: value for name, value in given.own.fields.items() if name == "resume"} if given.own else {}
    read = parse_run(one, found, RunValues(name=run, params=params, fields=own_fields))
    warn_unused_params(fields, data, lambda route: own.find(route).key, found, "expression of the step")
    _check_chosen(fields, starter.step_params(written.data), own, found)
    job_run = (
        JobRun(given=read, name=f"{run}-{name}", step=name, pipeline=run, later=later) if read is not None else None
    )
    return ExpandedStep(name=name, order=order, run=job_run, found=found)


def _is_of_order(name: str, kind: str) -> bool:
    """Whether an unknown field of a step is the name of another tool for one of its order."""
    return normal(name) in Order.synonyms and name not in fields_at(ALL_KINDS[kind], ())


def _order(fields: Mapping[str, Data], layers: Layers, found: Findings) -> Order:
    """From the fields of the order, and those that have another name in other tools, which are errors."""
    try:
        return Order.model_validate(fields)
    except ValidationError as error:
        wrong = {route[0] for route in explain(error, Order, layers, found)}
        if "needs" in wrong or "needs" not in fields:  # `when` depends on it
            wrong.add("when")
        return Order.model_validate({name: value for name, value in fields.items() if name not in wrong})


def _kind(fields: Mapping[str, Data], own: Layer, written: WrittenJob, found: Findings) -> str | None:
    def place() -> Location:
        return own.find(("kind",)).value

    kind = fields.get("kind")
    if kind is None:
        hint = f"add `kind`: {', '.join(f'`{name}`' for name in ALL_KINDS if not ALL_KINDS[name].own_fields)}"
        found.error(MISSING_FIELD, own.find(()).key, "`kind` of the step is missing", hint)
    elif not isinstance(kind, str) or kind not in ALL_KINDS:
        found.error(UNKNOWN_KIND, place(), *unknown_kind(dict(fields), kind))
    elif ALL_KINDS[kind].own_fields:
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
    return lay_over(
        lay_over(base, common), {name: value for name, value in fields.items() if name not in beside - STEPS_HAVE}
    )


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


def _check_name(name: str, written: WrittenJob, steps: Mapping[str, ExpandedStep], found: Findings) -> None:
    place = written.place("steps", name, key=True)
    if name in _OWN:
        message = f"`{name}` is the name of {_OWN[name]}"
        found.error(INVALID_VALUE, place, message, "choose another name for the step")
    for end, task in _NODES.items():
        if name.endswith(end) and name.removesuffix(end) in steps:
            message = f"`{name}` is the name of the node that {task} the step `{name.removesuffix(end)}`"
            found.error(INVALID_VALUE, place, message, "choose another name for one of the two steps")
    for other in _operated(name, steps):
        message = f"the operator of the step `{other}` gives the name `<run>-{name}` to one of its objects"
        found.error(INVALID_VALUE, place, message, "choose another name for one of the two steps")


def _operated(name: str, steps: Mapping[str, ExpandedStep]) -> Iterator[str]:
    """The steps with operators that make an object with the same name."""
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


def _in_order(steps: Mapping[str, ExpandedStep], written: WrittenJob, found: Findings) -> Iterator[ExpandedStep]:
    """Steps after those that they need, otherwise by name; without those in a cycle, and what needs them."""
    needed = {name: [need for need in step.order.needs if need in steps] for name, step in steps.items()}
    sorter = TopologicalSorter(needed)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1][1:]))
        if circle[1:]:  # a step that needs itself is reported already
            _report_cycle(circle, written, found)
    while ready := sorted(sorter.get_ready()):
        yield from (steps[name] for name in ready)
        sorter.done(*ready)


def _report_cycle(circle: list[str], written: WrittenJob, found: Findings) -> None:
    first = circle.index(min(circle))
    path = [*circle[first:], *circle[: first + 1]]
    message = f"the steps wait for each other: {' → '.join(f'`{name}`' for name in path)}"
    found.error(INVALID_VALUE, written.place("steps", path[0], "needs"), message, "remove one of these needs")


class _References(Struct, frozen=True, kw_only=True):
    """Results that the texts of a step may use."""

    step: str
    order: Order
    steps: Mapping[str, Data]
    """All steps of the pipeline, as their authors write them."""
    layers: Layers
    found: Findings

    def replaced(self, data: Data, route: Route = ()) -> Data:
        """The data with placeholders for results. Other places keep the expression, which is then invalid."""
        if isinstance(data, str):
            free = "steps." in data and is_free(route)
            return _REFERENCE.sub(lambda match: self._result(match, route), data) if free else data
        if isinstance(data, dict):
            return {key: self.replaced(value, (*route, key)) for key, value in data.items()}
        return [self.replaced(value, (*route, index)) for index, value in enumerate(data)]

    def _result(self, match: re.Match[str], route: Route) -> str:
        step, name = match["step"], match["name"]
        fault = self._fault(step, name)
        if fault is not None:
            self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, match[0]), *fault)
        return result(step, name)

    def _fault(self, step: str, name: str) -> tuple[str, str] | None:
        """Message and hint."""
        others = [other for other in self.steps if other != self.step]
        known = _results(self.steps.get(step))
        if step == self.step:
            return "a step cannot use a result of its own", "remove the expression from the step"
        if step not in self.steps:
            return f"the pipeline has no step `{step}`", did_you_mean(step, others, otherwise="remove the expression")
        if step not in self.order.needs:
            message = f"the step `{self.step}` does not need `{step}`, so that the result is not known when it starts"
            return message, f"add `{step}` to `needs` of the step"
        if self.order.when != "succeeded":
            message = f"the result of `{step}` may not exist with `when: {self.order.when}`"
            return message, "remove `when`, or read the value from a file on a volume"
        if name not in known:
            otherwise = f"add it to `results` of the step `{step}`"
            return f"the step `{step}` has no result `{name}`", did_you_mean(name, known, otherwise=otherwise)
        return None


def _results(step: Data | None) -> list[str]:
    return [str(name) for name in as_mapping(at(step, "results"))]
