"""Admission policies about objects that the merge changes. `gen check` evaluates them about creations only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Diagnostic, Findings
    from gen.overlay.overlay import Overlay
    from gen.review.matching import Pair
    from gen.review.rendered_object import RenderedObject
    from gen.schemas.lookup import Kinds


def report_policies(pairs: Iterable[Pair], overlays: Mapping[str, Overlay], found: Findings) -> None:
    """Report what policies of the overlays say about each update, with the object at the base as `oldObject`."""
    for pair in pairs:
        before, after = pair.before, pair.after
        if before is None or after is None or pair.replaced or not pair.changed:
            continue
        overlay = overlays.get(after.key.scope)
        if overlay is not None and overlay.policies is not None and overlay.policies.bound:
            found.extend(_findings(before, after, overlay))


def _findings(before: RenderedObject, after: RenderedObject, overlay: Overlay) -> Iterable[Diagnostic]:
    from gen.check.policies import policy_findings  # noqa: PLC0415 - many overlays have none

    if overlay.policies is None or not (_fits(before, overlay.kinds) and _fits(after, overlay.kinds)):
        return ()  # `gen check` refuses objects that do not fit
    return policy_findings(overlay.policies, after.body, lambda _: Location(after.path), old=before.body)


def _fits(one: RenderedObject, kinds: Kinds) -> bool:
    version, kind = one.body.get("apiVersion"), one.body.get("kind")
    known = kinds.get(version, kind) if isinstance(version, str) and isinstance(kind, str) else None
    return known is not None and known.validator.is_valid(one.body)
