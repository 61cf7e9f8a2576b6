"""Reads `overlays/<name>/overlay.yaml` and what it extends, each file once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from gen.diagnostics import Findings, Location, UsageError, did_you_mean
from gen.load import Data, Layer, Layers, Source, lay_over, read
from gen.model.explain import explain
from gen.overlay.check import check_overlay
from gen.overlay.fields import OverlayFields
from gen.overlay.overlay import Overlay
from gen.overlay.patches.read import read_patches
from gen.repository.layout import DEFINITIONS, overlay_file
from gen.repository.overlay_files import overlay_names
from gen.secrets import report_secrets

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from gen.diagnostics import Route

_OWN = ("abstract", "patches")
"""Fields that an overlay does not take from the one it extends: patches are added up file by file."""


@dataclass
class OverlayReader:
    """Reads the overlays of one repository."""

    root: Path
    found: Findings
    _sources: dict[str, Source | None] = field(default_factory=dict)

    def read(self, names: Collection[str] = ()) -> list[Overlay]:
        """The overlays that render something: those named, or all. UsageError when a name is unknown, or none does."""
        existing = overlay_names(self.root, Findings() if names else self.found)
        for name in names:
            if name not in existing:
                raise UsageError(f"there is no {overlay_file(name)}: {did_you_mean(name, existing)}")
        overlays = [self._overlay(name) for name in existing if not names or name in names]
        if not any(overlays) and not self.found.failed():
            why = "there is none" if not existing else "those that are `abstract` are only extended"
            raise UsageError(f"no overlay renders anything: {why}; add {overlay_file('<name>')}")
        return [overlay for overlay in overlays if overlay is not None]

    def _overlay(self, name: str) -> Overlay | None:
        chain = self._chain(name)
        if not chain:
            return None
        found = Findings()
        data = _laid_over(chain)
        layers = Layers(tuple(Layer(source) for source in chain))
        hidden = report_secrets({key: value for key, value in data.items() if key != "patches"}, layers, found)
        patches = read_patches(self.root, chain, found)
        fields = _validated(data, layers, found, hidden)
        kubernetes = check_overlay(fields, data, layers, found) if fields is not None else ""
        self.found.extend(found.items)
        if fields is None or fields.abstract or found.failed():
            return None
        defaults = cast("dict[str, Data]", data.get("defaults", {}))
        folders = ((self.root / source.file).parent / DEFINITIONS for source in chain)
        definitions = tuple(folder for folder in folders if folder.is_dir())
        return Overlay(name, fields, layers, defaults, patches, kubernetes, definitions)

    def _chain(self, name: str) -> list[Source]:
        """The overlay's own file, then those that it extends; empty when one is missing or extends itself."""
        chain: list[Source] = []
        seen = {name}
        source = self._source(name)
        while source is not None:
            chain.append(source)
            base = cast("dict[str, Data]", source.data).get("extends")
            if not isinstance(base, str) or not base:
                return chain
            at = source.place(("extends",))
            if base in seen:
                self.found.error("extends-itself", at, f"`{base}` extends itself", "remove one `extends` of the circle")
                return []
            seen.add(base)
            source = self._source(base, at)
        return []

    def _source(self, name: str, at: Location | None = None) -> Source | None:
        if name not in self._sources:
            existing = overlay_names(self.root, Findings())
            if name in existing or at is None:
                self._sources[name] = self._mapping(name)
            else:
                self.found.error("unknown-overlay", at, f"there is no overlay `{name}`", did_you_mean(name, existing))
                self._sources[name] = None
        return self._sources[name]

    def _mapping(self, name: str) -> Source | None:
        source = read(self.root, overlay_file(name), self.found)
        if source is not None and not isinstance(source.data, dict):
            self.found.error(
                "invalid-value", source.place(()), "an overlay is a mapping of fields", "write `field: value`"
            )
            return None
        return source


def _laid_over(chain: list[Source]) -> dict[str, Data]:
    data: dict[str, Data] = {}
    for source in reversed(chain):
        inherited = {key: value for key, value in data.items() if key not in _OWN}
        data = lay_over(inherited, cast("dict[str, Data]", source.data))
    return data


def _validated(
    data: dict[str, Data], layers: Layers, found: Findings, hidden: Collection[Route]
) -> OverlayFields | None:
    try:
        return OverlayFields.model_validate(data)
    except ValidationError as error:
        explain(error, OverlayFields, layers, found, hidden=hidden)
        return None
