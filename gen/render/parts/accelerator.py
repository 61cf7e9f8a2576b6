"""Accelerators: which one the pods of a role request, whether its devices can serve them, labels of their pods, claims.

Labels of nodes, such as the GPU model, are in `gen.render.parts.node_labels`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gen.base import Route, did_you_mean
from gen.base.codes.grants import UNKNOWN_ACCELERATOR
from gen.base.codes.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT
from gen.base.placeholders import RUN
from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.job.plan import Plan, PodPlan
from gen.job.profile import DeviceClaim, Effect
from gen.kubernetes.facts.builtin import RESOURCE_CLAIM_TEMPLATE, claims_version
from gen.kubernetes.objects import ACCELERATOR_LABEL, DEVICES_LABEL, Body, present
from gen.overlay.entries import AcceleratorFields
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.accelerators import Request
from gen.render.parts.context import Context, role_value
from gen.render.parts.grants import check_allowed, check_listed


class Choice(NamedTuple):
    """The accelerator of a role."""

    name: str
    """Empty for the devices of `gpu`."""
    fields: AcceleratorFields


def accelerator_of(context: Context, role: Role) -> Choice | None:
    """The accelerator of a role; None without GPUs, or if it cannot be used, which `check_accelerators` reports."""
    if not context.of_role(role, "gpus"):
        return None
    known, name = context.overlay.accelerators, device_name(context.job, role, context.overlay)
    return Choice(name, known[name]) if name is not None and name in known else None


def device_name(job: Job, role: Role, overlay: Overlay | None) -> str | None:
    """The accelerator that a role names, or the only one of the overlay; empty for the devices of `gpu`."""
    name: str | None = role_value(job, role, "accelerator")
    if name is None and overlay is not None and len(overlay.accelerators) == 1:
        return next(iter(overlay.accelerators))
    return name


def check_accelerators(context: Context, roles: Iterable[Role]) -> None:
    """Report accelerators that a job cannot use, or not in this number, once for each field that asks for them."""
    pods: Counter[str] = Counter()
    usable: dict[Route, tuple[Role, Choice]] = {}
    missing: dict[Route, str | None] = {}
    unused: set[Route] = set()
    for role in roles:
        field, wanted = context.route_of(role, "accelerator"), context.of_role(role, "accelerator")
        choice = accelerator_of(context, role)
        if choice is not None:
            pods[choice.name] += role.most
            usable[context.route_of(role, "gpus")] = (role, choice)
        elif context.of_role(role, "gpus"):
            missing[field] = wanted
        elif wanted is not None:
            unused.add(field)
    used = {context.route_of(role, "accelerator") for role, _ in usable.values()}
    for route, name in missing.items():
        _report_missing(context, route, name)
    for route in sorted(unused - used - missing.keys()):
        _report_unused(context, route)
    for role, choice in usable.values():
        field, granted = context.route_of(role, "accelerator"), context.grant.accelerators
        check_listed(context, field, "accelerator", choice.name, granted)
        check_allowed(context, context.route_of(role, "gpus"), choice.fields.profile.grant)
        _check_request(context, role, choice, pods[choice.name])


def _report_missing(context: Context, route: Route, wanted: str | None) -> None:
    """Report that a role with GPUs has no accelerator, or one that the overlay does not have."""
    known = [name for name in context.overlay.accelerators if name]
    overlay = context.overlay.name
    if wanted is None:
        names = ", ".join(f"`{name}`" for name in known)
        hint = f"add `accelerator`, such as `accelerator: {known[0]}`"
        context.error(MISSING_FIELD, ("gpus",), f"`accelerator` is missing; overlay `{overlay}` has {names}", hint)
        return
    hint = did_you_mean(wanted, known, otherwise="remove it, or declare it under `accelerators` of the overlay")
    context.error(UNKNOWN_ACCELERATOR, route, f"overlay `{overlay}` has no accelerator `{wanted}`", hint)


def _report_unused(context: Context, route: Route) -> None:
    """Report a field of the job that concerns no pod with GPUs. A default of the overlay is for jobs with GPUs."""
    if context.set_by_job(route) and not context.given.left_out & {"gpus", "roles"}:
        hint = "set `gpus`, or remove `accelerator`"
        context.error(NO_EFFECT, route, "`accelerator` has no effect on pods without GPUs", hint, key=True)


def _check_request(context: Context, role: Role, choice: Choice, pods: int) -> None:
    count, route = context.of_role(role, "gpus"), context.route_of(role, "gpus")
    most = choice.fields.per_node
    if most is not None and count > most:
        message = f"a pod requests {count} GPUs; nodes with accelerator `{choice.name}` have {most}"
        context.error(INVALID_VALUE, route, message, f"set `gpus` to at most {most}, and use more `workers`")
        return
    if choice.fields.profile.companions and context.job.facts.nodes is not None:
        message = f"{context.job.facts.noun} has no field for claims of devices"
        hint = "use a job of another kind, or an accelerator with an extended resource"
        context.error(INVALID_VALUE, context.route_of(role, "accelerator"), message, hint)
    request = Request(count, pods, numbers_hosts=context.job.facts.numbers_hosts, hosts=role.hosts)
    problem = choice.fields.profile.problem(request)
    if problem is not None:
        context.error(INVALID_VALUE, route, problem.message, problem.hint)


_NAME: Final = "devices"
"""Name of the claim in a pod, and of the request in the claim."""


def accelerator_labels(choice: Choice | None, effect: Effect) -> dict[str, str]:
    if choice is None or not choice.name:
        return {}
    claimed = {DEVICES_LABEL: str(sum(claim.count for claim in effect.claims))} if effect.claims else {}
    return {ACCELERATOR_LABEL: choice.name, **claimed}


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
