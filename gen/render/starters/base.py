"""The base class of starters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import Plan, PodPlan, StarterPlan
from gen.kubernetes.facts.base import Path, Resource
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.objects import Body
from gen.overlay.costs import Prices, RunCost, run_cost
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import Workload
from gen.pins.lock import Pins
from gen.render.job_run import ExpandedRun, ExpandedStep
from gen.render.parts.context import Context
from gen.render.parts.metadata import inner_metadata, run_metadata
from gen.render.results import Manifest


class Starter(StarterPlan, frozen=True, kw_only=True):
    """What starts the runs of a job. Methods of the class are for stages up to the plan, the others for later ones."""

    most_bytes: ClassVar[int] = 1 << 20
    """Limit for the fields of all steps of a pipeline. etcd takes objects of 1.5 MiB, and Argo adds the status of the
    nodes."""

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        """Whether an object of this kind is its object in Git."""
        return True

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        """Whether it starts the runs of a job with these fields."""
        return cls.field in data

    @classmethod
    def params(cls, data: Mapping[str, Data]) -> Mapping[str, str | None] | None:
        """Placeholders for the parameters that it chooses values of; None if it chooses none."""
        return None

    @classmethod
    def step_params(cls, data: Mapping[str, Data]) -> Mapping[str, str | None]:
        """Placeholders for the parameters of a pipeline's steps that get their values when a run starts."""
        return {}

    @classmethod
    def plan(cls, context: Context, api_version: str, pods: Sequence[PodPlan]) -> Starter | None:
        """The decisions; None after an error, which is reported."""
        return cls(facts=cls.resource(context.job.facts))

    @classmethod
    def check(cls, context: Context, pods: Iterable[PodPlan], storage: Iterable[str]) -> None:
        """Report fields and values that a job with this starter cannot have."""

    @classmethod
    def plan_pipeline(
        cls, one: ExpandedRun, planned: StarterPlan | None, overlay: Overlay, pins: Pins | None
    ) -> StarterPlan | None:
        """The decisions about a pipeline with its steps; None after an error, which is reported."""
        return planned

    @classmethod
    def check_step(cls, step: ExpandedStep) -> None:
        """Report fields that a step of a pipeline with this starter cannot have."""

    def adapted(self, pods: tuple[PodPlan, ...]) -> tuple[PodPlan, ...]:
        """The pods of a run with the changes that the starter requires."""
        return pods

    def check_plan(self, context: Context, companions: Iterable[Body]) -> None:
        """Report faults of the plan of a run."""

    def workload(self, job: Job, plan: Plan, pods: dict[str, Body]) -> Body:
        """The object of the run."""
        metadata = inner_metadata(plan) if plan.inner else run_metadata(plan, plan.run, plan.kind)
        spec = job.workload(plan, pods)
        return {"apiVersion": plan.api_version, "kind": job.facts.kind, "metadata": metadata, "spec": spec}

    def suspend(self, facts: Resource) -> Path | None:
        """The field of the object that the build stage makes which suspends it; `facts` are those of the run."""
        return facts.suspend

    def scheduled(self, workload: Body, plan: Plan) -> Body:
        """The object in Git with the run as its template, if both are one object for patches and checks."""
        return workload

    def objects(self, plan: Plan) -> tuple[Body, ...]:
        """Other objects that all runs share."""
        return ()

    def around(self, workload: Manifest, plan: Plan, facts: Resource) -> tuple[Manifest, ...]:
        """The object in Git around a run, then the run if it is a part of that as a text; empty for a run itself."""
        return ()

    @classmethod
    def permitted(cls, overlay: Overlay) -> Iterator[tuple[str, str]]:
        """Groups and kinds of objects that the overlay permits, so that engines may apply and prune them."""
        return iter(())

    @classmethod
    def health(cls, overlay: Overlay, rendered: set[str]) -> Iterator[Workload]:
        """Objects around runs; engines learn their health from gen. `rendered` has the kinds of rendered objects."""
        return iter(())

    @classmethod
    def counted(cls, job: Job, workers: int, demand: Demand) -> tuple[int, Demand]:
        """Training pods, and the demand, of all runs at once; those of one run are given."""
        return workers, demand

    @classmethod
    def cost(cls, job: Job, demand: Demand, prices: Prices) -> RunCost:
        return run_cost(demand, prices)

    @classmethod
    def rate(cls, spec: object, demand: Demand, *, active: bool) -> tuple[int, Fraction]:
        """Runs at once, and runs in a month, from the `spec` of the object in Git."""
        return 1, Fraction(1)

    @classmethod
    def granted(cls, grant: Grant) -> bool:
        """Whether a grant has `permission`."""
        return True

    @classmethod
    def started(cls, resource: Resource, body: Body) -> Iterator[Body]:
        """The objects that an object in Git starts, as far as it contains them."""
        return iter(())

    @classmethod
    def started_kinds(cls) -> Iterator[Resource]:
        """More kinds of objects that it starts."""
        return iter(())

    @classmethod
    def progress(cls, resource: Resource, live: Body, ended: Sequence[bool]) -> tuple[int, int] | None:
        """The number of objects that have ended, and of all. `ended` has a value for each object in the cluster."""
        return None

    @classmethod
    def trouble(cls, resource: Resource, live: Body) -> tuple[str, str]:
        """Reason and message if the object cannot start runs; empty otherwise."""
        return "", ""
