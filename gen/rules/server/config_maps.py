"""Config maps: keys and size.

From `ValidateConfigMap` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from gen.diagnostics import counted
from gen.rules.fault import Fault
from gen.rules.name_checks import config_key
from gen.rules.rule import server

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_LIMIT = 1 << 20
"""Bytes of all values together."""


@server(
    "config-maps",
    "ConfigMap",
    remedy="Rename the key, or move large data to a volume.",
)
def config_maps(view: ObjectView) -> Faults:
    """A config map has an invalid key, a binary value that is not base64, or more than 1 MiB of values."""
    if view.kind != "ConfigMap":
        return
    data, binary = view.body.get("data") or {}, view.body.get("binaryData") or {}
    size = sum(len(text.encode()) for text in data.values())
    for field, found in (("data", data), ("binaryData", binary)):
        for key in found:
            fault = config_key(key)
            if fault is not None:
                yield fault.at((field, key))
    for key, text in binary.items():
        if key in data:
            yield Fault(("binaryData", key), f"`{key}` is also in `data`", "remove it here, or from `data`")
        try:
            size += len(base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True))
        except (binascii.Error, ValueError):
            yield Fault(("binaryData", key), "not valid base64", "encode the value, or write plain text in `data`")
    if size > _LIMIT:
        message = f"the values have {size} bytes; the limit is {_LIMIT}"
        hint = f"move at least {counted(size - _LIMIT, 'byte')} to another config map, or to a volume"
        yield Fault(("data" if data else "binaryData",), message, hint)
