"""Run `gen validate` on one text, and extract parts of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes.rules import RuleSource
from gen.kubernetes.rules.catalogue import RULES
from tests.support import validated

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.formats import Report

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: main
      image: b
"""


def inspect(tmp_path: Path, text: str | bytes, name: str = "a.yaml", **options: Any) -> tuple[Report, int]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return validated(str(path), **options)


def codes(tmp_path: Path, text: str | bytes, **options: Any) -> list[str]:
    return [finding.code for finding in inspect(tmp_path, text, **options)[0].findings]


def places(report: Report) -> list[tuple[str, int, int]]:
    return [(finding.code, finding.place.line, finding.place.column) for finding in report.findings]


def refused(report: Report) -> list[str]:
    """Codes of findings, except those of GitOps rules."""
    return [one.code for one in report.findings if RULES[one.code].source is not RuleSource.GITOPS]
