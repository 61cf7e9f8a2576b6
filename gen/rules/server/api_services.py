"""API services: versions of API groups that an extension server serves.

From `ValidateAPIService` of `kube-aggregator/pkg/apis/apiregistration/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_1035_label, dns_name
from gen.rules.rule import server
from gen.rules.value_checks import between, if_set, port
from gen.rules.webhook_checks import base64_fault

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_SERVICE = FieldChecks(
    {
        "spec.group": if_set(dns_name),
        "spec.version": dns_1035_label,
        "spec.groupPriorityMinimum": between(1, 20000),
        "spec.versionPriority": between(1, 1000),
        "spec.service.port": port,
    }
)


@server(
    "api-services",
    "apiregistration.k8s.io/APIService",
    remedy="Name it `<version>.<group>`, with priorities above 0 and a service.",
)
def api_services(view: ObjectView) -> Faults:
    """An API service is not named after its version and group, or has invalid priorities or an invalid service."""
    if "spec" not in view.body:
        return
    spec, at = view.spec, ("spec",)
    yield from _SERVICE.faults(view.body, ())
    expected = f"{spec.get('version', '')}.{spec.get('group', '')}"
    if not spec.get("version"):
        yield Fault((*at, "version"), "`version` is missing or empty", "add `version`, such as `v1`")
    elif view.metadata.get("name") != expected:
        message = f"the name is not its version and group, `{expected}`"
        yield Fault(("metadata", "name"), message, f"rename it to `{expected}`")
    if not spec.get("group") and spec.get("version") != "v1":
        yield Fault((*at, "group"), "`group` is missing or empty", "add `group`, such as `metrics.k8s.io`")
    if spec.get("caBundle") and (fault := base64_fault(spec["caBundle"])) is not None:
        yield fault.at((*at, "caBundle"))
    yield from _service(spec)


def _service(spec: Body) -> Faults:
    at, service = ("spec",), spec.get("service")
    if service is None:
        for field in ("caBundle", "insecureSkipTLSVerify"):
            if spec.get(field):
                yield Fault((*at, field), "only allowed with `service`", f"add `service`, or remove `{field}`")
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            yield Fault((*at, "service", field), f"`{field}` is missing or empty", f"add `{field}`")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        hint = "remove `insecureSkipTLSVerify`"
        yield Fault((*at, "insecureSkipTLSVerify"), "not allowed with `caBundle`", hint)
