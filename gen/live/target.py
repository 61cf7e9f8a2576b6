"""The clusters that a command reads: one for each context that overlays or flags name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, UsageError, did_you_mean, with_other
from gen.base.codes.clusters import CLUSTER_CONTEXT
from gen.live.client import Api, contexts
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader

REQUEST_SECONDS = 10.0
"""How long one request may take."""


class Access(Struct, frozen=True, kw_only=True):
    """How a command reaches clusters, from its flags."""

    contexts: tuple[str, ...] = ()
    """`CONTEXT` for all overlays, or `OVERLAY=CONTEXT`."""
    kubeconfig: str | None = None
    seconds: float = REQUEST_SECONDS


class Target(Struct, frozen=True, kw_only=True):
    """A cluster with the overlays that render for it."""

    api: Api
    overlays: tuple[Overlay, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(overlay.name for overlay in self.overlays)


def read_targets(
    root: Path, names: Collection[str], access: Access, found: Findings, needed: Collection[str] | None = None
) -> list[Target]:
    """The clusters of the named overlays, or of all, as far as they are `needed`.

    An overlay without a context is a finding.
    """
    overlays = OverlayReader(root, found).read(names) if names else OverlayReader(root, found).read()
    known, current = contexts(access.kubeconfig)
    flags = _flags(access.contexts, overlays)
    chosen: dict[str, list[Overlay]] = {}
    for overlay in (one for one in overlays if needed is None or one.name in needed):
        context = flags.get(overlay.name) or flags.get("") or overlay.context
        if context is None and len(overlays) == 1:
            context = current or None
        if context is None or context not in known:
            _refuse(overlay, context, known, found)
        else:
            chosen.setdefault(context, []).append(overlay)
    return [
        Target(api=Api(context, access.kubeconfig, access.seconds), overlays=tuple(own))
        for context, own in chosen.items()
    ]


def _flags(given: Sequence[str], overlays: Sequence[Overlay]) -> Mapping[str, str]:
    """Context by overlay; that of an empty name applies to all other overlays."""
    names = [overlay.name for overlay in overlays]
    found: dict[str, str] = {}
    for text in given:
        overlay, equals, context = text.partition("=")
        if not equals or (overlay not in names and not _is_label(overlay)):
            found[""] = text
        elif overlay in names:
            found[overlay] = context
        else:
            raise UsageError(f"unknown overlay `{overlay}` in --context: {did_you_mean(overlay, names)}")
    return found


def _is_label(text: str) -> bool:
    """Whether a text may be the name of an overlay. Names of contexts can contain `=`."""
    return text.replace("-", "").isalnum() and text == text.lower()


def _refuse(overlay: Overlay, context: str | None, known: Collection[str], found: Findings) -> None:
    place = overlay.place("cluster")
    if context is None:
        message = f"the cluster of overlay `{overlay.name}` is not known"
        hint = f"add `cluster: {{context: NAME}}`, or pass `--context {overlay.name}=NAME`"
    else:
        message = f"overlay `{overlay.name}`: unknown context `{context}`"
        near = did_you_mean(context, known, otherwise="the kubeconfig file has no contexts")
        hint = with_other(near, "or pass `--kubeconfig FILE`")
    found.error(CLUSTER_CONTEXT, place, message, hint)
