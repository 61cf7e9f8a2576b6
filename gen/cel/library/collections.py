"""Sizes of texts, lists and mappings."""

from __future__ import annotations

from typing import Any

from gen.cel.functions import function


@function("size(string) int", "size(bytes) int", "size(list(A)) int", "size(map(A, B)) int")
@function("string::size() int", "bytes::size() int", "list(A)::size() int", "map(A, B)::size() int")
def _size(value: Any) -> int:
    return len(value)
