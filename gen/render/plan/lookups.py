"""Images and refs that the runs of a job look up in its lock."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gen.findings.pins import UNUSED_PIN
from gen.pins.lock import IMAGES, MOST_FINDINGS
from gen.pins.read import read_lock
from gen.repository.layout import lock_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.diagnostics import Findings, Location
    from gen.pins.lock import CodeKey, Lock
    from gen.repository.layout import JobFile

    Placed = Callable[[], Location]
    """Finds a place, which needs the positions of all values of a file."""


class Pins(Struct, kw_only=True):
    """The lock of a job, and the images and refs that its runs in all overlays look up in it.

    Functions that find a place must not refer to the context of the plan, which refers to the pins: only the garbage
    collector, which is off, would free both.
    """

    lock: Lock
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
    finished: bool = False
    """Whether the job is finished, so that its pins are a part of a record."""
    complete: bool = True
    """Whether no image or ref was left out because of an error."""

    @classmethod
    def of(cls, root: Path, job: JobFile, found: Findings) -> Pins | None:
        """None if the lock is invalid."""
        lock = read_lock(root, job, found)
        return cls(lock=lock) if lock is not None else None

    def report_unused(self, found: Findings) -> None:
        """Report pins that nothing looks up. They are not shown: the author of the lock chooses their text."""
        known = self.images.keys() | self.code.keys()
        unused = (route for route, key in self.lock.routes() if key not in known) if self.complete else ()
        for route in islice(unused, MOST_FINDINGS):
            what = "image" if route[0] == IMAGES else "ref"
            hint = f"remove it, or run `gen pin {lock_key(self.lock.file)}`"
            found.error(UNUSED_PIN, self.lock.place(route), f"the job does not have this {what}", hint)


class RunPins(Struct, kw_only=True):
    """Pins of one run in one overlay."""

    shared: Pins | None
    """None where pins do not count, such as in `gen set`."""
    own: dict[str, str] = field(default_factory=dict)
    """Pins of images and code that the job file names. The others belong to the platform."""
