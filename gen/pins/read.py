"""Read the lock of a job. Its author is that of the job, so every value is checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from gen.diagnostics import Findings, did_you_mean
from gen.findings.pins import INVALID_LOCK
from gen.load import read
from gen.model.names import is_image
from gen.model.scalars import shown
from gen.pins.lock import CODE, COMMIT, DIGEST, IMAGES, MOST_FINDINGS, UPDATES, CodeKey, Lock
from gen.repository.layout import lock_key

if TYPE_CHECKING:
    from pathlib import Path

    from gen.diagnostics import Route
    from gen.load import Data, Source
    from gen.repository.layout import JobFile

_FIELDS: Final = (IMAGES, CODE, UPDATES)
_MOST_PINS: Final = 10_000
"""A sweep over images has one for each."""


def read_lock(root: Path, job: JobFile, found: Findings) -> Lock | None:
    """The lock of a job, which is empty without a file; None, with findings, if it is invalid."""
    if not os.path.lexists(f"{root}/{job.lock}"):
        return Lock(file=job.lock)
    own = Findings()
    source = read(root, job.lock, own)
    lock = _lock(source, own) if source is not None else None
    found.extend(own.items)
    return None if own.failed() else lock


def _lock(source: Source, found: Findings) -> Lock:
    reader = _Reader(source, found)
    data = reader.mapping((), source.data)
    for name in data:
        if name not in _FIELDS:
            hint = f"{did_you_mean(name, _FIELDS)}; or run `gen pin {_job(source)}`, which writes the file"
            reader.refuse((name,), f"unknown field {shown(name)} of a lock", hint)
    return Lock(
        file=source.file,
        images=reader.images(data.get(IMAGES)),
        commits=reader.commits(data.get(CODE)),
        updates=reader.flag(data.get(UPDATES)),
        source=source,
    )


class _Reader:
    """The values of a lock, with a finding for each that is invalid."""

    def __init__(self, source: Source, found: Findings) -> None:
        self.source, self.found, self.refused = source, found, 0

    def refuse(self, route: Route, message: str, hint: str = "", *, key: bool = True) -> None:
        self.refused += 1
        if self.refused > MOST_FINDINGS:  # each looks for its place in the file
            return
        remedy = hint or f"remove it, and run `gen pin {_job(self.source)}`"
        self.found.error(INVALID_LOCK, self.source.place(route, key=key), message, remedy)

    def mapping(self, route: Route, value: Data) -> dict[str, Data]:
        if isinstance(value, dict) and len(value) <= _MOST_PINS:
            return value
        what = f"`{route[0]}` of a lock" if route else "a lock"
        got = "no value" if value == "" else shown(value)
        self.refuse(route, f"{what}: expected a mapping of at most {_MOST_PINS} pins, got {got}")
        return {}

    def images(self, value: Data | None) -> dict[str, str]:
        pins = {}
        for image, pinned in self.mapping((IMAGES,), value).items() if value is not None else ():
            digest = _digest(image, pinned)
            if "@" in image or not is_image(image):
                self.refuse((IMAGES, image), f"{shown(image)} is not a valid image reference without a digest")
            elif digest is None:
                message = f"expected {shown(image)} with a digest, got {shown(pinned)}"
                hint = f"write the same name with `@sha256:` and 64 digits, or run `gen pin {_job(self.source)}`"
                self.refuse((IMAGES, image), message, hint, key=False)
            else:
                pins[str(image)] = str(digest)
        return pins

    def commits(self, value: Data | None) -> dict[CodeKey, str]:
        pins = {}
        for url, refs in self.mapping((CODE,), value).items() if value is not None else ():
            for ref, commit in self.mapping((CODE, url), refs).items():
                if isinstance(commit, str) and COMMIT.fullmatch(commit):
                    pins[str(url), str(ref)] = str(commit)
                else:
                    message = f"the pin of {shown(ref)}: expected a full commit hash, got {shown(commit)}"
                    hint = f"write a full hash, such as `git rev-parse` prints, or run `gen pin {_job(self.source)}`"
                    self.refuse((CODE, url, ref), message, hint, key=False)
        return pins

    def flag(self, value: Data | None) -> bool:
        if value not in (None, "true", "false"):
            self.refuse((UPDATES,), f"`{UPDATES}`: expected `true` or `false`, got {shown(value)}", key=False)
        return value == "true"


def _digest(image: str, pinned: Data) -> str | None:
    """The digest of the same image; None for any other value."""
    if not isinstance(pinned, str) or not pinned.startswith(f"{image}@"):
        return None
    digest = pinned.removeprefix(f"{image}@")
    return digest if DIGEST.fullmatch(digest) else None


def _job(source: Source) -> str:
    return lock_key(source.file)
