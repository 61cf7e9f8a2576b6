"""JSON Schemas of all rendered kinds, by Kubernetes version, each compiled once, several kinds together.

Schemas of training kinds are in this package, written by hand, and refer to Kubernetes' pod templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from gen.base import BugError, Route, regex
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.formats import KEYWORDS
from gen.kubernetes.schemas import kubernetes

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError


class KindValidator:
    """Validates objects of one kind."""

    def __init__(self, validator: Draft202012Validator, name: str | None = None) -> None:
        """With a `name`, the validator takes objects of several kinds, each in a field with the name of its kind."""
        self._validator, self._name = validator, name

    def is_valid(self, body: object) -> bool:
        return self._validator.is_valid(body if self._name is None else {self._name: body})

    def errors(self, body: object) -> Iterator[tuple[Route, ValidationError]]:
        """The errors, each with its route in the object."""
        above = () if self._name is None else (self._name,)
        for error in self._validator.iter_errors({self._name: body} if above else body):
            yield tuple(error.instance_path)[len(above) :], error


Schema = dict[str, Any]
Key = tuple[str, str]
"""API version and kind."""

_OWN = Path(__file__).parent / "data"
_BUNDLES = _OWN / "bundles"
_FOLDERS = [_OWN, _BUNDLES]
_COMMON = b"https://gen.invalid/common.json"
_WITH_PODS = frozenset(
    (version, one.kind) for one in RESOURCES.values() if one.pods or one.nodes is not None for version in one.versions
)
_FOLDER = regex(r"v(1\.[0-9]+)\.[0-9]+-local-strict")


def minor_version(version: str) -> str:
    """`v1.34.2` and `1.34` are `1.34`."""
    return ".".join(version.removeprefix("v").split(".")[:2])


@cache
def _folders() -> dict[str, Path]:
    spec = find_spec("kubernetes_validate")  # finds it without importing it, which would cost 90 ms
    if spec is None or not spec.submodule_search_locations:
        raise BugError("kubernetes-validate is not installed")
    root = Path(next(iter(spec.submodule_search_locations))) / "kubernetes-json-schema"
    matches = ((_FOLDER.fullmatch(entry.name), entry) for entry in root.iterdir())
    found = {match[1]: entry for match, entry in matches if match is not None}
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def versions() -> list[str]:
    """The supported Kubernetes versions, oldest first."""
    return list(_folders())


def add_schema_folder(folder: Path) -> None:
    """Add closed schemas in files `<group>_<version>_<kind>.json`. They may refer to the definitions of Kubernetes."""
    if folder not in _FOLDERS:
        _FOLDERS.append(folder)


def has_schema(api_version: str, kind: str) -> bool:
    """Whether a kind has a closed schema, or Kubernetes defines it."""
    own = any(schema_file(api_version, kind) in _files(folder) for folder in _FOLDERS)
    return own or (api_version, kind) in schemas(versions()[-1]).types.kinds


@cache
def schemas(version: str) -> Schemas:
    """The schemas of one Kubernetes version, shared in this process."""
    return Schemas(version)


def is_partial(api_version: str, kind: str) -> bool:
    """Whether gen's schema of a kind only describes objects that gen renders."""
    return schema_file(api_version, kind) in _files(_BUNDLES)


@cache
def _files(folder: Path) -> frozenset[str]:
    """Listed, because a kind may have any name and must not become part of a path."""
    return frozenset(entry.name for entry in folder.iterdir())


def schema_file(api_version: str, kind: str) -> str:
    """Name of the file with the closed schema of a kind."""
    return f"{api_version.replace('/', '_')}_{kind.lower()}.json"


def compiled(schema: Schema, schemas: Schemas) -> Draft202012Validator:
    """A validator of a schema that may refer to those of a Kubernetes version."""
    from jsonschema_rs import Draft202012, Draft202012Validator, Registry

    document = {"$defs": schemas.definitions_of(schema)}
    known = Registry([(kubernetes.DEFINITIONS, document)], draft=Draft202012)
    return Draft202012Validator(schema, registry=known, keywords=KEYWORDS)


@cache
def _own_kinds() -> tuple[Key, ...]:
    """The API versions and kinds with complete schemas in gen's own files."""
    files = (path for folder in _FOLDERS if folder != _BUNDLES for path in sorted(folder.glob("*_*.json")))
    found = (orjson.loads(path.read_bytes())["properties"] for path in files)
    return tuple((one["apiVersion"]["enum"][0], one["kind"]["enum"][0]) for one in found)


class Schemas:
    """Schemas and validators of one Kubernetes version."""

    def __init__(self, version: str) -> None:
        self._folder = _folders()[version]
        self._minor = int(version.split(".")[1])
        self._validators: dict[Key, KindValidator] = {}
        self._documents: dict[str, Schema] = {}

    def validator(self, api_version: str, kind: str) -> KindValidator:
        """The compiled validator of a kind of object. BugError for a kind without a schema."""
        key = api_version, kind
        if key not in self._validators:
            self.schema(api_version, kind)  # raises the error
            self.compile([key])
        return self._validators[key]

    def compile(self, keys: Iterable[Key]) -> None:
        """Compile the validators of kinds together, and ignore kinds without a schema.

        Kinds with pods take ten times as long as others, unless they share the template. So when a second one is
        needed, the rest is compiled with it.
        """
        wanted = {key for key in keys if key not in self._validators}
        if not wanted.isdisjoint(_WITH_PODS) and not _WITH_PODS.isdisjoint(self._validators):
            wanted |= _WITH_PODS - self._validators.keys()
        found = {key: schema for key in sorted(wanted) if (schema := self._find(*key)) is not None}
        if not found:
            return
        names = {key: "/".join(key) for key in found}
        together = compiled({"properties": {names[key]: schema for key, schema in found.items()}}, self)
        for key in found:
            self._validators[key] = KindValidator(together, names[key])

    def kinds(self) -> list[Key]:
        """Every API version and kind with a complete schema."""
        return [*_own_kinds(), *self.types.kinds]

    @cached_property
    def api_versions(self) -> frozenset[str]:
        """The API versions of `kinds`."""
        return frozenset(api_version for api_version, _ in self.kinds())

    def schema(self, api_version: str, kind: str) -> Schema:
        """The schema of a kind of object, with references for `resolve`. BugError for a kind without a schema."""
        if (found := self._find(api_version, kind)) is None:
            raise BugError(f"no schema found for {api_version} {kind}")
        return found

    def _find(self, api_version: str, kind: str) -> Schema | None:
        file = schema_file(api_version, kind)
        for folder in _FOLDERS:
            if file in _files(folder):
                return self._document(file, folder / file)
        name = self.types.name_of(api_version, kind)
        return kubernetes.reference(name) if name is not None else None

    def resolve(self, schema: Schema) -> Schema:
        """Follow `$ref` as far as possible."""
        while (target := schema.get("$ref")) is not None:
            name = target.rpartition("/")[2]
            schema = self._common[name] if name in self._common else self.types[name]
        return schema

    def fields(self, schema: Schema, route: Route) -> list[str]:
        """Names of the fields at a route of an object of this schema."""
        return list(self._at(schema, route).get("properties", ()))

    def empty(self, schema: Schema, route: Route) -> Any:
        """The value that Go decodes a null at a route as; None for fields, which are then unset.

        Entries of lists and mappings keep their place.
        """
        holder = self._at(schema, route[:-1])
        of_list = isinstance(route[-1], int)
        if not of_list and "properties" in holder:
            return None
        found = self._at(schema, route)
        if found.get("properties"):
            return {}
        if "oneOf" in found:
            return "0"
        return "" if of_list or "string" in found.get("type", ()) else None

    def _at(self, schema: Schema, route: Route) -> Schema:
        schema = self.resolve(schema)
        for step in route:
            inner = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
            schema = self.resolve(inner or schema.get("additionalProperties") or {})
        return schema

    def _document(self, name: str, path: Path) -> Schema:
        """A file with a schema, as a part of the definitions: a compiler shares what is reached from one document.

        One with references in itself stays a document of its own.
        """
        if name not in self._documents:
            text = kubernetes.with_bounds(path.read_bytes(), kubernetes.OF_DEFINITIONS).replace(
                _COMMON, kubernetes.DEFINITIONS.encode()
            )
            document = self._documents[name] = orjson.loads(text)
            own = document.pop("$id", f"https://gen.invalid/{name}")
            if b'"#' in text:
                document["$id"] = own
        return self._documents[name]

    @cached_property
    def types(self) -> kubernetes.KubernetesTypes:
        return kubernetes.KubernetesTypes((self._folder / "_definitions.json").read_bytes(), self._minor)

    @cached_property
    def _common(self) -> dict[str, Schema]:
        definitions: dict[str, Schema] = self._document("common", _OWN / "common.json")["$defs"]
        return definitions

    def definitions_of(self, schema: Schema) -> dict[str, Schema]:
        """The definitions that a schema refers to, and those that they refer to."""
        names = kubernetes.referred(schema)
        own = {} if names.isdisjoint(self._common) else self._common
        names |= kubernetes.referred(own)
        return own | self.types.reachable(names & self.types.keys())  # the compiler reports a name that is missing
