"""Overlays of another repository, which `gen vendor` copies into the folder of the overlay that extends them.

    overlays/<overlay>/overlay.yaml         extends: {git: …, ref: …, path: …}, or {oci: …, ref: …, path: …}
    overlays/<overlay>/vendor/<path>/…      the overlay, those that it extends, and templates of jobs
    overlays/<overlay>/vendor.lock          git, ref, path, commit (oci: digest), and the digest of each file

Rendering reads only these files, and refuses those that are not as the lock says. It imports no models.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen.base import Findings, Location, counted, regex
from gen.base.codes.overlays import EDITED_VENDORED, NOT_VENDORED, OTHER_ORIGIN
from gen.base.repository.files import EntryType, linked_folder, printable_path, read_regular, tree_entries
from gen.base.repository.layout import OVERLAY_FILE, VENDOR, overlays_path, vendor_lock
from gen.base.yaml.source import Source, read
from gen.base.yaml.strict import Data

ORIGIN_URL: Final = regex(
    r"(?:https?|ssh)://(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]*/[^\s@]+"
    r"|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s-][^\s@]*"
)
ORIGIN_OCI: Final = regex(
    r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::[0-9]{1,5})?/[a-z0-9]+(?:(?:[._/]|__|-+)[a-z0-9]+)*"
)
ORIGIN_REF: Final = regex(r"[A-Za-z0-9_](?:[A-Za-z0-9._+/-]*[A-Za-z0-9_+-])?|sha256:[0-9a-f]{64}")
_PART: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
ORIGIN_PATH: Final = regex(rf"{_PART}(?:/{_PART})*")
"""Paths that every file system can have, without hidden files, which tools may obey."""
_DIGEST: Final = regex(r"[0-9a-f]{64}")
MOST_FILES: Final = 2000
MOST_BYTES: Final = 4 << 20
"""Of one file: definitions of operators have more than a megabyte."""
MOST_BYTES_TOGETHER: Final = 32 << 20
_MOST_FINDINGS: Final = 20
_RESTORE: Final = "run `gen vendor`, which restores it; change it in its own repository, or set fields in {}"


class OriginType(Struct, frozen=True):
    """A type of origins: the forms of its URLs and of the content of a ref, and the field of a lock with that."""

    url: re.Pattern[str]
    content: re.Pattern[str]
    field: str


ORIGIN_TYPES: Final = {
    "git": OriginType(ORIGIN_URL, regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?"), "commit"),
    "oci": OriginType(ORIGIN_OCI, regex(r"sha256:[0-9a-f]{64}"), "digest"),
}
"""By the field of `extends` with the URL."""


class Origin(Struct, frozen=True):
    """What `extends` of an overlay names."""

    url: str
    ref: str
    path: str
    type: str = "git"
    """One of `ORIGIN_TYPES`."""

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")

    @property
    def fields(self) -> dict[str, str]:
        """As files have it."""
        return {self.type: self.url, "ref": self.ref, "path": self.path}

    def __str__(self) -> str:
        return f"{self.url} {self.ref} {self.path}"


def origin_of(value: Data | None) -> Origin | None:
    """The origin in `extends`; None if it is not a valid one, which the model of overlays reports."""
    types = [name for name in ORIGIN_TYPES if isinstance(value, dict) and name in value]
    if not isinstance(value, dict) or len(types) != 1 or value.keys() != {*types, "ref", "path"}:
        return None
    url, ref, path = value[types[0]], value["ref"], value["path"]
    forms = ((url, ORIGIN_TYPES[types[0]].url), (ref, ORIGIN_REF), (path, ORIGIN_PATH))
    if all(isinstance(text, str) and form.fullmatch(text) for text, form in forms):
        return Origin(str(url), str(ref), str(path), types[0])
    return None


class VendorLock(Struct, frozen=True):
    """The content of `vendor.lock`."""

    origin: Origin
    commit: str
    files: Mapping[str, str]
    """SHA-256 by path below `vendor/`, sorted."""

    def text(self) -> str:
        """The file."""
        origin = {**self.origin.fields, ORIGIN_TYPES[self.origin.type].field: self.commit}
        lines = [f"{name}: {value}" for name, value in origin.items()]
        files = [f"  {path}: {digest}" for path, digest in self.files.items()]
        return "\n".join(("# written by `gen vendor`", *lines, "files:", *files, ""))


def digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def read_vendor_lock(root: Path, overlay: str, at: Location, found: Findings) -> tuple[VendorLock, Source] | None:
    """The lock of an overlay; None, with a finding, if there is none, or it is not one."""
    file = vendor_lock(overlay)
    own = Findings()
    if not (root / file).exists():
        found.error(NOT_VENDORED, at, f"{file} does not exist", "run `gen vendor`, and commit the copied files")
        return None
    source = read(root, file, own)
    lock = _lock(source.data) if source is not None else None
    if source is None or lock is None:
        place = own.items[0].place if own.items else Location(file)
        message = own.items[0].message if own.items else "the file is not a lock of `gen vendor`"
        found.error(NOT_VENDORED, place, message, "run `gen vendor`, which writes it")
        return None
    return lock, source


def _lock(data: Data) -> VendorLock | None:
    if not isinstance(data, dict):
        return None
    origin = origin_of({name: data[name] for name in (*ORIGIN_TYPES, "ref", "path") if name in data})
    one = ORIGIN_TYPES[origin.type] if origin is not None else None
    if origin is None or one is None or data.keys() != {*origin.fields, one.field, "files"}:
        return None
    commit, files = data[one.field], data["files"]
    if not (isinstance(commit, str) and one.content.fullmatch(commit)):
        return None
    if not isinstance(files, dict) or len(files) > MOST_FILES:
        return None
    known = {
        str(path): digest
        for path, digest in files.items()
        if ORIGIN_PATH.fullmatch(str(path)) and isinstance(digest, str) and _DIGEST.fullmatch(digest)
    }
    return VendorLock(origin, commit, known) if len(known) == len(files) else None


def vendored_overlay(root: Path, overlay: str, source: Source, origin: Origin, found: Findings) -> str | None:
    """The name of the copied overlay; None, with findings, unless all copied files are those of the lock."""
    before = len(found.items)
    at = source.place(("extends",))
    if (folder := linked_folder(root, f"{overlays_path(overlay, VENDOR)}/")) is not None:
        found.error(EDITED_VENDORED, Location(folder), "links are not allowed", "run `gen vendor`, which replaces it")
        return None
    read_lock = read_vendor_lock(root, overlay, at, found)
    if read_lock is None:
        return None
    lock, written = read_lock
    for name in {**lock.origin.fields, **origin.fields}:
        here, there = origin.fields.get(name), lock.origin.fields.get(name)
        if here != there:
            message = f"`{name}` is `{there or 'not set'}`, but the overlay extends `{here or origin}`"
            found.error(OTHER_ORIGIN, written.place((name,)), message, "run `gen vendor`, and commit the copied files")
    for place, message in _differences(root, overlay, lock):
        found.error(EDITED_VENDORED, place, message, _RESTORE.format(source.file))
        if len(found.items) - before >= _MOST_FINDINGS:
            break
    name = f"{overlay}/{VENDOR}/{origin.path}"
    if len(found.items) == before and f"{origin.path}/{OVERLAY_FILE}" not in lock.files:
        found.error(NOT_VENDORED, at, f"no overlay `{origin.path}` is in the lock", "run `gen vendor`")
    return name if len(found.items) == before else None


def _differences(root: Path, overlay: str, lock: VendorLock) -> Iterator[tuple[Location, str]]:
    """Files that are not those of the lock."""
    folder = overlays_path(overlay, VENDOR)
    missing = dict(lock.files)
    for number, entry in enumerate(tree_entries(root, folder)):
        below = entry.path.removeprefix(f"{folder}/")
        digest = missing.pop(below, None)
        place = Location(printable_path(entry.path))
        if number >= MOST_FILES:
            yield place, f"more than {MOST_FILES} files"
            return
        if entry.type is EntryType.OTHER:
            yield place, "links are not allowed"
        elif entry.type is not EntryType.EMPTY_FOLDER and (why := _difference(root, entry.path, digest)):
            yield place, why
    for path in missing:
        count = "" if len(missing) == 1 else f" ({counted(len(missing), 'file')} of the lock do not)"
        yield Location(f"{folder}/{path}"), f"the file does not exist{count}"
        return


def _difference(root: Path, path: str, digest: str | None) -> str:
    if digest is None:
        return "the lock does not have this file"
    try:
        raw = read_regular(root / path, MOST_BYTES)
    except OSError as error:
        return error.strerror or "unreadable"
    return "" if digest_of(raw) == digest else "the file was edited"
