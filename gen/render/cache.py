"""The cache: results of the last complete run, so that the next run renders only what changed.

It is stored outside of the repository, where no pull request can forge it. It is JSON with digests and no text: a file
that differs from its digest is rendered again. A damaged cache differs from its own digest, and is ignored like an
outdated one. This module imports nothing heavy, because a run without any change needs nothing else.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypeVar, cast

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, UsageError
from gen.base.codes.grants import OVER_QUOTA
from gen.base.repository.files import (
    MAX_BYTES,
    MAX_DEFINITION_BYTES,
    read_cache_file,
    read_regular,
    save_cache_file,
    walk,
)
from gen.base.repository.job_files import all_jobs
from gen.base.repository.layout import OVERLAY_FILE, OVERLAYS, RENDERED, JobFile
from gen.base.repository.stamps import Stamp, Stamps, portable_tools_digest, tools_digest
from gen.render.results import File, JobResult, RenderedJob, RenderedObjects, RenderedOverlay, RunResult, summaries_of

RenderedT = TypeVar("RenderedT", bound=RenderedObjects)

_TYPE_AND_OWNER = 0o170700


class CachedRun(Struct, frozen=True, kw_only=True):
    """Content of a cache file. Its types are the format: a file that does not match them is ignored.

    The first line has all but the jobs. A line for each job follows.
    """

    key: str
    """Digest of the tools and the overlays."""
    shared: tuple[RenderedOverlay, ...]
    """Storage and bundles of the overlays."""
    overlays: tuple[str, ...]
    keep: tuple[str, ...]
    findings: tuple[Diagnostic, ...]
    """All findings of the run."""
    jobs: dict[str, JobResult] = msgspec.field(default_factory=dict)
    """Results by key of the job file."""


class UnchangedRun(Struct, frozen=True, kw_only=True):
    """The report of a run after which all files had stamps, for the next run without any change."""

    key: str
    """Digest of the tools and the overlays."""
    stamps: str
    """Digest of the stamps."""
    overlays: tuple[str, ...]
    jobs: int
    files: int
    findings: tuple[Diagnostic, ...]


def read_run(path: Path) -> CachedRun | None:
    """The run in a cache file; None if there is none, or if it is damaged."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        lines = read_cache_file(path)
        end = cast("bytes", lines.obj).index(b"\n")
        jobs = msgspec.json.Decoder(JobResult).decode_lines(lines[end + 1 :])
        return replace(msgspec.json.decode(lines[:end], type=CachedRun), jobs={job.job.key: job for job in jobs})
    return None


def lines_of(run: CachedRun, results: Sequence[JobResult]) -> Iterator[bytes]:
    """The content of a cache file, in small pieces. `run` has no jobs."""
    without_text = replace(run, shared=tuple(map(_without_text, run.shared)))
    for record in chain((without_text,), map(_job_without_text, results)):
        yield msgspec.json.encode(record) + b"\n"


def _job_without_text(result: JobResult) -> JobResult:
    overlays = (replace(one, rendered=tuple(map(_run_without_text, one.rendered))) for one in result.overlays)
    return replace(result, overlays=tuple(overlays))


def _run_without_text(rendered: RenderedJob) -> RenderedJob:
    if rendered.behind is None:
        return _without_text(rendered)
    fresh = tuple(map(_file_without_text, rendered.behind.fresh))
    return _without_text(replace(rendered, behind=replace(rendered.behind, fresh=fresh)))


def _without_text(rendered: RenderedT) -> RenderedT:
    return replace(rendered, files=tuple(map(_file_without_text, rendered.files)))


def _file_without_text(file: File) -> File:
    return replace(file, text=None, stored="", characters=0) if file.text is not None or file.stored else file


class Cache(Struct, frozen=True, kw_only=True):
    """The cache of one repository, for one set of overlays and tools."""

    root: Path
    kubernetes: str | None
    path: Path
    tools: str
    """Digest of the tools alone."""
    key: str
    """Digest of the tools and the overlays before the run reads them."""
    last: CachedRun | None = None
    """The last complete run; None if it had other overlays or tools, or was not read."""
    shard: bool = False
    """Whether it is for some of the jobs, with or without errors, and for other machines."""
    stamps: Stamps | None = None
    """Files of this machine that need not be read. None for a shard."""

    @classmethod
    def open(cls, root: Path, folder: Path, kubernetes: str | None) -> Cache:
        """The cache of a repository, without its last run; `folder` contains the caches of all repositories."""
        path = folder / f"{_sha(os.fsencode(root))[:16]}.json"
        tools = tools_digest()
        stamps = Stamps(root, path.with_suffix(".stamps"), tools)
        key = _key(tools, root, kubernetes)
        return cls(root=root, kubernetes=kubernetes, path=path, tools=tools, key=key, stamps=stamps)

    def with_last_run(self) -> Cache:
        last = read_run(self.path)
        return replace(self, last=last if last is not None and last.key == self.key else None)

    def unchanged_run(self) -> UnchangedRun | None:
        """The report of the last run if no file changed since, by the status of each; None if one may have changed."""
        if self.stamps is None:
            return None
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            run = msgspec.json.decode(read_cache_file(self._unchanged), type=UnchangedRun)
            if (run.key, run.stamps) != (self.key, self.stamps.digest):
                return None
            jobs = all_jobs(self.root, found := Findings())
            if not found.items and self.stamps.knows_all(((job.file, job.lock) for job in jobs), RENDERED):
                return run
        return None

    @property
    def _unchanged(self) -> Path:
        return self.path.with_suffix(".unchanged")

    @classmethod
    def for_shard(cls, root: Path, file: Path, kubernetes: str | None) -> Cache:
        """The file that a shard writes. UsageError for a name that `of_shards` does not read."""
        if file.suffix != ".json":
            raise UsageError(f"`--save {file}` must end with `.json`, as `--shards` expects it")
        return cls._shared(root, file, kubernetes)

    @classmethod
    def _shared(cls, root: Path, file: Path, kubernetes: str | None) -> Cache:
        tools = portable_tools_digest()
        key = _key(tools, root, kubernetes, plugins=False)
        return cls(root=root, kubernetes=kubernetes, path=file, tools=tools, key=key, shard=True)

    @classmethod
    def of_shards(cls, root: Path, folder: Path, kubernetes: str | None) -> Cache:
        """The results of all shards, from the files in a folder. UsageError if one is unusable."""
        one = cls._shared(root, folder, kubernetes)
        runs = {path: read_run(path) for path in sorted(folder.glob("*.json"))}
        if not runs:
            raise UsageError(f"{folder} has no `.json` file, as `gen check --shard K/N --save FILE` writes it")
        jobs: dict[str, JobResult] = {}
        for path, run in runs.items():
            if run is None:
                raise UsageError(f"{path} is damaged, or was not written by `gen check --shard`")
            if run.key != one.key:
                raise UsageError(f"{path} is for other overlays or another version of gen; check one commit")
            jobs.update(run.jobs)
        last = CachedRun(key=one.key, shared=(), overlays=(), keep=(), findings=(), jobs=jobs)
        return replace(one, last=last)

    def without(self, files: Collection[str]) -> Cache | None:
        """The cache without the results of some job files; None if it has none of them."""
        known = self.last.jobs if self.last is not None else {}
        jobs = {key: result for key, result in known.items() if result.job.file not in files}
        if self.last is None or len(jobs) == len(known):
            return None
        return replace(self, last=replace(self.last, jobs=jobs))

    def run_result(self) -> RunResult | None:
        """The last run, without text; None if any job file changed since."""
        if self.last is None or self.shard:
            return None
        found = Findings()
        jobs = all_jobs(self.root, found)
        if found.items or {job.key for job in jobs} != self.last.jobs.keys():
            return None
        if any(self.result(job) is None for job in jobs):
            return None
        jobs_rendered = [job for result in self.last.jobs.values() for job in result.rendered]
        rendered: tuple[RenderedObjects, ...] = (*jobs_rendered, *self.last.shared)
        return RunResult(
            files={file.path: file for one in rendered for file in one.files},
            overlays=self.last.overlays,
            jobs=len(jobs),
            whole=True,
            findings=Findings([*self.last.findings]),
            keep=self.last.keep,
            behind=tuple(job for job in jobs_rendered if job.behind is not None),
            resumed=tuple(job for job in jobs_rendered if job.resumes),
            summaries=summaries_of(jobs_rendered),
        )

    def result(self, job: JobFile) -> JobResult | None:
        """The result of a job file, without text; None if the file changed since."""
        result = self.last.jobs.get(job.key) if self.last is not None else None
        if result is None:
            return None
        stamp = self._stamp(result)
        if self.stamps is not None and self.stamps.knows(stamp):
            return result
        with suppress(OSError):
            if file_digest(f"{self.root}/{job.file}") == result.digest:
                if _lock_digest(f"{self.root}/{job.lock}") != result.lock:
                    return None
                if self.stamps is not None:
                    self.stamps.add(stamp)
                return result
        return None

    def _stamp(self, result: JobResult) -> Stamp | None:
        """The stamp of a job file and its lock."""
        if self.stamps is None or not result.digest:
            return None
        return self.stamps.of_files((result.job.file, result.job.lock), f"{result.digest} {result.lock}")

    def remember(self, run: RunResult) -> None:
        """Store the stamps of a run that agrees with `rendered/`, and its report if all of its files have one.

        Nothing is stored if an overlay changed during the run. A cache that cannot be written is not an error.
        """
        if self.stamps is None or self._is_outdated():
            return
        needs_git = run.behind or run.resumed or any(one.code == OVER_QUOTA.name for one in run.findings)
        folders = {path.rpartition("/")[0] for path in run.files}
        with suppress(OSError):
            self.stamps.save()
            if run.whole and not needs_git and len(self.stamps) == run.jobs + len(folders):
                record = UnchangedRun(
                    key=self.key,
                    stamps=self.stamps.digest,
                    overlays=run.overlays,
                    jobs=run.jobs,
                    files=len(run.files),
                    findings=tuple(run.findings),
                )
                save_cache_file(self._unchanged, [msgspec.json.encode(record)])

    def save(self, results: Sequence[JobResult], shared: Sequence[RenderedOverlay], run: RunResult) -> None:
        """Store a complete run without errors, or a shard. A cache that cannot be written is not an error.

        Nothing is stored if an overlay changed during the run, because the run may have read either version. UsageError
        if a shard cannot be stored: an older file must not be taken for its result.
        """
        if self.shard and self.last is not None:
            return  # the results of others
        changed = self._is_outdated()
        if self.shard:
            if changed:
                raise UsageError("an overlay changed during the check; check again")
            try:
                self._write(results, shared, run)
            except OSError as error:
                raise UsageError(f"cannot write {self.path}: {error.strerror}") from error
        elif not changed and not run.findings.failed():
            with suppress(OSError):
                self._write(results, shared, run)
            if self.stamps is not None:
                known = self.last.jobs if self.last is not None else {}
                for result in (one for one in results if known.get(one.job.key) is not one):
                    self.stamps.add(self._stamp(result))

    def _is_outdated(self) -> bool:
        """Whether an overlay changed since the run began, even if it has the old content again."""
        start = self.stamps.start if self.stamps is not None else None
        if start is not None and _changed_after(self.root / OVERLAYS, start):
            return True
        return _key(self.tools, self.root, self.kubernetes, plugins=not self.shard) != self.key

    def _write(self, results: Sequence[JobResult], shared: Sequence[RenderedOverlay], run: RunResult) -> None:
        record = CachedRun(
            key=self.key, shared=tuple(shared), overlays=run.overlays, keep=run.keep, findings=tuple(run.findings)
        )
        save_cache_file(self.path, lines_of(record, results))


def cache_folder() -> Path | None:
    """The user's cache folder for gen; None if the user has no home.

    A relative `XDG_CACHE_HOME` is ignored, as required by the XDG base directory specification.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "gen"
    with suppress(RuntimeError):
        return Path.home() / ".cache" / "gen"
    return None


def cache_file(kind: str, folder: Path) -> Path | None:
    """The file with what gen knows of a folder, such as a repository; None if the user has no home."""
    caches = cache_folder()
    return caches / f"{kind}-{_sha(os.fsencode(folder.absolute()))[:16]}.json" if caches is not None else None


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file. OSError if it cannot be read."""
    return _sha(read_regular(path, MAX_BYTES))


def _lock_digest(path: str) -> str:
    """SHA-256 of a lock; empty if there is none. OSError if it cannot be read."""
    return file_digest(path) if os.path.lexists(path) else ""


def _sha(raw: bytes | memoryview) -> str:
    return hashlib.sha256(raw).hexdigest()


def _key(tools: str, root: Path, kubernetes: str | None, *, plugins: bool = True) -> str:
    overlays = list(_overlays(root))
    return _sha(orjson.dumps([tools, kubernetes, *overlays, *(_plugins(root) if plugins else ())]))


def settings_digest(root: Path) -> str:
    """Digest of the tools, and of the overlays with their plugins."""
    return _key(tools_digest(), root, None)


def _plugins(root: Path) -> Iterator[object]:
    """The installed plugins, if an overlay can name one: looking for them takes as long as reading a hundred jobs."""
    files = (Path(folder, OVERLAY_FILE) for folder, _, names in walk(root / OVERLAYS) if OVERLAY_FILE in names)
    if any(b"plugins" in _read_if_possible(path) for path in files):
        from gen.overlay.plugins import plugin_stamps

        yield from plugin_stamps()


def _read_if_possible(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except OSError:
        return b""


def _overlays(root: Path) -> Iterator[tuple[str, object]]:
    """Everything below `overlays/`. File names count too, because they occur in findings and hints."""
    for folder, folders, files in walk(root / OVERLAYS):
        folders.sort()
        for name in sorted(files + folders):
            path = Path(folder, name)
            yield ascii(str(path.relative_to(root))), _state(path)  # file names need not be UTF-8


def _changed_after(folder: Path, time: int) -> bool:
    """Whether the file system changed a folder or anything in it after a time of its clock, or cannot tell."""
    below = (os.path.join(here, name) for here, folders, files in walk(folder) for name in (*folders, *files))  # noqa: PTH118 - as `walk`
    try:
        return any(os.lstat(path).st_ctime_ns > time for path in chain((os.fspath(folder),), below))
    except OSError:
        return True


def _state(path: Path) -> object:
    """Digest of a file that gen could read; mode and size of anything else, such as large files of other tools.

    Files in a folder have states of their own. Times and the bits of a umask differ between the machines of shards.
    """
    with suppress(OSError):
        return _sha(read_regular(path, MAX_DEFINITION_BYTES))
    with suppress(OSError):
        status = path.lstat()
        return status.st_mode & _TYPE_AND_OWNER, 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return None
