"""Classes of storage, priorities and runtimes.

From `ValidateStorageClass` of `pkg/apis/storage/validation/validation.go` and `ValidatePriorityClass` of
`pkg/apis/scheduling/validation/validation.go`, and `ValidateRuntimeClass` of `pkg/apis/node/validation`.
"""

from __future__ import annotations

from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, not_one_of, placed, server_rule, value_checks
from gen.kubernetes.rules.field_checks import FieldChecks, labels
from gen.kubernetes.rules.server.resources import overhead
from gen.kubernetes.rules.server.scheduling import TOLERATIONS, toleration

_MAX_PARAMETERS, _MAX_PARAMETERS_LENGTH = 512, 256 << 10
_HIGHEST_PRIORITY = 1_000_000_000
_SYSTEM_PRIORITIES = {"system-node-critical", "system-cluster-critical"}


@server_rule(
    "classes",
    "storage.k8s.io/StorageClass",
    "scheduling.k8s.io/PriorityClass",
    remedy="Use one of the values that the finding lists.",
)
def classes(view: ObjectView) -> Faults:
    """A storage class or priority class has an invalid or missing value."""
    yield from _storage_class(view.body) if view.kind == "StorageClass" else _priority_class(view.body)


def _storage_class(body: Body) -> Faults:
    checks: dict[str, Check] = {
        "volumeBindingMode": value_checks.one_of("Immediate", "WaitForFirstConsumer"),
        "reclaimPolicy": value_checks.if_set(value_checks.one_of("Delete", "Retain")),
        "provisioner": lambda value: (
            value_checks.not_empty(value) or value_checks.lower_case(value_checks.qualified_name)(value)
        ),
    }
    for field, check in checks.items():
        yield from placed(check(body[field]) if field in body else None, (field,))
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
            fault = value_checks.qualified_name(entry.get("key", ""))
            if fault is None and entry["key"] in keys:
                fault = Fault((), f"duplicate key `{entry['key']}`", "combine the values of both entries")
            yield from placed(fault, (*at, number, "key"))
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


_RUNTIME = FieldChecks(
    {
        "handler": value_checks.dns_label,
        "overhead.podFixed.*": value_checks.not_negative,
        **{f"scheduling.{path}": check for path, check in TOLERATIONS.items()},
    }
)


@server_rule(
    "runtime-classes", "node.k8s.io/RuntimeClass", remedy="Use the name of a handler of the container runtime."
)
def runtime_classes(view: ObjectView) -> Faults:
    """A runtime class has an invalid handler, overhead, node label or toleration."""
    yield from _RUNTIME.faults(view.body, ())
    yield from overhead((view.body.get("overhead") or {}).get("podFixed") or {}, ("overhead", "podFixed"))
    scheduling = view.body.get("scheduling") or {}
    yield from labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"))
    for index, found in enumerate(scheduling.get("tolerations") or ()):
        yield from toleration(found, ("scheduling", "tolerations", index))
