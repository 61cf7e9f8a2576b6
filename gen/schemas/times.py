"""Times in objects of Kubernetes, as Go parses them. The published schemas only name their format.

From `UnmarshalJSON` of `apimachinery/pkg/apis/meta/v1/time.go` (RFC 3339) and `micro_time.go` (six decimal places).
"""

from __future__ import annotations

from typing import Any, Final

_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = "(?:Z|[-+][0-9]{2}:[0-9]{2})"
_TYPES: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."

TIMES: Final[dict[str, str]] = {
    f"^{_DATE}T{_CLOCK}(?:[.,][0-9]+)?{_ZONE}$": "2025-01-31T12:00:00Z",
    f"^{_DATE}T{_CLOCK}[.,][0-9]{{6}}{_ZONE}$": "2025-01-31T12:00:00.000000Z",
}
"""Patterns of `Time` and `MicroTime`, each with an example."""

_PATTERNS: Final = {f"{_TYPES}{name}": pattern for name, pattern in zip(("Time", "MicroTime"), TIMES, strict=True)}


def add_time_pattern(name: str, definition: dict[str, Any]) -> None:
    """Add its pattern to the definition of a time, in place."""
    if name in _PATTERNS:
        definition["pattern"] = _PATTERNS[name]
