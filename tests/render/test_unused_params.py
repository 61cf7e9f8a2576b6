"""Parameters that no expression uses."""

from __future__ import annotations

import pytest

from tests.support import OVERLAY, Repository
from tests.work import is_linear, lines_run

HEAD = "kind: pytorch\nimage: registry.example.com/train:1\n"
JOB = HEAD + "params: {lr: 1e-3}\n"


def warnings(repo: Repository, job: str) -> list[str]:
    repo.job(job)
    report, code = repo.render()
    assert code == 0, report
    return [f"{finding.place}: {finding.message}" for finding in report.findings]


@pytest.mark.parametrize(
    "command",
    ["train {{ params.lr }}", "train {{params.lr}}", "train {{ params.lr | upper }}", "train {{ params . lr }}"],
)
def test_a_parameter_that_an_expression_uses(repo: Repository, command: str) -> None:
    assert warnings(repo, f"{JOB}command: {command}\n") == []


@pytest.mark.parametrize("command", ["train", "train params.lr", "train {{ params.lr2 }}", "train {{ job.name }} lr"])
def test_a_parameter_that_none_uses(repo: Repository, command: str) -> None:
    expected = ["jobs/team/demo.yaml:3:10: no expression uses the parameter `lr`"]
    repo.overlay(OVERLAY + "params: {lr2: a}\n")
    assert warnings(repo, f"{JOB}command: {command}\n") == expected


def test_a_parameter_that_a_default_of_the_overlay_uses(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {env: {LR: '{{ params.lr }}'}}\nparams: {other: a}\n")
    assert warnings(repo, f"{JOB}command: train\n") == []


def test_the_work_for_unused_parameters_is_linear(repo: Repository) -> None:
    def work(size: int) -> int:
        repo.job(f"{HEAD}params: {{{', '.join(f'p{number}: 1' for number in range(size))}}}\ncommand: x\n")
        return lines_run(repo.render)

    work(1)  # schemas are compiled once
    assert is_linear(work, 200)
