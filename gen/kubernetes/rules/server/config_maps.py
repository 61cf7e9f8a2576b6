"""Config maps and secrets: keys, encoding, types and size.

From `ValidateConfigMap` and `ValidateSecret` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Final

from gen.base import counted
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules.value_checks import config_key

_LIMIT = 1 << 20
"""Bytes of all values together."""


@server_rule("config-maps", "ConfigMap", remedy="Rename the key, or move large data to a volume.")
def config_maps(view: ObjectView) -> Faults:
    """A config map has an invalid key, a binary value that is not base64, or more than 1 MiB of values."""
    data, binary = view.body.get("data") or {}, view.body.get("binaryData") or {}
    size = sum(len(text.encode()) for text in data.values())
    yield from _keys(data=data, binaryData=binary)
    for key, text in binary.items():
        if key in data:
            yield Fault(("binaryData", key), f"`{key}` is also in `data`", "remove it here, or from `data`")
        try:
            size += len(_decoded(text))
        except (binascii.Error, ValueError):
            yield Fault(("binaryData", key), "not valid base64", "encode the value, or write plain text in `data`")
    if size > _LIMIT:
        message = f"the values have {size} bytes; the limit is {_LIMIT}"
        hint = f"move at least {counted(size - _LIMIT, 'byte')} to another config map, or to a volume"
        yield Fault(("data" if data else "binaryData",), message, hint)


def _keys(**fields: Body) -> Faults:
    for field, found in fields.items():
        for key in found:
            yield from placed(config_key(key), (field, key))


def _decoded(value: str | list[int]) -> bytes:
    """The bytes of base64, or of a list. binascii.Error or ValueError if it is neither."""
    if isinstance(value, list):
        return bytes(value)
    return base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)


_MAX_SECRET_BYTES = 1 << 20

_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
}
"""Required keys by type of secret."""

_DOCKER_FILE = "use the JSON that `docker login` writes: plain in `stringData`, or base64-encoded once in `data`"


@server_rule("secrets", "Secret", remedy="Write plain text in `stringData`, or encode the value.")
def secrets(view: ObjectView) -> Faults:
    """A secret has an invalid key, a value that is not base64, or lacks a key of its type."""
    data: Body = view.body.get("data") or {}
    plain: Body = view.body.get("stringData") or {}
    decoded: dict[str, bytes] = {key: text.encode() for key, text in plain.items()}
    for key, text in data.items():
        try:
            value = _decoded(text)
        except (binascii.Error, ValueError):
            yield Fault(("data", key), "not valid base64", "write plain text in `stringData`, or encode the value")
            continue
        decoded.setdefault(key, value)
    yield from _keys(data=data, stringData=plain)
    excess = sum(len(value) for value in decoded.values()) - _MAX_SECRET_BYTES
    if excess > 0:
        message = f"the values are larger than {_MAX_SECRET_BYTES} bytes"
        hint = f"move at least {counted(excess, 'byte')} to another secret"
        yield Fault(("data" if data else "stringData",), message, hint)
    yield from _of_type(view.body.get("type", ""), view, decoded)


def _of_type(kind: str, view: ObjectView, decoded: dict[str, bytes]) -> Faults:
    for key in _NEEDED.get(kind, ()):
        if key not in decoded:
            hint = f"add `{key}` to `data` or `stringData`"
            yield Fault(("data",), f"a secret of type `{kind}` requires the key `{key}`", hint)
        elif "docker" in kind:
            try:
                json.loads(decoded[key])
            except ValueError:
                yield Fault(("data", key), "not valid JSON", _DOCKER_FILE)
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & decoded.keys():
        hint = "add at least one of the two to `data` or `stringData`"
        yield Fault(("data",), f"a secret of type `{kind}` requires the key `username` or `password`", hint)
    account = "kubernetes.io/service-account.name"
    if kind == "kubernetes.io/service-account-token" and not (view.metadata.get("annotations") or {}).get(account):
        message = f"a secret of type `{kind}` requires the annotation `{account}`"
        yield Fault(("metadata", "annotations"), message, "add it with the name of a service account")
