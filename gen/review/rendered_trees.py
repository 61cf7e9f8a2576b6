"""The two trees: `rendered/` at the base and in the work tree, with as little read as will do.

A file whose bytes Git already has at the base is known by its first lines; only what differs is parsed, and taken
from Git.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location, Severity, UsageError
from gen.repository.layout import RENDERED, STAGING
from gen.repository.safe_files import read_regular, shown_path
from gen.review.rendered_object import Item, known_item, parsed_item

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.repository.git import Base, Entry

MAX_BYTES = 4 << 20
"""More than an API server takes, with room for indentation."""
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Trees:
    """The objects on both sides. An object whose file did not change is the same item on both."""

    before: list[Item] = field(default_factory=list)
    after: list[Item] = field(default_factory=list)


def read_trees(root: Path, base: Base, found: Findings) -> Trees:
    """Read both; what cannot be read is a finding: an error in the work tree, a warning at the base."""
    committed = base.files()
    present = dict(_work_tree(root, found))
    trees = Trees()
    differing = {path: entry for path, entry in committed.items() if not _same(present.get(path), entry)}
    for path, raw in present.items():
        unchanged = path in committed and path not in differing
        item = (known_item(raw, path) if unchanged else None) or parsed_item(raw, shown_path(path), found)
        if item is not None:
            trees.after.append(item)
            if unchanged:
                trees.before.append(item)
    trees.before.extend(_committed(base, differing, found))
    return trees


def _same(raw: bytes | None, entry: Entry) -> bool:
    if raw is None or entry.mode not in _REGULAR:
        return False
    known = hashlib.sha1 if len(entry.digest) == 40 else hashlib.sha256  # noqa: PLR2004 - as long as SHA-1 is
    return known(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest() == entry.digest


def _committed(base: Base, entries: dict[str, Entry], found: Findings) -> Iterator[Item]:
    own, known = Findings(), {item.place.file for item in found}
    regular = {path: entry for path, entry in entries.items() if entry.mode in _REGULAR}
    blobs = base.blobs(entry.digest for entry in regular.values())
    for path in sorted(entries.keys() - regular.keys()):
        own.error(*_not_a_file(path))
    for path, entry in regular.items():
        raw = blobs[entry.digest]
        if len(raw) > MAX_BYTES:
            own.error(*_not_a_file(path))
        elif (item := parsed_item(raw, shown_path(path), own)) is not None:
            yield item
    said = f"at {base.commit[:7]}: "
    found.extend(
        replace(item, severity=Severity.WARNING, message=said + item.message)
        for item in own
        if item.place.file not in known
    )


def _work_tree(root: Path, found: Findings) -> Iterator[tuple[str, bytes]]:
    """Path in the repository and bytes of every file below `rendered/`; links are not followed."""
    top = root / RENDERED
    if top.is_symlink():
        raise UsageError(f"{top} is a link, which is not followed: make it a folder")

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # without the folder everything goes
            found.error(*_not_a_file(os.path.relpath(str(error.filename), root)))

    for folder, folders, files in os.walk(top, onerror=unreadable):
        inner = os.path.relpath(folder, root).replace(os.sep, "/")
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]  # noqa: PTH114 - of many
        folders[:] = sorted(name for name in folders if f"{inner}/{name}" != STAGING)
        for name in sorted(files + links):
            raw = _bytes(f"{folder}/{name}", f"{inner}/{name}", found)
            if raw is not None:
                yield f"{inner}/{name}", raw


def _bytes(full: str, path: str, found: Findings) -> bytes | None:
    try:
        return read_regular(full, MAX_BYTES)
    except OSError:  # a link, a pipe, too much, or what may not be read
        found.error(*_not_a_file(path))
        return None


def _not_a_file(path: str) -> tuple[str, Location, str, str]:
    message = f"this is not a regular file of at most {MAX_BYTES} bytes"
    return "not-a-file", Location(shown_path(path)), message, "remove it, or split it; links are not followed"
