"""Reads overlays: merged with those that they extend, validated, with their patches and the kinds that they declare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from pydantic import ValidationError

from gen.base import DefinitionError, Findings, Location, Route, UsageError, as_mapping, contained, did_you_mean
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.codes.overlays import MISSING_DEFINITION, RESERVED_NAME
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import DEFINITIONS, overlay_file, overlays_path
from gen.base.yaml.layers import Layer, Layers, lay_over, without
from gen.base.yaml.source import Source, source_of
from gen.base.yaml.strict import Data
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS, declare, forget_declared, name_declared
from gen.job.literal_secrets import report_secrets
from gen.job.model import Model, renamed_fields
from gen.job.suggest import Models, with_new_names
from gen.kubernetes.facts import RESOURCES
from gen.overlay.check import check_entries, check_overlay, check_runtimes, of_jobs
from gen.overlay.fields import PROFILES, OverlayFields, overlay_fields
from gen.overlay.files import OverlayFiles, fields_of
from gen.overlay.grant import with_groups
from gen.overlay.overlay import Overlay, report_invalid_definition
from gen.overlay.plugins import check_providers, load_named
from gen.overlay.settings import definitions_in

if TYPE_CHECKING:
    from gen.job.kinds.declaration import DeclaredKind
    from gen.overlay.patch import Patch


class DeclaredKinds(Struct):
    """Registers the kinds of all overlays that are read together."""

    _first: dict[str, tuple[str, DeclaredKind]] = {}
    """By name: the overlay that declares the kind first, and its declaration."""

    def __post_init__(self) -> None:
        forget_declared()

    def add(self, overlay: str, fields: OverlayFields, layers: Layers, found: Findings) -> None:
        """Register the kinds of an overlay. Reports names that are taken."""
        for name, kind in fields.kinds.items():
            place = layers.place(("kinds", name), key=True)
            if name in self._first:
                other, known = self._first[name]
                if kind != known:
                    message = f"the kind `{name}` differs from that of overlay `{other}`"
                    hint = "choose another name, or declare it once in an overlay that both extend"
                    found.error(INVALID_VALUE, place, message, hint)
            elif name in ALL_KINDS:
                found.error(RESERVED_NAME, place, f"gen has a kind `{name}`", "choose another name")
            elif kind.facts.key in RESOURCES:
                message = f"{kind.facts} is known, so it cannot be declared"
                known_as = next((name for name, job in ALL_KINDS.items() if job.facts.key == kind.facts.key), "")
                found.error(INVALID_VALUE, place, message, f"use the kind `{known_as}`" if known_as else "remove it")
            else:
                self._first[name] = overlay, kind
                from gen.job.kinds.declared import declared_model

                declare(name, declared_model(name, kind))


def has_definitions(overlay: Overlay, found: Findings) -> bool:
    """Whether the overlay has the definition of each kind that it declares. Reports those that are missing."""
    before = len(found.items)
    for name, kind in overlay.fields.kinds.items():
        try:
            known = overlay.kinds.get(kind.api_version, kind.kind) is not None
        except DefinitionError as error:
            report_invalid_definition(error, overlay, found)
            return False
        if not known:
            message = f"no definition of {kind.kind} in {kind.api_version} found"
            hint = f"copy its CustomResourceDefinition into `{overlays_path(overlay.name, DEFINITIONS)}`"
            found.error(MISSING_DEFINITION, overlay.place("kinds", name, key=True), message, hint)
    return len(found.items) == before


_ENTRY = 2
"""Length of the route of a grant; longer ones are of its fields."""
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
        """The overlay for the text of a file that may not exist yet; None if it is invalid or abstract."""
        return self._overlay(name, DeclaredKinds()) if self.use(name, text) else None

    def use(self, name: str, text: str) -> bool:
        """Read a text in place of the file of an overlay; whether it is a mapping."""
        source = source_of(text.encode("utf-8", "surrogateescape"), overlay_file(name), self.found)
        if source is None or not isinstance(source.data, dict):
            return False
        self._files.use(name, source)
        return True

    def _overlay(self, name: str, declared: DeclaredKinds) -> Overlay | None:
        with contained(self.found, Location(overlay_file(name)), "read the overlay"):
            return self._read(name, declared)
        return None

    def _read(self, name: str, declared: DeclaredKinds) -> Overlay | None:
        chain = self._files.chain(name)
        if not chain.complete:
            return None
        found = Findings()
        sources = [with_new_names(source, _models(source), found) for source in chain.sources]
        data = merged_fields(sources)
        layers = Layers(tuple(Layer(source) for source in sources))
        hidden = report_secrets({key: value for key, value in data.items() if key != "patches"}, layers, found)
        patches = _patches(self.root, sources, found)
        name_declared(as_mapping(data.get("kinds")))
        loaded = load_named(data, layers, found)
        data, layers = with_groups(data, layers, found)
        hidden |= {route for route in layers.moved if len(route) > _ENTRY}  # reported in `groups`
        fields = _validated(data, layers, found, hidden) if loaded else None
        if fields is not None:
            declared.add(name, fields, layers, found)
        runtimes, files = definitions_in(chain.runtimes, found)
        kubernetes = check_overlay(fields, data, layers, found) if fields is not None else ""
        if fields is not None:
            check_providers(fields, layers, found)
        self.found.extend(found.items)
        if fields is None or fields.abstract or found.failed():
            return None
        defaults = cast("dict[str, Data]", data.get("defaults", {}))
        overlay = Overlay(
            name, fields, layers, defaults, patches, kubernetes, chain.definitions, chain.policies, runtimes
        )
        check_runtimes(overlay, files, self.found)
        return overlay if has_definitions(overlay, self.found) else None


def _models(source: Source) -> Models:
    """The model of an overlay and those of jobs in its defaults, without profiles and kinds that it does not name.

    The overlay has all profiles if the name of a profile, or of the field with its entry, may be an older one.
    """
    fields = fields_of(source)
    with_entries: list[type[Model]] = [OverlayFields, *(model for model, _ in PROFILES.values())]
    all_profiles = any(old in source.text for model in with_entries for old in renamed_fields(model))
    defaults = fields.get("defaults")
    kinds = defaults.get("kinds") if isinstance(defaults, dict) else None
    named: Models = {("defaults", "kinds", kind): ALL_KINDS[kind] for kind in ALL_KINDS if kind in (kinds or ())}
    return {(): overlay_fields(None if all_profiles else fields), ("defaults",): JobFields, **named}


def _patches(root: Path, sources: Sequence[Source], found: Findings) -> tuple[Patch, ...]:
    if not any("patches" in fields_of(source) for source in sources):
        return ()
    from gen.overlay.patch_files import read_patches

    return read_patches(root, sources, found)


def merged_fields(sources: Sequence[Source]) -> dict[str, Data]:
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
    from gen.job.validation_errors import explain

    model = overlay_fields()  # the remedies name other profiles
    try:
        return model.model_validate(data)
    except ValidationError as error:
        patches = data.get("patches")
        elsewhere = [("patches", index) for index in range(len(patches) if isinstance(patches, list) else 0)]
        # `_patches` reports those of patches
        wrong = explain(error, model, layers, found, hidden=[*hidden, *elsewhere], elsewhere=of_jobs)
    with suppress(ValidationError):
        check_entries(model.model_validate(without(data, wrong)), layers, found)
    return None
