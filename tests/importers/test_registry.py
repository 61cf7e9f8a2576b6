"""Importers are in one registry, which plugins extend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings, Location, UsageError
from gen.importers import IMPORTERS, OPTIONS, ImportedJob, Importer, ImportInput, sandbox
from gen.overlay.plugins import IMPORTER_GROUP, PROVIDERS, register
from tests.cases import for_each
from tests.importers.support import COMMAND
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Notes(Importer):
    """One job for each line."""

    summary = "lines with a name"

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        return [
            ImportedJob(
                name=name,
                namespace=given.namespace_of(""),
                fields={"kind": "pytorch", "image": "a/b:1", "command": "train"},
                overlay={},
                grants={},
                comment="From a note.",
                place=Location(given.file),
            )
            for name in given.text.split()
        ]


@pytest.fixture
def _notes() -> Iterator[None]:
    register(IMPORTER_GROUP, "notes", Notes, "acme-gen")
    yield
    del IMPORTERS["notes"]
    del PROVIDERS[IMPORTER_GROUP, "notes"]


@for_each("name", list(IMPORTERS))
def test_an_importer_is_described_and_documented(name: str) -> None:
    assert IMPORTERS[name].summary
    assert f"`gen import {name}` reads" in (PROJECT / "docs/import.md").read_text("utf-8")


VALUES: dict[str, Any] = {
    "image": "a/b:1",
    "name": "a",
    "define": ("A=1",),
    "site": Path("site.yaml"),
    "site_template": True,
    "prove": True,
}


def refusal(repo: Repository, importer: str, option: str) -> str:
    """Why an import with this option is refused; empty if it is not."""
    given = {option: VALUES[option]}
    file = repo.root / "input"
    file.write_text("")
    try:
        COMMAND.run(COMMAND.Request(importer=importer, source=(str(file),), root=repo.root, **given))
    except UsageError as error:
        return str(error)
    return ""


@for_each("name", list(IMPORTERS))
def test_an_option_of_other_importers_is_refused(repo: Repository, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "refusal", lambda: None)
    refused = {option for option in VALUES if "is not an option of" in refusal(repo, name, option)}
    assert refused == {*VALUES} - IMPORTERS[name].options
    assert {*VALUES} == {*OPTIONS}


@pytest.mark.usefixtures("_notes")
def test_an_importer_of_a_plugin_makes_jobs(repo: Repository) -> None:
    (repo.root / "notes.txt").write_text("a b")
    file = str(repo.root / "notes.txt")
    request = COMMAND.Request(importer="notes", source=(file,), namespace="team", root=repo.root)
    assert COMMAND.run(request).exit_code == 0
    assert (repo.root / "jobs/team/b.yaml").read_text() == (
        "# From a note.\nkind: pytorch\nimage: a/b:1\ncommand: train\n"
    )
    assert set(repo.codes()) <= {"no-deadline", "no-limits"}


def test_an_unknown_tool_is_refused(repo: Repository) -> None:
    with pytest.raises(UsageError, match="unknown tool `aerna`: did you mean `arena`"):
        COMMAND.run(COMMAND.Request(importer="aerna", root=repo.root))
