"""`rendered/` at the base commit and in the work tree, with their objects matched, and the merge of a change.

A file with the same bytes at the base is identified by its first lines. Only files that differ are parsed, and read
from Git. Objects are matched by identity instead of path, so that moving a file neither adds nor removes an object. The
name of an object that belongs to a run contains the run's hash; it is matched with the object that has the same name
except for the hash.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct, field, structs
from msgspec.structs import replace

from gen.base import Code, Diagnostic, Findings, Location, Severity, UsageError, did_you_mean
from gen.base.codes.files import NOT_A_FILE
from gen.base.codes.jobs import DUPLICATE_OBJECT
from gen.base.codes.rendered import NOT_AS_APPROVED
from gen.base.parallel import in_thread
from gen.base.repository.files import MAX_RENDERED_BYTES, is_special, printable_path, read_regular, walk
from gen.base.repository.git import Base, Entry, check_index, git, report_empty_folder, run_git
from gen.base.repository.layout import (
    JOBS,
    OVERLAYS,
    RENDERED,
    STAGING,
    RenderedPath,
    engine_of,
    is_free,
    overlays_path,
    scope_overlay,
    settings_name,
)
from gen.base.repository.settings import SETTINGS_FILE
from gen.kubernetes.facts.base import Resource
from gen.render.rendered_object import ObjectKey, RenderedObject, generated_object, parse_object, workload
from gen.render.results import RunResult

_SHA1_DIGITS = 40


class RenderedTrees(Struct, frozen=True):
    """The objects before and after, without the records of stopped runs, which no cluster has.

    An object of an unchanged file is the same object in both lists.
    """

    before: list[RenderedObject] = field(default_factory=list)
    after: list[RenderedObject] = field(default_factory=list)
    stopped: list[RenderedObject] = field(default_factory=list)
    """These records at the base."""
    suspects: dict[str, bytes] = field(default_factory=dict)
    """Files of the work tree that differ from the base, or that gen did not write."""
    former: list[RenderedObject] = field(default_factory=list)
    """The objects at the base of files that differ or are gone."""
    settings: list[str] = field(default_factory=list)
    """Suspects that change settings of an engine."""
    rendered: RunResult | None = None
    """A render of the work tree, which knows what is in files that it writes."""

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
        before, after, stopped, former = map(chosen, (self.before, self.after, self.stopped, self.former))
        return RenderedTrees(before, after, stopped, suspects, former, settings)


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
    trees.former.extend(_committed(base, differing, found))
    for one in trees.former:
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
        if len(raw) > MAX_RENDERED_BYTES:
            own.error(*_not_a_file(path))
        elif (one := parse_object(raw, printable_path(path), own)) is not None:
            yield one
    prefix = f"at {base.commit[:7]}: "
    found.extend(
        structs.replace(finding, severity=Severity.WARNING, message=prefix + finding.message)
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

    start = len(os.fspath(top)) - len(RENDERED)
    for folder, folders, files in walk(top, onerror=unreadable):
        inner = folder[start:].replace(os.sep, "/")
        folders[:] = sorted(name for name in folders if f"{inner}/{name}" != STAGING)
        if inner != RENDERED and not (folders or files):
            report_empty_folder(inner, found)
        for name in sorted(files):
            raw = _bytes(f"{folder}/{name}", f"{inner}/{name}", found)
            if raw is not None:
                yield f"{inner}/{name}", raw


def present_objects(root: Path) -> Iterator[RenderedObject]:
    """The readable objects of the work tree, without stopped runs."""
    ignored = Findings()
    objects = (parse_object(raw, printable_path(path), ignored) for path, raw in _work_tree(root, ignored))
    return (one for one in objects if one is not None and not one.is_stopped)


def _bytes(full: str, path: str, found: Findings) -> bytes | None:
    try:
        return read_regular(full, MAX_RENDERED_BYTES)
    except OSError:  # a link, a pipe, too large, or no permission
        found.error(*_not_a_file(path))
        return None


def _not_a_file(path: str) -> tuple[Code, Location, str, str]:
    message = f"not a readable regular file of at most {MAX_RENDERED_BYTES} bytes"
    return NOT_A_FILE, Location(printable_path(path)), message, "remove it, or split it; links are not followed"


class Pair(Struct, frozen=True):
    """An object before and after the merge. One of the two may be missing."""

    before: RenderedObject | None
    after: RenderedObject | None

    @property
    def object(self) -> RenderedObject:
        """The object after the merge, or before it if the merge removes the object."""
        found = self.after or self.before
        assert found is not None  # a pair has at least one object
        return found

    @property
    def is_same(self) -> bool:
        """Whether the file of the object is the same before and after."""
        return self.before is self.after

    @property
    def replaced(self) -> bool:
        """Whether it replaces an object with another identity."""
        before, after = self.before, self.after
        if before is None or after is None or before is after:
            return False
        return _in_cluster(before) != _in_cluster(after)

    @property
    def changed(self) -> bool:
        if self.before is None or self.after is None:
            return True
        return self.before is not self.after and self.before.body != self.after.body

    @property
    def moved(self) -> bool:
        """Whether the same object is in another file."""
        before, after = self.before, self.after
        return before is not None and after is not None and not self.replaced and before.path != after.path

    @property
    def workload(self) -> Resource | None:
        """Facts of the kind if the object is a run or a schedule, otherwise None."""
        return workload(self.object)


def _in_cluster(one: RenderedObject) -> ObjectKey:
    """The identity of an object in its cluster: overlays with the same cluster can hand it over."""
    return replace(one.key, scope=engine_of(one.key.scope) and one.key.scope)


_FIELDS = attrgetter("scope", "group", "kind", "namespace", "name")
"""An `ObjectKey` as a tuple, whose order is found faster."""


def match_objects(trees: RenderedTrees, found: Findings, clusters: Mapping[str, Hashable]) -> list[Pair]:
    """The objects of both trees, ordered by identity. Reports objects that two files define.

    `clusters` has a key for the cluster of each overlay.
    """

    def elsewhere(one: RenderedObject) -> Hashable | None:
        return (clusters[one.key.scope], _in_cluster(one)) if one.key.scope in clusters else None

    before = _by_key(trees.before)
    after = _by_key(trees.after, {one.path for one in trees.before}, found)
    pairs = [Pair(before.get(key), one) for key, one in after.items() if key in before]
    old = [one for key, one in before.items() if key not in after]
    new = [one for key, one in after.items() if key not in before]
    for criterion in (elsewhere, _name_without_hash, _job):
        matched = list(_match(old, new, criterion))
        taken = {one for pair in matched for one in (pair.before, pair.after)}
        old, new = [one for one in old if one not in taken], [one for one in new if one not in taken]
        pairs += matched
    pairs += [Pair(one, None) for one in old] + [Pair(None, one) for one in new]
    return sorted(pairs, key=lambda pair: _FIELDS(pair.object.key))


def _by_key(
    objects: Iterable[RenderedObject], old: Collection[str] = (), found: Findings | None = None
) -> dict[ObjectKey, RenderedObject]:
    """If two files define an object, the file with an `old` path wins, otherwise the first one."""
    known: dict[ObjectKey, RenderedObject] = {}
    for one in sorted(objects, key=lambda one: (one.path not in old, one.path)):
        other = known.setdefault(one.key, one)
        if other is not one and found is not None:
            message = f"`{one.key}` is defined in two files; each sync would replace one with the other"
            related = [(Location(other.path), "the other file")]
            found.error(DUPLICATE_OBJECT, Location(one.path), message, "remove one of the files", related)
    return known


def _match(
    old: list[RenderedObject], new: list[RenderedObject], criterion: Callable[[RenderedObject], Hashable | None]
) -> Iterator[Pair]:
    """Pairs of objects with equal criteria. Each object is in at most one pair."""
    waiting: dict[Hashable, deque[RenderedObject]] = defaultdict(deque)
    for one in old:
        if (value := criterion(one)) is not None:
            waiting[value].append(one)
    for one in new:
        if (value := criterion(one)) is not None and waiting[value]:
            yield Pair(waiting[value].popleft(), one)


def _name_without_hash(one: RenderedObject) -> Hashable | None:
    return (replace(one.key, name=one.key.name.replace(one.run, "")), one.job) if one.run else None


def _job(one: RenderedObject) -> Hashable | None:
    """Matches the runs of a job after a change of its kind; runs of a sweep by their values."""
    return (one.key.scope, one.key.namespace, one.job, one.values) if workload(one) is not None else None


MAX_DIFFERING: Final = 20
"""Files that `gen check --merged` names."""
_WORDS: Final = {"A": "is not in the approved tree", "D": "is missing; the approved tree has it"}
_EVERYWHERE: Final = ("--", ":/")


class WorkTreeChanges(Struct, frozen=True, kw_only=True):
    """Differences of the work tree from the base. Paths are those in the Git repository."""

    base: Base
    tracked: Mapping[str, str]
    """Modes, object names and status of tracked files, as Git prints them."""
    new: tuple[str, ...]
    """Other files, without those that Git ignores."""
    inputs: frozenset[str]
    """Jobs, files of overlays and settings that differ, with ignored files; paths in the repository of jobs."""
    tree: str
    """The tree of HEAD, if the work tree has the same files; otherwise empty, because no commit has these files."""
    index: tuple[Diagnostic, ...]
    """Findings about the index."""

    def input_folders_differ(self) -> bool:
        """Whether a job or an overlay differs."""
        folders = tuple(f"{self.base.prefix}{one}/" for one in (JOBS, OVERLAYS))
        return any(path.startswith(folders) for path in (*self.tracked, *self.new))

    def others(self) -> tuple[str, ...]:
        """Paths that are neither jobs nor rendered files.

        Reports name the first of them, so texts and overlays come last, and those that the base has before new ones.
        Among these, hidden ones are first: hosts and tools obey them.
        """
        prefix = self.base.prefix
        added = dict.fromkeys(self.new, True) | {path: about.endswith("A") for path, about in self.tracked.items()}
        own = {path: path.removeprefix(prefix) for path in added if path.startswith(prefix)}
        paths = [path for path in added if path not in own or not is_free(own[path])]

        def order(path: str) -> tuple[bool, bool, bool, str]:
            is_data = own.get(path, "").startswith(overlays_path("")) or path.endswith(".md")
            return is_data, added[path], not path.startswith("."), path

        return tuple(map(printable_path, sorted(paths, key=order)))


_INPUTS: Final = (JOBS, OVERLAYS, SETTINGS_FILE)


def changes_in_background(base: Base) -> AbstractContextManager[Callable[[], WorkTreeChanges]]:
    """Let Git compare while this process reads files. The result raises UsageError."""
    return in_thread(partial(_changes, base))


def _changes(base: Base) -> WorkTreeChanges:
    root, prefix = base.root, base.prefix
    tracked = _raw(root, "diff-index", base.commit)  # by size and time
    unknown = any(f" {'0' * len(base.commit)} " in about and not about.endswith("D") for about in tracked.values())
    up = "../" * prefix.count("/")
    if unknown and not any(is_special(root / up / path) for path in tracked):
        tracked = _raw(root, "diff", "--no-ext-diff", "--no-relative", base.commit)  # waits for ever for a pipe
    new = _paths(git(root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", *_EVERYWHERE))
    below = (path.removeprefix(prefix) for path in tracked if path.startswith(prefix))
    folders = tuple(f"{one}/" for one in _INPUTS)
    inputs = {path for path in below if path.startswith(folders) or path in _INPUTS}
    inputs.update(_paths(git(root, "ls-files", "--others", "-z", "--", *_INPUTS)))
    is_head = not new and tracked == _raw(root, "diff-tree", "-r", base.commit, "HEAD")
    tree = git(root, "rev-parse", "--verify", "HEAD^{tree}").decode().strip() if is_head else ""
    check_index(root, index := Findings())
    return WorkTreeChanges(base=base, tracked=tracked, new=new, inputs=frozenset(inputs), tree=tree, index=tuple(index))


def _raw(root: Path, *command: str) -> dict[str, str]:
    """The result of a comparison, by path. Git compares all files: for some, 2.39 reads the index for each."""
    listed = git(root, *command, "--raw", "--no-abbrev", "--no-renames", "-z", *_EVERYWHERE)
    entries = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return dict(zip(entries[1::2], entries[::2], strict=True))


def _paths(listed: bytes) -> tuple[str, ...]:
    return tuple(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])


def check_merged(root: Path, tree: str, found: Findings) -> None:
    """Report the files in HEAD that differ from an approved tree. UsageError if Git does not have the tree."""
    approved = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tree}^{{tree}}")
    if approved is None or approved.returncode:
        remedy = "fetch the commit that was checked, such as `git fetch origin refs/pull/NUMBER/merge`"
        raise UsageError(f"unknown tree `{tree}`; {remedy}")
    trees = approved.stdout.decode().strip(), "HEAD"
    listed = git(root, "diff-tree", "-r", "--name-status", "--no-renames", "-z", *trees)
    entries = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
    hint = "read how the change was merged, and plan the difference with `gen plan --base`"
    differing = list(zip(entries[::2], entries[1::2], strict=True))
    for status, path in differing[:MAX_DIFFERING]:
        message = f"the merged file {_WORDS.get(status, 'differs from the approved one')}"
        found.error(NOT_AS_APPROVED, Location(printable_path(path)), message, hint)
    if len(differing) > MAX_DIFFERING:
        message = f"{len(differing) - MAX_DIFFERING} more files differ from the approved tree"
        found.error(NOT_AS_APPROVED, Location("."), message, f"run `git diff {trees[0]} HEAD`")
