"""Reads the patches of an overlay: those of the overlay that it extends first, each from the file that says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from gen.diagnostics import Findings, did_you_mean
from gen.load import Data, Layer, Layers, Source, read, source_of, typed
from gen.model.explain import explain
from gen.model.overlay import PatchFields, Target
from gen.patch.types import Operation, Patch

if TYPE_CHECKING:
    from pathlib import Path

_OPERATIONS = {"add": True, "replace": True, "test": True, "remove": False, "move": False, "copy": False}
"""JSON 6902's operations, and whether each needs a value."""


def read_patches(root: Path, chain: list[Source], found: Findings) -> tuple[Patch, ...]:
    """The patches of the files in `chain`, which has the overlay's own file first."""
    patches: list[Patch] = []
    for source in reversed(chain):
        entries = cast("dict[str, Data]", source.data).get("patches", [])
        if isinstance(entries, list):  # anything else is reported with the overlay's other fields
            patches += [p for i, e in enumerate(entries) if (p := _Reader(root, source, i, found).read(e)) is not None]
    return tuple(patches)


@dataclass(frozen=True, slots=True)
class _Reader:
    root: Path
    source: Source
    index: int
    found: Findings

    def read(self, entry: Data) -> Patch | None:
        route = ("patches", self.index)
        layers = Layers((Layer(self.source, route),))
        try:
            fields = PatchFields.model_validate(entry)
        except ValidationError as error:
            explain(error, PatchFields, layers, self.found)
            return None
        place = layers.place(())
        if (fields.patch is None) == (fields.path is None):
            self.found.error(
                "invalid-patch", place, "a patch needs either `patch` or `path`", "give exactly one of them"
            )
            return None
        loaded = self._file(fields.path) if fields.path is not None else self._inline(fields.patch)
        if loaded is None:
            return None
        data, layer = loaded
        if isinstance(data, list):
            return self._operations(fields.target, data, layer)
        return self._merge(fields.target, data, layer)

    def _inline(self, patch: Data) -> tuple[Data, Layer] | None:
        layer = Layer(self.source, ("patches", self.index, "patch"))
        if not isinstance(patch, str):
            return patch, layer
        inner = Findings()
        text = source_of(patch.encode(), self.source.file, inner)
        if text is None:
            place = Layers((layer,)).place(())
            for item in inner:
                message = f"the text of the patch: {item.message} (its line {item.place.line})"
                self.found.error(item.code, place, message, item.hint)
            return None
        return text.data, layer

    def _file(self, path: str) -> tuple[Data, Layer] | None:
        place = self.source.place(("patches", self.index, "path"))
        folder = self.source.file.rsplit("/", 1)[0]
        parts = path.split("/")
        if path.startswith("/") or ".." in parts:
            self.found.error(
                "invalid-patch",
                place,
                "the path leaves the overlay's folder",
                f"move the file below {folder}/",
            )
            return None
        file = f"{folder}/{path}"
        if not (self.root / file).exists():
            self.found.error("missing-file", place, f"there is no {file}", "correct the path, or add the file")
            return None
        source = read(self.root / file, file, self.found)
        return None if source is None else (source.data, Layer(source))

    def _merge(self, target: Target | None, data: Data, layer: Layer) -> Patch | None:
        place = Layers((layer,)).place(())
        if not isinstance(data, dict):
            hint = "write the fields to change (strategic merge), or a list of operations (JSON 6902)"
            self.found.error("invalid-patch", place, "a patch is a mapping or a list", hint)
            return None
        body = typed(data)
        if target is None and (target := _named_target(body)) is None:
            hint = "add `target`, or `kind` and `metadata.name` to the patch"
            self.found.error("invalid-patch", place, "the patch does not say what it changes", hint)
            return None
        merge = {key: value for key, value in body.items() if key not in ("apiVersion", "kind")}
        if isinstance(metadata := merge.get("metadata"), dict):
            merge["metadata"] = {key: value for key, value in metadata.items() if key not in ("name", "namespace")}
        return Patch(target=target, merge=merge, layer=layer, place=self._entry())

    def _operations(self, target: Target | None, data: list[Data], layer: Layer) -> Patch | None:
        if target is None:
            hint = "add `target`, such as `target: {kind: PyTorchJob}`"
            self.found.error("invalid-patch", self._entry(), "a JSON 6902 patch needs a `target`", hint)
            return None
        operations = [self._operation(typed(entry), Layers((layer,)), i) for i, entry in enumerate(data)]
        if None in operations:
            return None
        return Patch(target=target, operations=tuple(o for o in operations if o), layer=layer, place=self._entry())

    def _operation(self, entry: Any, layers: Layers, index: int) -> Operation | None:
        place = layers.place((index,))

        def refuse(message: str, hint: str) -> Operation | None:
            self.found.error("invalid-patch", place, message, hint)
            return None

        if not isinstance(entry, dict) or entry.get("op") not in _OPERATIONS:
            name = str(entry.get("op")) if isinstance(entry, dict) else "nothing"
            return refuse(f"`{name}` is no JSON 6902 operation", did_you_mean(name, _OPERATIONS))
        needed = "value" if _OPERATIONS[entry["op"]] else "from" if entry["op"] != "remove" else "path"
        if entry.get(needed) is None:
            return refuse(f"`{entry['op']}` needs `{needed}`", f"add `{needed}`")
        path, origin = _pointer(entry.get("path")), _pointer(entry.get("from", ""))
        if path is None or origin is None:
            return refuse(
                "a path starts with `/` and names a field",
                "write it like `/spec/template`; `/` in a name is `~1`",
            )
        return Operation(op=entry["op"], path=path, origin=origin or None, value=entry.get("value"))

    def _entry(self) -> Any:
        return self.source.place(("patches", self.index))


def _named_target(body: Any) -> Target | None:
    """What a strategic merge says of itself, as in Kustomize."""
    kind, metadata = body.get("kind"), body.get("metadata")
    if not isinstance(kind, str) or not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return None
    group, _, version = str(body["apiVersion"]).rpartition("/") if "apiVersion" in body else ("", "", "")
    return Target(
        group=group if version else None,
        version=version or None,
        kind=kind,
        name=metadata["name"],
        namespace=metadata.get("namespace"),
    )


def _pointer(text: Any) -> tuple[str, ...] | None:
    """The steps of a JSON pointer (RFC 6901); empty for an empty text, None when it is none."""
    if text == "":
        return ()
    if not isinstance(text, str) or not text.startswith("/"):
        return None
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))
