"""Follows the remedies of findings: literally if the hint names a value, else by comparing the mended files with it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gen.diagnostics import Diagnostic

SUGGESTION = re.compile(r"did you mean `([^`]+)`\?")
CODE = re.compile(r"`([^`]+)`")
REMOVES = re.compile(r"\b(?:remove|delete|without|not a list|keep one|drop|move|rename)\b")
PLACEHOLDER = re.compile(r"<[a-z -]+>|…")


def suggested(finding: Diagnostic) -> str:
    """The value or name that the hint suggests; empty if it suggests none, or something that is not at the place."""
    match = SUGGESTION.match(finding.hint)
    return match[1] if match is not None else ""


def apply(finding: Diagnostic, root: Path) -> bool:
    """Replace the text at the place of the finding with the suggestion; False if the text is not there."""
    path = root / finding.place.file
    lines = path.read_text("utf-8").splitlines(keepends=True)
    line, start = lines[finding.place.line - 1], finding.place.column - 1
    for old in _candidates(finding.message, line[start:]):
        quote = line[start] if line[start] in "\"'" else ""
        at = start + len(quote)
        if line.startswith("{{", at):
            at = max(line.find(old, at), at)  # the place of an expression is its start
        if line.startswith(old, at):
            lines[finding.place.line - 1] = line[:at] + suggested(finding) + line[at + len(old) :]
            path.write_text("".join(lines), "utf-8")
            return True
    return False


def _candidates(message: str, rest: str) -> Iterator[str]:
    """Texts that the message may be about, the longest first: those in backticks, the last names of their paths."""
    named = CODE.findall(message)
    named += [name.rsplit(".", 1)[-1] for name in named]
    yield from sorted({name for name in named if name.strip("\"'")}, key=len, reverse=True)
    yield from re.findall(r"^[\"']?([^\s\"',\[\]{}]+)", rest)


def texts(root: Path) -> dict[str, list[str]]:
    """The lines of each file of the user."""
    files = [path for folder in ("jobs", "overlays") for path in (root / folder).rglob("*") if path.is_file()]
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode("utf-8", "replace").splitlines() for path in files
    }


def is_followed(hint: str, before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> bool:
    """Whether the change does what the hint names: it adds the code in backticks, or removes it if the hint says so."""
    added, removed = _changed(before, after)
    codes = [code for code in CODE.findall(hint) if code not in ("#", "-")]
    if not codes:
        return bool(added or removed)
    if any(_is_in(code, added) for code in codes):
        return True
    return REMOVES.search(hint) is not None and bool(removed)


def _changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> tuple[str, str]:
    """The added and the removed lines of all files, with the names of files that exist on one side only."""
    added = [path for path in after if path not in before]
    removed = [path for path in before if path not in after]
    for path in {*before, *after}:
        for line in difflib.ndiff(before.get(path, []), after.get(path, [])):
            if line.startswith("+ "):
                added.append(line[2:])
            elif line.startswith("- "):
                removed.append(line[2:])
    return "\n".join(added), "\n".join(removed)


def _is_in(code: str, text: str) -> bool:
    """Whether the code occurs in the text, in flow or in block style, with anything for `<name>` and `…`."""
    parts = [part for part in re.split(r"[\s{}\[\],]+|(?<=:)\s", PLACEHOLDER.sub(" ", code)) if part.strip("\"':.")]
    position = 0
    for part in parts:
        found = text.find(part.strip("\"'"), position)
        if found < 0:
            return False
        position = found + 1
    return bool(parts)
