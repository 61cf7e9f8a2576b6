"""Labels and taints of the nodes for the pods of each role, such as the GPU model, and pods that are kept apart.

All choices of a job beyond the kind of machine need a grant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from gen.base import Route, regex
from gen.base.codes.commands import UNKNOWN_MODEL
from gen.base.codes.grants import NOT_GRANTED
from gen.base.codes.jobs import INVALID_VALUE, NO_EFFECT
from gen.job.kinds.role import Role
from gen.job.plan import NodePlan, Plan, PodPlan, Spread
from gen.job.pods import Placement, Toleration
from gen.job.profile import NOTHING, Effect, combined
from gen.job.scalars import shown
from gen.kubernetes.check.silence import warn
from gen.kubernetes.objects import (
    ARCHITECTURE,
    COMPONENT,
    CONTROL_PLANE,
    HOSTNAME,
    INSTANCE_TYPE,
    NVIDIA_PRODUCT,
    ZONE,
    Body,
)
from gen.render.parts import accelerator, metadata
from gen.render.parts.context import Context, has_own

MACHINE = frozenset({INSTANCE_TYPE, ZONE, ARCHITECTURE, "kubernetes.io/os", "topology.kubernetes.io/region"})
"""Node labels that only describe the machine, and its place. They need no grant."""


def plan_nodes(
    context: Context, role: Role, effect: Effect, choice: accelerator.Choice | None, spread: Spread | None
) -> NodePlan:
    """Node labels and tolerations for the pods of one role."""
    placement: Placement = context.of_role(role, "placement")
    route = context.route_of(role, "placement")
    effect = combined([effect, _spot(context, route, placement)])
    _check_selector(context, route, placement, effect.node_labels)
    _check_tolerations(context, route, placement.tolerations)
    labels: dict[str, tuple[str, ...]] = {key: (value,) for key, value in effect.node_labels.items()}
    for label, wanted in (
        (INSTANCE_TYPE, placement.instance_type),
        (ZONE, placement.zone),
        (choice.fields.models if choice is not None else None, placement.gpu_model),
    ):
        if label is not None and wanted is not None:
            labels[label] = _values(wanted)
    labels |= {key: _values(wanted) for key, wanted in placement.node_selector.items()}
    tolerations: list[Body] = [t.model_dump(by_alias=True, exclude_none=True) for t in placement.tolerations]
    for toleration in effect.tolerations:
        if toleration not in tolerations:
            tolerations.append(toleration)
    return NodePlan(labels=labels, tolerations=tuple(tolerations), spread=spread)


def _values(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    return (wanted,) if isinstance(wanted, str) else wanted


def _spot(context: Context, route: Route, placement: Placement) -> Effect:
    """Labels and taints of spot nodes, if the job chooses them; report it if the overlay has none."""
    nodes = context.overlay.fields.spot
    if not placement.spot:
        return NOTHING
    if nodes is None:
        message = f"overlay `{context.overlay.name}` has no spot nodes for jobs"
        context.error(NOT_GRANTED, (*route, "spot"), message, "remove `spot`, or add `spot` to the overlay")
        return NOTHING
    return nodes.effect


def check_gpu_models(context: Context, roles: Iterable[Role]) -> None:
    """Report a GPU model in a job file that no pod with GPUs uses. A default of the overlay is for jobs with GPUs."""
    with_gpus: dict[Route, bool] = {}
    unlabelled: dict[Route, str] = {}
    for role in roles:
        if context.of_role(role, "placement").gpu_model is not None:
            field = (*context.route_of(role, "placement"), "gpuModel")
            with_gpus[field] = with_gpus.get(field, False) or bool(context.of_role(role, "gpus"))
            if (choice := accelerator.accelerator_of(context, role)) is not None and choice.fields.models is None:
                unlabelled[field] = choice.name
    for route, name in unlabelled.items():
        if context.set_by_job(route):
            message = f"`gpuModel` has no effect with accelerator `{name}`, which selects the nodes by itself"
            context.error(NO_EFFECT, route, message, "remove `gpuModel`, or use another `accelerator`")
    for role in roles:
        _check_model(context, role)
    for route, used in with_gpus.items():
        if not used and context.set_by_job(route) and not context.given.left_out & {"gpus", "roles"}:
            hint = "set `gpus`, or remove `gpuModel`; select nodes without GPUs by `instanceType`"
            context.error(NO_EFFECT, route, "`gpuModel` has no effect on pods without GPUs", hint)


def _check_model(context: Context, role: Role) -> None:
    """GPU Feature Discovery writes the name of the product with `-` for blanks, which is never a model alone."""
    choice, model = accelerator.accelerator_of(context, role), context.of_role(role, "placement").gpu_model
    if choice is None or model is None or choice.fields.models != NVIDIA_PRODUCT:
        return
    for index, value in enumerate(_values(model)):
        if _BARE_MODEL.fullmatch(value):
            own = () if isinstance(model, str) else (index,)
            route: Route = (*context.route_of(role, "placement"), "gpuModel", *own)
            message = f"no node is labelled `{choice.fields.models}={value}`, because the values are names of products"
            example = _PRODUCTS.get(value.upper(), f"NVIDIA-{value.upper()}")
            hint = f"write the value that `kubectl get nodes -L {choice.fields.models}` shows, such as `{example}`"
            warn(context.found, context.job.annotations, UNKNOWN_MODEL, context.place(*route), message, hint)


_PRODUCTS: Final = {
    "A100": "NVIDIA-A100-SXM4-80GB",
    "H100": "NVIDIA-H100-80GB-HBM3",
    "T4": "Tesla-T4",
    "V100": "Tesla-V100-SXM2-16GB",
}
"""Products with more in their names than the model."""
_BARE_MODEL: Final = regex(r"[ABHLPTVabhlptv][0-9]{1,3}[sS]?")


def _check_selector(context: Context, placement_route: Route, placement: Placement, ours: Mapping[str, str]) -> None:
    if not placement.node_selector:
        return
    allowed = MACHINE | {one.models for one in context.overlay.accelerators.values()}
    for key, wanted in placement.node_selector.items():
        for index, value in enumerate(_values(wanted)):
            route: Route = (*placement_route, "nodeSelector", key, *(() if isinstance(wanted, str) else (index,)))
            if ours.get(key, value) != value:
                other = f"`spot`, the network or the accelerator of the job needs nodes with `{key}={ours[key]}`"
                hint = f"remove `{key}`, or use other nodes, another network or another accelerator"
                context.error(INVALID_VALUE, route, f"{other}, not `{value}`", hint)
            if key not in allowed and context.set_by_job(route) and not matches(context.grant.node_labels, key, value):
                message = f"namespace `{context.given.namespace}` may not select nodes by `{key}={value}`"
                _refuse(context, route, message, "nodeLabels", f"{key}={value}")


def _check_tolerations(context: Context, placement_route: Route, tolerations: Collection[Toleration]) -> None:
    if not tolerations:
        return
    devices = context.overlay.accelerators.values()
    of_devices = {taint["key"] for one in devices for taint in one.profile.effect(1).tolerations}
    for index, toleration in enumerate(tolerations):
        route: Route = (*placement_route, "tolerations", index)
        if toleration.key in of_devices or not context.set_by_job(route):
            continue
        if toleration.key is None:
            hint = "set `key`; only `defaults` of the overlay can tolerate every taint"
            message = "a job cannot tolerate every taint, because some keep pods off the nodes of the cluster itself"
            context.error(NOT_GRANTED, route, message, hint)
            continue
        value = None if toleration.operator == "Exists" else toleration.value or ""
        if not matches(context.grant.taints, toleration.key, value):
            taint = toleration.key if value is None else f"{toleration.key}={value}"
            message = f"namespace `{context.given.namespace}` may not tolerate the taint {shown(taint)}"
            _refuse(context, route, message, "taints", taint)


def matches(patterns: Iterable[str], key: str, value: str | None) -> bool:
    """Whether a pattern `key` or `key=value` matches; a `value` of None means every value.

    Labels and taints of the control plane are only matched by patterns that name their prefix.
    """
    for pattern in patterns:
        keys, separator, values = pattern.partition("=")
        if key.startswith(CONTROL_PLANE) and not keys.startswith(CONTROL_PLANE):
            continue
        matching_value = not separator or values == "*" or (value is not None and fnmatchcase(value, values))
        if fnmatchcase(key, keys) and matching_value:
            return True
    return False


def _refuse(context: Context, route: Route, message: str, field: str, pattern: str) -> None:
    hint = f"remove it, or add `{pattern}` to `namespaces.{context.given.namespace}.{field}` of the overlay"
    context.error(NOT_GRANTED, route, f"{message} in overlay `{context.overlay.name}`", hint)


def plan_spread(context: Context, roles: Iterable[Role]) -> dict[str, Spread]:
    """How the pods of each role are kept apart. A role that does not train takes no `spread` of the job."""
    apart: dict[str, list[Role]] = {}
    for role in roles:
        placement: Placement = context.of_role(role, "placement")
        if placement.spread is not None and (role.trains or has_own(role, "placement")):
            apart.setdefault(placement.spread, []).append(role)
            _check_zone(context, (*context.route_of(role, "placement"), "zone"), placement)
    plans: dict[str, Spread] = {}
    for level, members in apart.items():
        if sum(role.most for role in members) == 1:
            _report_one_pod(context, members[0])
            continue
        spread = Spread(level=level, roles=tuple(role.name for role in members))
        plans |= dict.fromkeys(spread.roles, spread)
    return plans


def _report_one_pod(context: Context, role: Role) -> None:
    route = (*context.route_of(role, "placement"), "spread")
    if context.set_by_job(route) and not context.given.left_out & {"workers", "roles"}:
        hint = "remove `spread`, or increase `workers`"
        context.error(NO_EFFECT, route, "`spread` has no effect on one pod", hint, key=True)


def _check_zone(context: Context, route: Route, placement: Placement) -> None:
    if placement.spread == "zone" and placement.zone is not None and len({*_values(placement.zone)}) == 1:
        message = "`spread: zone` has no effect in one zone"
        context.error(INVALID_VALUE, route, message, "name several zones, or remove `zone` or `spread`")


def selected_labels(nodes: NodePlan) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Labels with one value, for the node selector, and labels with several values, for the node affinity."""
    single = {label: values[0] for label, values in sorted(nodes.labels.items()) if len(values) == 1}
    return single, {label: values for label, values in sorted(nodes.labels.items()) if len(values) > 1}


def node_affinity(labels: dict[str, tuple[str, ...]]) -> Body:
    if not labels:
        return {}
    expressions = [{"key": key, "operator": "In", "values": list(values)} for key, values in labels.items()]
    terms = [{"matchExpressions": expressions}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def pod_anti_affinity(plan: Plan, pod: PodPlan) -> Body:
    """Two pods of a role on one node would need the same ports; a job can keep its pods on different nodes, too."""
    spread = pod.nodes.spread
    if spread is not None and spread.level == "node":
        selector = _of_run(plan, spread)
    elif pod.effect.spread and pod.role.most > 1:
        selector = {"matchLabels": {**metadata.own_labels(plan), COMPONENT: pod.role.name}}
    else:
        return {}
    term = {"labelSelector": selector, "topologyKey": HOSTNAME}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def spread_constraints(plan: Plan, spread: Spread | None) -> list[Body]:
    if spread is None or spread.level != "zone":
        return []
    apart = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": _of_run(plan, spread),
    }
    return [apart]


def _of_run(plan: Plan, spread: Spread) -> Body:
    if len(spread.roles) == 1:
        return {"matchLabels": {**metadata.own_labels(plan), COMPONENT: spread.roles[0]}}
    roles = {"key": COMPONENT, "operator": "In", "values": list(spread.roles)}
    return {"matchLabels": metadata.own_labels(plan), "matchExpressions": [roles]}
