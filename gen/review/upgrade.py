"""Upgrades of Kubernetes in an overlay: removals, deprecations and changes of the new version for the objects here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gen.base import Findings, counted
from gen.base.codes.overlays import KUBERNETES_UPGRADE
from gen.base.repository.git import Base, Entry
from gen.base.repository.layout import OVERLAYS, overlays_path
from gen.base.yaml.source import source_of
from gen.kubernetes.facts.api_versions import CHANGES, GUIDE, RELEASED, RETIRED
from gen.kubernetes.objects import Body, identity_of
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from gen.kubernetes.schemas.registry import minor_version, versions
from gen.overlay.files import fields_of
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import RenderedObject
from gen.review.rendered_trees import present_objects

Change = tuple[str, str, list[str]]
"""The effect of a version, the remedy, and the objects that it concerns."""


def report_upgrades(
    base: Base,
    changed: Iterable[str],
    overlays: Callable[[], Iterable[Overlay]],
    objects: Callable[[], Iterable[RenderedObject]],
    found: Findings,
) -> None:
    """Report once per overlay and change what a newer version of Kubernetes than at the base means for its objects.

    `changed` are paths that differ from the base.
    """
    if not any(path.removeprefix(base.prefix).startswith(overlays_path("")) for path in changed):
        return
    committed = base.files(OVERLAYS)
    for overlay in overlays():
        old = _committed_version(base, committed, overlay)
        if old not in versions() or not overlay.kubernetes or _minor(old) >= _minor(overlay.kubernetes):
            continue
        bodies = [one.body for one in objects() if one.key.scope == overlay.name]
        place, passed = overlay.place("kubernetes"), range(_minor(old) + 1, _minor(overlay.kubernetes) + 1)
        concerned = False
        for message, hint, names in _changes(bodies, old, overlay, passed):
            concerned = True
            more = f" ({counted(len(names), 'object')})" if len(names) > 1 else ""
            found.warning(KUBERNETES_UPGRADE, place, f"{message}: {names[0]}{more}", hint)
        if not concerned:
            message = f"no object uses what {' and '.join(map(_release, passed))} removes, deprecates or changes"
            found.warning(KUBERNETES_UPGRADE, place, message, f"{_PAGES}{GUIDE} has the changes of the API")


_PAGES: Final = "https://kubernetes.io/"


def _changes(bodies: list[Body], old: str, overlay: Overlay, passed: range) -> Iterator[Change]:
    before = Kinds(old, Definitions(overlay.definitions) if overlay.definitions else None)
    invalid: list[str] = []
    retired: dict[tuple[int, str, str], list[str]] = {}
    for body in bodies:
        version, kind = str(body.get("apiVersion")), str(body.get("kind"))
        known = before.get(version, kind)
        if known is None:
            continue
        after, what = overlay.kinds.get(version, kind), RETIRED.get((version, kind))
        instead = f"use {what.instead}" if what is not None else "use another version"
        if after is None:
            about = _removed_in(version, kind, passed), f"has no `{version}` {kind} any more", instead
            retired.setdefault(about, []).append(_shown(body))
        elif what is not None and what.deprecated in passed:
            about = what.deprecated, f"deprecates `{version}` {kind}", instead
            retired.setdefault(about, []).append(_shown(body))
        elif known.validator.is_valid(body) and not after.validator.is_valid(body):
            invalid.append(_shown(body))
    for (minor, text, remedy), names in sorted(retired.items()):
        yield f"{_release(minor)} {text}", f"{remedy}; see {_PAGES}{GUIDE}", names
    if invalid:
        hint = "`gen validate rendered` shows the fields"
        yield f"Kubernetes {overlay.kubernetes} rejects fields that {old} accepts", hint, invalid
    for one in CHANGES:
        names = [_shown(body) for body in bodies if one.concerns(body)] if one.minor in passed else []
        if names:
            yield f"{_release(one.minor)} {one.about}", f"{one.remedy}; see {_PAGES}{one.source}", names


def _removed_in(version: str, kind: str, passed: range) -> int:
    """The first version without this kind in its schemas."""
    return next(minor for minor in passed if Kinds(f"1.{minor}").get(version, kind) is None)


def _shown(body: Body) -> str:
    return f"`{identity_of(body)}`"


def _release(minor: int) -> str:
    date = f" ({RELEASED[minor]})" if minor in RELEASED else ""
    return f"Kubernetes 1.{minor}{date}"


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _committed_version(base: Base, entries: Mapping[str, Entry], overlay: Overlay) -> str:
    """The version of an overlay at the base, from the files that it has today; empty if it is not known."""
    for layer in overlay.layers.layers:
        entry = entries.get(layer.source.file)
        raw = base.blobs([entry.digest])[entry.digest] if entry is not None and entry.is_regular else None
        source = source_of(raw, layer.source.file, Findings()) if raw is not None else None
        if source is not None and isinstance(source.data, Mapping):
            version = fields_of(source).get("kubernetes")
            if isinstance(version, str):
                return minor_version(version)
    return ""


def check_upgrades(root: Path, base: Base, changed: Iterable[str], found: Findings) -> None:
    """Report the same for a check."""
    report_upgrades(base, changed, OverlayReader(root, Findings()).read, lambda: present_objects(root), found)
