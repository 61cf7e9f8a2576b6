"""CustomResourceDefinitions of users. Only files that define a requested kind are parsed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.diagnostics import DefinitionError, Findings
from gen.load.manifests import read_manifests
from gen.regex import regex
from gen.schemas.structural import ExtraChecks, close_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes import Body
    from gen.schemas.registry import Schema

_ENDINGS = {".yaml", ".yml", ".json"}
_MARK = b"CustomResourceDefinition"
_NAMED = regex(rb"[\"']?\bkind[\"']?:\s*[\"']?([A-Za-z0-9]+)")
_MAX_FILE_BYTES = 64 << 20


class Definition(Struct, frozen=True):
    """One version of one kind."""

    api_version: str
    kind: str
    namespaced: bool
    schema: Schema
    extra_checks: ExtraChecks
    source: Schema
    """As it is written, with its defaults."""
    file: str
    deprecated: str | None
    """The deprecation warning of the version."""
    replicas: tuple[str, ...] = ()
    """Path of the number that the `scale` subresource sets."""


class Definitions:
    """The kinds that the files of some folders define. The first folder that defines a kind wins."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._folders = folders
        self._found: dict[tuple[str, str], Definition] = {}
        self._parsed: dict[Path, DefinitionError | None] = {}

    def __reduce__(self) -> tuple[type[Definitions], tuple[tuple[Path, ...]]]:
        """Another process reads the files that it needs."""
        return Definitions, (self._folders,)

    def get(self, api_version: str, kind: str) -> Definition | None:
        """DefinitionError if a file that may define the kind cannot be read."""
        key = api_version, kind
        if key not in self._found:
            for path in self._files.get(kind.encode(), ()):
                self._parse(path)
        return self._found.get(key)

    def kinds(self) -> list[tuple[str, str]]:
        """All defined kinds; reads every file."""
        for paths in self._files.values():
            for path in paths:
                self._parse(path)
        return sorted(self._found)

    @cached_property
    def _files(self) -> dict[bytes, list[Path]]:
        """Files by the kinds that occur in their text, which is much faster than parsing them."""
        files: dict[bytes, list[Path]] = {}
        for folder in self._folders:
            paths = [folder] if folder.is_file() else sorted(folder.rglob("*"))
            for path in paths:
                if self._is_usable(path):
                    text = path.read_bytes()
                    for name in set(_NAMED.findall(text)) if _MARK in text else ():
                        files.setdefault(name, []).append(path)
        return files

    def _is_usable(self, path: Path) -> bool:
        """Links in a folder could lead anywhere. Users may name a link themselves."""
        if path.suffix not in _ENDINGS or (path.is_symlink() and path not in self._folders):
            return False
        return path.is_file() and path.stat().st_size <= _MAX_FILE_BYTES

    def _parse(self, path: Path) -> None:
        if path in self._parsed:
            if (known := self._parsed[path]) is not None:
                raise known
            return
        self._parsed[path] = None
        try:
            for definition in (one for document in _documents(path) for one in _definitions(document, str(path))):
                self._found.setdefault((definition.api_version, definition.kind), definition)
        except DefinitionError as error:
            self._parsed[path] = error
            raise
        except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            self._parsed[path] = fault = DefinitionError(path, reason)
            raise fault from error


def _documents(path: Path) -> tuple[Any, ...]:
    """Read like manifests, with the same limits."""
    found = Findings()
    manifests = read_manifests(path.read_bytes(), str(path), found)
    if manifests is None or found.failed():
        raise DefinitionError(path, found.items[0].message, found.items[0].place.line)
    return manifests.documents


def _definitions(body: Any, file: str) -> Iterator[Definition]:
    if not isinstance(body, dict):
        return
    if body.get("kind") == "List":
        for item in body.get("items") or ():
            yield from _definitions(item, file)
    if body.get("kind") != _MARK.decode():
        return
    spec: Body = body["spec"]
    _check_texts(spec)
    for version in spec.get("versions") or [{"name": spec.get("version"), "served": True}]:
        schema = (version.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema")
        if not version.get("served", True):
            continue
        if schema is None:
            schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        warning = version.get("deprecationWarning") if version.get("deprecated") else None
        api_version = f"{spec['group']}/{version['name']}"
        if version.get("deprecated") and warning is None:
            warning = f"{api_version} {spec['names']['kind']} is deprecated"
        closed, extra_checks = close_schema(schema)
        kind = spec["names"]["kind"]
        namespaced = spec.get("scope") != "Cluster"
        scale = ((version.get("subresources") or spec.get("subresources") or {}).get("scale") or {}).get(
            "specReplicasPath", ""
        )
        replicas = tuple(str(scale).split(".")[1:])
        yield Definition(api_version, kind, namespaced, closed, extra_checks, schema, file, warning, replicas=replicas)


def _check_texts(spec: Body) -> None:
    """ValueError for a value that other code uses as a string, and that is none."""
    texts = {"spec.group": spec["group"], "spec.names.kind": spec["names"]["kind"]}
    for index, version in enumerate(spec.get("versions") or ()):
        texts[f"spec.versions[{index}].name"] = version["name"]
        texts[f"spec.versions[{index}].deprecationWarning"] = version.get("deprecationWarning", "none")
    for field, text in texts.items():
        if not isinstance(text, str) or not text:
            raise ValueError(f"`{field}` is not a string")
