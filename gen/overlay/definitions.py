"""Definitions of custom resources in `crds/` of an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.overlays import INVALID_DEFINITION

if TYPE_CHECKING:
    from gen.diagnostics import DefinitionError, Findings
    from gen.overlay.overlay import Overlay


def report_invalid_definition(error: DefinitionError, overlay: Overlay, found: Findings) -> None:
    """Report a file that cannot be read."""
    place = Location(overlay.definition_file(error.file), error.line)
    hint = "copy it again from the cluster or from the release of the operator, or remove the file"
    found.error(INVALID_DEFINITION, place, f"cannot read the definitions in this file: {error.reason}", hint)
