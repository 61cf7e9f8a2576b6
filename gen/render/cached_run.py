"""The file of a cache: the results of a run without the texts of files, as JSON."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gen.diagnostics import Diagnostic
from gen.render.manifest import File
from gen.render.results import JobResult, Rendered, RenderedJob, RenderedOverlay
from gen.repository.safe_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

RenderedT = TypeVar("RenderedT", bound=Rendered)

MAX_CACHE_BYTES = 1 << 28
"""A cache needs several hundred bytes for each rendered file."""
_DIGEST_LENGTH = 64


class CachedRun(Struct, frozen=True, kw_only=True):
    """Content of a cache file. Its types are the format: a file that does not match them is ignored.

    The first line has all but the jobs. Then follow a line for each of them, and the digest of these lines.
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


def read_run(path: Path) -> CachedRun | None:
    """The run in a cache file; None if there is none, or if it is damaged."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        raw = read_regular(path, MAX_CACHE_BYTES)
        lines = memoryview(raw)[:-_DIGEST_LENGTH]  # not copied, because it is large
        if hashlib.sha256(lines).hexdigest().encode() == raw[-_DIGEST_LENGTH:]:
            end = raw.index(b"\n")
            jobs = msgspec.json.Decoder(JobResult).decode_lines(lines[end + 1 :])
            return replace(msgspec.json.decode(lines[:end], type=CachedRun), jobs={job.job.key: job for job in jobs})
    return None


def lines_of(run: CachedRun, results: Sequence[JobResult]) -> Iterator[bytes]:
    """The content of a cache file, in small pieces. `run` has no jobs."""
    digest = hashlib.sha256()
    without_text = replace(run, shared=tuple(map(_without_text, run.shared)))
    for record in chain((without_text,), map(_job_without_text, results)):
        line = msgspec.json.encode(record) + b"\n"
        digest.update(line)
        yield line
    yield digest.hexdigest().encode()


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
    return replace(file, text=None) if file.text is not None else file
