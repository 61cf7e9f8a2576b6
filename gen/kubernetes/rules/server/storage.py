"""Volumes and claims as objects.

From `ValidatePersistentVolumeSpec`, `ValidatePersistentVolumeClaimSpec` and `validateEphemeralVolumeSource` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import posixpath
from typing import Any

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, labels, selector
from gen.kubernetes.rules.server.scheduling import node_selector
from gen.kubernetes.rules.volume_sources import named_secret, source_faults, sources

_COMMON: dict[str, Check] = {
    "accessModes.*": checks.one_of("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
    "volumeMode": checks.one_of("Filesystem", "Block"),
    "storageClassName": checks.if_set(checks.dns_name),
}
_SECRETS = [f"csi.{name}SecretRef" for name in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand")]


def _whole_reference(secret: Any) -> Fault | None:
    missing = [f"`{field}`" for field in ("name", "namespace") if not secret.get(field)]
    return Fault((), "`name` and `namespace` are required", f"add {' and '.join(missing)}") if missing else None


def _secret(secret: Any) -> Fault | None:
    return _whole_reference(secret) or checks.dns_name(secret["name"]) or checks.dns_label(secret["namespace"])


_VOLUME = FieldChecks(
    {
        **_COMMON,
        "persistentVolumeReclaimPolicy": checks.if_set(checks.one_of("Retain", "Delete", "Recycle")),
        "capacity.storage": checks.positive,
        "volumeAttributesClassName": checks.dns_name,
        "csi.volumeHandle": checks.not_empty,
        **dict.fromkeys(_SECRETS, _secret),
        "iscsi.secretRef": named_secret,
        **{f"{kind}.secretRef": _whole_reference for kind in ("cinder", "storageos")},
    }
)
_SOURCE_REFERENCE = FieldChecks(
    {
        f"{field}.{name}": check
        for field in ("dataSource", "dataSourceRef")
        for name, check in {
            "name": checks.not_empty,
            "kind": checks.not_empty,
            "apiGroup": checks.if_set(checks.dns_name),
        }.items()
    }
)
_CLAIM = FieldChecks(
    {
        **_COMMON,
        "resources.requests.*": checks.quantity,
        "resources.limits.*": checks.quantity,
        "resources.requests.storage": checks.positive,
        "volumeAttributesClassName": checks.if_set(checks.dns_name),
        "dataSourceRef.namespace": checks.if_set(checks.dns_label),
    }
)
_CLAIM_KIND = "PersistentVolumeClaim"
_SNAPSHOT = ("snapshot.storage.k8s.io", "VolumeSnapshot")
_OLD_ORIGINS = {("", _CLAIM_KIND), _SNAPSHOT}
"""Kinds that `dataSource` supports; others need `dataSourceRef`."""


@server_rule(
    "storage",
    remedy="Add the missing field: `capacity.storage`, `accessModes`, `resources.requests.storage`, a source.",
)
def storage(view: ObjectView) -> Faults:
    """A persistent volume has no capacity, no source or several, or a claim has no access mode or no storage
    request.
    """
    if view.kind == "PersistentVolume":
        yield from _volume(view.spec, ("spec",))
    if view.kind == "StatefulSet" and not view.is_custom:
        for index, claim in enumerate(view.spec.get("volumeClaimTemplates") or ()):
            yield from _claim(claim.get("spec") or {}, ("spec", "volumeClaimTemplates", index, "spec"))
    if view.kind == _CLAIM_KIND:
        yield from _claim(_kept(view.spec), ("spec",))
    for route, pod in view.pods:
        for index, volume in enumerate(pod.get("volumes") or ()):
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            if template is not None:
                yield from _template(template, (*route, "volumes", index, "ephemeral", "volumeClaimTemplate"))


def _template(template: Body, route: Route) -> Faults:
    yield from template_metadata(template, route)
    yield from _claim(template["spec"], (*route, "spec"))


def template_metadata(template: Body, route: Route) -> Faults:
    """Faults of the metadata of a template of claims: only labels and annotations are allowed."""
    metadata, at = template.get("metadata") or {}, (*route, "metadata")
    for field, value in metadata.items():
        if field not in {"labels", "annotations"} and value not in ("", 0):
            hint = f"remove `{field}`; only labels and annotations are allowed"
            yield Fault((*at, field), f"`{field}` is set by the API server", hint)
    yield from labels(metadata.get("labels"), (*at, "labels"))
    for key in metadata.get("annotations") or ():
        yield from placed(checks.lower_case(checks.qualified_name)(key), (*at, "annotations", key))


def _modes(spec: Body, route: Route) -> Faults:
    modes = spec.get("accessModes") or []
    if not modes:
        yield Fault((*route, "accessModes"), "at least one access mode is required", "add one, such as `ReadWriteOnce`")
    if "ReadWriteOncePod" in modes and set(modes) != {"ReadWriteOncePod"}:
        hint = "keep only `ReadWriteOncePod`, or remove it"
        yield Fault((*route, "accessModes"), "`ReadWriteOncePod` cannot be combined with other modes", hint)


def _volume(spec: Body, route: Route) -> Faults:
    yield from _VOLUME.faults(spec, route)
    yield from _modes(spec, route)
    yield from source_faults(spec, route, beside="flexVolume")
    capacity = spec.get("capacity") or {}
    if capacity.keys() != {"storage"}:
        yield _other_capacity(capacity).at((*route, "capacity"))
    if not sources(spec):
        yield Fault(route, "a volume source is required", "add one, such as `csi` or `nfs`")
    if "nodeAffinity" in spec:
        at = (*route, "nodeAffinity")
        if "required" in spec["nodeAffinity"]:
            yield from node_selector(spec["nodeAffinity"]["required"], (*at, "required"))
        else:
            yield Fault(at, "`required` is missing", "add `required` with `nodeSelectorTerms`")
    elif "local" in spec:
        yield Fault(
            (*route, "local"), "a local volume requires a `nodeAffinity`", "add one that selects the node of the volume"
        )
    path = (spec.get("hostPath") or {}).get("path")
    if path and posixpath.normpath(path) in {"/", "//"} and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        hint = "use `Retain`, or a path other than `/`"
        yield Fault((*route, "persistentVolumeReclaimPolicy"), "the root of a host cannot be recycled", hint)
    if "volumeAttributesClassName" in spec and "csi" not in spec:
        yield Fault(
            (*route, "volumeAttributesClassName"),
            "only allowed for `csi` volumes",
            "remove `volumeAttributesClassName`",
        )


def _other_capacity(capacity: Body) -> Fault:
    others = " and ".join(f"`{name}`" for name in capacity if name != "storage")
    hint = f"use `storage` instead of {others}" if others else "add `storage`, such as `storage: 100Gi`"
    return Fault((), "expected only `storage`", f"remove {others}" if "storage" in capacity else hint)


def _kept(spec: Body) -> Body:
    """A claim without the data sources that the API server drops (`pkg/api/persistentvolumeclaim/util.go`)."""
    second = spec.get("dataSourceRef") or {}
    dropped = {"dataSourceRef"} if second.get("namespace") else set()
    first = spec.get("dataSource") or {}
    if (not second or dropped) and (first.get("apiGroup") or "", first.get("kind")) not in _OLD_ORIGINS:
        dropped.add("dataSource")
    return {field: value for field, value in spec.items() if field not in dropped}


def _claim(spec: Body, route: Route) -> Faults:
    yield from _CLAIM.faults(spec, route)
    yield from _SOURCE_REFERENCE.faults(spec, route)
    yield from _modes(spec, route)
    yield from selector(spec.get("selector"), (*route, "selector"))
    if "storage" not in ((spec.get("resources") or {}).get("requests") or {}):
        yield Fault(
            (*route, "resources"), "`requests.storage` is missing", "add it, such as `requests: {storage: 10Gi}`"
        )
    first, second = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, source in (("dataSource", first), ("dataSourceRef", second)):
        yield from reference(source, (*route, field))
        if source is not None and not source.get("apiGroup") and source.get("kind") != _CLAIM_KIND:
            yield _without_group(source.get("kind") or "").at((*route, field, "kind"))
    if first is not None and second is not None:
        same = all(first.get(field) == second.get(field) for field in ("apiGroup", "kind", "name"))
        if not same or second.get("namespace"):
            hint = "remove `dataSource`, or set both to the same value"
            yield Fault((*route, "dataSource"), "different from `dataSourceRef`", hint)


def reference(found: Body | None, route: Route) -> Faults:
    """Missing fields of a reference to an object; no reference has none."""
    for field in ("kind", "name"):
        if found is not None and field not in found:
            yield Fault((*route, field), f"`{field}` is missing", f"add the `{field}` of the object")


def _without_group(kind: str) -> Fault:
    group, of_group = _SNAPSHOT
    added = f"add `apiGroup: {group}`" if kind == of_group else f"add the `apiGroup` of `{kind}`"
    return Fault((), f"must be `{_CLAIM_KIND}` without an `apiGroup`", f"{added}, or set `kind: {_CLAIM_KIND}`")
