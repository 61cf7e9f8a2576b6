"""The history of runs: when each was rendered and removed, from the commits that changed `rendered/`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen.base.engines import is_finished, is_stopped, name_in_cluster
from gen.base.repository.git import REGULAR_FILE, Base, head_commit, run_git
from gen.base.repository.layout import rendered_path, source_job
from gen.render.emit import HEADER
from gen.render.rendered_object import generated_object, workload
from gen.render.starters import starter_of_object

MAX_EVENTS: Final = 5000
"""Changed files that are read, the latest first."""
_FORMAT: Final = "%x01%H%x00%cI%x00%an%x00"
_DELETED: Final = "D"


class RunEvent(Struct, frozen=True, kw_only=True):
    """A commit that adds, stops, finishes or removes a run."""

    overlay: str
    run: str
    """Name of the object."""
    kind: str
    what: str
    """`added`, `stopped`, `finished` or `removed`."""
    commit: str
    date: str
    author: str


class _Entry(Struct, frozen=True):
    commit: str
    date: str
    author: str
    path: str
    digest: str
    deleted: bool


def run_history(root: Path) -> dict[str, tuple[RunEvent, ...]]:
    """Events by job file, the latest first; empty without Git."""
    entries = list(changed_files(root, rendered_path("")))[:MAX_EVENTS]
    if not entries:
        return {}
    blobs = Base(root, "", "HEAD", head_commit(root)).blobs(one.digest for one in entries)
    known: dict[str, list[RunEvent]] = {}
    for entry in entries:
        one = generated_object(blobs[entry.digest], entry.path)
        header = HEADER.match(one.text) if one is not None else None
        kind = workload(one) if one is not None else None
        if one is None or header is None or kind is None or source_job(header["source"]) is None:
            continue
        if not starter_of_object(kind).runs_in_git:
            continue
        state = "stopped" if is_stopped(one.metadata) else "finished" if is_finished(one.metadata) else "added"
        event = RunEvent(
            overlay=one.key.scope,
            run=name_in_cluster(one.metadata),
            kind=one.key.kind,
            what="removed" if entry.deleted else state,
            commit=entry.commit,
            date=entry.date,
            author=entry.author,
        )
        known.setdefault(header["source"], []).append(event)
    return {file: tuple(events) for file, events in known.items()}


def changed_files(root: Path, paths: str) -> Iterator[_Entry]:
    """Changed files, the latest first, with their content after a commit, or before the one that deletes them."""
    options = ("-z", f"--format={_FORMAT}", "--raw", "--no-abbrev", "--no-renames", "--relative", "--no-show-signature")
    done = run_git(root, "log", *options, "HEAD", "--", paths)
    if done is None or done.returncode != 0:
        return
    for commit in done.stdout.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        name, date, author, *fields = commit.split("\0")
        fields = [field for field in fields if field]
        for about, path in zip(fields[::2], fields[1::2], strict=False):
            words = about.strip("\n").lstrip(":").split(" ")
            if len(words) == 5 and words[1 if words[4] != _DELETED else 0] in REGULAR_FILE:  # noqa: PLR2004
                deleted = words[4] == _DELETED
                yield _Entry(name, date, author, path, words[2] if deleted else words[3], deleted)
