"""Schemas of kinds: the user's own definitions first, then gen's, then those of Kubernetes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import BugError, DefinitionError
from gen.resources import resource_of_object
from gen.resources.scope import is_cluster_scoped
from gen.schemas.kubernetes import POD_TEMPLATE, reference
from gen.schemas.registry import compiled, is_partial, schemas

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema_rs import Draft202012Validator

    from gen.schemas.definitions import Definitions
    from gen.schemas.kind_validator import KindValidator
    from gen.schemas.registry import Key, Schema, Schemas
    from gen.schemas.structural import ExtraChecks


class Kind(Struct, frozen=True):
    """Schema and further checks of one kind in one API version."""

    schema: Schema
    validator: Draft202012Validator | KindValidator
    extra_checks: ExtraChecks | None = None
    """Checks of a definition that JSON Schema cannot express; None for kinds without a definition."""
    source: Schema | None = None
    """The schema of a definition as it is written."""
    namespaced: bool | None = None
    """None if unknown."""
    deprecated: str | None = None
    partial: bool = False
    """Whether the schema only describes what gen renders."""
    replicas: tuple[str, ...] = ()
    """Path of the number that the `scale` subresource sets; empty without one."""


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
        return Kind(schema, compiled(schema, self.schemas))

    def names(self) -> list[Key]:
        """Every API version and kind."""
        own = self._definitions.kinds() if self._definitions is not None else []
        return [*own, *self.schemas.kinds()]

    def _make(self, api_version: str, kind: str) -> Kind | None:
        definition = self._definitions.get(api_version, kind) if self._definitions is not None else None
        if definition is not None:
            try:
                validator = compiled(definition.schema, self.schemas)
            except (ValueError, TypeError) as error:
                reason = " ".join(str(error).split())[:200]
                raise DefinitionError(
                    Path(definition.file), f"invalid schema for {api_version} {kind}: {reason}"
                ) from error
            extra = definition.extra_checks, definition.source, definition.namespaced, definition.deprecated
            return Kind(definition.schema, validator, *extra, replicas=definition.replicas)
        try:
            schema = self.schemas.schema(api_version, kind)
        except BugError:
            return None
        namespaced = False if is_cluster_scoped(api_version, kind) else None
        shared = self.schemas.validator(api_version, kind)
        facts = resource_of_object(api_version, kind)
        replicas = facts.scaled if facts is not None else ()
        return Kind(schema, shared, namespaced=namespaced, partial=is_partial(api_version, kind), replicas=replicas)
