"""What became of a job file: values that processes can hand to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.diagnostics import Diagnostic
    from gen.manifest import File
    from gen.workspace import JobFile


@dataclass(frozen=True, slots=True)
class Outcome:
    """One job in one overlay, rendered."""

    overlay: str
    namespace: str
    name: str
    files: tuple[File, ...]
    matched: frozenset[int]
    """Patches of the overlay that changed something."""
    storage: tuple[str, ...] = ()
    """Volumes of the overlay that it uses."""
    gpus: int = 0
    """GPUs that it asks for while it is active."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One job file in all overlays that select it, as far as it could be rendered."""

    job: JobFile
    name: str
    kind: str
    """Empty when it could not be told."""
    overlays: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    findings: tuple[Diagnostic, ...]
