"""`docs/seeds.md` maps every command and value of the documents that the project comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gen.commands import COMMANDS
from gen.job.kinds import KINDS
from gen.job.model import fields_at
from gen.overlay.fields import overlay_fields
from tests.support import PROJECT, SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENT = PROJECT / "docs/seeds.md"
SEEDS = sorted((SHARED / "seeds").glob("*.txt"))
OTHER_PAGES = "相关实践学习"
"""Heading of links to other pages, which the copy of a page ends with."""

PROGRAMS = (
    *("arena", "curl", "docker", "dsl-compile", "echo", "exit", "kubectl", "ls", "mkdir", "mount", "mpirun", "pip3"),
    *("python", "python3", "source", "sudo", "umount", "yum"),
)
COMMAND = re.compile(rf"^\s*#?\s*(?:\w+=\$\()?({'|'.join(PROGRAMS)})\s", re.ASCII)
FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)(?==|\s)", re.ASCII)
ASSIGNED = re.compile(r"^\s*(?:def \w+\()?(\w+)=\S", re.ASCII)
YAML_LINE = re.compile(r"^\s*(?:- )?([A-Za-z][\w./-]*):(?:\s|$)", re.ASCII)
JSON_KEY = re.compile(r'\\"(\w+)\\":')
CALL = re.compile(r"\b(?:arena|dsl|batch_models)\.(\w+)\(", re.ASCII)


class Row(NamedTuple):
    """A row of a table: in the document, fields of gen, example or reason."""

    said: str
    fields: str
    where: str


def page(seed: Path) -> list[str]:
    return seed.read_text("utf-8").partition(OTHER_PAGES)[0].splitlines()


def said_by(seed: Path) -> Iterator[tuple[int, str]]:
    """Lines with a command or value, and the word for it."""
    for number, line in enumerate(page(seed), 1):
        if command := COMMAND.match(line):
            yield number, command[1]
        if command or line.lstrip().startswith("--") or "arena.mpi_job_op" in line:
            yield from ((number, flag) for flag in FLAG.findall(line))
        for pattern in (ASSIGNED, YAML_LINE, JSON_KEY, CALL):
            yield from ((number, word) for word in pattern.findall(line))


def sections() -> dict[str, list[Row]]:
    """Rows by the title of their section."""
    found: dict[str, list[Row]] = {}
    for part in DOCUMENT.read_text("utf-8").split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| "))
        found[title] = [Row(*(cell.strip() for cell in row)) for row in cells][1:]
    return found


SECTIONS = sections()


def spans(cell: str) -> list[str]:
    return [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", cell)]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


PAIRS = list(zip(SEEDS, SECTIONS, strict=False))
needs_seeds = pytest.mark.skipif(not SEEDS, reason="the documents are not there")


@needs_seeds
@pytest.mark.parametrize(("seed", "title"), PAIRS, ids=lambda one: str(one)[-20:])
def test_every_command_and_value_of_a_document_is_in_the_table(seed: Path, title: str) -> None:
    mapped = "\n".join(span for row in SECTIONS[title] for span in spans(row.said))
    missing = [
        (number, word)
        for number, word in said_by(seed)
        if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", mapped)
    ]
    assert missing == []
    assert len({word for _, word in said_by(seed)}) > 20, "the patterns find something"


@needs_seeds
@pytest.mark.parametrize(("seed", "title"), PAIRS, ids=lambda one: str(one)[-20:])
def test_the_table_quotes_the_document(seed: Path, title: str) -> None:
    text = squeezed(seed.read_text("utf-8"))
    assert [span for row in SECTIONS[title] for span in spans(row.said) if squeezed(span) not in text] == []


def test_every_document_has_a_section() -> None:
    assert len(SECTIONS) == 5
    assert not SEEDS or len(SEEDS) == len(SECTIONS)


def test_every_row_has_fields_or_a_reason() -> None:
    assert [row for rows in SECTIONS.values() for row in rows if not row.said or not row.where] == []


def is_job_field(path: str) -> bool:
    above, _, last = path.rpartition(".")
    return any(last in fields_at(kind, tuple(above.split(".")) if above else ()) for kind in KINDS.values())


def is_overlay_field(path: str) -> bool:
    field, _, inner = path.partition(".")
    model = overlay_fields()
    if field not in fields_at(model, ()):
        return False
    return not inner or inner in fields_at(model, (field,)) or inner in fields_at(model, (field, "any"))


def test_the_fields_and_commands_exist() -> None:
    unknown = []
    for rows in SECTIONS.values():
        for row in rows:
            for overlay, name in re.findall(r"(overlay )?`([^`]+)`", row.fields):
                if name.startswith("gen "):
                    known = name.removeprefix("gen ") in COMMANDS
                else:
                    known = is_overlay_field(name) if overlay else is_job_field(name)
                if not known:
                    unknown.append(name)
    assert unknown == []
    assert not is_job_field("no.field")
    assert not is_overlay_field("volumes.nothing")


def test_the_files_exist() -> None:
    files = re.findall(r"`(jobs/[^`]+)`", DOCUMENT.read_text("utf-8"))
    assert sorted(files) == sorted(path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("jobs/*/*.yaml"))
