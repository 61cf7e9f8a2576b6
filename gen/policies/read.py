"""Read the objects of files with policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import Findings, Location
from gen.findings.files import UNREADABLE
from gen.load.manifests import objects_in, read_manifests
from gen.repository.safe_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.load.manifests import Manifests

_ENDINGS = {".yaml", ".yml", ".json"}
_MAX_BYTES = 4 << 20


class Stored(Struct, frozen=True):
    """An object of a file."""

    body: Body
    manifests: Manifests
    document: int
    at: Route = ()
    """Its route in the document."""

    def place(self, route: Route, *, key: bool = False) -> Location:
        """The place of the value at a route of the object, or of its key."""
        return self.manifests.place(self.document, (*self.at, *route), key=key)


def read_stored(paths: tuple[tuple[Path, str], ...], found: Findings | None = None) -> tuple[Stored, ...]:
    """The objects of files and folders, each with the name that findings show. Unreadable files are findings."""
    findings = found if found is not None else Findings()
    return tuple(
        one for path, shown in paths for file, name in _files(path, shown) for one in _objects(file, name, findings)
    )


def _files(path: Path, shown: str) -> Iterator[tuple[Path, str]]:
    if path.is_file():
        yield path, shown
        return
    for file in sorted(path.rglob("*")):
        if file.suffix in _ENDINGS and not file.is_symlink() and file.is_file():
            yield file, f"{shown}/{file.relative_to(path).as_posix()}"


def _objects(path: Path, shown: str, found: Findings) -> Iterator[Stored]:
    try:
        raw = read_regular(path, _MAX_BYTES)
    except OSError as error:
        found.error(UNREADABLE, Location(shown), f"cannot read the file: {error}", "check its permissions and size")
        return
    manifests = read_manifests(raw, shown, found)
    if manifests is not None:
        yield from stored_in(manifests)


def stored_in(manifests: Manifests) -> Iterator[Stored]:
    """The objects of a file that was read."""
    for number, document in enumerate(manifests.documents):
        for route, body in objects_in(document):
            if isinstance(body, dict):
                yield Stored(body, manifests, number, route)
