"""Files in memory: `sharedMemory`, and volumes of the overlay that are stored in RAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen import quantity
from gen.findings.jobs import SHARED_MEMORY

if TYPE_CHECKING:
    from gen.kinds import Role
    from gen.render.plan.context import Context
    from gen.render.plan.data import DataPlan


def check_in_memory(context: Context, role: Role, data: DataPlan | None, shared: str | None) -> None:
    """Report files that can use all of the memory of a container. They count against its limit."""
    memory = context.of_role(role, "memory")
    if memory is None:
        return
    most, used = quantity.amount(memory), quantity.amount(shared or "0")
    if used >= most:
        route = context.route_of(role, "shared_memory")
        message = f"`sharedMemory` ({shared}) counts against `memory` ({memory}) and uses all of it"
        context.error(SHARED_MEMORY, route, message, "raise `memory`, or lower `sharedMemory`")
        return
    for volume in data.volumes if data is not None else ():
        directory = volume.source.get("emptyDir", {})
        size = directory.get("sizeLimit") if directory.get("medium") == "Memory" else None
        used += quantity.amount(size or "0")
        if size is not None and used >= most:
            others = "" if quantity.amount(size) == used else "with the others "
            message = f"volume `{volume.name}` ({size}) is in memory, and {others}can use all of `memory` ({memory})"
            hint = "raise `memory`, or use another volume"
            context.error(SHARED_MEMORY, ("data", volume.name), message, hint, key=True)
            return
