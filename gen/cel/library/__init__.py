"""Functions of CEL, of its extensions and of API servers: one file per subject.

Which exist in an API server: `baseOpts` of `apiserver/pkg/cel/environment/base.go`.
"""

from __future__ import annotations

from importlib import import_module

_FILES = (
    "operators",
    "conversions",
    "collections",
    "strings",
    "text_format",
    "times",
    "optionals",
    "sets",
    "lists",
    "regex",
    "urls",
    "addresses",
    "quantities",
    "versions",
    "formats",
    "authorizer",
)


def load() -> None:
    """Register all functions."""
    for name in _FILES:
        import_module(f"gen.cel.library.{name}")
