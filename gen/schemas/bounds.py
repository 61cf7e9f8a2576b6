"""Bounds of number formats, which validators of JSON Schema ignore."""

from __future__ import annotations

from typing import Final

OF_KUBERNETES: Final = {"int32": 2**31, "int64": 2**63}
OF_DEFINITIONS: Final = {"int32": 2**63, "int64": 2**63}
"""The API server only limits the numbers of definitions to 64 bits."""


def with_bounds(schema: bytes, bounds: dict[str, int]) -> bytes:
    """The text of a schema, with a minimum and a maximum for each format in `bounds`."""
    for word, bound in bounds.items():
        written = f'"format": "{word}"'
        schema = schema.replace(written.encode(), f'{written}, "minimum": {-bound}, "maximum": {bound - 1}'.encode())
    return schema
