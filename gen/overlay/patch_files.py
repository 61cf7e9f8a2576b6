"""Reads the patches of an overlay: inherited ones first, from files in its folder or from texts inside it.

Findings about a text inside an overlay have their places in the overlay's file.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.base import Findings, Location, Route, did_you_mean, nulls, regex
from gen.base.codes.files import MISSING_FILE
from gen.base.codes.overlays import INVALID_PATCH
from gen.base.yaml.layers import Layer, Layers
from gen.base.yaml.source import Source, read, source_of
from gen.base.yaml.strict import Data, typed
from gen.job.literal_secrets import report_secrets
from gen.overlay.patch import Operation, Patch, PatchFields, Target, check_directives, invalid_condition

_BREAK = regex("\r\n|[\n\r\x85\u2028\u2029]")
"""What counts as a line for a YAML reader."""
_AT_THE_START = ("---", "...", "%")
"""What means something only where a line starts."""


def read_embedded(source: Source, route: Route, text: str, found: Findings) -> tuple[Data, Layer] | None:
    """The data in a text, and its place. None if it is unreadable."""
    place = source.place(route)
    if not text.strip():
        found.error(INVALID_PATCH, place, "the patch is empty", "write the fields to change, or a list")
        return None
    padded = _padded(source.text, place, text)
    if padded is not None:
        inside = source_of(padded.encode(), source.file, found)
        return None if inside is None else (inside.data, Layer(inside))
    inner = Findings()
    inside = source_of(text.encode(), source.file, inner)
    for item in inner:
        message = f"invalid patch: {item.message} (line {item.place.line} of the patch)"
        found.items.append(replace(item, place=place, message=message, related=()))
    return None if inside is None else (inside.data, Layer(source, route))


def _padded(whole: str, place: Location, text: str) -> str | None:
    """The text with its lines and columns as in the file; None if the file does not show it line by line.

    Indenting YAML as a whole keeps its meaning, so places in the result are places in the file.
    """
    lines = _BREAK.split(whole)
    first = lines[place.line - 1][place.column - 1 :]
    body = text.rstrip("\n").split("\n")
    if first.startswith("|"):
        above, indent = place.line, 0
        raw = lines[above : above + len(body)]
        indent = next((len(line) - len(said) for line, said in zip(raw, body, strict=False) if said), 0)
        shown = [line[indent:] for line in raw]
    else:
        quoted = first.startswith(("'", '"'))
        above, indent = place.line - 1, place.column - 1 + quoted
        shown = [first[quoted : quoted + len(body[0])]]
    if shown != body or any(line.startswith(_AT_THE_START) for line in body[1:]):
        return None
    body[0] = re.sub(r"^---\s*$", "", body[0])
    return "\n" * above + "\n".join(" " * indent + line for line in body)


_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "test": ("path", "value"),
    "remove": ("path",),
    "move": ("path", "from"),
    "copy": ("path", "from"),
}
"""The operations, and what each needs."""
_FIELDS = ("op", "path", "from", "value")
_POINTER = regex(r"(?:/(?:[^~]|~[01])*)+")


def read_operations(data: list[Data], layer: Layer, found: Findings) -> tuple[Operation, ...] | None:
    """The operations; None unless all are valid."""
    operations = [_OperationsReader(layer, index, found).read(entry) for index, entry in enumerate(data)]
    return None if None in operations else tuple(operation for operation in operations if operation is not None)


class _OperationsReader(Struct, frozen=True):
    layer: Layer
    index: int
    found: Findings

    def read(self, entry: Data) -> Operation | None:
        if not isinstance(entry, dict):
            self._refuse(
                (), "expected an operation as a mapping", "use a form like `{op: add, path: /spec/x, value: 1}`"
            )
            return None
        op = entry.get("op")
        if not isinstance(op, str) or op not in _NEEDED:
            name = op if isinstance(op, str) else "nothing" if op is None else "that"
            self._refuse(("op",), f"unknown JSON 6902 operation `{name}`", did_you_mean(name, _NEEDED))
            return None
        if not self._fields(entry, op):
            return None
        origin = entry.get("from") if "from" in _NEEDED[op] else None
        value = typed(entry["value"]) if "value" in _NEEDED[op] else None
        return Operation(
            op=op, path=_steps(entry["path"]), origin=None if origin is None else _steps(origin), value=value
        )

    def _fields(self, entry: dict[str, Data], op: str) -> bool:
        """Whether the operation has the required fields in the right form."""
        before = len(self.found.items)
        for name in entry.keys() - set(_FIELDS):
            self._refuse((name,), f"unknown field `{name}` of an operation", did_you_mean(name, _FIELDS))
        for name in _NEEDED[op]:
            value = entry.get(name)
            if value is None:
                self._refuse((), f"`{op}` requires `{name}`", f"add `{name}`")
            elif name == "value":
                for route in nulls(typed(value)):
                    hint = 'use `op: remove`, or write `""` for an empty string'
                    self._refuse((name, *route), "null value", hint)
            elif not isinstance(value, str) or not _POINTER.fullmatch(value):
                hint = "use a form like `/spec/template`; escape `/` in a name as `~1`, and `~` as `~0`"
                self._refuse((name,), "invalid path; expected `/` and the path of a field", hint)
        return len(self.found.items) == before

    def _refuse(self, route: Route, message: str, hint: str) -> None:
        self.found.error(INVALID_PATCH, self.layer.find((self.index, *route)).value, message, hint)


def _steps(pointer: Data) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901)."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in str(pointer)[1:].split("/"))


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
            from gen.job.validation_errors import explain

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
            if selector is not None and (wrong := invalid_condition(selector)) is not None:
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
