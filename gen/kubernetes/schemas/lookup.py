"""Schemas of kinds: the user's CustomResourceDefinitions first, then gen's schemas, then those of Kubernetes.

Only files that define a requested kind are parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from gen.base import BugError, DefinitionError, Findings, regex
from gen.base.repository.files import MAX_DEFINITION_BYTES
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.api_versions import is_cluster_scoped
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body
from gen.kubernetes.schemas.kubernetes import POD_TEMPLATE, reference
from gen.kubernetes.schemas.registry import Key, KindValidator, Schema, Schemas, compiled, is_partial, schemas
from gen.kubernetes.schemas.structural import ExtraChecks, close_schema

_ENDINGS = {".yaml", ".yml", ".json"}
_MARK = b"CustomResourceDefinition"
_NAMED = regex(rb"[\"']?\bkind[\"']?:\s*[\"']?([A-Za-z0-9]+)")


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
    drops_status: bool = False
    """Whether it has the subresource `status`: a server drops the status of a new object before it validates it."""


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
        return path.is_file() and path.stat().st_size <= MAX_DEFINITION_BYTES

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


def _definitions(body: object, file: str) -> Iterator[Definition]:
    if not isinstance(body, dict):
        return
    if body.get("kind") == "List":
        for item in body.get("items") or ():
            yield from _definitions(item, file)
    if body.get("kind") != _MARK.decode():
        return
    _drop_null_fields(body)
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
        subresources = version.get("subresources") or spec.get("subresources") or {}
        scale = (subresources.get("scale") or {}).get("specReplicasPath", "")
        replicas, status = tuple(str(scale).split(".")[1:]), subresources.get("status") is not None
        yield Definition(
            api_version, kind, namespaced, closed, extra_checks, schema, file, warning, replicas, drops_status=status
        )


def _drop_null_fields(value: object) -> None:
    """Null fields are unset, as in an API server."""
    if isinstance(value, dict):
        for key in [key for key, inner in value.items() if inner is None]:
            del value[key]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _drop_null_fields(inner)


def _check_texts(spec: Body) -> None:
    """ValueError for a value that other code uses as a string, and that is none."""
    texts = {"spec.group": spec["group"], "spec.names.kind": spec["names"]["kind"]}
    for index, version in enumerate(spec.get("versions") or ()):
        texts[f"spec.versions[{index}].name"] = version["name"]
        texts[f"spec.versions[{index}].deprecationWarning"] = version.get("deprecationWarning", "none")
    for field, text in texts.items():
        if not isinstance(text, str) or not text:
            raise ValueError(f"`{field}` is not a string")


class Kind(Struct, frozen=True):
    """Schema and further checks of one kind in one API version."""

    schema: Schema
    validator: KindValidator
    extra_checks: ExtraChecks | None = None
    """Checks of a definition that JSON Schema cannot express; None for kinds without a definition."""
    source: Schema | None = None
    """The schema of a definition as it is written."""
    namespaced: bool | None = None
    """None if unknown."""
    deprecated: str | None = None
    partial: bool = False
    """Whether the schema only describes objects that gen renders."""
    replicas: tuple[str, ...] = ()
    """Path of the number that the `scale` subresource sets; empty without one."""
    drops_status: bool = False
    """Whether a server drops the status of a new object before it validates it."""


class Kinds:
    """The kinds of one Kubernetes version, with a user's definitions. Each is compiled once."""

    def __init__(self, version: str, definitions: Definitions | None = None) -> None:
        self.version = version
        self.minor = int(version.split(".")[1])
        self.schemas: Schemas = schemas(version)
        self._definitions = definitions
        self._known: dict[Key, Kind | None] = {}

    def __reduce__(self) -> tuple[type[Kinds], tuple[str, Definitions | None]]:
        """Compiled validators cannot be pickled; another process compiles its own."""
        return Kinds, (self.version, self._definitions)

    @property
    def has_definitions(self) -> bool:
        return self._definitions is not None

    def get(self, api_version: str, kind: str) -> Kind | None:
        key = api_version, kind
        if key not in self._known:
            self._known[key] = self._make(api_version, kind)
        return self._known[key]

    def prepare(self, keys: Iterable[Key]) -> None:
        """Compile the schemas of these kinds together, where Kubernetes or gen has them."""
        if new := [key for key in keys if key not in self._known and not self._is_defined(*key)]:
            self.schemas.compile(new)

    def _is_defined(self, api_version: str, kind: str) -> bool:
        return self._definitions is not None and self._definitions.get(api_version, kind) is not None

    @cached_property
    def pod_template(self) -> Kind:
        """The schema of pod templates, for objects with a definition that is older or newer than this version of
        Kubernetes.
        """
        schema = reference(POD_TEMPLATE)
        return Kind(schema, KindValidator(compiled(schema, self.schemas)))

    def names(self) -> list[Key]:
        """Every API version and kind."""
        own = self._definitions.kinds() if self._definitions is not None else []
        return [*own, *self.schemas.kinds()]

    def _make(self, api_version: str, kind: str) -> Kind | None:
        definition = self._definitions.get(api_version, kind) if self._definitions is not None else None
        if definition is not None:
            try:
                validator = KindValidator(compiled(definition.schema, self.schemas))
            except (ValueError, TypeError) as error:
                reason = " ".join(str(error).split())[:200]
                raise DefinitionError(
                    Path(definition.file), f"invalid schema for {api_version} {kind}: {reason}"
                ) from error
            extra = definition.extra_checks, definition.source, definition.namespaced, definition.deprecated
            status = definition.drops_status
            return Kind(definition.schema, validator, *extra, replicas=definition.replicas, drops_status=status)
        try:
            schema = self.schemas.schema(api_version, kind)
        except BugError:
            return None
        namespaced = False if is_cluster_scoped(api_version, kind) else None
        shared = self.schemas.validator(api_version, kind)
        facts = resource_of_object(api_version, kind)
        replicas = facts.scaled if facts is not None else ()
        return Kind(schema, shared, namespaced=namespaced, partial=is_partial(api_version, kind), replicas=replicas)


class Cluster(Protocol):
    """Known facts of the cluster of a file."""

    @property
    def kubernetes(self) -> str | None:
        """The version; None for the newest."""

    @property
    def definitions(self) -> tuple[Path, ...]:
        """Folders or files of CustomResourceDefinitions."""

    @property
    def policies(self) -> tuple[tuple[Path, str], ...]:
        """Folders or files of admission policies, each with its name in findings."""


class Clusters(Protocol):
    """The clusters of files. Files of one folder are in the same cluster."""

    def cluster_of(self, file: str) -> Cluster | None:
        """The cluster of a file, if it is known."""

    def scope_of(self, file: str) -> str | None:
        """The folder of the objects that are in the cluster together; None for the file's own folder."""

    def shown(self, definition: Path) -> str | None:
        """The name in findings of a file with definitions of a cluster."""
