"""Storage classes, priority classes and secrets.

From `ValidateStorageClass` of `pkg/apis/storage/validation/validation.go`, `ValidatePriorityClass` of
`pkg/apis/scheduling/validation/validation.go` and `ValidateSecret` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Final

from gen.diagnostics import counted
from gen.rules.fault import Fault, not_one_of
from gen.rules.name_checks import config_key, lower_case, qualified_name
from gen.rules.rule import server
from gen.rules.value_checks import if_set, not_empty, one_of

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.fault import Check, Faults
    from gen.rules.object_view import ObjectView

_MAX_PARAMETERS, _MAX_PARAMETERS_LENGTH = 512, 256 << 10
_HIGHEST_PRIORITY = 1_000_000_000
_SYSTEM_PRIORITIES = {"system-node-critical", "system-cluster-critical"}
_MAX_SECRET_BYTES = 1 << 20

_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
}
"""Required keys by type of secret."""

_DOCKER_FILE = "use the JSON that `docker login` writes: plain in `stringData`, or base64-encoded once in `data`"


@server(
    "classes",
    "storage.k8s.io/StorageClass",
    "scheduling.k8s.io/PriorityClass",
    remedy="Use one of the values that the finding lists.",
)
def classes(view: ObjectView) -> Faults:
    """A storage class or priority class has an invalid or missing value."""
    if view.kind == "StorageClass" and not view.is_custom:
        yield from _storage_class(view.body)
    elif view.kind == "PriorityClass" and not view.is_custom:
        yield from _priority_class(view.body)


def _storage_class(body: Body) -> Faults:
    checks: dict[str, Check] = {
        "volumeBindingMode": one_of("Immediate", "WaitForFirstConsumer"),
        "reclaimPolicy": if_set(one_of("Delete", "Retain")),
        "provisioner": lambda value: not_empty(value) or lower_case(qualified_name)(value),
    }
    for field, check in checks.items():
        fault = check(body[field]) if field in body else None
        if fault is not None:
            yield fault.at((field,))
    parameters = body.get("parameters") or {}
    for key in parameters:
        if not key:
            yield Fault(("parameters", key), "a parameter has an empty name", "rename it, or remove it")
    size = sum(len(key) + len(value) for key, value in parameters.items())
    if len(parameters) > _MAX_PARAMETERS or size > _MAX_PARAMETERS_LENGTH:
        message = f"more than {_MAX_PARAMETERS} parameters or {_MAX_PARAMETERS_LENGTH} characters"
        yield Fault(("parameters",), message, "remove parameters, or shorten their values")
    yield from _topologies(body)


def _topologies(body: Body) -> Faults:
    seen: list[object] = []
    for index, term in enumerate(body.get("allowedTopologies") or ()):
        at = ("allowedTopologies", index, "matchLabelExpressions")
        keys: list[str] = []
        for number, entry in enumerate(term.get("matchLabelExpressions") or ()):
            values = entry.get("values") or []
            if not values:
                yield Fault((*at, number, "values"), "at least one value is required", "add one to `values`")
            if len(set(values)) < len(values):
                yield Fault((*at, number, "values"), "duplicate value", "list each value once")
            fault = qualified_name(entry.get("key", ""))
            if fault is None and entry["key"] in keys:
                fault = Fault((), f"duplicate key `{entry['key']}`", "combine the values of both entries")
            if fault is not None:
                yield fault.at((*at, number, "key"))
            keys.append(entry.get("key", ""))
        if not term.get("matchLabelExpressions"):
            yield Fault(
                at, "at least one expression is required", "add one with `key` and `values`, or remove this topology"
            )
        said = {
            entry.get("key"): sorted(entry.get("values") or ()) for entry in term.get("matchLabelExpressions") or ()
        }
        if said in seen:
            yield Fault(at, "duplicate topology", "remove one of the two")
        seen.append(said)


def _priority_class(body: Body) -> Faults:
    name = (body.get("metadata") or {}).get("name", "")
    if name.startswith("system-"):
        if name not in _SYSTEM_PRIORITIES:
            hint = "use another prefix"
            yield Fault(("metadata", "name"), "the prefix `system-` is reserved for Kubernetes", hint)
    elif body.get("value", 0) > _HIGHEST_PRIORITY:
        message = f"{body['value']} is more than {_HIGHEST_PRIORITY}"
        yield Fault(("value",), message, f"use {_HIGHEST_PRIORITY} or less")
    if body.get("preemptionPolicy", "Never") not in {"Never", "PreemptLowerPriority"}:
        yield not_one_of(body["preemptionPolicy"], ("Never", "PreemptLowerPriority")).at(("preemptionPolicy",))


@server(
    "secrets",
    "Secret",
    remedy="Write plain text in `stringData`, or encode the value.",
)
def secrets(view: ObjectView) -> Faults:
    """A secret has an invalid key, a value that is not base64, or lacks a key of its type."""
    if view.kind != "Secret" or view.is_custom:
        return
    data: Body = view.body.get("data") or {}
    plain: Body = view.body.get("stringData") or {}
    decoded: dict[str, bytes] = {key: text.encode() for key, text in plain.items()}
    for key, text in data.items():
        try:
            value = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
        except (binascii.Error, ValueError):
            yield Fault(("data", key), "not valid base64", "write plain text in `stringData`, or encode the value")
            continue
        decoded.setdefault(key, value)
    for field, found in (("data", data), ("stringData", plain)):
        for key in found:
            fault = config_key(key)
            if fault is not None:
                yield fault.at((field, key))
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
