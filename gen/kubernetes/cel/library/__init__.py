"""Functions of CEL, of its extensions and of API servers: one file per subject.

Which exist in an API server: `baseOpts` of `apiserver/pkg/cel/environment/base.go`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

_FILES = ("operators", "strings", "times", "lists", "addresses", "quantities", "versions", "formats")


@cache
def load() -> None:
    """Register all functions."""
    for name in _FILES:
        import_module(f"gen.kubernetes.cel.library.{name}")
