r"""Cases of `errors/`: one file per mistake, in the txtar format of Go's tests.

    Text before the first section is a comment.
    -- jobs/team/demo.yaml --
    kind: pytorch
    -- expected --
    jobs/team/demo.yaml:1:7: error: …
    -- remedy --
    --- jobs/team/demo.yaml
    +++ jobs/team/demo.yaml
    @@ -1 +1 @@
    -kind: pytorch
    +kind: mpi

The sections are the input files, the expected output, and the remedy: a unified diff of the inputs after a user has
followed the hints. A case without overlays gets `OVERLAY`. `\x80` to `\xff` are bytes that are not UTF-8. A diff
renames a file if its two names differ, and may be written without line numbers; `--update-golden` adds them.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Self

from tests.support import HERE, OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER = HERE / "errors"
SUFFIX = ".txtar"
DEFAULT = "overlays/dev/overlay.yaml"
EXPECTED = "expected"
REMEDY = "remedy"
ABSENT = "/dev/null"
CONTEXT = 1
"""Lines around a change; the inputs are in the same file."""
_SECTION = re.compile(r"(?m)^-- (.+) --\n")
_HEADER = re.compile(r"(?m)^--- (\S.*)\n\+\+\+ (\S.*)\n")
_HUNK = re.compile(r"(?m)^@@(?: -(\d+).*)?\n")
_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


class CaseError(ValueError):
    """A case that cannot be read or written."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorCase:
    """A mistake in files of a user, its findings and its remedy."""

    name: str
    comment: str = ""
    files: Mapping[str, str]
    """Text by path below the root."""
    expected: str
    """Output of `gen render`."""
    remedy: str = ""
    """Unified diff of the inputs; empty if the case has none."""

    @classmethod
    def parse(cls, name: str, text: str) -> Self:
        comment, *parts = _SECTION.split(text)
        sections = dict(zip(parts[::2], parts[1::2], strict=True))
        if len(sections) * 2 != len(parts) or EXPECTED not in sections:
            raise CaseError(f"{name}: duplicate section, or no section `{EXPECTED}`")
        expected, remedy = sections.pop(EXPECTED), sections.pop(REMEDY, "")
        return cls(name=name, comment=comment, files=sections, expected=expected, remedy=remedy)

    @property
    def text(self) -> str:
        """The file of the case."""
        remedy = {REMEDY: diff(self.inputs, self.remedied)} if self.remedy else {}
        sections = {**dict(sorted(self.files.items())), EXPECTED: self.expected, **remedy}
        for path, body in sections.items():
            if _SECTION.search(body) or (body and not body.endswith("\n")):
                raise CaseError(f"{self.name}: `{path}` has a line like a section, or no newline at its end")
        return self.comment + "".join(f"-- {path} --\n{body}" for path, body in sections.items())

    @property
    def has_overlays(self) -> bool:
        return any(path.startswith("overlays/") for path in self.files)

    @property
    def inputs(self) -> dict[str, str]:
        """The files with the default overlay."""
        return {**({} if self.has_overlays else {DEFAULT: OVERLAY}), **self.files}

    @property
    def remedied(self) -> dict[str, str]:
        """The inputs after the remedy."""
        return apply(self.remedy, self.inputs)

    def copy(self, root: Path) -> Repository:
        """A repository with the inputs."""
        return write(self.inputs, root)

    def update(self, expected: str) -> None:
        """Write the output, and the remedy with its line numbers."""
        path = FOLDER / f"{self.name}{SUFFIX}"
        path.write_bytes(replace(self, expected=expected).text.encode())


@cache
def error_cases() -> tuple[ErrorCase, ...]:
    """All cases, sorted by name."""
    return tuple(ErrorCase.parse(path.stem, path.read_bytes().decode()) for path in sorted(FOLDER.glob(f"*{SUFFIX}")))


def error_case(name: str) -> ErrorCase:
    return next(case for case in error_cases() if case.name == name)


def write(files: Mapping[str, str], root: Path) -> Repository:
    """A repository with these files."""
    repository = Repository(root)
    (root / "jobs").mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        repository.write(path, encoded(text))
    return repository


def encoded(text: str) -> bytes:
    """The bytes of a section."""
    unescaped = _BYTE.sub(lambda byte: bytes.fromhex(byte[1]).decode("utf-8", "surrogateescape"), text)
    return unescaped.encode("utf-8", "surrogateescape")


def apply(changes: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files after a unified diff."""
    after = dict(files)
    preamble, *parts = _HEADER.split(changes)
    if preamble:
        raise CaseError(f"not a unified diff: {preamble}")
    for old, new, hunks in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if (old not in after) != (old == ABSENT) or (new in after and new != old):
            raise CaseError(f"missing `{old}`, or `{new}` exists")
        lines = _apply_hunks(hunks, _lines(after.pop(old, "")))
        if new != ABSENT:
            after[new] = "".join(lines)
        elif lines:
            raise CaseError(f"`{old}` is removed, but not all of its lines")
    return after


def _apply_hunks(hunks: str, lines: list[str]) -> list[str]:
    """A hunk applies at its line, or at the only place that has its lines."""
    preamble, *parts = _HUNK.split(hunks)
    if preamble:
        raise CaseError(f"not a hunk: {preamble}")
    done, shift = 0, 0
    for number, hunk in zip(parts[::2], parts[1::2], strict=True):
        marked = [" \n" if line == "\n" else line for line in _lines(hunk)]
        if any(line[0] not in " -+" for line in marked):
            raise CaseError(f"lines of a hunk start with a space, `-` or `+`:\n{hunk}")
        old = [line[1:] for line in marked if line[0] != "+"]
        new = [line[1:] for line in marked if line[0] != "-"]
        places = [at for at in range(done, len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
        expected = int(number or 0) - bool(old) + shift
        if expected in places:
            places = [expected]
        if len(places) != 1:
            raise CaseError(f"the lines of this hunk occur {len(places)} times:\n{hunk}")
        (at,) = places
        lines[at : at + len(old)] = new
        done, shift = at + len(new), shift + len(new) - len(old)
    return lines


def diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A unified diff; moved files are renamed in it."""
    renamed = dict(_renamed(before, after))
    found: list[str] = []
    for path in sorted({*before, *after} - {*renamed.values()}):
        new = renamed.get(path, path)
        if before.get(path) != after.get(new) or new != path:
            found += _diff(path, new, before.get(path), after.get(new))
    return "".join(found)


def _diff(path: str, new: str, before: str | None, after: str | None) -> Iterator[str]:
    yield f"--- {path if before is not None else ABSENT}\n"
    yield f"+++ {new if after is not None else ABSENT}\n"
    changes = difflib.unified_diff(_lines(before or ""), _lines(after or ""), n=CONTEXT)
    for line in list(changes)[2:]:
        yield "\n" if line == " \n" else line


def _renamed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Old and new path of files that only moved."""
    added = [path for path in after if path not in before]
    for path, text in before.items():
        same = [one for one in added if after[one] == text]
        if path not in after and same:
            added.remove(same[0])
            yield path, same[0]


def _lines(text: str) -> list[str]:
    """The lines with their ends. `str.splitlines` splits at more characters."""
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []
