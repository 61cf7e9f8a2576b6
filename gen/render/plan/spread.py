"""Pods of a run that are kept apart, on other nodes or in other zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.jobs import INVALID_VALUE, NO_EFFECT
from gen.kinds.plan import Spread
from gen.render.plan.context import has_own

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Route
    from gen.kinds import Role
    from gen.model.pods import Placement
    from gen.render.plan.context import Context


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
    if placement.spread == "zone" and placement.zone is not None and len(_zones(placement.zone)) == 1:
        message = "`spread: zone` has no effect in one zone"
        context.error(INVALID_VALUE, route, message, "name several zones, or remove `zone` or `spread`")


def _zones(zone: str | tuple[str, ...]) -> set[str]:
    return {zone} if isinstance(zone, str) else set(zone)
