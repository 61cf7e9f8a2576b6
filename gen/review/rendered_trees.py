"""`rendered/` at the base commit and in the work tree, reading as little as possible.

A file with the same bytes at the base is identified by its first lines. Only files that differ are parsed, and read
from Git.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from gen.base import Findings, Location, Severity, UsageError, did_you_mean
from gen.base.codes import Code
from gen.base.codes.files import NOT_A_FILE
from gen.base.repository.files import printable_path, read_regular, walk
from gen.base.repository.git import Base, Entry, report_empty_folder
from gen.base.repository.layout import RENDERED, STAGING, RenderedPath, scope_overlay, settings_name
from gen.render.rendered_object import RenderedObject, generated_object, parse_object

_SHA1_DIGITS = 40
MAX_BYTES = 4 << 20
"""More than the API server accepts, with room for indentation."""


@dataclass(frozen=True, slots=True)
class RenderedTrees:
    """The objects before and after, without the records of stopped runs, which no cluster has.

    An object of an unchanged file is the same object in both lists.
    """

    before: list[RenderedObject] = field(default_factory=list)
    after: list[RenderedObject] = field(default_factory=list)
    stopped: list[RenderedObject] = field(default_factory=list)
    """These records at the base."""
    suspects: dict[str, bytes] = field(default_factory=dict)
    """Files of the work tree that differ from the base, or that gen did not write."""
    settings: list[str] = field(default_factory=list)
    """Suspects that change settings of an engine."""

    def select(self, overlays: Collection[str]) -> RenderedTrees:
        """The objects of some overlays, or all. UsageError for an overlay without rendered objects."""
        known = {scope_overlay(scope) for one in (*self.before, *self.after) if (scope := one.key.scope)}
        for name in overlays:
            if name not in known:
                raise UsageError(f"no rendered objects for overlay `{name}`: {did_you_mean(name, known)}")

        def chosen(objects: Iterable[RenderedObject]) -> list[RenderedObject]:
            return [one for one in objects if not overlays or scope_overlay(one.key.scope) in overlays]

        suspects = {
            path: raw for path, raw in self.suspects.items() if not overlays or _overlay(path) in (*overlays, "")
        }
        settings = [path for path in self.settings if path in suspects]
        return RenderedTrees(chosen(self.before), chosen(self.after), chosen(self.stopped), suspects, settings)


def read_trees(root: Path, base: Base, found: Findings) -> RenderedTrees:
    """Read both trees. Reports unreadable files as errors in the work tree and as warnings at the base."""
    committed = base.files()
    present = dict(_work_tree(root, found))
    trees = RenderedTrees()
    differing = {path: entry for path, entry in committed.items() if not _same(present.get(path), entry)}
    for path, raw in present.items():
        unchanged = path in committed and path not in differing
        one = generated_object(raw, path) if unchanged else None
        if not unchanged and settings_name(path):
            trees.settings.append(path)
        if one is None:
            trees.suspects[path] = raw
            one = parse_object(raw, printable_path(path), found)
        if one is not None and one.is_stopped:
            if unchanged:
                trees.stopped.append(one)
        elif one is not None:
            trees.after.append(one)
            if unchanged:
                trees.before.append(one)
    for one in _committed(base, differing, found):
        (trees.stopped if one.is_stopped else trees.before).append(one)
    return trees


def _overlay(path: str) -> str:
    return scope_overlay(RenderedPath.parse(path).scope)


def _same(raw: bytes | None, entry: Entry) -> bool:
    if raw is None or not entry.is_regular:
        return False
    algorithm = hashlib.sha1 if len(entry.digest) == _SHA1_DIGITS else hashlib.sha256
    return algorithm(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest() == entry.digest


def _committed(base: Base, entries: dict[str, Entry], found: Findings) -> Iterator[RenderedObject]:
    own, reported = Findings(), {finding.place.file for finding in found}
    regular = {path: entry for path, entry in entries.items() if entry.is_regular}
    blobs = base.blobs(entry.digest for entry in regular.values())
    for path in sorted(entries.keys() - regular.keys()):
        own.error(*_not_a_file(path))
    for path, entry in regular.items():
        raw = blobs[entry.digest]
        if len(raw) > MAX_BYTES:
            own.error(*_not_a_file(path))
        elif (one := parse_object(raw, printable_path(path), own)) is not None:
            yield one
    prefix = f"at {base.commit[:7]}: "
    found.extend(
        replace(finding, severity=Severity.WARNING, message=prefix + finding.message)
        for finding in own
        if finding.place.file not in reported
    )


def _work_tree(root: Path, found: Findings) -> Iterator[tuple[str, bytes]]:
    """Path in the repository and bytes of every file below `rendered/`. Links are not followed."""
    top = root / RENDERED
    if top.is_symlink():
        raise UsageError(f"`{top}` is a link, which gen does not follow; replace it with a folder")

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # without the folder, everything is removed
            found.error(*_not_a_file(os.path.relpath(str(error.filename), root)))

    for folder, folders, files in walk(top, onerror=unreadable):
        inner = os.path.relpath(folder, root).replace(os.sep, "/")
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]  # noqa: PTH114 - many paths
        folders[:] = sorted(name for name in folders if f"{inner}/{name}" != STAGING)
        if inner != RENDERED and not (folders or files or links):
            report_empty_folder(inner, found)
        for name in sorted(files + links):
            raw = _bytes(f"{folder}/{name}", f"{inner}/{name}", found)
            if raw is not None:
                yield f"{inner}/{name}", raw


def _bytes(full: str, path: str, found: Findings) -> bytes | None:
    try:
        return read_regular(full, MAX_BYTES)
    except OSError:  # a link, a pipe, too large, or no permission
        found.error(*_not_a_file(path))
        return None


def _not_a_file(path: str) -> tuple[Code, Location, str, str]:
    message = f"not a readable regular file of at most {MAX_BYTES} bytes"
    return NOT_A_FILE, Location(printable_path(path)), message, "remove it, or split it; links are not followed"
