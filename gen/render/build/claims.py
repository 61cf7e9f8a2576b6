"""Claims of devices: the templates of a run, and the parts of pods that name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.kubernetes import RUN, Body, present
from gen.resources.devices import RESOURCE_CLAIM_TEMPLATE, claims_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kinds.plan import Plan, PodPlan
    from gen.model.effect import DeviceClaim

_NAME: Final = "devices"
"""Name of the claim in a pod, and of the request in the claim."""


def claim_templates(plan: Plan) -> Iterator[Body]:
    """One for each accelerator and number of devices: pods of several roles can share it."""
    made = {_template_name(plan, pod): pod.effect.claims for pod in plan.pods if pod.effect.claims}
    for name, (claim, *_) in made.items():
        yield {
            "apiVersion": claims_version(plan.kubernetes),
            "kind": RESOURCE_CLAIM_TEMPLATE.kind,
            "metadata": {"name": name},
            "spec": {"spec": {"devices": {"requests": [_request(claim)]}}},
        }


def _request(claim: DeviceClaim) -> Body:
    selectors = [{"cel": {"expression": expression}} for expression in claim.selectors]
    exactly = present(deviceClassName=claim.device_class, count=claim.count, selectors=selectors)
    return {"name": _NAME, "exactly": exactly}


def _template_name(plan: Plan, pod: PodPlan) -> str:
    """Templates are immutable, so the name contains the hash even if the names of runs do not."""
    return f"{plan.name}-{RUN}-{pod.accelerator}-{pod.role.gpus}"


def pod_claims(plan: Plan, pod: PodPlan) -> list[Body]:
    """`spec.resourceClaims` of a pod."""
    if not pod.effect.claims:
        return []
    return [{"name": _NAME, "resourceClaimTemplateName": _template_name(plan, pod)}]


def container_claims(pod: PodPlan) -> Body:
    """The part of the resources of a training container."""
    return {"claims": [{"name": _NAME}]} if pod.effect.claims else {}
