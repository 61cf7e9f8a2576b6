"""Owners of files: the file CODEOWNERS of GitHub and GitLab.

GitHub: https://docs.github.com/repositories, "About code owners": the first of the three files, the last pattern that
matches. GitLab: https://docs.gitlab.com/user/project/codeowners/reference: sections `[Name][2] @owner`, of each the
last pattern that matches; owners of a section are those of its patterns without owners.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from gen.base.findings import UsageError
from gen.base.lazy import regex
from gen.base.repository.files import MAX_BYTES, read_regular
from gen.base.repository.git import run_git

PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
_SECTION = regex(r"\^?\[([^\]]+)\](?:\[[0-9]+\])?(.*)")
_MAX_PATTERNS: Final = 2000
"""Patterns that are read: files are compared with each of them."""


class _Section(Struct):
    patterns: list[str] = field(default_factory=list)
    owners: list[tuple[str, ...]] = field(default_factory=list)


class CodeOwners(Struct, frozen=True):
    """Patterns with their owners, by section; patterns of files without a section are in one."""

    sections: tuple[tuple[re.Pattern[str], tuple[tuple[str, ...], ...]], ...]
    """For each section, a pattern with one group for each of its patterns, the last first, and the owners of each."""
    prefix: str
    """Path of the repository of jobs within the Git repository; empty, or ending with `/`."""

    def owners(self, file: str) -> tuple[str, ...]:
        """Owners of a file, relative to the repository of jobs."""
        found: dict[str, None] = {}
        for pattern, owners in self.sections:
            match = pattern.fullmatch(self.prefix + file)
            if match is not None and match.lastindex is not None:
                found |= dict.fromkeys(owners[match.lastindex - 1])
        return tuple(found)


def read_code_owners(root: Path) -> CodeOwners:
    """The owners of a repository; none if it has no readable CODEOWNERS."""
    done = run_git(root, "rev-parse", "--show-prefix")
    prefix = done.stdout.decode("utf-8", "surrogateescape").strip("\n") if done and done.returncode == 0 else ""
    top = root.parents[prefix.count("/") - 1] if prefix else root
    for place in PLACES:
        try:
            text = read_regular(top / place, MAX_BYTES).decode("utf-8", "replace")
        except (OSError, UsageError):
            continue
        return parse_code_owners(text, prefix)
    return CodeOwners((), prefix)


def parse_code_owners(text: str, prefix: str = "") -> CodeOwners:
    """The patterns of a CODEOWNERS file."""
    sections: dict[str, _Section] = {"": _Section()}
    section, default = sections[""], ()
    for line in text.splitlines()[:_MAX_PATTERNS]:
        stripped = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if not stripped:
            continue
        if (header := _SECTION.fullmatch(stripped)) is not None:
            section = sections.setdefault(header[1].lower(), _Section())
            default = tuple(header[2].split())
            continue
        pattern, *owners = re.split(r"(?<!\\)\s+", stripped)
        section.patterns.append(_regular(pattern.replace("\\ ", " ")))
        section.owners.append(tuple(owners) or default)
    return CodeOwners(tuple(_compiled(one) for one in sections.values() if one.patterns), prefix)


def _compiled(section: _Section) -> tuple[re.Pattern[str], tuple[tuple[str, ...], ...]]:
    alternatives = "|".join(f"({pattern})" for pattern in reversed(section.patterns))
    return re.compile(alternatives), tuple(reversed(section.owners))


def _regular(pattern: str) -> str:
    """A regular expression for a pattern with the syntax of `.gitignore`: also files below a matching folder."""
    anchored = "/" in pattern.rstrip("/")
    parts = pattern.strip("/").split("/")
    start = "" if anchored or parts[0] == "**" else "(?:.*/)?"
    text = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            text += ".*" if last else "(?:.*/)?"
        else:
            text += _part(part) + ("" if last else "/")
    # `folder/` and `folder` match all below it; `folder/*` only the files in it
    below = "/.*" if pattern.endswith("/") else "" if parts[-1] in ("*", "**") and len(parts) > 1 else "(?:/.*)?"
    return start + text + below


def _part(part: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char) for char in part)
