"""Finding codes with their explanations: constants in a module for each subject, and their type.

Codes of rules about manifests are the rules themselves, in `gen.kubernetes.rules`, whose `catalogue` has all codes.
"""

from __future__ import annotations

from msgspec import Struct


class Code(Struct, frozen=True):
    """A finding code with its explanation. Rules about manifests (`gen.kubernetes.rules`) have more fields."""

    name: str
    """Stable, kebab-case. The constant has the same name in upper case: `OVER_QUOTA` for `over-quota`."""
    summary: str
    """The problem, and when the finding is reported."""
    reason: str
    """Why it matters."""
    remedy: str
    """How to fix it."""

    def __str__(self) -> str:
        return self.name


class FatalCode(Code, frozen=True):
    """A code of findings with which a program fails, waits forever or trains alone, even where they are warnings."""
