"""The names of steps, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean
from gen.findings.jobs import INVALID_VALUE, NO_EFFECT
from gen.kinds.pipeline import EXIT, MAIN, RESULTS, WAIT
from gen.resources.antichain import ancestors
from gen.resources.names import is_derived

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Findings
    from gen.render.job_run import ExpandedStep
    from gen.render.parse.job import WrittenJob


_OWN = {MAIN: "the graph of the steps", EXIT: "the node that sends a message at the end"}
_NODES = {WAIT: "waits for", RESULTS: "reads the results of"}


def check_name(name: str, written: WrittenJob, steps: Mapping[str, ExpandedStep], found: Findings) -> None:
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


def check_needs(step: ExpandedStep, written: WrittenJob, steps: Mapping[str, object], found: Findings) -> None:
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


def in_order(steps: Mapping[str, ExpandedStep]) -> dict[str, ExpandedStep]:
    """Steps after those that they need, otherwise by name; without those in a cycle, and what needs them."""
    ordered: dict[str, ExpandedStep] = {}
    while ready := [
        step
        for name, step in steps.items()
        if name not in ordered and all(need in ordered or need not in steps for need in step.order.needs)
    ]:
        ordered |= {step.name: step for step in ready}
    return ordered


def report_cycle(steps: Mapping[str, ExpandedStep], written: WrittenJob, found: Findings) -> None:
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
