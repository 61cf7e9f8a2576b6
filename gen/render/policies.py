"""The policy stage: the admission policies of the overlay, evaluated on the objects that a cluster would get.

A verdict is placed at the patch that set the value that decided, or at the field of the job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.diagnostics import Findings
from gen.render.seal import DUMMY, filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.diagnostics import Location, Route
    from gen.overlay.overlay import Overlay
    from gen.render.manifest import Manifest, Patched
    from gen.render.patch.provenance import Provenance

    Deciding = Callable[[Route], Location | None]


def with_valid_policies(overlays: list[Overlay], found: Findings) -> list[Overlay]:
    """Check the files of policies of some overlays. Overlays with an error there have no policies."""
    return [overlay if _are_valid(overlay, found) else replace(overlay, policy_folders=()) for overlay in overlays]


def _are_valid(overlay: Overlay, found: Findings) -> bool:
    if overlay.policies is None:
        return True
    from gen.check.policies import check_policy_files  # noqa: PLC0415 - many overlays have none

    own = Findings()
    check_policy_files(overlay.policies, overlay.kinds, own)
    found.extend(own.items)
    return not own.failed()


def apply_policies(patched: Patched, overlay: Overlay, found: Findings, deciding: Deciding) -> None:
    """Report what the policies of an overlay say about its objects; `deciding` finds the field of the job."""
    if overlay.policies is None or not overlay.policies.bound:
        return
    from gen.check.policies import policy_findings  # noqa: PLC0415 - many overlays have none

    for manifest, provenance in zip(patched.manifests, patched.provenance, strict=True):
        body = filled(manifest.body, DUMMY)
        place = _placed(manifest.with_body(body), provenance, deciding)
        found.extend(policy_findings(overlay.policies, body, place))


def _placed(manifest: Manifest, provenance: Provenance, deciding: Deciding) -> Callable[[Route], Location]:
    def place(route: Route) -> Location:
        return provenance.setting(manifest.body, route) or deciding(route) or manifest.source

    return place
