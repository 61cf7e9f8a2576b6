"""Artifacts in registries, as `flux push artifact` and `oras push` make them: the digest of a tag, tags, and files.

A layer is an archive, or one file with its name in `org.opencontainers.image.title`. Nothing is extracted: archives are
read in memory, with limits, because a registry is a stranger.

Sources: the image specification of OCI (`manifest.md`, `annotations.md`) and the distribution specification ("Listing
tags").
"""

from __future__ import annotations

import posixpath
import tarfile
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Final

from msgspec import Struct

from gen.base import as_mapping
from gen.base.codes.overlays import REFUSED_TREE
from gen.base.codes.pins import REMOTE_ANSWER
from gen.pins.git import File, Ref, highest_version
from gen.pins.http import MOST_BYTES, Reference, RemoteError, require_client
from gen.pins.lock import DIGEST
from gen.pins.registry import DockerConfig, Registry

_MOST_UNPACKED: Final = 64 << 20
_MOST_ENTRIES: Final = 20_000
_MOST_LAYERS: Final = 100
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_TITLE: Final = "org.opencontainers.image.title"
_UNPACK: Final = "io.deis.oras.content.unpack"
_LONGEST: Final = 6
"""Time limit of all answers, as a multiple of that of one."""
_REGULAR, _OTHER = "100644", "120000"


class Artifact(Struct, frozen=True):
    """The files of an artifact."""

    commit: str
    """Digest of its manifest."""
    entries: Mapping[str, File]
    contents: Mapping[str, bytes]

    def files(self, path: str) -> dict[str, File]:
        """All entries below a folder, by path."""
        return {name: file for name, file in self.entries.items() if name.startswith(f"{path}/")}

    def read(self, file: File) -> bytes:
        return self.contents[file.object]


class _Repository:
    """A repository of a registry, for one command."""

    def __init__(self, name: str, tag: str, seconds: float) -> None:
        require_client()
        self.image = Reference.of(f"{name}@{tag}" if is_digest(tag) else f"{name}:{tag}")
        self.registry = Registry(self.image.host, DockerConfig.read(), seconds)
        self.deadline = time.monotonic() + seconds * _LONGEST


def is_digest(ref: str) -> bool:
    return DIGEST.fullmatch(ref) is not None


def find_artifact(name: str, tag: str, seconds: float) -> Ref:
    """The digest of a tag. RemoteError if there is none."""
    asked = _Repository(name, tag, seconds)
    return Ref(f"refs/tags/{tag}", asked.registry.digest(asked.image, asked.deadline))


def newest_tag(name: str, tag: str, seconds: float) -> str:
    """The tag with the highest version, of the form of a tag such as `v1.4.0`; the tag itself if it has no version."""
    asked = _Repository(name, tag, seconds)
    return highest_version(tag, lambda: asked.registry.tags(asked.image, asked.deadline))


@contextmanager
def fetched_artifact(name: str, digest: str, seconds: float) -> Iterator[Artifact]:
    """An artifact with its files. RemoteError if the registry does not have it, or if it is too large."""
    asked = _Repository(name, digest, seconds)
    manifest = asked.registry.manifest(asked.image, digest, asked.deadline)
    layers = manifest.get("layers")
    if not isinstance(layers, list) or not layers or len(layers) > _MOST_LAYERS:
        raise _refused(name, "is not an artifact with files, such as `flux push artifact` makes")
    if sum(_size(layer, name) for layer in layers) > MOST_BYTES:
        raise _refused(name, f"has more than {MOST_BYTES >> 20} MiB")
    entries: dict[str, File] = {}
    contents: dict[str, bytes] = {}
    for layer in layers:
        raw = asked.registry.content(asked.image, layer["digest"], asked.deadline)
        for path, mode, size, content in _files(layer, raw, name):
            entries[path] = File(mode, path, size)
            contents[path] = content
        if len(entries) > _MOST_ENTRIES or sum(map(len, contents.values())) > _MOST_UNPACKED:
            raise _refused(name, f"has more than {_MOST_ENTRIES} files or {_MOST_UNPACKED >> 20} MiB")
    yield Artifact(digest, entries, contents)


def _size(layer: object, name: str) -> int:
    size = layer.get("size") if isinstance(layer, dict) else None
    digest = layer.get("digest") if isinstance(layer, dict) else None
    if not isinstance(size, int) or size < 0 or not isinstance(digest, str) or not is_digest(digest):
        raise RemoteError(REMOTE_ANSWER, f"`{name}` has a manifest with an invalid layer", "ask its owner")
    return size


def _files(layer: Mapping[str, object], raw: bytes, name: str) -> Iterator[tuple[str, str, int, bytes]]:
    """Path, mode, size and content of each file of a layer."""
    about = as_mapping(layer.get("annotations"))
    title = about.get(_TITLE)
    if isinstance(title, str) and about.get(_UNPACK) != "true" and "tar" not in str(layer.get("mediaType")):
        yield _path(title, name), _REGULAR, len(raw), raw
        return
    try:
        with tarfile.TarFile(fileobj=BytesIO(_unpacked(raw, name))) as archive:
            for number, member in enumerate(archive):
                if number > _MOST_ENTRIES:
                    raise _refused(name, f"has more than {_MOST_ENTRIES} files")
                path = _path(member.name, name)
                if member.isdir():
                    continue
                regular = member.isreg() and not member.issparse()
                small = regular and member.size <= _MOST_UNPACKED
                opened = archive.extractfile(member) if small else None
                content = opened.read() if opened is not None else b""
                yield path, _REGULAR if regular else _OTHER, member.size, content
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OSError):
        raise _refused(name, "has a layer that is not an archive") from None


def _unpacked(raw: bytes, name: str) -> bytes:
    if not raw.startswith(_GZIP):
        return raw
    reader = zlib.decompressobj(_GZIP_WINDOW)
    data = reader.decompress(raw, _MOST_UNPACKED)
    if reader.unconsumed_tail:
        raise _refused(name, f"has more than {_MOST_UNPACKED >> 20} MiB after decompression")
    return data


def _path(written: str, name: str) -> str:
    path = posixpath.normpath(written)
    if path.startswith(("/", "../")) or path == "..":
        raise _refused(name, "has a path outside of its folder")
    return path


def _refused(name: str, why: str) -> RemoteError:
    return RemoteError(REFUSED_TREE, f"`{name}` {why}", "push only the folders `overlays/` and `templates/`")
