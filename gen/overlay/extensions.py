"""Plugins and declared kinds of all overlays, for commands that do not read overlays."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, UsageError
from gen.load import Layer, Layers
from gen.overlay.files import OverlayFiles, fields_of
from gen.overlay.plugins import load_named
from gen.repository.overlay_files import overlay_names

if TYPE_CHECKING:
    from pathlib import Path


def load_extensions(root: Path) -> None:
    """Load the plugins that overlays name, and register the kinds that they declare.

    Errors are left to `gen render`.
    """
    ignored = Findings()
    files = OverlayFiles(root, ignored)
    sources = [source for name in overlay_names(root, ignored) for source in files.chain(name).sources]
    for source in sources:
        load_named(fields_of(source), Layers((Layer(source),)), ignored)
    if any("kinds" in fields_of(source) for source in sources):
        from gen.overlay.read import OverlayReader  # noqa: PLC0415 - slow, and few overlays declare kinds

        with suppress(UsageError):
            OverlayReader(root, ignored).read()
