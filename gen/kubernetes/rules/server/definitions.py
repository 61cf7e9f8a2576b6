"""CustomResourceDefinitions: names, versions, conversion and subresources.

From `ValidateCustomResourceDefinition` of `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from gen.base import Route, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, server_rule
from gen.kubernetes.rules.field_checks import FieldChecks, unique
from gen.kubernetes.rules.server.definition_schemas import structural_faults
from gen.kubernetes.rules.server.webhooks import client
from gen.kubernetes.rules.value_checks import both, dns_1035_label, dns_name, if_set, not_empty, one_of

_DEFINITION: Final = ("apiextensions.k8s.io/CustomResourceDefinition",)
_BESIDE_STATUS: Final = {
    *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items"),
    *("properties", "externalDocs", "example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
}
"""`allowedFieldsAtRootSchema` of the same file."""
_APPROVAL = "api-approved.kubernetes.io"
_PROTECTED = regex(r"(?:.*\.)?(?:k8s|kubernetes)\.io")


def _lower_label(value: Any) -> Fault | None:
    return dns_1035_label(value.lower())


def _domain(value: Any) -> Fault | None:
    if "." in value:
        return None
    return Fault((), f"`{value}` is not a domain", f"add a domain, such as `{value or 'group'}.example.com`")


def _json_path(value: Any) -> Fault | None:
    if re.fullmatch(r"(?:\.[A-Za-z_][\w-]*|\[[^]]+\])+", value):
        return None
    return Fault((), f"`{value}` is not a path of a field", "use a path such as `.spec.queue`")


def _below(*roots: str) -> Any:
    words = " or ".join(f"`{root}`" for root in roots)
    hint = f"begin it with {words}"
    return lambda value: None if value.startswith(roots) else Fault((), f"`{value}` is not a path below {words}", hint)


_COLUMN = {
    "name": not_empty,
    "type": one_of("boolean", "date", "integer", "number", "string"),
    "format": if_set(one_of("int32", "int64", "float", "double", "byte", "binary", "date", "date-time", "password")),
    "jsonPath": not_empty,
}
_SPEC = FieldChecks(
    {
        "group": both(dns_name, _domain),
        "scope": one_of("Namespaced", "Cluster"),
        "names.plural": dns_1035_label,
        "names.singular": if_set(dns_1035_label),
        "names.kind": _lower_label,
        "names.listKind": if_set(_lower_label),
        "names.shortNames.*": dns_1035_label,
        "names.categories.*": dns_1035_label,
        "versions.*.selectableFields.*.jsonPath": _json_path,
        "conversion.strategy": one_of("None", "Webhook"),
        "versions.*.name": dns_1035_label,
        "versions.*.subresources.scale.specReplicasPath": _below(".spec."),
        "versions.*.subresources.scale.statusReplicasPath": _below(".status."),
        "versions.*.subresources.scale.labelSelectorPath": if_set(_below(".spec.", ".status.")),
        **{f"versions.*.additionalPrinterColumns.*.{field}": check for field, check in _COLUMN.items()},
    }
)


@server_rule(
    "definitions",
    *_DEFINITION,
    remedy="Name it `<plural>.<group>`, and store exactly one of its versions, each with a schema.",
)
def definitions(view: ObjectView) -> Faults:
    """A CustomResourceDefinition has an invalid name, group, version, conversion, column or subresource."""
    spec, at = view.spec, ("spec",)
    yield from _SPEC.faults(spec, at)
    names = spec["names"]
    expected = f"{names['plural']}.{spec['group']}"
    if view.metadata.get("name") != expected:
        message = f"the name is not its plural and group, `{expected}`"
        yield Fault(("metadata", "name"), message, f"rename it to `{expected}`")
    if names.get("listKind") == names["kind"]:
        hint = f"use `{names['kind']}List`, or remove it"
        yield Fault((*at, "names", "listKind"), "the same as `kind`", hint)
    if spec.get("preserveUnknownFields"):
        hint = "remove it, and set `x-kubernetes-preserve-unknown-fields: true` in the schema"
        yield Fault((*at, "preserveUnknownFields"), "must not be true", hint)
    yield from _approval(view)
    yield from _conversion(spec)
    yield from _versions(spec.get("versions") or [], view.minor)


def _approval(view: ObjectView) -> Faults:
    if not _PROTECTED.fullmatch(view.spec["group"]):
        return
    value = (view.metadata.get("annotations") or {}).get(_APPROVAL, "")
    parts = urlsplit(value) if not value.startswith("unapproved") else None
    if parts is not None and not (parts.scheme and parts.netloc):
        message = f"the group `{view.spec['group']}` is reserved for Kubernetes: the annotation is missing or invalid"
        hint = f"use a group of your own, or add `{_APPROVAL}` with the URL of the pull request of the approval"
        yield Fault(("metadata", "annotations", _APPROVAL), message, hint)


def _conversion(spec: Body) -> Faults:
    conversion, at = spec.get("conversion") or {}, ("spec", "conversion")
    webhook = conversion.get("webhook")
    if conversion.get("strategy") != "Webhook":
        if webhook is not None:
            hint = "set `strategy: Webhook`, or remove `webhook`"
            yield Fault((*at, "webhook"), "only allowed for the strategy `Webhook`", hint)
        return
    if webhook is None or "clientConfig" not in webhook:
        where = (*at, "webhook", "clientConfig")
        yield Fault(where, "the webhook has no client", "add `webhook.clientConfig`")
        return
    yield from client(webhook["clientConfig"], (*at, "webhook", "clientConfig"))
    if not {"v1", "v1beta1"} & set(webhook.get("conversionReviewVersions") or ()):
        where = (*at, "webhook", "conversionReviewVersions")
        yield Fault(where, "no version that the API server supports", "add `v1`")


def _beside_status(schema: Body, where: Route) -> Faults:
    """Fields that the whole object cannot have with a status subresource, which gets a schema of its own."""
    for field, value in schema.items():
        if field not in _BESIDE_STATUS and value not in ("", False):
            message = f"`{field}` is not allowed for the whole object with a status subresource"
            yield Fault((*where, field), message, "move it to one of the `properties`, such as `spec`")


def _versions(found: list[Body], minor: int) -> Faults:
    at = ("spec", "versions")
    yield from unique(found, at, "name", "version")
    stored = [version for version in found if version.get("storage")]
    if len(stored) != 1:
        hint = "set `storage: true` for exactly one version"
        yield Fault(at, f"{len(stored)} versions are stored; expected one", hint)
    for index, version in enumerate(found):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        where = (*at, index, "schema", "openAPIV3Schema")
        if schema is None:
            hint = "add a schema, such as `{type: object, x-kubernetes-preserve-unknown-fields: true}`"
            yield Fault(where, "the version has no schema", hint)
        else:
            yield from structural_faults(schema, where, minor)
            if "status" in (version.get("subresources") or {}):
                yield from _beside_status(schema, where)
        if version.get("deprecationWarning") is not None and not version.get("deprecated"):
            hint = "add `deprecated: true`, or remove it"
            yield Fault((*at, index, "deprecationWarning"), "only allowed for a deprecated version", hint)
