"""The address of the documentation, from the environment or from the package."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

import gen as package
from gen.commands import COMMANDS
from gen.commands.environment import VARIABLE
from tests.processes import gen
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from pathlib import Path


SITE = "https://docs.example.com/gen"
JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ngpu: 8\n"


def test_the_address_is_that_of_the_package() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project.get("urls", {}).get("Documentation", "") == package.DOCUMENTATION


@pytest.mark.parametrize("command", ["", "check", "explain"])
def test_help_ends_with_the_address(command: str, tmp_path: Path) -> None:
    arguments = [command, "--help"] if command else ["--help"]
    assert gen(*arguments, cwd=tmp_path, **{VARIABLE: f"{SITE}/"}).stdout.endswith(f"\n  Documentation: {SITE}/\n")
    on_disk = gen(*arguments, cwd=tmp_path, **{VARIABLE: "file:///srv/site"}).stdout
    assert on_disk.endswith("\n  Documentation: file:///srv/site/index.html\n")
    for address in ("", "not an address"):
        assert "Documentation" not in gen(*arguments, cwd=tmp_path, **{VARIABLE: address}).stdout
    assert set(COMMANDS) >= {command} - {""}


def test_an_address_of_another_form_is_reported_before_anything_is_written(repo: Repository) -> None:
    repo.job(JOB.replace("gpu:", "gpus:"))
    for address in (
        "docs.example.com",
        "javascript:alert(1)",
        "https://a.b/c d",
        "https://a.b/\x1b[31m",
        "https://a.b)[",
    ):
        done = gen("render", cwd=repo.root, **{VARIABLE: address})
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"gen: `{VARIABLE}` is not a valid address; use a form like ")
    assert not (repo.root / "rendered").exists()


@pytest.mark.parametrize("address", [SITE, f"{SITE}/", "http://localhost:8000", "file:///srv/gen/site"])
def test_explanations_and_formats_have_the_page(repo: Repository, address: str) -> None:
    repo.job(JOB)
    page = f"{address.rstrip('/')}/findings/unknown-field.html"
    for output in ("github", "markdown", "sarif"):
        assert page in gen("check", "--output", output, cwd=repo.root, **{VARIABLE: address}).stdout
    said = gen("explain", "unknown-field", cwd=repo.root, **{VARIABLE: address}).stdout
    assert said.endswith(f"\nDocumentation: {page}\n")
    said = gen("explain", "gpus", cwd=repo.root, **{VARIABLE: address}).stdout
    assert f"\nDocumentation: {address.rstrip('/')}/reference-job.html\n" in said
