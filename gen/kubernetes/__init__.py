"""All that knows Kubernetes and nothing of the jobs of gen: manifests, schemas, facts of kinds, rules, CEL, policies.

It imports nothing else of gen but `gen.base`, and can be used from Python alone: `check_manifests` and `check_objects`
return the findings about any manifests or objects. See `docs/python.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.base import DefinitionError, Diagnostic, Location, Severity, UsageError
    from gen.kubernetes.check.python import check_manifests, check_objects

__all__ = ["DefinitionError", "Diagnostic", "Location", "Severity", "UsageError", "check_manifests", "check_objects"]


def __getattr__(name: str) -> object:
    """Load the interface when it is used, so that importing one module of the room imports no others."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "gen.kubernetes.check.python" if name.startswith("check_") else "gen.base.findings"
    return getattr(import_module(module), name)
