"""What people are told of a finding that no rule about manifests makes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """The words of one code of findings."""

    name: str
    """Stable, kebab-case: what reports call it."""
    says: str
    """What is expected."""
    reason: str
    """What happens otherwise."""
    remedy: str
