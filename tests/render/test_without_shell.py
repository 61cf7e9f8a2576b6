"""Syntax of a shell that no shell reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.report.findings.text import text
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: a/b:1\ntimeout: 1h\n"
VALUE = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"


@for_each(
    "fields",
    [
        "command: [python, train.py, --lr, 1e-3]",
        "command: [sh, -c, 'a && b', $X]",
        "command: [/bin/bash, -c, $X]",
        "command: [/opt/my tools/run, a]",
        "command: ['{{ params.x }} y', a]\nparams: {x: y}",
        "command: [awk, '{print $1}', a]",
        "command: [python, $(X), $$X, a$X]",
        "command: python ${X} && b",
        "command: x\nenv: {A: $(B), B: a${C}, C: $$, D: '$'}",
        "command: [python, [a], {b: c}]",
    ],
)
def test_other_texts_have_no_warning(repo: Repository, fields: str) -> None:
    repo.job(f"{JOB}{fields}\n")
    assert "shell-syntax" not in repo.codes()


@pytest.mark.parametrize(
    "fields",
    [
        f"command: ['curl -H {VALUE}', x]",
        f"command: [python, '${{X:-{VALUE}}}']",
        f"command: x\nenv: {{A: '${{X:-{VALUE}}}'}}",
        f"command: x\nroles: {{master: {{env: {{A: '${{X:-{VALUE}}}'}}}}}}",
    ],
)
def test_a_warning_has_no_secret(repo: Repository, fields: str) -> None:
    repo.job(f"{JOB}{fields}\n")
    said = text(repo.render()[0])
    assert "shell-syntax" in said
    assert VALUE not in said
