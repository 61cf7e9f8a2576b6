"""What became of job files and of a whole run: values that processes, and runs, can hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gen.diagnostics import Findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Diagnostic
    from gen.render.manifest import File
    from gen.repository.layout import JobFile


@dataclass(frozen=True, slots=True)
class Outcome:
    """One job in one overlay, rendered; or, with neither namespace nor name, the storage of an overlay."""

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
    digest: str
    """Of the file's bytes."""
    name: str
    kind: str
    """Empty when it could not be told."""
    overlays: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    findings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendering:
    """What `rendered/` should hold, as far as it was asked for."""

    files: Mapping[str, File]
    overlays: tuple[str, ...]
    jobs: int
    whole: bool
    """Whether it is everything, so that what is not in `files` should not be there."""
    findings: Findings = field(default_factory=Findings)
    folders: frozenset[str] = frozenset()
    """When it is not the whole: the folders of the jobs that were asked for."""
