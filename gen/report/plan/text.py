"""A plan for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.plan.groups import groups
from gen.report.plan.phrases import demand_of, headline, held, load_hours, run_demand, sections, summary
from gen.report.safe import shown
from gen.report.text import finding_lines
from gen.review.data import DataAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.report.plan.groups import Group
    from gen.review.runs import Run
    from gen.review.types import Review
    from gen.review.usage import Usage

_LISTED = 40
"""Objects of one list, and differences, that are shown."""


def as_text(review: Review) -> str:
    return "".join(f"{line}\n" for line in _lines(review))


def _lines(review: Review) -> Iterator[str]:
    yield headline(review)
    yield shown(f"against {review.base.commit[:10]}, where the work tree left {review.base.ref}")
    yield ""
    for name, answer in summary(review):
        yield f"{name:<14}{answer}"
    if review.findings:
        yield ""
    for finding in review.findings:
        yield from finding_lines(finding)
    for title, runs in sections(review):
        yield from ("", f"{title}:")
        yield from _cut([_run(run) for run in runs])
    yield from _data(review)
    yield from _usage(review.usage)
    yield from _groups(groups(review))


def _run(run: Run) -> str:
    side = run.after or run.before
    name = f"{run.key.scope} {run.key.namespace}/{run.key.name}"
    parts = [f"{run.key.kind}, {run_demand(demand_of(run))}"]
    if side is not None and side.queue:
        parts.append(f"queue {side.queue}")
    if held(run):
        parts.append(held(run))
    if run.pair.replaced and run.pair.before is not None:
        parts.append(f"replaces {run.pair.before.key.name}")
    return "  " + shown(f"{name}  {', '.join(parts)}")


def _data(review: Review) -> Iterator[str]:
    touched = [data for data in review.data if data.action is not DataAction.KEPT]
    if touched:
        yield from ("", "data:")
        lines = (
            f"  {data.action.value:<9}" + shown(f"{data.pair.item.key.scope} {data.pair.item.key.object}")
            for data in touched
        )
        yield from _cut(list(lines))


def _usage(rows: Iterable[Usage]) -> Iterator[str]:
    changed = [row for row in rows if row.before != row.after]
    if not changed:
        return
    titles = ("overlay", "namespace", "queue", "GPUs", "limit", "GPU-hours at most")
    table = [titles, *(_row(row) for row in changed)]
    widths = [max(len(row[column]) for row in table) for column in range(len(titles))]
    yield from ("", "GPUs of active runs, where they change:")
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    yield from _cut([f"  {line}".rstrip() for line in lines])


def _row(row: Usage) -> tuple[str, ...]:
    limit = "none" if row.limit is None else str(row.limit)
    gpus, hours = f"{row.before.gpus} → {row.after.gpus}", f"{load_hours(row.before)} → {load_hours(row.after)}"
    place = row.place
    return (*(shown(name) for name in (place.overlay, place.namespace, place.queue or "none")), gpus, limit, hours)


def _groups(found: list[Group]) -> Iterator[str]:
    for group in found[:_LISTED]:
        yield from ("", f"{group.change.value} {group.kind}:")
        yield from _cut([f"  {name}" for name in group.names])
        yield from (f"    {line}" for line in group.lines)
    if len(found) > _LISTED:
        yield from ("", f"… and {len(found) - _LISTED} more differences; --output json has all")


def _cut(lines: list[str]) -> Iterator[str]:
    yield from lines[:_LISTED]
    if len(lines) > _LISTED:
        yield f"  … and {len(lines) - _LISTED} more"
