"""Kinds that the overlays of a repository declare: one declaration for each name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import DefinitionError
from gen.findings.jobs import INVALID_VALUE
from gen.findings.overlays import MISSING_DEFINITION, RESERVED_NAME
from gen.kinds import KINDS
from gen.kinds.declared_names import declare, forget_declared, name_declared
from gen.overlay.definitions import report_invalid_definition
from gen.repository.layout import DEFINITIONS, overlays_path
from gen.resources import RESOURCES

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.load import Data, Layers
    from gen.overlay.declared_kind import DeclaredKind
    from gen.overlay.fields import OverlayFields
    from gen.overlay.overlay import Overlay


class DeclaredKinds(Struct):
    """Registers the kinds of all overlays that are read together."""

    _first: dict[str, tuple[str, DeclaredKind]] = {}
    """By name: the overlay that declares the kind first, and its declaration."""

    def __post_init__(self) -> None:
        forget_declared()

    def name(self, kinds: Data | None) -> None:
        """Remember the names of an overlay's kinds, before they are validated."""
        if isinstance(kinds, dict):
            name_declared(kinds)

    def add(self, overlay: str, fields: OverlayFields, layers: Layers, found: Findings) -> None:
        """Register the kinds of an overlay. Reports names that are taken."""
        for name, kind in fields.kinds.items():
            place = layers.place(("kinds", name), key=True)
            declaration = kind.declaration(name)
            if name in self._first:
                other, known = self._first[name]
                if kind != known:
                    message = f"the kind `{name}` differs from that of overlay `{other}`"
                    hint = "choose another name, or declare it once in an overlay that both extend"
                    found.error(INVALID_VALUE, place, message, hint)
            elif name in KINDS:
                found.error(RESERVED_NAME, place, f"gen has a kind `{name}`", "choose another name")
            elif declaration.facts.key in RESOURCES:
                message = f"{declaration.facts} is known, so it cannot be declared"
                known_as = next((name for name, job in KINDS.items() if job.facts.key == declaration.facts.key), "")
                found.error(INVALID_VALUE, place, message, f"use the kind `{known_as}`" if known_as else "remove it")
            else:
                self._first[name] = overlay, kind
                from gen.kinds.declared import declared_model  # noqa: PLC0415 - few overlays declare kinds

                declare(name, declared_model(declaration))


def has_definitions(overlay: Overlay, found: Findings) -> bool:
    """Whether the overlay has the definition of each kind that it declares. Reports those that are missing."""
    before = len(found.items)
    for name, kind in overlay.fields.kinds.items():
        try:
            known = overlay.kinds.get(kind.api_version, kind.kind) is not None
        except DefinitionError as error:
            report_invalid_definition(error, overlay, found)
            return False
        if not known:
            message = f"no definition of {kind.kind} in {kind.api_version} found"
            hint = f"copy its CustomResourceDefinition into `{overlays_path(overlay.name, DEFINITIONS)}`"
            found.error(MISSING_DEFINITION, overlay.place("kinds", name, key=True), message, hint)
    return len(found.items) == before
