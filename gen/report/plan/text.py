"""A plan for a terminal: `templates/plan/plan.txt.j2`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from gen.report.escaping import sanitize
from gen.report.findings.text import finding_lines
from gen.report.plan.view import CostView, PlanView, UsageView, plan_view
from gen.report.templates import environment
from gen.review.result import Review

if TYPE_CHECKING:
    from jinja2 import Template

MAX_ENTRIES = 40
"""Entries that are printed of one list."""
_COLUMNS = ("overlay", "namespace", "queue", "GPUs", "quota used", "GPU-hours at most")
_COST_COLUMNS = ("overlay", "namespace", "cost", "budget")


def as_text(review: Review) -> str:
    return text(plan_view(review))


def text(plan: PlanView) -> str:
    return _template().render(plan=plan, limit=MAX_ENTRIES)


@cache
def _template() -> Template:
    filters = {"finding_lines": finding_lines, "pad": str.ljust, "usage_table": usage_table, "cost_table": cost_table}
    return environment(sanitize, filters).get_template("plan/plan.txt.j2")


def usage_table(rows: Iterable[UsageView]) -> list[str]:
    """GPUs as lines of a table."""
    cells = [(row.overlay, row.namespace, row.queue or "none", row.gpus, row.quota, row.hours) for row in rows]
    return _table(_COLUMNS, cells)


def cost_table(rows: Iterable[CostView]) -> list[str]:
    """Costs as lines of a table."""
    return _table(_COST_COLUMNS, [(row.overlay, row.namespace, row.month, row.budget) for row in rows])


def _table(heading: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines with columns of equal width."""
    table = [heading, *(tuple(map(sanitize, row)) for row in cells)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
