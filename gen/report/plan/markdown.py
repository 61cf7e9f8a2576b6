"""A plan as a comment on a pull request: what matters first, the rest folded, never more than a comment may have.

Whatever comes from a job file stands in a code span or a code block whose fence is longer than any in it: no Markdown,
HTML, link or mention in there means anything. The first line stays the same, so that CI can find the comment again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.report.plan.groups import groups
from gen.report.plan.phrases import demand_of, headline, held, load_hours, run_demand, sections, summary
from gen.report.safe import shown
from gen.review.data import DataAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.diagnostics import Diagnostic
    from gen.report.plan.groups import Group
    from gen.review.runs import Run
    from gen.review.types import Review
    from gen.review.usage import Usage

MARKER = "<!-- gen plan -->"
LIMIT = 65_000
"""Characters; GitHub allows 65,536 in a comment, and CI may add a line of its own."""
_RESERVE = 1500
"""Characters kept for saying what was left out."""
_NAMES = 20
"""Objects of one group that are named."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the comment that can lose its last blocks."""

    title: str
    head: str
    blocks: Sequence[str]
    foot: str
    share: float = 1.0
    """How much of what is left it may take."""


def as_markdown(review: Review) -> str:
    top, parts = _top(review), list(_parts(review))
    free = LIMIT - _RESERVE - len(top)
    texts: list[str] = []
    for part in parts:
        texts.append(_fitted(part, int(free * part.share))[0])
        free -= len(texts[-1])
    left_out: list[str] = []
    for index, part in enumerate(parts):  # what the later ones did not need
        free += len(texts[index])
        texts[index], missing = _fitted(part, free)
        free -= len(texts[index])
        left_out += [f"{missing} of {part.title}"] if missing else []
    said = f"\nLeft out, for a comment has its limit: {'; '.join(left_out)}. `gen plan` shows them.\n"
    return top + "".join(texts) + (said if left_out else "")


def _fitted(part: _Part, room: int) -> tuple[str, int]:
    room -= len(part.head) + len(part.foot)
    taken = 0
    for block in part.blocks:
        if len(block) > room:
            break
        room -= len(block)
        taken += 1
    missing = len(part.blocks) - taken
    return (part.head + "".join(part.blocks[:taken]) + part.foot if taken else ""), missing


def _top(review: Review) -> str:
    verdict = "refused: " if review.refused else ""
    against = f"Against {code(review.base.commit[:10])}, where the branch left {code(review.base.ref)}."
    rows = "".join(f"| {name} | {answer} |\n" for name, answer in summary(review))
    return f"{MARKER}\n### {verdict}{headline(review)}\n\n| | |\n|---|---|\n{rows}\n{against}\n"


def _parts(review: Review) -> Iterator[_Part]:
    errors = [finding for finding in review.findings if finding.severity.value == "error"]
    warnings = [finding for finding in review.findings if finding.severity.value != "error"]
    if errors:
        yield _Part("the errors", "\n**Must not be merged so:**\n\n", [_finding(item) for item in errors], "", 0.4)
    if warnings:
        yield _details(f"Warnings ({len(warnings)})", "", [_finding(item) for item in warnings], 0.2)
    for title, runs in sections(review):
        head = "| overlay | run | | asks for |\n|---|---|---|---|\n"
        yield _details(title.capitalize(), head, [_run(run) for run in runs], 0.4)
    touched = [data for data in review.data if data.action is not DataAction.KEPT]
    if touched:
        keys = ((data.action.value, data.pair.item.key) for data in touched)
        rows = [f"| {action} | {cell(key.scope)} | {cell(key.object)} |\n" for action, key in keys]
        yield _details(f"Data ({len(touched)})", "| | overlay | object |\n|---|---|---|\n", rows, 0.4)
    yield from _usage([row for row in review.usage if row.before != row.after])
    found = groups(review)
    if found:
        yield _details(f"Differences ({len(found)})", "", [_group(group) for group in found], 1.0)


def _details(title: str, head: str, blocks: Sequence[str], share: float) -> _Part:
    return _Part(f"“{title}”", f"\n<details><summary>{title}</summary>\n\n{head}", blocks, "\n</details>\n", share)


def _finding(finding: Diagnostic) -> str:
    return f"- {code(finding.code)} at {code(str(finding.place))}: {code(finding.message)}\n  {code(finding.hint)}\n"


def _run(run: Run) -> str:
    side = run.after or run.before
    notes = [held(run)] if held(run) else []
    if run.pair.replaced and run.pair.before is not None:
        notes.append(f"replaces {cell(run.pair.before.key.name)}")
    queue = f", queue {cell(side.queue)}" if side is not None and side.queue else ""
    name = cell(f"{run.key.namespace}/{run.key.name}")
    asks = f"{cell(run.key.kind)}, {run_demand(demand_of(run))}{queue}"
    return f"| {cell(run.key.scope)} | {name} | {', '.join(notes)} | {asks} |\n"


def _usage(rows: Sequence[Usage]) -> Iterator[_Part]:
    head = "| overlay | namespace | queue | GPUs | limit | GPU-hours at most |\n|---|---|---|---|---|---|\n"
    if rows:
        yield _details(
            f"GPUs of active runs, where they change ({len(rows)})", head, [_usage_row(row) for row in rows], 0.4
        )


def _usage_row(row: Usage) -> str:
    place, limit = row.place, "none" if row.limit is None else str(row.limit)
    names = " | ".join(cell(name) if name else "none" for name in (place.overlay, place.namespace, place.queue))
    gpus = f"{row.before.gpus} → {row.after.gpus}"
    return f"| {names} | {gpus} | {limit} | {load_hours(row.before)} → {load_hours(row.after)} |\n"


def _group(group: Group) -> str:
    names = list(group.names)
    listed = ", ".join(code(name) for name in names[:_NAMES])
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    head = f"\n{group.change.value} {code(group.kind)}: {listed}{more}\n"
    return f"{head}\n{block(group.lines)}" if group.lines else head


def block(lines: Iterable[str]) -> str:
    """A code block that nothing in it can end."""
    text = "".join(f"{line}\n" for line in lines)
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}diff\n{text}{fence}\n"


def code(text: str) -> str:
    """A code span that nothing in it can end; a line, never empty."""
    line = shown(text).strip() or "(empty)"
    fence = "`" * (_longest_ticks(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def cell(text: str) -> str:
    """A code span in a table, where `|` ends the cell even inside of it."""
    return code(text).replace("|", "\\|")


def _longest_ticks(text: str) -> int:
    return max((len(ticks) for ticks in re.findall("`+", text)), default=0)
