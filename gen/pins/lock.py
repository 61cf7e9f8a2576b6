"""The lock of a job: the digest of each image, and the commit of each ref of its code.

    images:
      registry.example.com/train:1.5: registry.example.com/train:1.5@sha256:…
    code:
      https://git.example.com/team/train.git:
        main: 6c3e…

The keys are as in the job or the overlay, before the overlay replaces registries: a digest is the same content in
every registry. So a lock is valid in all overlays, and one that names something else is refused. The author of a job
writes its lock, so every value is checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from gen.base import Findings, Location, Route, did_you_mean, regex, with_other
from gen.base.codes.pins import INVALID_LOCK, UNUSED_PIN
from gen.base.repository.layout import JobFile, lock_key
from gen.base.yaml.source import Source, read
from gen.base.yaml.strict import Data
from gen.job.names import is_image
from gen.job.scalars import shown

Placed = Callable[[], Location]
"""Finds a place, which needs the positions of all values of a file."""

IMAGES: Final = "images"
CODE: Final = "code"
UPDATES: Final = "updates"
"""Field that asks for updates of the pins by a scheduled job of CI."""
DIGEST: Final = regex(r"sha256:[0-9a-f]{64}")
COMMIT: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Full hashes of Git: SHA-1, and SHA-256 in repositories that use it."""

MOST_FINDINGS: Final = 20
"""Findings about one lock. A file can have thousands of wrong values."""

CodeKey = tuple[str, str]
"""URL and ref."""


class Lock(Struct, frozen=True, kw_only=True):
    """The pins of a job; empty if it has no lock file."""

    file: str
    images: Mapping[str, str] = {}
    """Digest by image, as the job or the overlay writes it."""
    commits: Mapping[CodeKey, str] = {}
    """Commit by URL and ref."""
    updates: bool = False
    """Whether the job asks for updates."""
    source: Source | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the file; empty without one."""
        return self.source.digest if self.source is not None else ""

    def place(self, route: Route) -> Location:
        return self.source.place(route, key=True) if self.source is not None else Location(self.file)

    def routes(self) -> Iterator[tuple[Route, str | CodeKey]]:
        """The route of each pin in the file, with its image or ref."""
        yield from (((IMAGES, image), image) for image in self.images)
        yield from (((CODE, *key), key) for key in self.commits)


_FULL_DIGEST: Final = regex(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
"""The functions of the OCI image specification (`descriptor.md`, "Registered algorithms")."""
_SHORT: Final = 12


def short_pin(pin: str) -> str:
    """A digest or a commit with its first digits, as tools of registries and Git show them."""
    start, colon, digits = pin.rpartition(":")
    return f"{start}{colon}{digits[:_SHORT]}"


def is_full_commit(ref: str) -> bool:
    """Whether a ref always has the same content."""
    return COMMIT.fullmatch(ref) is not None


def is_full_digest(image: str) -> bool:
    """Whether an image always has the same content: it has a digest of a function that runtimes check."""
    return _FULL_DIGEST.fullmatch(image.partition("@")[2]) is not None


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
            run = f"or run `gen pin {_job(source)}`, which writes the file"
            hint = with_other(did_you_mean(name, _FIELDS), run)
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


def name_of(pinned: str | CodeKey) -> str:
    """An image without its tag, or the URL of code."""
    if not isinstance(pinned, str):
        return pinned[0]
    folder, slash, name = pinned.rpartition("/")
    return f"{folder}{slash}{name.partition(':')[0]}"


def _digest(image: str, pinned: Data) -> str | None:
    """The digest of the same image; None for any other value."""
    if not isinstance(pinned, str) or not pinned.startswith(f"{image}@"):
        return None
    digest = pinned.removeprefix(f"{image}@")
    return digest if DIGEST.fullmatch(digest) else None


def _job(source: Source) -> str:
    return lock_key(source.file)


class Pins(Struct, kw_only=True):
    """The lock of a job, and the images and refs that its runs in all overlays look up in it.

    Functions that find a place must not refer to the context of the plan, which refers to the pins: only the garbage
    collector, which is off, would free both.
    """

    lock: Lock
    job: str = ""
    """Path of the job file."""
    images: dict[str, dict[str, None]] = field(default_factory=dict)
    """Images without a digest, as they are written, each with the images that overlays pull instead."""
    code: dict[CodeKey, Placed] = field(default_factory=dict)
    """Refs that are not full commits."""
    places: dict[str, Placed] = field(default_factory=dict)
    """A place of each image."""
    fixed_images: dict[str, Placed] = field(default_factory=dict)
    """Images with a digest, as overlays pull them."""
    fixed_code: dict[CodeKey, Placed] = field(default_factory=dict)
    """URLs with full commits."""
    architectures: set[str] = field(default_factory=set)
    """Architectures of the nodes that the job chooses."""
    origins: dict[str, list[Placed]] = field(default_factory=dict)
    """Places of images without a tag, and of URLs, that the job file may name."""
    finished: bool = False
    """Whether the job is finished, so that its pins are a part of a record."""
    complete: bool = True
    """Whether no image or ref was left out because of an error."""

    @classmethod
    def of(cls, root: Path, job: JobFile, found: Findings) -> Pins | None:
        """None if the lock is invalid."""
        lock = read_lock(root, job, found)
        return cls(lock=lock, job=job.file) if lock is not None else None

    def report_unused(self, found: Findings) -> None:
        """Report pins that nothing looks up. They are not shown: the author of the lock chooses their text.

        Other tags of an image of the job are errors. Other images may have been those of the platform, which changes
        them without the locks.
        """
        known = self.images.keys() | self.code.keys()
        unused = ((route, key) for route, key in self.lock.routes() if key not in known) if self.complete else ()
        for route, key in islice(unused, MOST_FINDINGS):
            what = "image" if route[0] == IMAGES else "ref"
            origins = self.origins.get(name_of(key), ())
            report = found.error if any(place().file == self.job for place in origins) else found.warning
            hint = f"remove it, or run `gen pin {lock_key(self.lock.file)}`"
            report(UNUSED_PIN, self.lock.place(route), f"the job does not have this {what}", hint)


class RunPins(Struct, kw_only=True):
    """Pins of one run in one overlay."""

    shared: Pins | None
    """None where pins do not count, such as in `gen set`."""
    own: dict[str, str] = field(default_factory=dict)
    """Pins of images and code that the job file names. The others belong to the platform."""
