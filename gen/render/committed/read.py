"""Read the committed run of a job from `rendered/`, which is an input of the render."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from gen.diagnostics import Findings, Location, UsageError
from gen.findings.rendered import HAND_EDITED
from gen.kubernetes import JOB_LABEL, RUN_LABEL, Body, at
from gen.load.strict import parse
from gen.load.yaml12 import typed
from gen.regex import regex
from gen.render.emit import HEADER, untouched
from gen.render.record import Record
from gen.render.write.folders import Folders
from gen.repository.layout import RenderedPath, object_name
from gen.repository.safe_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.render.results import RenderedJob

MAX_BYTES = 4 << 20
"""More than the API server accepts, with room for indentation."""
_NAME = regex(r"^  name: (?P<name>\S+)$", re.MULTILINE)
_LABEL = regex(rf'^    {re.escape(RUN_LABEL)}: "?(?P<run>[0-9a-f]+)"?$', re.MULTILINE)
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


class _CommittedFile(Struct, frozen=True):
    """A file with what its text shows before it is parsed; empty where the text has none."""

    text: str
    record: Record | None
    name: str
    run: str

    @classmethod
    def of(cls, text: str) -> _CommittedFile:
        header = HEADER.match(text)
        record = Record.parse(header["record"]) if header is not None else None
        return cls(text, record, *_name_and_run(text))


class _CommittedFolder(Struct, frozen=True):
    """The files of a folder with their paths, by the digest of their job and by their run."""

    by_job: dict[str, list[tuple[str, _CommittedFile]]] = field(default_factory=dict)
    by_run: dict[str, list[tuple[str, _CommittedFile]]] = field(default_factory=dict)


class CommittedRuns(Struct, frozen=True):
    """The runs in `rendered/` of one repository."""

    root: Path
    folders: Folders
    last: dict[str, _CommittedFolder] = {}
    """The last folder by its path, so that each run of a sweep need not read the files of the others."""

    @classmethod
    def of(cls, root: Path) -> CommittedRuns:
        return cls(root, Folders(root))

    def behind(self, fresh: RenderedJob, record: Record, state: str, found: Findings) -> CommittedRun | None:
        """The committed run of the job that `fresh` would replace although the job did not change; None otherwise.

        Reports a run that must be kept but cannot, because its file was edited.
        """
        new = next(file for file in fresh.files if file.record)
        folder = new.path.rpartition("/")[0]
        if not self._is_folder(folder) or self.text(new.path) == new.text:
            return None
        name, digest = _name_and_run(new.text or "")
        for path, one in self._folder(folder).by_job.get(record.job, ()):
            committed = one.record
            if committed is None or not record.keeps(committed, state) or (one.name, one.run) == (name, digest):
                continue
            run = self._run(path, one.text, committed) if untouched(one.text) else None
            if run is None:
                message = "cannot keep the run in this file, because the file was edited by hand"
                hint = f"restore it from Git, or start a new run with `gen render --restart {new.source.file}`"
                found.error(HAND_EDITED, Location(path), message, hint)
            elif run.workload.body["metadata"]["labels"].get(JOB_LABEL) == RenderedPath.parse(new.path).job:
                return run
        return None

    def text(self, path: str) -> str | None:
        """A file, with the line ends that gen writes; None if there is no readable regular file."""
        try:
            raw = read_regular(f"{self.root}/{path}", MAX_BYTES)
        except OSError:
            return None
        return as_written(raw)

    def _run(self, path: str, text: str, record: Record) -> CommittedRun | None:
        """The run with its workload in a file; None if the file does not contain what gen writes."""
        workload = _object(path, text)
        if workload is None:
            return None
        name, run = (at(workload.body, "metadata", *route) for route in (("name",), ("labels", RUN_LABEL)))
        if not isinstance(name, str) or not isinstance(run, str):
            return None
        others = tuple(one for one in self._objects(path.rpartition("/")[0], run) if one.path != path)
        return CommittedRun(record=record, name=name, run=run, workload=workload, others=others)

    def _objects(self, folder: str, run: str) -> Iterator[CommittedObject]:
        """The objects of a run."""
        for path, file in self._folder(folder).by_run.get(run, ()):
            one = _object(path, file.text) if untouched(file.text) else None
            if one is not None and at(one.body, "metadata", "labels", RUN_LABEL) == run:
                yield one

    def _folder(self, folder: str) -> _CommittedFolder:
        if folder not in self.last:
            self.last.clear()
            self.last[folder] = found = _CommittedFolder()
            for name in sorted(os.listdir(f"{self.root}/{folder}")):  # noqa: PTH208 - names, not paths
                path = f"{folder}/{name}"
                file = _CommittedFile.of(self.text(path) or "")
                found.by_run.setdefault(file.run, []).append((path, file))
                if file.record is not None:
                    found.by_job.setdefault(file.record.job, []).append((path, file))
        return self.last[folder]

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
    """Name of the object and hash of its run, empty where the text has none."""
    name, run = _NAME.search(text), _LABEL.search(text)
    return name["name"] if name else "", run["run"] if run else ""
