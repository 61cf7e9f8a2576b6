"""Expressions of a whole job: omitted values, single reports, limits of inserted text."""

from __future__ import annotations

import pytest

from gen.render.expressions import Values, evaluate
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: a:1\n"
COMMAND = "command: x\n"


def findings(repo: Repository, text: str) -> list[tuple[str, str]]:
    """Place (line and column) and message of each finding."""
    repo.job(text)
    return [(str(f.place).partition(":")[2], f.message) for f in repo.render()[0].findings]


@pytest.mark.parametrize(
    "field",
    [
        "workers: '{{ params.x }}'",
        "memory: '{{ params.x }}'",
        "env: {TOKEN: '{{ params.x }}'}",
        "queue: '{{ params.x }}'",
    ],
)
def test_a_failing_expression_is_the_only_finding_about_its_field(repo: Repository, field: str) -> None:
    assert [message for _, message in findings(repo, JOB + COMMAND + field)] == ["`params.x` is not defined"]


def test_a_command_that_cannot_be_evaluated_is_not_missing(repo: Repository) -> None:
    assert len(findings(repo, JOB + "command: '{{ params.x }}'\n")) == 1


@pytest.mark.parametrize("params", ["{x: '{{ params.y }}'}", "{x: [1]}"])
def test_a_wrong_parameter_is_reported_at_its_own_value(repo: Repository, params: str) -> None:
    found = findings(repo, JOB + "command: 'a {{ params.x }}'\n" + f"params: {params}\n")
    assert [place.partition(":")[0] for place, _ in found] == ["4"]
    repo.overlay(OVERLAY + f"params: {params}\n")
    if "[" not in params:
        assert {str(f.place) for f in repo.render()[0].findings} == {
            "jobs/team/demo.yaml:4:14",
            "overlays/dev/overlay.yaml:20:14",
        }


def test_the_place_is_the_expressions_own(repo: Repository) -> None:
    text = JOB + "command: |\n  set -e\n  train {{ job.name }} {{ params.x }}\nargs: ['{{ params.y']\n"
    assert [place for place, _ in findings(repo, text)] == ["5:24", "6:9"]


def test_an_expression_that_is_escaped_is_placed_at_its_text(repo: Repository) -> None:
    assert [place for place, _ in findings(repo, JOB + 'command: "\\x7b{ params.x }}"\n')] == ["3:10"]


def test_the_texts_of_a_job_cannot_grow_without_end(repo: Repository) -> None:
    lines = "".join(f"  A{n}: '{{{{ params.long }}}}'\n" for n in range(5_000))
    found = findings(repo, JOB + COMMAND + f"params: {{long: {'a' * 60_000}}}\nenv:\n{lines}")
    assert [message for _, message in found] == ["the expressions of a run insert more than 1048576 characters"]


def test_ten_thousand_mistakes_are_a_hundred_findings(repo: Repository) -> None:
    lines = "".join(f"  A{n}: '{{{{ params.x{n} }}}}'\n" for n in range(5_000))
    assert len(findings(repo, JOB + COMMAND + f"env:\n{lines}")) == 100


def test_no_expression_is_evaluated_after_a_hundred_mistakes(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looks for a similar name among all parameters."""
    seen: list[str] = []

    def noted(text: str, values: Values) -> str:
        seen.append(text)
        return evaluate(text, values)

    monkeypatch.setattr("gen.render.expressions.evaluate", noted)
    lines = "".join(f"  A{n}: '{{{{ params.x{n} }}}}'\n" for n in range(300))
    findings(repo, JOB + COMMAND + f"env:\n{lines}")
    assert len(seen) == 101


def test_without_an_overlay_what_one_could_give_is_not_judged(repo: Repository) -> None:
    repo.overlay(OVERLAY + "select: {include: [other/*]}\n")
    undecided = (
        "workers: '{{ params.n }}'\nqueue: '{{ overlay.name }}'\nretries: '{{ params.own }}'\nparams: {own: x}\n"
    )
    messages = [message for _, message in findings(repo, JOB + COMMAND + undecided)]
    assert messages == ["no overlay selects this job", "no job matches `other/*`"]
    messages = [
        message for _, message in findings(repo, JOB + "command: '{{ params.n * 2 }}'\ngpus: '{{ job.name }}'\n")
    ]
    assert messages[1:3] == ["unsupported expression: mul", "`gpus`: expected an integer, got `demo`"]
