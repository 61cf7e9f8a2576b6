"""Secret values are found by their form or their name, and never shown."""

from __future__ import annotations

import pytest

from gen.report.text import text
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: a:1\ncommand: {command}\n"


@pytest.mark.parametrize(
    "secret",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "LTAI5tExampleExample12",
        "AKIDexampleexample1234",
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "glpat-" + "a" * 20,
        "hf_" + "a" * 34,
        "xoxb-1234567890-abc",
        "-----BEGIN RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig",
        "https://user:hunter2@example.com/x.git",
    ],
)
def test_known_forms_are_found_wherever_they_stand(repo: Repository, secret: str) -> None:
    repo.job(JOB.format(command=f"run --with '{secret}'"))
    report, code = repo.render()
    assert code == 1
    assert [finding.code for finding in report.findings] == ["secret-value"]
    assert secret not in text(report)
    repo.job(JOB.format(command="x"))
    repo.overlay(OVERLAY + f"defaults: {{files: {{/etc/x: '{secret}'}}}}\n")
    assert set(repo.codes()) == {"secret-value"}


@pytest.mark.parametrize("name", ["TOKEN", "HF_TOKEN", "wandb_api_key", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY"])
def test_a_variable_that_is_a_secret_by_its_name_needs_a_reference(repo: Repository, name: str) -> None:
    repo.job(JOB.format(command="x") + f"env: {{{name}: abc}}\n")
    assert repo.codes() == ["secret-value"]
    repo.job(JOB.format(command="x") + f"roles: {{master: {{env: {{{name}: abc}}}}}}\n")
    assert repo.codes() == ["secret-value"]
    repo.job(JOB.format(command="x") + f"env: {{{name}: {{secret: s, key: k}}}}\n")
    assert repo.codes() == []


@pytest.mark.parametrize(
    "variable",
    ["MAX_TOKENS: 4096", "TOKENIZERS_PARALLELISM: 'false'", "TOKEN: ''", "USE_TOKEN: true", "TOKEN: /run/secrets/t"],
)
def test_what_only_looks_alike_is_left_alone(repo: Repository, variable: str) -> None:
    repo.job(JOB.format(command="git clone https://example.com:8443/a@b") + f"env: {{{variable}}}\n")
    assert repo.codes() == []
