"""Field names on the command line: `env.A`, `labels.example.com/team`, `args.0`, `data.ckpt.readOnly`.

A dot separates fields, but can also be part of a key that the author chose. The models decide which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Route, UsageError
from gen.model.annotations import Form, fields_at, form_at

if TYPE_CHECKING:
    from pydantic import BaseModel


def route_of(model: type[BaseModel], name: str) -> Route:
    """The route to a field. UsageError for a name with an empty part. The model rejects unknown fields."""
    route: Route = ()
    rest = name
    while True:
        step, rest = _next(model, route, rest)
        if step == "":
            raise UsageError(f"`{name}` is not a valid field name; use a form like `attempt`, `env.DEBUG` or `args.0`")
        route += (step,)
        if not rest:
            return route


def _next(model: type[BaseModel], route: Route, name: str) -> tuple[str | int, str]:
    """The first step of a name relative to `route`, and the rest of the name."""
    head, dot, rest = name.partition(".")
    form = form_at(model, route)
    if form is Form.LIST and head.isascii() and head.isdigit():
        return int(head), rest
    if form is Form.KEYS:
        inner = fields_at(model, (*route, head))
        if not inner or rest.split(".")[0] not in inner:
            return name, ""
    if dot and not rest:
        return "", ""
    return head, rest
