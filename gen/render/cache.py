"""What the last whole run found out, so that the next one looks only at what changed.

It lies outside of the repository, where no pull request can forge it, and holds digests and no text: a file that is not
as expected is rendered anew. Whatever is wrong with it, the run goes on as if it were not there. Nothing heavy is
imported here, because a run in which nothing changed needs none of it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from gen.diagnostics import Diagnostic, Findings, Location, Severity
from gen.render.manifest import File
from gen.render.results import Outcome, Reading, Rendering
from gen.repository.job_files import all_jobs
from gen.repository.layout import OVERLAYS
from gen.repository.safe_files import MAX_BYTES, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.repository.layout import JobFile

_DEPENDENCIES = (
    "ahocorasick_rs",
    "celpy",
    "jinja2",
    "jsonschema_rs",
    "kubernetes_validate",
    "orjson",
    "pydantic",
    "pydantic_core",
    "ryaml",
    "yaml",
)
"""Packages whose version can change what comes out or what is found."""
_MOST = 1 << 28
"""Bytes of a cache: several hundred for each rendered file."""
_WRONG = (OSError, ValueError, KeyError, TypeError, IndexError)
"""What a damaged cache can lead to."""


@dataclass
class Cache:
    """The cache of one repository. It counts only for the inputs and the tools that it was made with."""

    root: Path
    kubernetes: str | None
    path: Path
    key: str
    """Of the tools and the overlays as they were before anything was read."""
    jobs: dict[str, Any]
    """Digest of each job file, and what became of it."""
    run: dict[str, Any] | None = None
    """What became of all of them together."""

    @classmethod
    def open(cls, root: Path, folder: Path, kubernetes: str | None) -> Cache:
        """Read the cache of a repository from the folder that holds those of all."""
        path = folder / f"{_sha(os.fsencode(root))[:16]}.json"
        key = _key(root, kubernetes)
        with suppress(*_WRONG):
            stored = orjson.loads(read_regular(path, _MOST))
            if stored["key"] == key:
                return cls(root, kubernetes, path, key, stored["jobs"], stored["run"])
        return cls(root, kubernetes, path, key, {})

    def rendering(self) -> Rendering | None:
        """The whole run over again, without texts, when no job changed since."""
        found = Findings()
        with suppress(*_WRONG):
            digests = {job.key: file_digest(self.root / job.file) for job in all_jobs(self.root, found)}
            if self.run is None or found.items or digests != {key: entry[0] for key, entry in self.jobs.items()}:
                return None
            stored = [outcome for entry in self.jobs.values() for outcome in entry[4]] + self.run["storage"]
            files = {file.path: file for outcome in stored for file in _outcome(outcome).files}
            findings = Findings([_finding(*finding) for finding in self.run["findings"]])
            return Rendering(files, tuple(self.run["overlays"]), len(digests), whole=True, findings=findings)
        return None

    def reading(self, job: JobFile) -> Reading | None:
        """What became of a job file, without texts, when it is as it was."""
        with suppress(*_WRONG):
            digest, name, kind, overlays, outcomes, findings = self.jobs[job.key]
            if file_digest(self.root / job.file) == digest:
                known = tuple(_outcome(o) for o in outcomes), tuple(_finding(*finding) for finding in findings)
                return Reading(job, digest, name, kind, tuple(overlays), *known)
        return None

    def save(self, readings: Sequence[Reading], storage: Sequence[Outcome], rendering: Rendering) -> None:
        """Keep what a whole run without errors made. It is no loss when that cannot be done.

        Nothing is kept when an overlay was edited meanwhile: nobody knows whether it was read before or after that.
        """
        if _key(self.root, self.kubernetes) != self.key:
            return
        run = {
            "findings": [_flat_finding(finding) for finding in rendering.findings],
            "overlays": rendering.overlays,
            "storage": [_flat(outcome) for outcome in storage],
        }
        document = {"key": self.key, "jobs": {r.job.key: _flat_reading(r) for r in readings}, "run": run}
        temporary = self.path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(orjson.dumps(document))
                temporary.replace(self.path)
            finally:
                temporary.unlink(missing_ok=True)


def cache_folder() -> Path | None:
    """Where programs keep what they can make again; None for a user without a home.

    A relative `XDG_CACHE_HOME` does not count, as the XDG base directory specification wants it.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "gen"
    with suppress(RuntimeError):
        return Path.home() / ".cache" / "gen"
    return None


def file_digest(path: Path) -> str:
    """Of a file's bytes. OSError when it cannot be read."""
    return _sha(read_regular(path, MAX_BYTES))


def _sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _key(root: Path, kubernetes: str | None) -> str:
    return _sha(orjson.dumps([*_tools(), kubernetes, *_overlays(root)]))


def _tools() -> Iterator[Any]:
    """Everything that makes output of input, by when it was last changed: gen itself, Python, and packages."""
    yield sys.version
    folder = Path(__file__).parent.parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".json", ".j2"):
            yield _stamp(path)
    for name in _DEPENDENCIES:
        spec = find_spec(name)
        yield _stamp(Path(spec.origin)) if spec is not None and spec.origin else name


def _stamp(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path), status.st_mtime_ns, status.st_size


def _overlays(root: Path) -> Iterator[tuple[str, Any]]:
    """Everything below `overlays/`: a name alone can be a finding, or the near name in one."""
    for folder, folders, files in os.walk(root / OVERLAYS):
        folders.sort()
        for name in sorted(files + folders):
            path = Path(folder, name)
            yield ascii(str(path)), _state(path)  # a name may be no UTF-8


def _state(path: Path) -> Any:
    """The digest of what gen could read; of anything else, such as weights that lie beside a patch, the stamp."""
    try:
        return file_digest(path)
    except OSError:
        with suppress(OSError):
            status = path.lstat()
            return status.st_mode, status.st_size, status.st_mtime_ns
    return None


def _flat_reading(reading: Reading) -> list[Any]:
    outcomes, findings = map(_flat, reading.outcomes), map(_flat_finding, reading.findings)
    return [reading.digest, reading.name, reading.kind, reading.overlays, [*outcomes], [*findings]]


def _flat(outcome: Outcome) -> list[Any]:
    files = [
        [f.path, f.digest, f.identity, f.source.file, f.source.line, f.source.column, f.storage] for f in outcome.files
    ]
    head = [outcome.overlay, outcome.namespace, outcome.name]
    return [*head, files, sorted(outcome.matched), list(outcome.storage), outcome.gpus]


def _outcome(flat: list[Any]) -> Outcome:
    overlay, namespace, name, files, matched, storage, gpus = flat
    return Outcome(
        overlay,
        namespace,
        name,
        tuple(File(f[0], None, f[1], f[2], Location(f[3], f[4], f[5]), f[6]) for f in files),
        frozenset(matched),
        tuple(storage),
        gpus,
    )


def _flat_finding(finding: Diagnostic) -> list[Any]:
    place = finding.place
    return [place.file, place.line, place.column, finding.code, finding.message, finding.hint, finding.severity]


def _finding(file: str, line: int, column: int, code: str, message: str, hint: str, severity: str) -> Diagnostic:
    """What a run without errors finds are warnings and notes, which have no related places."""
    return Diagnostic(Location(file, line, column), code, message, hint, severity=Severity(severity))
