"""Reads the patches of an overlay, inherited ones first, each relative to the file that declares it."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.findings.files import MISSING_FILE
from gen.findings.overlays import INVALID_PATCH
from gen.load import Data, Layer, Layers, Source, read, typed
from gen.model.patches import PatchFields, Target
from gen.overlay.patches.directives import check_directives
from gen.overlay.patches.embedded import read_embedded
from gen.overlay.patches.operations import read_operations
from gen.overlay.patches.target import no_selector
from gen.overlay.patches.types import Patch
from gen.secrets import report_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.diagnostics import Findings, Location


def read_patches(root: Path, chain: Sequence[Source], found: Findings) -> tuple[Patch, ...]:
    """The patches of the files in `chain`, which has the overlay's own file first."""
    patches: list[Patch] = []
    for source in reversed(chain):
        entries = cast("dict[str, Data]", source.data).get("patches", [])
        if isinstance(entries, list):  # anything else is reported with the overlay's other fields
            patches += [p for i, e in enumerate(entries) if (p := _Reader(root, source, i, found).read(e)) is not None]
    return tuple(patches)


class _Reader(Struct, frozen=True):
    root: Path
    source: Source
    index: int
    found: Findings

    def read(self, entry: Data) -> Patch | None:
        layers = Layers((Layer(self.source, ("patches", self.index)),))
        try:
            fields = PatchFields.model_validate(entry)
        except ValidationError as error:
            from gen.model.explain import explain  # noqa: PLC0415 - most patches are valid

            explain(error, PatchFields, layers, self.found)
            return None
        if (fields.patch is None) == (fields.path is None):
            self._refuse(self._entry(), "a patch requires exactly one of `patch` and `path`", "set one of them")
            return None
        if fields.target is not None and not self._selectors(fields.target, layers):
            return None
        loaded = self._file(fields.path) if fields.path is not None else self._inline(fields.patch)
        if loaded is None:
            return None
        data, layer = loaded
        _report_secrets(data, layer, self.found)
        if isinstance(data, list):
            return self._operations(fields.target, data, layer)
        return self._merge(fields.target, data, layer)

    def _selectors(self, target: Target, layers: Layers) -> bool:
        """Whether the selectors can be read."""
        fine = True
        for field, selector in (
            ("labelSelector", target.label_selector),
            ("annotationSelector", target.annotation_selector),
        ):
            if selector is not None and (wrong := no_selector(selector)) is not None:
                hint = "use a form like `app=a,tier!=b,zone in (c, d),!e`"
                self._refuse(layers.place(("target", field)), f"invalid selector condition `{wrong}`", hint)
                fine = False
        return fine

    def _inline(self, patch: Data) -> tuple[Data, Layer] | None:
        route = ("patches", self.index, "patch")
        return (
            read_embedded(self.source, route, patch, self.found)
            if isinstance(patch, str)
            else (patch, Layer(self.source, route))
        )

    def _file(self, path: str) -> tuple[Data, Layer] | None:
        place = self.source.place(("patches", self.index, "path"))
        folder = self.source.file.rsplit("/", 1)[0]
        file = f"{folder}/{path}"
        if path.startswith("/") or ".." in path.split("/"):
            self._refuse(place, "the path is outside the folder of the overlay", f"move the file to {folder}/")
            return None
        if not os.path.lexists(self.root / file):  # also False for what can be no path
            self.found.error(MISSING_FILE, place, f"{file} does not exist", "correct the path, or add the file")
            return None
        source = read(self.root, file, self.found)
        return None if source is None else (source.data, Layer(source))

    def _merge(self, target: Target | None, data: Data, layer: Layer) -> Patch | None:
        place = Layers((layer,)).place(())
        if not isinstance(data, dict):
            hint = "write the fields to change (strategic merge), or a list of operations (JSON 6902)"
            self._refuse(place, "expected a patch as a mapping or a list", hint)
            return None
        if target is None and (target := _named_target(data)) is None:
            hint = "add `target`, or `kind` and `metadata.name` to the patch"
            self._refuse(place, "the patch has no target", hint)
            return None
        body = typed(data)
        if not check_directives(body, layer, self.found):
            return None
        merge = {key: value for key, value in body.items() if key not in ("apiVersion", "kind")}
        if isinstance(metadata := merge.get("metadata"), dict):
            merge["metadata"] = {key: value for key, value in metadata.items() if key not in ("name", "namespace")}
        return Patch(target=target, merge=merge, layer=layer, place=self._entry())

    def _operations(self, target: Target | None, data: list[Data], layer: Layer) -> Patch | None:
        if target is None:
            hint = "add `target`, such as `target: {kind: PyTorchJob}`"
            self._refuse(self._entry(), "a JSON 6902 patch requires a `target`", hint)
            return None
        operations = read_operations(data, layer, self.found)
        if operations is None:
            return None
        return Patch(target=target, operations=operations, layer=layer, place=self._entry())

    def _entry(self) -> Location:
        return self.source.place(("patches", self.index))

    def _refuse(self, place: Location, message: str, hint: str) -> None:
        self.found.error(INVALID_PATCH, place, message, hint)


def _report_secrets(data: Data, layer: Layer, found: Findings) -> None:
    """In the patch, or in each of its operations."""
    operations = enumerate(data) if isinstance(data, list) else ()
    parts = [(data, layer), *((entry, replace(layer, prefix=(*layer.prefix, i))) for i, entry in operations)]
    for part, at in parts:
        if isinstance(part, dict):
            report_secrets(part, Layers((at,)), found)


def _named_target(data: dict[str, Data]) -> Target | None:
    """The target that a strategic merge patch names itself, as in Kustomize."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return None
    kind, name, namespace = data.get("kind"), metadata.get("name"), metadata.get("namespace")
    api_version = data.get("apiVersion", "")
    if not (isinstance(kind, str) and isinstance(name, str) and kind and name and isinstance(api_version, str)):
        return None
    if not isinstance(namespace, str | None):
        return None
    group, _, version = api_version.rpartition("/")
    return Target(
        group=group if version else None, version=version or None, kind=kind, name=name, namespace=namespace or None
    )
