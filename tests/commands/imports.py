"""A command line of Arena, and the errors of its import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.findings import Severity

if TYPE_CHECKING:
    from gen.report.formats import Report
LINE = "arena submit pytorch --name=new --image=a/b:1 --data=claim:/data 'python train.py'"


def errors(report: Report) -> list[str]:
    return [f"{item.code}: {item.message}" for item in report.findings if item.severity is Severity.ERROR]
