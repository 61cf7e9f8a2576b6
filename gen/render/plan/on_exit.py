"""The message at the end of a workflow. The overlay names its Secret and its image, and the job decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kinds.schedule_plan import ExitPlan
from gen.render.build.scripts import script
from gen.render.plan.images import of_platform
from gen.resources.workflows import NAME_OF_RUN, STATUS_OF_RUN

if TYPE_CHECKING:
    from gen.render.plan.context import Context


def plan_exit(context: Context) -> ExitPlan | None:
    """None for a run without a workflow, and in an overlay without messages."""
    argo, facts = context.overlay.argo, context.object_facts
    wanted = argo.notify if argo is not None else None
    if wanted is None or not facts.is_workflow or context.run.step:
        return None
    return ExitPlan(
        image=of_platform(context, wanted.image, "kind"),
        secret=wanted.secret,
        command=("sh", "-c", script("notify.sh"), "notify"),
        args=(wanted.when, context.given.namespace, context.given.name, NAME_OF_RUN, STATUS_OF_RUN),
    )
