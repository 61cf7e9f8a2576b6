"""Reads JSON 6902 patches: what every operation must say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.diagnostics import did_you_mean
from gen.findings.overlays import INVALID_PATCH
from gen.kubernetes import nulls
from gen.load import Data, Layer, typed
from gen.overlay.patches.types import Operation
from gen.regex import regex

if TYPE_CHECKING:
    from gen.diagnostics import Findings, Route

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
    operations = [_Reader(layer, index, found).read(entry) for index, entry in enumerate(data)]
    return None if None in operations else tuple(operation for operation in operations if operation is not None)


class _Reader(Struct, frozen=True):
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
