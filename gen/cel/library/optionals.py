"""Values that may be absent. From `cel/library.go` of cel-go."""

from __future__ import annotations

from typing import Any

from gen.cel.errors import CelError
from gen.cel.functions import since
from gen.cel.values import NONE, Duration, Optional, Timestamp

function = since(28)


@function("optional.of(A) optional(A)")
def _of(value: Any) -> Optional:
    return Optional(value)


@function("optional.none() optional(A)")
def _none() -> Optional:
    return NONE


@function("optional.ofNonZeroValue(A) optional(A)")
def _of_non_zero(value: Any) -> Optional:
    empty = not value and not isinstance(value, Timestamp | Duration)
    return NONE if empty or (isinstance(value, Duration | Timestamp) and int(value) == 0) else Optional(value)


@function("optional(A)::hasValue() bool")
def _has_value(value: Optional) -> bool:
    return value.present


@function("optional(A)::value() A")
def _value(value: Optional) -> Any:
    if not value.present:
        raise CelError("optional.none() dereference")
    return value.value


@function("optional(A)::orValue(A) A")
def _or_value(value: Optional, other: Any) -> Any:
    return value.value if value.present else other


@function("optional(A)::or(optional(A)) optional(A)")
def _or(value: Optional, other: Optional) -> Optional:
    return value if value.present else other


@function("optional.unwrap(list(optional(A))) list(A)", "list(optional(A))::unwrapOpt() list(A)")
def _unwrap(items: list[Any]) -> list[Any]:
    if not all(isinstance(item, Optional) for item in items):
        raise CelError("no such overload")
    return [item.value for item in items if item.present]


@function("list(A)::first() optional(A)")
def _first(items: list[Any]) -> Optional:
    return Optional(items[0]) if items else NONE


@function("list(A)::last() optional(A)")
def _last(items: list[Any]) -> Optional:
    return Optional(items[-1]) if items else NONE
