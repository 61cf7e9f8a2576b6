"""Reads overlays: merged with those that they extend, validated, with their patches."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from pydantic import ValidationError

from gen.diagnostics import Findings, UsageError, did_you_mean
from gen.load import Data, Layer, Layers, Source, lay_over, source_of
from gen.overlay.check import check_overlay
from gen.overlay.declared_kinds import DeclaredKinds, has_definitions
from gen.overlay.fields import OverlayFields, overlay_fields
from gen.overlay.files import OverlayFiles, fields_of
from gen.overlay.overlay import Overlay
from gen.overlay.plugins import check_providers, load_named
from gen.repository.layout import overlay_file
from gen.repository.overlay_files import overlay_names
from gen.secrets import report_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from gen.diagnostics import Route
    from gen.overlay.patches.types import Patch

_OWN = ("abstract", "patches")
"""Fields that an overlay does not inherit: patches are collected file by file."""


class OverlayReader(Struct, dict=True):
    """Reads the overlays of one repository."""

    root: Path
    found: Findings

    @cached_property
    def _files(self) -> OverlayFiles:
        return OverlayFiles(self.root, self.found)

    def read(self, names: Collection[str] = ()) -> list[Overlay]:
        """Overlays in `names`, or all, without abstract ones. UsageError for an unknown name, or if none remain."""
        existing = overlay_names(self.root, Findings() if names else self.found)
        for name in names:
            if name not in existing:
                raise UsageError(f"no {overlay_file(name)} found: {did_you_mean(name, existing)}")
        declared = DeclaredKinds()
        overlays = [self._overlay(name, declared) for name in existing if not names or name in names]
        if not any(overlays) and not self.found.failed():
            why = "none found" if not existing else "all are `abstract`"
            raise UsageError(f"no overlay to render: {why}; add {overlay_file('<name>')}")
        return [overlay for overlay in overlays if overlay is not None]

    def of_text(self, name: str, text: str) -> Overlay | None:
        """An overlay whose file has this text, which may not be written yet; None if it is invalid or abstract."""
        source = source_of(text.encode("utf-8", "surrogateescape"), overlay_file(name), self.found)
        if source is None or not isinstance(source.data, dict):
            return None
        self._files.use(name, source)
        return self._overlay(name, DeclaredKinds())

    def _overlay(self, name: str, declared: DeclaredKinds) -> Overlay | None:
        chain = self._files.chain(name)
        if not chain.complete:
            return None
        found = Findings()
        data = laid_over(chain.sources)
        layers = Layers(tuple(Layer(source) for source in chain.sources))
        hidden = report_secrets({key: value for key, value in data.items() if key != "patches"}, layers, found)
        patches = _patches(self.root, chain.sources, found)
        declared.name(data.get("kinds"))
        loaded = load_named(data, layers, found)
        fields = _validated(data, layers, found, hidden) if loaded else None
        if fields is not None:
            declared.add(name, fields, layers, found)
        kubernetes = check_overlay(fields, data, layers, found) if fields is not None else ""
        if fields is not None:
            check_providers(fields, layers, found)
        self.found.extend(found.items)
        if fields is None or fields.abstract or found.failed():
            return None
        defaults = cast("dict[str, Data]", data.get("defaults", {}))
        overlay = Overlay(name, fields, layers, defaults, patches, kubernetes, chain.definitions, chain.policies)
        return overlay if has_definitions(overlay, self.found) else None


def _patches(root: Path, sources: Sequence[Source], found: Findings) -> tuple[Patch, ...]:
    if not any("patches" in fields_of(source) for source in sources):
        return ()
    from gen.overlay.patches.read import read_patches  # noqa: PLC0415 - many overlays have no patches

    return read_patches(root, sources, found)


def laid_over(sources: Sequence[Source]) -> dict[str, Data]:
    """The fields of an overlay over those of the overlays that it extends; its own file comes first."""
    data: dict[str, Data] = {}
    for source in reversed(sources):
        inherited = {key: value for key, value in data.items() if key not in _OWN}
        data = lay_over(inherited, fields_of(source))
    return data


def _validated(
    data: dict[str, Data], layers: Layers, found: Findings, hidden: Collection[Route]
) -> OverlayFields | None:
    with suppress(ValidationError):
        return overlay_fields(data).model_validate(data)
    from gen.model.explain import explain  # noqa: PLC0415 - most overlays are valid

    model = overlay_fields()  # the remedies name other profiles
    try:
        return model.model_validate(data)
    except ValidationError as error:
        patches = data.get("patches")
        elsewhere = [("patches", index) for index in range(len(patches) if isinstance(patches, list) else 0)]
        explain(error, model, layers, found, hidden=[*hidden, *elsewhere])  # `_patches` reports those of patches
        return None
