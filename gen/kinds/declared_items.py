"""Pods of a declared kind in a list: each role is an item, such as a task, with its name, template and number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.kubernetes import Body, with_field
from gen.resources.base import ANY_ITEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.plan import PodPlan
    from gen.resources.base import Path, Pattern


class DeclaredPods(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    template: Pattern
    """In an item of a list for each role, or at one place."""
    replicas: Pattern | None = None
    """Field with their number; without it, the operator creates one pod."""
    image: Path | None = None
    """Field that gets their image, too."""
    item_name: str = "name"
    """Field of an item with the name of the role."""
    trains: bool = True
    runs: bool = True


def list_of(route: Pattern) -> Path | None:
    """The route of the list of a route; None for one through mappings."""
    if ANY_ITEM not in route:
        return None
    return tuple(str(step) for step in route[: route.index(ANY_ITEM)])


def in_item(route: Pattern) -> Path:
    """The part of a route in an item of its list, or the whole route."""
    start = route.index(ANY_ITEM) + 1 if ANY_ITEM in route else 0
    return tuple(str(step) for step in route[start:])


def with_items(
    body: Body, declared: Mapping[str, DeclaredPods], plans: Iterable[PodPlan], pods: Mapping[str, Body]
) -> Body:
    """An object with its pods, in the order of the roles."""
    lists: dict[Path, list[Any]] = {}
    for plan in plans:
        one = declared[plan.role.name]
        holder = list_of(one.template)
        target: Body = {one.item_name: plan.role.name} if holder is not None else body
        target = with_field(target, in_item(one.template), pods[plan.role.name])
        if one.replicas is not None:
            target = with_field(target, in_item(one.replicas), plan.role.replicas)
        if holder is None:
            body = target
        else:
            lists.setdefault(holder, []).append(target)
    for holder, items in lists.items():
        body = with_field(body, holder, items)
    return body
