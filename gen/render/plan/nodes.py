"""Nodes for the pods of each role. What a job chooses beyond the kind of machine needs a grant."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gen.findings.grants import NOT_GRANTED
from gen.findings.jobs import INVALID_VALUE, NO_EFFECT
from gen.kinds.plan import NodePlan
from gen.kubernetes import ARCHITECTURE, CONTROL_PLANE, INSTANCE_TYPE, ZONE, Body
from gen.model.effect import NOTHING, Effect, combined
from gen.model.scalars import shown
from gen.render.plan.accelerators import accelerator_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gen.diagnostics import Route
    from gen.kinds import Role
    from gen.kinds.plan import Spread
    from gen.model.pods import Placement, Toleration
    from gen.render.plan.accelerators import Choice
    from gen.render.plan.context import Context

_MACHINE = frozenset({INSTANCE_TYPE, ZONE, ARCHITECTURE, "kubernetes.io/os", "topology.kubernetes.io/region"})
"""Node labels that only describe the machine, and its place. They need no grant."""


def plan_nodes(context: Context, role: Role, effect: Effect, choice: Choice | None, spread: Spread | None) -> NodePlan:
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
    tolerations = tuple(one.model_dump(by_alias=True, exclude_none=True) for one in nodes.tolerations)
    return Effect(node_labels=nodes.node_labels, tolerations=tolerations)


def check_gpu_models(context: Context, roles: Iterable[Role]) -> None:
    """Report a GPU model in a job file that no pod with GPUs uses. A default of the overlay is for jobs with GPUs."""
    with_gpus: dict[Route, bool] = {}
    unlabelled: dict[Route, str] = {}
    for role in roles:
        if context.of_role(role, "placement").gpu_model is not None:
            field = (*context.route_of(role, "placement"), "gpuModel")
            with_gpus[field] = with_gpus.get(field, False) or bool(context.of_role(role, "gpus"))
            if (choice := accelerator_of(context, role)) is not None and choice.fields.models is None:
                unlabelled[field] = choice.name
    for route, name in unlabelled.items():
        if context.set_by_job(route):
            message = f"`gpuModel` has no effect with accelerator `{name}`, which selects the nodes by itself"
            context.error(NO_EFFECT, route, message, "remove `gpuModel`, or use another `accelerator`")
    for route, used in with_gpus.items():
        if not used and context.set_by_job(route) and not context.given.left_out & {"gpus", "roles"}:
            hint = "set `gpus`, or remove `gpuModel`; select nodes without GPUs by `instanceType`"
            context.error(NO_EFFECT, route, "`gpuModel` has no effect on pods without GPUs", hint)


def _check_selector(context: Context, placement_route: Route, placement: Placement, ours: Mapping[str, str]) -> None:
    if not placement.node_selector:
        return
    allowed = _MACHINE | {one.models for one in context.overlay.accelerators.values()}
    for key, wanted in placement.node_selector.items():
        for index, value in enumerate(_values(wanted)):
            route: Route = (*placement_route, "nodeSelector", key, *(() if isinstance(wanted, str) else (index,)))
            if ours.get(key, value) != value:
                other = f"`spot`, the network or the accelerator of the job needs nodes with `{key}={ours[key]}`"
                hint = f"remove `{key}`, or use other nodes, another network or another accelerator"
                context.error(INVALID_VALUE, route, f"{other}, not `{value}`", hint)
            if key not in allowed and context.set_by_job(route) and not _matches(context.grant.node_labels, key, value):
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
        if not _matches(context.grant.taints, toleration.key, value):
            taint = toleration.key if value is None else f"{toleration.key}={value}"
            message = f"namespace `{context.given.namespace}` may not tolerate the taint {shown(taint)}"
            _refuse(context, route, message, "taints", taint)


def _matches(patterns: Iterable[str], key: str, value: str | None) -> bool:
    """Whether a pattern `key` or `key=value` matches; a `value` of None stands for every value.

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
