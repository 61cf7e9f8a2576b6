"""A Workflow of Argo Workflows, which runs the steps of a pipeline once, and the message at the end of a workflow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from gen.base.codes.grants import NO_PIPELINES
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import ExitPlan, StarterPlan
from gen.kubernetes.facts.argo import NAME_OF_RUN, STATUS_OF_RUN, WORKFLOW
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.facts.state import State, state_of
from gen.kubernetes.objects import Body
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins
from gen.render.job_run import ExpandedRun
from gen.render.parts import containers, grants
from gen.render.parts.context import Context
from gen.render.starters.base import Starter


class ArgoStarter(Starter, frozen=True, kw_only=True):
    """A starter whose object Argo Workflows runs."""

    is_workflow: ClassVar[bool] = True
    name_of_run: ClassVar[str] = NAME_OF_RUN
    argo_kind: ClassVar[Resource]

    @classmethod
    def plan_pipeline(
        cls, one: ExpandedRun, planned: StarterPlan | None, overlay: Overlay, pins: Pins | None
    ) -> StarterPlan | None:
        """Report a pipeline in an overlay without Argo Workflows."""
        if overlay.argo is None and one.run is not None:
            message = f"overlay `{overlay.name}` has no `pipelines`"
            hint = "add `pipelines: {argo: {serviceAccount: …}}` to the overlay, or exclude the job in `select`"
            one.found.error(NO_PIPELINES, one.run.given.place("kind"), message, hint)
        return planned

    @classmethod
    def permitted(cls, overlay: Overlay) -> Iterator[tuple[str, str]]:
        if overlay.argo is not None:
            yield cls.argo_kind.key

    @classmethod
    def started(cls, resource: Resource, body: Body) -> Iterator[Body]:
        return graph_of(resource).objects(body)


class Workflow(ArgoStarter, frozen=True, kw_only=True):
    name: ClassVar[str] = WORKFLOW.kind
    argo_kind: ClassVar[Resource] = WORKFLOW
    unit: ClassVar[str] = "step"
    explained: ClassVar[bool] = True

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource.is_run and resource.is_workflow

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        return model.facts.is_workflow

    @classmethod
    def progress(cls, resource: Resource, live: Body, ended: Sequence[bool]) -> tuple[int, int] | None:
        total = sum(1 for _ in cls.started(resource, live))
        if total < 2:  # noqa: PLR2004 - the run of a schedule has one
            return None
        done = len(ended) if state_of(resource, live) is State.SUCCEEDED else sum(ended)
        return min(done, total), total


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
