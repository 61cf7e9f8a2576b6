"""A job in the making: its fields, and the needed parts of the overlay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.findings.imports import NEEDS_SECRET, NOT_CARRIED
from gen.model.names import name_meant

if TYPE_CHECKING:
    from gen.diagnostics import Findings, Location
    from gen.importers.arena.submission import Submission
    from gen.importers.base import Fields

_EXPRESSION = re.compile(r"\$(?=\{\{)|\{\{|\{%|\{#")


class Draft:
    """Collects values from one submission."""

    def __init__(self, given: Submission, namespace: str, found: Findings) -> None:
        self.given, self.namespace, self.found = given, namespace, found
        self.name = given.text("name")
        self.fields: Fields = {"kind": given.type.kind}
        self.overlay: Fields = {}
        self.grants: Fields = {}
        self.places: dict[str, Location] = {}

    def set(self, value: Any, *route: str, place: Location | None = None) -> None:
        """Set a field of the job."""
        _put(self.fields, value, route)
        if place is not None:
            self.places.setdefault(route[0], place)

    def carry(self, flag: str, *route: str) -> None:
        """Set a field to the value of a flag, if that is given."""
        value = self.given.last(flag)
        if value is not None:
            self.set(literal(value.text), *route, place=value.place)

    def need(self, value: Any, *route: str) -> None:
        """Set a field of the overlay."""
        _put(self.overlay, value, route)

    def grant(self, field: str, value: str) -> None:
        """Add to a list of `namespaces.<namespace>` of the overlay."""
        known: list[str] = self.grants.setdefault(field, [])
        if value not in known:
            known.append(value)

    def lose(self, flag: str, why: str, hint: str) -> None:
        """Report that a flag, if it is given, has no field."""
        if self.given.every(flag):
            self.found.warning(NOT_CARRIED, self.given.place_of(flag), f"`--{flag}` is not carried: {why}", hint)

    def secret(self, flag: str, what: str, hint: str) -> None:
        """Report that the job reads a value from a Secret."""
        self.found.warning(NEEDS_SECRET, self.given.place_of(flag), f"{what} is a secret", hint)


def _put(fields: Fields, value: Any, route: tuple[str, ...]) -> None:
    for step in route[:-1]:
        fields = fields.setdefault(step, {})
    fields[route[-1]] = value


def literal(text: str) -> str:
    """A text without expressions for gen."""
    return _EXPRESSION.sub(lambda found: f"{{{{ '{found[0]}' }}}}", text)


def label(text: str, otherwise: str) -> str:
    """A name of a volume or an accelerator from any text."""
    return (name_meant(re.sub(r"[^A-Za-z0-9]+", "-", text)) or otherwise)[:63].strip("-")
