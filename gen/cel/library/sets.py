"""Lists as sets. From `ext/sets.go` of cel-go."""

from __future__ import annotations

from typing import Any

from gen.cel.functions import COSTS_TEXT, since, size_of
from gen.cel.values import contains

function = since(29)


def _product(one: list[Any], other: list[Any]) -> float:
    return len(one) * len(other) + (size_of(one) * len(other) + size_of(other) * len(one)) * COSTS_TEXT


@function("sets.contains(list(A), list(A)) bool", work=_product)
def _contains(items: list[Any], others: list[Any]) -> bool:
    return all(contains(items, other) for other in others)


@function("sets.equivalent(list(A), list(A)) bool", work=_product)
def _equivalent(items: list[Any], others: list[Any]) -> bool:
    return bool(_contains(items, others) and _contains(others, items))


@function("sets.intersects(list(A), list(A)) bool", work=_product)
def _intersects(items: list[Any], others: list[Any]) -> bool:
    return any(contains(items, other) for other in others)
