"""Kinds of the whole cluster: nodes, runtime classes, ingress classes and certificate signing requests.

From `ValidateNode` of `pkg/apis/core/validation/validation.go`, `ValidateRuntimeClass` of `pkg/apis/node/validation`,
`ValidateIngressClass` of `pkg/apis/networking/validation` and `validateCertificateSigningRequest` of
`pkg/apis/certificates/validation`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_label, dns_name, domain_path, label_value, qualified_name
from gen.rules.quantities import not_negative, quantity
from gen.rules.rule import server
from gen.rules.selectors import labels
from gen.rules.server.autoscaling import path_segment
from gen.rules.server.resources import overhead
from gen.rules.server.scheduling import toleration
from gen.rules.value_checks import at_least, both, cidr, if_set, not_empty, one_of

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"),
    *("decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"),
    *("ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing"),
    *("s/mime", "server auth", "signing", "timestamping"),
)
_REQUEST_BLOCK = "-----BEGIN CERTIFICATE REQUEST-----"
_MAX_CONTROLLER = 250


def _controller(value: Any) -> Fault | None:
    """Like a domain-prefixed path, but longer."""
    domain, slash, path = value.partition("/")
    if slash and path and dns_name(domain) is None and " " not in path:
        return None
    return domain_path(value) or None


def _signer(value: Any) -> Fault | None:
    domain, slash, path = value.partition("/")
    if slash and path and "." in domain and dns_name(domain) is None and dns_name(path) is None:
        return None
    hint = "use a domain and a name, such as `example.com/clients`"
    return Fault((), f"`{value}` is not a valid signer name", hint)


_RUNTIME = FieldChecks(
    {
        "handler": dns_label,
        "overhead.podFixed.*": not_negative,
        "scheduling.tolerations.*.key": if_set(qualified_name),
        "scheduling.tolerations.*.operator": if_set(one_of("Equal", "Exists")),
        "scheduling.tolerations.*.effect": if_set(one_of("NoSchedule", "PreferNoSchedule", "NoExecute")),
    }
)
_NODE = FieldChecks(
    {
        "spec.taints.*.key": qualified_name,
        "spec.taints.*.value": if_set(label_value),
        "spec.taints.*.effect": one_of("NoSchedule", "PreferNoSchedule", "NoExecute"),
        "status.capacity.*": quantity,
        "status.allocatable.*": quantity,
    }
)


def _short(value: Any) -> Fault | None:
    longest = _MAX_CONTROLLER
    return Fault((), f"longer than {longest} characters", "shorten it") if len(value) > longest else None


_INGRESS = FieldChecks(
    {
        "controller": if_set(both(_short, _controller)),
        "parameters.apiGroup": dns_name,
        "parameters.kind": path_segment,
        "parameters.name": path_segment,
        "parameters.scope": one_of("Cluster", "Namespace"),
        "parameters.namespace": dns_label,
    }
)


@server("nodes", "Node", remedy="Use an effect of taints, and ranges of addresses.")
def nodes(view: ObjectView) -> Faults:
    """A node has an invalid or duplicate taint, or an invalid range of addresses."""
    yield from _NODE.faults(view.body, ())
    for at, (key, effect) in duplicates(view.spec.get("taints") or [], ("spec", "taints"), "key", "effect"):
        yield Fault(at, f"duplicate taint `{key}` with `{effect}`", "remove one of the two")
    ranges, first = view.spec.get("podCIDRs") or [], view.spec.get("podCIDR")
    if first and (fault := cidr(first)) is not None:
        yield fault.at(("spec", "podCIDR"))
    if ranges and (first or ranges[0]) == ranges[0]:  # else the server drops `podCIDRs`
        yield from FieldChecks({"podCIDRs.*": cidr}).faults(view.spec, ("spec",))


@server("runtime-classes", "node.k8s.io/RuntimeClass", remedy="Use the name of a handler of the container runtime.")
def runtime_classes(view: ObjectView) -> Faults:
    """A runtime class has an invalid handler, overhead, node label or toleration."""
    yield from _RUNTIME.faults(view.body, ())
    yield from overhead((view.body.get("overhead") or {}).get("podFixed") or {}, ("overhead", "podFixed"))
    scheduling = view.body.get("scheduling") or {}
    yield from labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"))
    for index, found in enumerate(scheduling.get("tolerations") or ()):
        yield from toleration(found, ("scheduling", "tolerations", index))


@server("ingress-classes", "networking.k8s.io/IngressClass", remedy="Name a controller and its parameters.")
def ingress_classes(view: ObjectView) -> Faults:
    """An ingress class has an invalid controller, or parameters with an invalid scope."""
    yield from _INGRESS.faults(view.spec, ("spec",))
    parameters, at = view.spec.get("parameters"), ("spec", "parameters")
    if parameters is None:
        return
    scope = parameters.get("scope", "Cluster")
    if scope == "Namespace" and "namespace" not in parameters:
        yield Fault((*at, "namespace"), "`namespace` is missing", "add `namespace`, or use `scope: Cluster`")
    if scope == "Cluster" and "namespace" in parameters:
        yield Fault((*at, "namespace"), "not allowed with the scope `Cluster`", "add `scope: Namespace`")


_SIGNING = FieldChecks(
    {
        "usages.*": one_of(*_USAGES),
        "expirationSeconds": at_least(600),
        "signerName": both(not_empty, _signer),
    }
)


@server(
    "signing-requests",
    "certificates.k8s.io/CertificateSigningRequest",
    remedy="Encode the PEM request with base64, and list its usages.",
)
def signing_requests(view: ObjectView) -> Faults:
    """A certificate signing request has no valid request, usage or signer."""
    spec, at = view.spec, ("spec",)
    yield from _SIGNING.faults(spec, at)
    usages = spec.get("usages") or []
    if not usages:
        yield Fault((*at, "usages"), "at least one usage is required", "add one, such as `client auth`")
    elif len(set(usages)) < len(usages):
        yield Fault((*at, "usages"), "duplicate usage", "list each usage once")
    try:
        text = base64.b64decode(spec.get("request", "").replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        yield Fault((*at, "request"), "not valid base64", "encode the PEM request with `base64`")
        return
    if _REQUEST_BLOCK.encode() not in text:
        yield Fault((*at, "request"), "not a PEM certificate request", f"encode a file with `{_REQUEST_BLOCK}`")
