"""Overlays: the clusters and environments that jobs are rendered for, and the resources that they grant.

`read` returns an `overlay.Overlay` for each file, validated by the models in `fields`; `entries` has the fields that
hold `profiles`, `grant` the grants of namespaces, `patch` the patches. `plugins` adds kinds and profiles of packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from gen.base import Findings


def load_extensions(root: Path) -> Findings:
    """Load the plugins that overlays name, and register the kinds that they declare, for commands that do not read
    overlays.

    Most commands leave the returned findings to `gen render`.
    """
    from contextlib import suppress

    from gen.base import Findings, UsageError
    from gen.base.repository.job_files import overlay_names
    from gen.base.yaml.layers import Layer, Layers
    from gen.overlay.files import OverlayFiles, fields_of

    found = Findings()
    files = OverlayFiles(root, found)
    sources = [source for name in overlay_names(root, found) for source in files.chain(name).sources]
    for source in sources:
        if "plugins" in fields_of(source):
            from gen.overlay.plugins import load_named

            load_named(fields_of(source), Layers((Layer(source),)), found)
    if any("kinds" in fields_of(source) for source in sources):
        from gen.overlay.read import OverlayReader

        with suppress(UsageError):
            OverlayReader(root, found).read()
    return found
