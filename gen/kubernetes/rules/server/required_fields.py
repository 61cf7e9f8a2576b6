"""Required fields that schemas do not require, because Go does not distinguish absent and empty structures.

From the validation of each kind in `pkg/apis/*/validation/validation.go`; compared with a real API server.
"""

from __future__ import annotations

from typing import Any, Final

from gen.kubernetes.rules import Fault, Faults, ObjectView, server_rule

_ADMISSION = "admissionregistration.k8s.io"
_REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "Pod": ("spec",),
    "PodTemplate": ("template.spec",),
    "ReplicationController": ("spec.template.spec",),
    "networking.k8s.io/IngressClass": ("spec.controller",),
    "autoscaling/HorizontalPodAutoscaler": ("spec",),
    f"{_ADMISSION}/ValidatingAdmissionPolicy": ("spec.matchConstraints",),
    f"{_ADMISSION}/ValidatingAdmissionPolicyBinding": ("spec.policyName", "spec.validationActions"),
    "apiregistration.k8s.io/APIService": ("spec",),
    "rbac.authorization.k8s.io/ClusterRole": ("aggregationRule.clusterRoleSelectors",),
}
"""By group and kind; schemas require the fields below."""
_OPTIONAL = {"aggregationRule"}
"""Fields with parts that are only required if the field is set."""


@server_rule("required-fields", *_REQUIRED, remedy="Add the field.")
def required_fields(view: ObjectView) -> Faults:
    """A field that the API server requires is missing or empty."""
    key = f"{view.group}/{view.kind}" if view.group else view.kind
    for path in _REQUIRED[key]:
        steps = path.split(".")
        value: Any = view.body
        for number, step in enumerate(steps, 1):
            value = value.get(step)
            if value is None and step in _OPTIONAL:
                break
            if value is None or (number == len(steps) and not value):
                what = "missing" if value is None else "empty"
                yield Fault(tuple(steps[:number]), f"`{step}` is {what}", f"add `{path}`")
                break
