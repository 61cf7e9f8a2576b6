"""Config maps: keys and size.

From `ValidateConfigMap` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from gen.validate.forms import config_key
from gen.validate.rule import server

if TYPE_CHECKING:
    from gen.validate.tables import Faults
    from gen.validate.view import View

_LIMIT = 1 << 20
"""Bytes of all values together."""


@server(
    "config-maps",
    "ConfigMap",
    remedy="Rename the key, or move large data to a volume.",
)
def config_maps(view: View) -> Faults:
    """Keys of a config map are file names, binary values are base64, and all is at most 1 MiB."""
    if view.kind != "ConfigMap":
        return
    data, binary = view.body.get("data") or {}, view.body.get("binaryData") or {}
    size = sum(len(text.encode()) for text in data.values())
    for field, found in (("data", data), ("binaryData", binary)):
        for key in found:
            fault = config_key(key)
            if fault is not None:
                yield (field, key), fault
    for key, text in binary.items():
        if key in data:
            yield ("binaryData", key), f"`{key}` is in `data` as well"
        try:
            size += len(base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True))
        except (binascii.Error, ValueError):
            yield ("binaryData", key), "is no base64"
    if size > _LIMIT:
        yield ("data" if data else "binaryData",), f"the values take {size} bytes, more than {_LIMIT}"
