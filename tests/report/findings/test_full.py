"""Findings with the lines that they are about."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from gen.base.findings import Diagnostic, Location, Severity
from gen.report.findings.full import excerpt, full
from gen.report.formats import Report
from gen.report.terminal import Terminal
from tests.cases import for_each


def shown(text: str, line: int, column: int, width: int = 80) -> tuple[str, str] | None:
    """The line, and the part of it that is marked."""
    found = excerpt(text.split("\n"), Location("a", line, column), width)
    if found is None:
        return None
    marked, at = "", 0
    for char in found.text:
        if found.start <= at < found.start + found.length:
            marked += char
        at += cell_len(char)
    return found.text, marked


@for_each(
    ("line", "column", "marked"),
    [
        ("gpus: 8", 1, "gpus"),
        ("gpus: 8", 7, "8"),
        ("gpus: 8 # many", 7, "8"),
        ("name: 'it''s: a' # b", 7, "'it''s: a'"),
        ('name: "a \\" b", c', 7, '"a \\" b"'),
        ("data: {nas: /logs, x: 1}", 13, "/logs"),
        ("data: {nas: /logs, x: 1}", 7, "{"),
        ("url: http://a/b:80 ", 6, "http://a/b:80"),
        ("中文: 值 # x", 5, "值"),
        ("\tname: a", 2, "name"),
        ("a: 'not closed", 4, "'not closed"),
        ("a: b\u202e c", 4, "b� c"),
        ("a:", 3, ""),
    ],
)
def test_the_value_or_key_at_the_place_is_marked(line: str, column: int, marked: str) -> None:
    found = shown(line, 1, column)
    assert found is not None
    assert found[1] == marked


@pytest.mark.parametrize("place", [(0, 1), (3, 1), (2, 1)])
def test_a_line_that_is_not_there_is_not_shown(place: tuple[int, int]) -> None:
    assert shown("a: 1\n ", *place) is None


@for_each(
    "line",
    [
        "token: ghp_" + "a1" * 18,
        "password: hunter2",
        "env: {DB_PASSWORD: hunter2}",
        "- MY_API_KEY: abc",
        '{"password":"hunter2"}',
        "- {name: DB_PASSWORD, value: hunter2}",
        "export DB_PASSWORD=hunter2",
        "command: curl https://user:pass0rd@example.com/x",
        "command: train --password hunter2 --epochs 3",
        "command: train --password 'hunter 2'",
        "command: train --api-key=abc",
        'args: ["--password", "hunter2"]',
        "args: [--db-password, hunter2]",
        "command: curl -u me:hunter2 example.com",
        "command: 'curl -H \"Authorization: Bearer abcdef\" example.com'",
        "x: " + "y" * 2000 + " --password hunter2",
    ],
)
def test_a_line_with_a_secret_is_not_shown(line: str) -> None:
    assert shown(line, 1, len(line) - 4) is None
    assert shown(line, 1, 1) is None or len(line) > 1000


@for_each(
    "text",
    [
        "  - --password\n  - hunter2",
        "  train --password \\\n    hunter2",
        "  password:\n    hunter2",
        "  password: >-\n    hunter2",
        "- name: DB_PASSWORD\n  value: hunter2",
        '- "name": "DB_PASSWORD"\n  "value": "hunter2"',
    ],
)
def test_a_line_with_the_value_of_a_secret_that_the_line_before_names_is_not_shown(text: str) -> None:
    assert shown(text, 2, 5) is None


@for_each(
    "line",
    [
        "command: train --password-file /run/password --max-tokens 4096",
        "command: train --password $PASSWORD --epochs 3",
        "command: train --tokenizer gpt2 --token-dir data",
        "command: python -u train.py",
        "env: {DEBUG: 'on'}",
        "- value: hunter2",
    ],
)
def test_a_line_about_secrets_without_a_value_is_shown(line: str) -> None:
    assert shown(line, 1, 1) is not None
    assert shown(f"password: hunter2\n{line}", 2, 1) is not None


@for_each("column", [1, 50, 190])
@for_each("char", ["x", "中"])
def test_a_long_line_is_cut_around_the_value(column: int, char: str) -> None:
    line = char * 100 + ": " + char * 100
    found = shown(line, 1, column, 60)
    assert found is not None
    text, marked = found
    assert cell_len(text) <= 60
    assert marked.strip("…")


@for_each("line", ["-" * 1_000_000, "a: " * 300_000, "'" * 1_000_000, "\u4e2d" * 1_000_000])
@for_each("column", [1, 500_000])
def test_a_line_of_a_megabyte_is_cut(line: str, column: int) -> None:
    found = shown(line, 1, column, 60)
    assert found is not None
    assert cell_len(found[0]) <= 60


def test_every_part_of_a_finding_in_a_narrow_screen() -> None:
    finding = Diagnostic(
        Location("jobs/team/a.yaml", 2, 8),
        "invalid-value",
        "`gpus` is 9, and nodes with accelerator `h100` have 8 of them",
        "set `gpus` to at most 8, and use more `workers` instead of more GPUs",
        ((Location("overlays/dev/overlay.yaml", 12, 3), "declared here"),),
    )
    warning = Diagnostic(Location("jobs/team/a.yaml", 40), "no-timeout", "no `timeout`", "", (), Severity.WARNING)
    files = {
        "jobs/team/a.yaml": ["kind: batch", "gpus:  9  # all"],
        "overlays/dev/overlay.yaml": [""] * 11 + ["  h100: {perNode: 8}"],
    }
    report = Report((finding, warning), (), "1 error, 1 warning")
    lines = full(report, Terminal(width=50), lambda file: files.get(file, [])).splitlines()
    assert lines == [
        "error[invalid-value]: `gpus` is 9, and nodes with",
        "  accelerator `h100` have 8 of them",
        "  --> jobs/team/a.yaml:2:8",
        "   |",
        " 2 | gpus:  9  # all",
        "   |        ^",
        "  ::: overlays/dev/overlay.yaml:12:3",
        "   |",
        "12 |   h100: {perNode: 8}",
        "   |   ---- declared here",
        "   = help: set `gpus` to at most 8, and use more",
        "           `workers` instead of more GPUs",
        "",
        "warning[no-timeout]: no `timeout`",
        "  --> jobs/team/a.yaml:40:1",
        "",
        "`gen explain CODE` explains a finding, such as",
        "  `gen explain invalid-value`",
        "1 error, 1 warning",
    ]


def test_findings_are_counted_by_code() -> None:
    findings = [Diagnostic(Location("a", line), code, "x") for line, code in enumerate(("b", "c", "b", "b"), 1)]
    shown = "`gen explain CODE` explains a finding, such as `gen explain b`\nFindings: 3 b, 1 c\n4 errors\n"
    assert shown in full(Report(tuple(findings), (), "4 errors"))


@pytest.mark.parametrize("code", ["secret-value", "literal-secret"])
def test_a_finding_about_a_secret_has_no_excerpt(code: str) -> None:
    finding = Diagnostic(Location("a", 1, 8), code, "this looks like a token")
    assert "sesame" not in full(Report((finding,), (), ""), Terminal(), lambda _: ["value: sesame"])
