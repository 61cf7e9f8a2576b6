"""The last commit that changed each file, read from the history of Git by one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.repository.git import run_git

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = "%x01%H%x00%cI%x00%an%x00%P%x00"


class Change(Struct, frozen=True):
    """A commit."""

    commit: str
    date: str
    """When it was committed, in the form of ISO 8601."""
    author: str


def last_changes(root: Path, folder: str) -> dict[str, Change]:
    """The last commit by file below a folder, relative to `root`; empty without Git.

    In a shallow clone, files that did not change since its oldest commit are absent.
    """
    asked = run_git(root, "rev-parse", "--is-shallow-repository")
    if asked is None or asked.returncode != 0:
        return {}
    shallow = asked.stdout.strip() == b"true"
    options = ("-z", f"--format={_FORMAT}", "--name-only", "--no-renames", "--relative", "--no-show-signature")
    done = run_git(root, "log", *options, "HEAD", "--", folder)
    if done is None or done.returncode != 0:
        return {}
    changes: dict[str, Change] = {}
    for entry in done.stdout.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        commit, date, author, parents, *files = entry.split("\0")
        if shallow and not parents:  # Git shows every file of the oldest commit of the clone as new
            continue
        change = Change(commit, date, author)
        for file in files:
            if name := file.strip("\n"):
                changes.setdefault(name, change)
    return changes
