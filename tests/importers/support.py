"""Imports in this process."""

from __future__ import annotations

import shlex
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from tests.support import opened

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.formats import Report

COMMAND = import_module("gen.commands.import")


def imported(text: str, importer: str = "arena", namespace: str = "team") -> tuple[list[ImportedJob], list[Any]]:
    """Jobs of a text, and findings."""
    found = Findings()
    jobs = IMPORTERS[importer]().read(ImportInput(file="submit.sh", text=text, otherwise=namespace), found)
    return list(jobs), list(found)


def job_of(text: str) -> ImportedJob:
    """The only job of a text without errors."""
    jobs, found = imported(text)
    assert [item for item in found if item.severity.value == "error"] == []
    (job,) = jobs
    return job


def run_import(root: Path, *source: str, importer: str = "arena", **options: Any) -> tuple[Report, int]:
    """`gen import`, by default `arena`."""
    return opened(COMMAND.run(COMMAND.Request(importer=importer, source=source, root=root, **options)))


def script(root: Path, *commands: list[str] | str) -> str:
    """A file with commands, one on each line."""
    path = root / "submit.sh"
    lines = [command if isinstance(command, str) else shlex.join(command) for command in commands]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(path)
