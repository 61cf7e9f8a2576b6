"""A plan for a terminal: `templates/plan/plan.txt.j2`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gen.report.escaping import sanitize
from gen.report.findings.text import finding_lines
from gen.report.formats import Planned
from gen.report.plan.phrases import Row
from gen.report.plan.sentences import Sentence
from gen.report.plan.view import CostView, PlanView, RunView, UsageView, plan_view
from gen.report.templates import as_markup, environment
from gen.report.terminal import Terminal, column, table, wrap_line

if TYPE_CHECKING:
    from jinja2 import Template

MAX_ENTRIES = 40
"""Entries that are printed of one list."""
_USAGE = ("overlay", "namespace", "queue", "GPUs", "quota used", "GPU-hours at most")
_COSTS = ("overlay", "namespace", "cost", "budget")
_RUNS = ("run", "overlays", "kind", "pods", "GPUs", "GPU-hours", "cost", "")
_AT_MOST = "at most "
_NUMBERS = {"pods", "GPUs", "GPU-hours"}
_RANKS = {
    name: rank
    for rank, name in enumerate(("run", "overlays", "overlay", "namespace", "GPUs", "cost", "cost at most", "pods"))
}
"""In a narrow terminal, columns that are not named here are left out first."""


def as_text(view: Planned) -> str:
    return text(plan_view(view.data, view.live), view.terminal)


def text(plan: PlanView, terminal: Terminal | None = None) -> str:
    return _template(terminal or Terminal()).render(plan=plan, limit=MAX_ENTRIES)


def _template(terminal: Terminal) -> Template:
    def wrapped(line: str, indent: str = "") -> str:
        first, *rest = wrap_line(line, terminal)
        return "\n".join([first, *(f"{indent}{one.strip()}" for one in rest)])

    def verdict(plan: PlanView) -> str:
        word, style = plan.outcome, "green" if plan.passes else "error"
        codes = f" {', '.join(plan.reasons)};" if plan.refused else ""
        line = wrapped(f"{word}:{codes} {plan.headline}", "    ")
        return terminal.styled(word, style) + line.removeprefix(word)

    def spoken(one: Sentence, number: int | str) -> str:
        mark = f"{number}. " if number else "  "
        return wrapped(f"{mark}{one.text(lambda value: f'`{value}`')}", "   ")

    def summary_row(row: Row) -> str:
        note = f" ({row.note})" if row.note else ""
        return wrapped(f"{row.title:<6}{row.value}{note}", "      ")

    filters = {
        "finding_lines": finding_lines,
        "pad": str.ljust,
        "verdict": as_markup(verdict),
        "spoken": as_markup(spoken),
        "summary_row": as_markup(summary_row),
        "footnote": as_markup(lambda note: wrapped(f"      {note}", "      ")),
        "title": as_markup(lambda title: terminal.styled(f"{title}:", "bold")),
        "runs_table": lambda rows, limit: [*map(as_markup(str), _runs(rows[:limit], terminal, limit))],
        "usage_table": lambda rows: _table(_USAGE, _usage(rows), terminal),
        "cost_table": lambda rows: _table(_COSTS, _costs(rows), terminal),
    }
    return environment(sanitize, filters).get_template("plan/plan.txt.j2")


def _usage(rows: Iterable[UsageView]) -> list[tuple[str, ...]]:
    return [(row.overlay, row.namespace, row.queue or "none", row.gpus, row.quota, row.hours) for row in rows]


def _costs(rows: Iterable[CostView]) -> list[tuple[str, ...]]:
    return [(row.overlay, row.namespace, row.month, row.budget) for row in rows]


def _runs(rows: Sequence[RunView], terminal: Terminal, limit: int) -> Iterator[str]:
    """Lines of a table, with the runs of each row below it."""
    cells: list[tuple[str, ...]] = [
        (row.name, ", ".join(row.overlays), row.kind, row.pods, row.gpus, row.hours, row.cost, _note(row))
        for row in rows
    ]
    names: tuple[str, ...] = _RUNS
    costs = [row.cost for row in rows if row.cost]
    if all(cost.startswith(_AT_MOST) and cost.count(_AT_MOST) == 1 for cost in costs):  # the heading says it once
        names = tuple("cost at most" if name == "cost" else name for name in names)
        cells = [(*head, cost.removeprefix(_AT_MOST), note) for *head, cost, note in cells]
    heading, *lines = _table(names, cells, terminal)
    yield heading
    for row, line in zip(rows, lines, strict=False):
        yield line
        for value in row.values[:limit]:
            yield terminal.fit(f"  {sanitize(value)}")
        if len(row.values) > limit:
            yield f"  … and {len(row.values) - limit} more"
    yield from lines[len(rows) :]


def _note(row: RunView) -> str:
    return ", ".join(f"{one.phrase}{one.value}" for one in row.notes)


def _table(names: tuple[str, ...], cells: Sequence[tuple[str, ...]], terminal: Terminal) -> list[str]:
    """Lines of a table for the terminal, less the indentation; the last one names the columns that are left out."""
    columns = [
        column(
            name,
            texts,
            _RANKS.get(name, len(_RANKS) + index),
            cut=name in ("run", "overlays", "cost", "cost at most", ""),
            right=name in _NUMBERS,
        )
        for index, (name, texts) in enumerate(zip(names, zip(*cells, strict=True), strict=True))
    ]
    width = None if terminal.width is None else terminal.width - 2
    shown = table(columns, Terminal(width=width), {})
    left_out = [name or "notes" for name in shown.left_out]
    return [*shown.lines, *([f"(not shown: {', '.join(left_out)})"] if left_out else [])]
