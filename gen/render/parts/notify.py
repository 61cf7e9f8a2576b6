"""The message at the end of a workflow. The overlay names its Secret and its image, and the job decides nothing."""

from __future__ import annotations

from gen.job.plan import ExitPlan
from gen.kubernetes.facts.argo import NAME_OF_RUN, STATUS_OF_RUN
from gen.render.parts import containers, grants
from gen.render.parts.context import Context


def plan_exit(context: Context) -> ExitPlan | None:
    """None for a run without a workflow, and in an overlay without messages."""
    argo = context.overlay.argo
    wanted = argo.notify if argo is not None else None
    if wanted is None or not context.starter.is_workflow or context.run.step:
        return None
    return ExitPlan(
        image=grants.of_platform(context, wanted.image, "kind"),
        secret=wanted.secret,
        command=("sh", "-c", containers.script("notify.sh"), "notify"),
        args=(wanted.when, context.given.namespace, context.given.name, NAME_OF_RUN, STATUS_OF_RUN),
    )
