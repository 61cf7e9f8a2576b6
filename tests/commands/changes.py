"""Changes of job files by `gen set`, as commands of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import Repository, set_fields

if TYPE_CHECKING:
    from gen.report.formats import Report

JOB = """\
# the purpose
kind: pytorch   # the kind
image: "registry.example.com/train:1"
command: python train.py
env: {DEBUG: off}  # quiet

# the end
"""


def change(repo: Repository, jobs: str, *assignments: str, unset: tuple[str, ...] = ()) -> tuple[Report, int]:
    return set_fields(repo.root, jobs, assignments, unset)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]
