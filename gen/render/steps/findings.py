"""The findings about the steps of a pipeline, each placed in the step or in the common field that it is about."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from gen.diagnostics import counted
from gen.findings.jobs import NO_EFFECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.diagnostics import Diagnostic, Findings, Location
    from gen.load import Data
    from gen.render.job_run import ExpandedStep, JobRun


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
