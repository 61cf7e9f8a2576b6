"""Fields of a kind that its object has as they are, by the routes that the kind declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.importers.draft import literals
from gen.importers.manifests.templates import beside
from gen.resources.base import Wildcard
from gen.resources.pods import follow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.importers.manifests.templates import Template
    from gen.kinds import Job
    from gen.kubernetes import Body
    from gen.resources.base import Pattern, Resource

EVERY: Final = "*"


def copied(model: type[Job], facts: Resource, body: Body, every: list[Template]) -> Iterator[tuple[str, Any]]:
    """Fields with dots, and their values. Defaults are left out."""
    if facts is not model.facts:
        return  # a schedule has other routes
    for field, route in model.copied.items():
        for name, value in _values(field, route, body, every):
            if value is not None and value not in ("", [], {}) and not _is_default(model, name, value):
                yield name, literals(model.as_written(name, value))


def _values(field: str, route: Pattern, body: Body, every: list[Template]) -> Iterator[tuple[str, Any]]:
    if not any(isinstance(step, Wildcard) for step in route):
        yield field, follow(body, tuple(step for step in route if not isinstance(step, Wildcard)))
        return
    for one in every:
        if one.pods is not None and one.steps:
            value = follow(body, beside(route, one.pods, one.route))
            yield field.replace(EVERY, one.role), value


def _is_default(model: type[Job], field: str, value: Any) -> bool:
    known = next((one for one in model.model_fields.values() if one.alias == field), None)
    return known is not None and not isinstance(value, dict | list) and str(known.default).lower() == str(value).lower()
