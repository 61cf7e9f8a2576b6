"""Field names in steps on the command line, such as `steps.train.env.DEBUG`, by the kind of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.edit.route import route_of
from gen.kinds import KINDS
from gen.model.annotations import fields_at
from gen.model.job import JobFields
from gen.model.step import Order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from gen.diagnostics import Route

_STEPS = "steps"


class Named(Struct, frozen=True, kw_only=True):
    """The field with a name."""

    model: type[BaseModel]
    """The model that has the field."""
    outer: Route
    """Route of that model in the file; empty for the job."""
    inner: Route
    """Route of the field in that model."""

    @property
    def route(self) -> Route:
        return (*self.outer, *self.inner)


def named(data: Any, new: Mapping[str, str | None], name: str) -> Named:
    """The field of a job file that a name is about; `new` has the values that are set at the same time."""
    model = _of_kind(_value(data, "kind"), new.get("kind"))
    start, _, rest = name.partition(".")
    step, _, field = rest.partition(".")
    if start != _STEPS or _STEPS not in fields_at(model, ()) or not field:
        return Named(model=model, outer=(), inner=route_of(model, name))
    if field.partition(".")[0] in fields_at(Order, ()):
        return Named(model=Order, outer=(_STEPS, step), inner=route_of(Order, field))
    kind = _value(_value(_value(data, _STEPS), step), "kind")
    own = _of_kind(kind, new.get(f"{_STEPS}.{step}.kind"))
    return Named(model=own, outer=(_STEPS, step), inner=route_of(own, field))


def _of_kind(written: Any, new: str | None) -> type[JobFields]:
    kind = new or written
    return KINDS.get(kind, JobFields) if isinstance(kind, str) else JobFields


def _value(data: Any, key: str) -> Any:
    return data.get(key) if isinstance(data, dict) else None
