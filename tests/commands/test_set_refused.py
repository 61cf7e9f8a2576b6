"""`gen set` refuses a change with a mistake, and writes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from tests.cases import for_each
from tests.commands.changes import JOB, change, codes

if TYPE_CHECKING:
    from tests.support import Repository


def test_a_list_that_is_no_yaml_is_refused(repo: Repository) -> None:
    path = repo.job(JOB)
    before = path.read_bytes()
    for value in ("[a", "[a: b: c]", "[*x]", "[a] b", "{a", "[&x a]"):
        report, code = change(repo, "team/demo", f"metrics={value}")
        assert (code, codes(report)[:1], path.read_bytes()) == (1, ["invalid-value"], before)


@for_each(
    ("assignment", "code", "hint"),
    [
        ("atempt=2", "unknown-field", "did you mean `attempt`?"),
        ("state=done", "invalid-value", "did you mean `finished`?"),
        ("workers=two", "invalid-value", "write digits, such as `8`"),
        ("args=x", "invalid-value", "write `[x]`"),
        ("roles.wroker.cpu=1", "unknown-field", "did you mean `worker`?"),
        ("network=enii", "unknown-network", "did you mean `eni`?"),
        ("command.x=1", "cannot-edit", "remove it in the same command with `--unset command`"),
        ("kind=pytroch", "unknown-kind", "did you mean `pytorch`?"),
    ],
)
def test_a_mistake_is_a_finding_and_nothing_is_written(repo: Repository, assignment: str, code: str, hint: str) -> None:
    path = repo.job(JOB)
    report, exit_code = change(repo, "team/demo", assignment, "attempt=2")
    assert (exit_code, codes(report)[0]) == (1, code)
    assert hint in report.findings[0].hint
    assert report.findings[0].place.file == "jobs/team/demo.yaml"
    assert path.read_text("utf-8") == JOB


@for_each(
    ("assignments", "line", "column", "message"),
    [
        (("env.DEBUG.secret=x",), 5, 14, "`env.DEBUG` is `off` and has no fields"),
        (("image=A B",), 3, 8, "after setting `image`: expected an image reference, got `A B`"),
        (("image=",), 3, 8, "after setting `image`: expected an image reference, got an empty string"),
        (("workers=two",), 2, 1, "after setting `workers`: expected an integer, got `two`"),
        (("roles.wroker.cpu=1",), 2, 1, "after setting `roles.wroker.cpu`: unknown field `roles.wroker`"),
        (("params.a=1", "restart=Maybe"), 2, 1, "after setting `restart`: invalid value `Maybe`"),
    ],
)
def test_a_refused_change_is_placed_in_the_file_that_exists(
    repo: Repository, assignments: tuple[str, ...], line: int, column: int, message: str
) -> None:
    """The text with the change is not written, so its lines would mislead."""
    repo.job(JOB)
    (finding,) = change(repo, "team/demo", *assignments)[0].findings
    assert (finding.place.line, finding.place.column, finding.message) == (line, column, message)


def test_a_finding_about_another_line_keeps_the_line_of_the_file(repo: Repository) -> None:
    """The first entry of a mapping moves the lines below it."""
    repo.job("kind: pytorch\nimage: a/b:1\ncommand: x\nparams:\n  a: 1\nenv:\n  A: '{{ params.a }}'\n")
    (finding,) = change(repo, "team/demo", "params.b=2", unset=("params.a",))[0].findings
    assert (finding.place.line, finding.code) == (7, "invalid-expression")


@for_each(
    ("assignments", "unset", "message"),
    [
        ((), (), "no fields to change"),
        (("attempt",), (), "`attempt` has no value"),
        (("=2",), (), "is not a valid field name"),
        (("env.=2",), (), "is not a valid field name"),
        (("env.A=\ufdd0",), (), "U\\+FDD0"),
        (("env.A=" + os.fsdecode(b"\xff"),), (), "UTF-8"),
    ],
)
def test_a_command_that_cannot_be_meant(
    repo: Repository, assignments: tuple[str, ...], unset: tuple[str, ...], message: str
) -> None:
    repo.job(JOB)
    with pytest.raises(UsageError, match=message):
        change(repo, "team/demo", *assignments, unset=unset)


def test_what_is_removed_must_be_a_field(repo: Repository) -> None:
    repo.job(JOB)
    report, code = change(repo, "team/demo", unset=("comand",))
    assert (code, report.findings[0].hint) == (1, "did you mean `command`?")


def test_a_repository_without_jobs_is_reported(repo: Repository) -> None:
    repo.job(JOB)
    with pytest.raises(UsageError, match="did you mean `team/demo`"):
        change(repo, "team/dmeo", "attempt=2")
