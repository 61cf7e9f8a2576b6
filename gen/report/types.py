"""What a command has to say, before it is decided how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.diagnostics import Diagnostic
    from gen.render.write import Change


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `render` or `check`."""

    findings: tuple[Diagnostic, ...]
    changes: tuple[Change, ...]
    summary: str
    done: bool = True
    """Whether the changes were made; those that were not are shown in full."""
