"""Follows the remedies of findings: literally if the hint names a value, else by comparing the changes with it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gen.base.findings import Diagnostic

SUGGESTION = re.compile(r"did you mean `([^`]+)`\?")
CODE = re.compile(r"`([^`]+)`")
REMOVES = re.compile(r"\b(?:remove|delete|without|not a list|keep one|drop|leave|move|rename)\b")
EXAMPLE = re.compile(r"such as|a form like|a name like|use letters|use only|lower-case letters")
ANY_FIELD = frozenset({"field: value", "key: value", "name: value"})
PATH = re.compile(r"[A-Za-z]+(?:\.[A-Za-z]+)+")
EDITS = {"gen stop JOB": "state: stopped"}
"""What commands in hints write."""
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


def is_followed(finding: Diagnostic, before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> bool:
    """Whether the change follows the hint: it adds the code in backticks, or removes it if the hint names a removal.

    Where the code is an example, the line of the finding must be another one.
    """
    hint = finding.hint
    added, removed = _changed(before, after)
    codes = [EDITS.get(code, code) for code in CODE.findall(hint)]
    if hint.startswith("indent"):
        return [line.strip() for line in added] == [line.strip() for line in removed]
    if not codes:
        return bool(added or removed)
    if EXAMPLE.search(hint) is not None and _line(finding, before) in removed:
        return True
    whole = "\n".join(line for lines in after.values() for line in lines)
    if any(_is_in(code, "\n".join(added), whole) for code in codes):
        return True
    if hint.startswith("add it to") and added and any(all(part in whole for part in _parts(code)) for code in codes):
        return True
    return REMOVES.search(hint) is not None and bool(removed)


def _line(finding: Diagnostic, before: Mapping[str, list[str]]) -> str:
    lines = before.get(finding.place.file, [])
    return lines[finding.place.line - 1] if finding.place.line <= len(lines) else ""


def _changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """The added and the removed lines of all files, with the names of files that exist on one side only."""
    added = [path for path in after if path not in before]
    removed = [path for path in before if path not in after]
    for path in {*before, *after}:
        for line in difflib.ndiff(before.get(path, []), after.get(path, [])):
            if line.startswith("+ "):
                added.append(line[2:])
            elif line.startswith("- "):
                removed.append(line[2:])
    return added, removed


def _is_in(code: str, added: str, whole: str) -> bool:
    """Whether the change adds a part of the code and the files then contain all of it.

    It may be in flow or in block style, with anything for `<name>` and `…`.
    """
    if code in ANY_FIELD:
        return re.search(r"(?m)^\s*\w+: \S|\{\w+: \S", added) is not None
    parts = _parts(code)
    position = 0
    for part in parts:
        position = whole.find(part, position) + 1
        if position == 0:
            return False
    return any(part in added for part in parts)


def _parts(code: str) -> list[str]:
    """Words of a path, or of YAML in flow style."""
    if PATH.fullmatch(code):
        code = code.replace(".", " ")
    words = re.split(r"[\s{}\[\],]+", PLACEHOLDER.sub(" ", code))
    return [word.strip("\"':") or word for word in words if word not in ("", ":")]
