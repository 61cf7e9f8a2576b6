"""Checks that the API server only makes for pods, not for the templates that an operator makes them from.

From `ValidatePodCreate` and `ValidateObjectMeta` of `pkg/apis/core/validation/validation.go`: the object is accepted,
and its pods are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import qualified_name
from gen.rules.object_view import containers
from gen.rules.rule import Rule, RuleSource
from gen.rules.server.metadata import finalizers
from gen.rules.server.ports import host_ports, taken_twice

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_FINALIZERS = FieldChecks({"finalizers.*": qualified_name})


def _pod_creation(view: ObjectView) -> Faults:
    """A pod template has a finalizer, image, node or host port that is invalid in a pod."""
    for route, pod in view.pods if view.kind != "Pod" else ():
        for here, container in containers(pod, route):
            image = container.get("image", "")
            if image != image.strip():
                yield Fault((*here, "image"), "the image has leading or trailing spaces")
    for route, template in view.templates if view.is_custom else ():
        metadata, pod, at = template.get("metadata") or {}, template["spec"], (*route, "spec")
        yield from _FINALIZERS.faults(metadata, (*route, "metadata"))
        yield from finalizers(metadata.get("finalizers") or [], (*route, "metadata", "finalizers"), any_word=False)
        if pod.get("schedulingGates") and pod.get("nodeName"):
            yield Fault((*at, "nodeName"), "`nodeName` is not allowed with `schedulingGates`")
        if pod.get("hostNetwork"):
            yield from taken_twice(list(host_ports(pod, (*at, "containers"), on_host=True)))


pod_creation = Rule(
    "pod-creation",
    _pod_creation.__doc__ or "",
    "The object is accepted, but the API server rejects the pods that the operator creates.",
    "Correct or remove the field.",
    _pod_creation,
    RuleSource.OPERATOR,
    of_pods=True,
)
