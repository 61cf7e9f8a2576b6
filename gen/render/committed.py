"""Read the committed run of a job from `rendered/`, which is an input of the render."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from gen.base import Findings, Location, UsageError, at, regex
from gen.base.codes.rendered import HAND_EDITED
from gen.base.engines import RECORDS, STOPPED, is_finished, name_in_cluster
from gen.base.repository.files import MAX_RENDERED_BYTES, Folders, read_regular
from gen.base.repository.git import CommittedFiles
from gen.base.repository.layout import RenderedPath, object_name
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.objects import JOB_LABEL, RUN_LABEL, Body
from gen.render.emit import HEADER, Record, untouched
from gen.render.results import RenderedJob

_NAME = regex(r"^  name: (?P<name>\S+)$", re.MULTILINE)
_LABEL = regex(rf'^    {re.escape(RUN_LABEL)}: "?(?P<run>[0-9a-f]+)"?$', re.MULTILINE)
_STOPPED = regex(rf'^    {re.escape(STOPPED)}: "?(?P<name>[^"\s]+)"?$', re.MULTILINE)
"""How gen writes the name of an object and the hash of its run: legible even after an edit elsewhere in the file."""


class CommittedObject(Struct, frozen=True, kw_only=True):
    """An object of a committed run."""

    path: str
    name: str
    """Its name in the file name, without the hash of the run."""
    body: Body


class CommittedRun(Struct, frozen=True, kw_only=True):
    """A run as it is in `rendered/`."""

    record: Record
    name: str
    """Name of its workload."""
    run: str
    """Its hash."""
    workload: CommittedObject
    others: tuple[CommittedObject, ...]


class _CommittedFile(NamedTuple):
    """A file with what its text shows before it is parsed; empty where the text has none."""

    path: str
    text: str
    record: Record | None
    name: str
    run: str


class _CommittedFolder(Struct, frozen=True):
    """The files of a folder with their paths, by the digest of their job and by their run."""

    by_job: dict[str, list[_CommittedFile]] = field(default_factory=dict)
    by_run: dict[str, list[_CommittedFile]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> _CommittedFolder:
        """The folder with files by path."""
        found = cls()
        for path, text in texts.items():
            header = HEADER.match(text)
            record = Record.parse(header["record"]) if header is not None else None
            file = _CommittedFile(path, text, record, *_name_and_run(text))
            found.by_run.setdefault(file.run, []).append(file)
            if record is not None:
                found.by_job.setdefault(record.job, []).append(file)
        return found

    def committed_run(self, path: str, text: str, record: Record) -> CommittedRun | None:
        """The run with its workload in a file; None if gen did not write the file."""
        workload = _object(path, text)
        if workload is None:
            return None
        name, run = name_in_cluster(workload.body.get("metadata")), at(workload.body, "metadata", "labels", RUN_LABEL)
        if not name or not isinstance(run, str):
            return None
        others = tuple(one for one in self.objects(run) if one.path != path)
        return CommittedRun(record=record, name=name, run=run, workload=workload, others=others)

    def objects(self, run: str) -> Iterator[CommittedObject]:
        """The objects of a run."""
        for file in self.by_run.get(run, ()):
            one = _object(file.path, file.text) if untouched(file.text) else None
            if one is not None and at(one.body, "metadata", "labels", RUN_LABEL) == run:
                yield one


class CommittedRuns(Struct, frozen=True):
    """The runs in `rendered/` of one repository."""

    root: Path
    folders: Folders
    git: CommittedFiles
    """For runs of job files with edits that were taken back."""
    last: dict[str, list[_CommittedFolder]] = {}
    """The last folder by its path, so that each run of a sweep need not read the files of the others: in the work tree,
    and at the commits with the same job file once they are needed."""

    @classmethod
    def of(cls, root: Path) -> CommittedRuns:
        return cls(root, Folders(root), CommittedFiles(root))

    def behind(self, fresh: RenderedJob, record: Record, state: str, found: Findings) -> CommittedRun | None:
        """The committed run of the job that `fresh` would replace although the job did not change; None otherwise.

        It is in the work tree. If the job file equals that of the last commit or of the default branch, it may be
        there: an edit that was rendered and taken back starts no run. The record of a job is not kept if its run is
        no longer a record. Reports a run of the work tree that must be kept but cannot, because its file was edited.
        """
        new = next(file for file in fresh.files if file.record)
        here = new.path.rpartition("/")[0]
        if self._is_folder(here) and self.text(new.path) == new.text:
            return None
        name_and_run = _name_and_run(new.text or "")
        job = RenderedPath.parse(new.path).job
        for index, folder in enumerate(self._folders(here, new.source.file)):
            for one in folder.by_job.get(record.job, ()):
                committed = one.record
                if committed is None or not record.keeps(committed, state) or (one.name, one.run) == name_and_run:
                    continue
                run = folder.committed_run(one.path, one.text, committed) if untouched(one.text) else None
                if run is None and index == 0:
                    message = "cannot keep the run in this file, because the file was edited by hand"
                    hint = f"restore it from Git, or start a new run with `gen render --restart {new.source.file}`"
                    found.error(HAND_EDITED, Location(one.path), message, hint)
                    return None
                if run is None or run.workload.body["metadata"]["labels"].get(JOB_LABEL) != job:
                    continue
                if state in RECORDS or not is_finished(run.workload.body["metadata"]):
                    return self._whole(run, fresh)  # a record starts again on the platform of today
        return None

    def _whole(self, run: CommittedRun, fresh: RenderedJob) -> CommittedRun:
        """The run with the objects that the work tree lost, from a commit with the same job file.

        Git is asked only if the new run has an object that this run lacks.
        """
        known = {one.path for one in (run.workload, *run.others)}
        if all(file.path in known or not _name_and_run(file.text or "")[1] for file in fresh.files):
            return run
        here = run.workload.path.rpartition("/")[0]
        (_, *committed) = self._folders(here, fresh.files[0].source.file)
        objects = {one.path: one for folder in reversed(committed) for one in folder.objects(run.run)}
        lost = tuple(one for path, one in objects.items() if path not in known)
        return replace(run, others=(*run.others, *lost)) if lost else run

    def text(self, path: str) -> str | None:
        """A file, with the line ends that gen writes; None without a readable regular file."""
        raw = self._raw(path)
        return as_written(raw) if raw is not None else None

    def _folders(self, folder: str, source: str) -> Iterator[_CommittedFolder]:
        """The folder in the work tree, then at the commits with the same job file."""
        if folder not in self.last:
            self.last.clear()
            names = sorted(os.listdir(f"{self.root}/{folder}")) if self._is_folder(folder) else []  # noqa: PTH208 - names
            texts = {path: self.text(path) or "" for path in (f"{folder}/{name}" for name in names)}
            self.last[folder] = [_CommittedFolder.of(texts)]
        known = self.last[folder]
        yield known[0]
        if len(known) == 1:
            known += self._in_git(folder, source)
        yield from known[1:]

    def _in_git(self, folder: str, source: str) -> list[_CommittedFolder]:
        refs = self.git.refs_with(source, self._raw(source) or b"") if self.git.exists else ()
        files = [self.git.folder(ref, folder) for ref in refs]
        texts = [{f"{folder}/{name}": as_written(raw) for name, raw in one.items()} for one in files if one]
        return [_CommittedFolder.of(one) for one in texts] or [_CommittedFolder()]

    def _raw(self, path: str) -> bytes | None:
        try:
            return read_regular(f"{self.root}/{path}", MAX_RENDERED_BYTES)
        except OSError:
            return None

    def _is_folder(self, folder: str) -> bool:
        """Whether it is a regular folder. The write stage reports links."""
        try:
            return self.folders.check(folder)
        except UsageError:
            return False


def _object(path: str, text: str) -> CommittedObject | None:
    """The object of a file; None if it is not a single one, in the file that gen writes for it."""
    body = body_of(text)
    name = object_name(body["kind"], path.rpartition("/")[2]) if isinstance(body.get("kind"), str) else ""
    return CommittedObject(path=path, name=name, body=body) if name else None


def as_written(raw: bytes) -> str:
    """The text with the line ends that gen writes: Git may convert them."""
    return raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\r\n", "\n")


def body_of(text: str) -> Body:
    """The only object in a text; empty if it is invalid."""
    found = Findings()
    body: Any = typed(parse(text.encode("utf-8", "replace").decode("utf-8"), "", found) or {})
    return body if isinstance(body, dict) and not found.failed() else {}


def _name_and_run(text: str) -> tuple[str, str]:
    """Name of the object in the cluster and hash of its run, empty where the text has none."""
    name = (_STOPPED.search(text) if STOPPED in text else None) or _NAME.search(text)
    run = _LABEL.search(text)
    return name["name"] if name else "", run["run"] if run else ""
