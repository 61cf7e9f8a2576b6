"""`kinds` of an overlay: custom resources that jobs can have as their kind."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from msgspec.structs import replace
from pydantic import Field, model_validator

from gen.base import nulls, overlap, regex
from gen.base.yaml.strict import typed
from gen.job.kinds.rendezvous import JAX, LOCAL, PROCESS, TORCHRUN, Rendezvous
from gen.job.model import Model
from gen.job.names import JobName, Label, PodField
from gen.job.scalars import Text, Truth, ValueType, conflict, matching, schema
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.base import (
    ANY_ITEM,
    Conditions,
    Count,
    Path,
    Pattern,
    Phase,
    Phases,
    PodSet,
    Queueing,
    Resource,
)
from gen.kubernetes.facts.state import waiting


def _values(value: Any) -> Any:
    data = typed(value)
    if next(nulls(data), None) is not None:
        raise conflict("a field is null", "remove it, or give it a value")
    return data


Fields = Annotated[dict[str, Any], ValueType(_values, schema("fields of the object", "object"))]
"""Fields by name. Scalars without quotes are numbers and booleans as in YAML 1.2."""


_STEPS = r"(?:\.[A-Za-z][A-Za-z0-9]*)"
SpecRoute = Annotated[
    str,
    matching(
        regex(rf"spec{_STEPS}+"),
        200,
        "a route of a field",
        "use a form like `spec.worker.template`",
        form=schema("route", "string"),
    ),
]
PodRoute = Annotated[
    str,
    matching(
        regex(rf"spec{_STEPS}+(?:\[\]{_STEPS}+)?"),
        200,
        "a route of a field",
        "use a form like `spec.worker.template`, or `spec.tasks[].template` for a list with an item for each role",
        form=schema("route", "string"),
    ),
]
FieldName = Annotated[
    str,
    matching(regex(r"[A-Za-z][A-Za-z0-9]*"), 63, "a field", "use a form like `name`", form=schema("field", "string")),
]
StatusRoute = Annotated[
    str,
    matching(
        regex(rf"status{_STEPS}+"),
        200,
        "a route of a field",
        "use a form like `status.phase`",
        form=schema("route", "string"),
    ),
]
SpecField = Annotated[
    str,
    matching(
        regex(rf"[A-Za-z][A-Za-z0-9]*{_STEPS}*"),
        200,
        "a field of `spec`",
        "use a form like `driver.cores`",
        form=schema("field of spec", "string"),
    ),
]
ApiVersion = Annotated[
    str,
    matching(
        regex(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+/v[a-z0-9]+"),
        253,
        "an API version of a custom resource",
        "use a form like `sparkoperator.k8s.io/v1beta2`",
        form=schema("API version", "string"),
    ),
]
KubernetesKind = Annotated[
    str,
    matching(
        regex(r"[A-Z][A-Za-z0-9]*"),
        63,
        "a kind of Kubernetes",
        "use a form like `SparkApplication`",
        form=schema("kind", "string"),
    ),
]
Address = Annotated[
    str,
    matching(
        regex(r"(?:[a-z0-9.-]|<run>)*<run>(?:[a-z0-9.-]|<run>)*"),
        253,
        "a host name of a run",
        "use a form like `<run>-worker-0.<run>`, where `<run>` is the name of the object",
        form=schema("host name", "string"),
    ),
]
RestartPolicy = Literal["Never", "OnFailure", "Always"]


class RendezvousOfKind(Model):
    """Where the pods of a role meet, so that launchers such as `torchrun` need no options."""

    address: Address
    """Host name of the first pod, with `<run>` for the name of the object, such as `<run>-worker-0.<run>`."""
    rank: PodField | None = None
    """Field of a pod with its number from 0, such as `metadata.labels['example.com/index']`. Without one, `torchrun`
    lets the pods agree on their numbers, and other launchers need options."""


class PodsOfKind(Model):
    """Pods of one role of a kind."""

    template: PodRoute
    """Route of the pod template, such as `spec.worker.template`. With `spec.tasks[].template`, each role with the route
    is an item of the list `spec.tasks`."""
    replicas: PodRoute | None = None
    """Route of the field with the number of pods, in the same item of a list. Without it, the operator creates one
    pod."""
    image: SpecRoute | None = None
    """Route of another field that gets the image of the pods, for operators that do not read it in the template, such
    as `spec.driver.image` of a SparkApplication. A job must not set it: `registries` would not limit it."""
    item_name: FieldName = "name"
    """Field of an item of a list with the name of the role."""
    rendezvous: RendezvousOfKind | None = None
    """Where the pods meet, if those of this role train together and the operator sets no variables for launchers."""
    trains: Truth = True
    """Whether the pods get the GPUs, CPU and memory of the job."""
    runs: Truth = True
    """Whether the pods run the `command` of the job. Otherwise they run the command of `roles`, or of the image."""

    @cached_property
    def template_route(self) -> Pattern:
        return _pattern(self.template)

    @cached_property
    def replicas_route(self) -> Pattern | None:
        return _pattern(self.replicas) if self.replicas is not None else None

    @cached_property
    def image_route(self) -> Path | None:
        return _path(self.image) if self.image is not None else None

    def meeting(self, run: str, replicas: int) -> Rendezvous | None:
        """Where the pods of a run meet, if they do by an address."""
        if self.rendezvous is None:
            return None
        return Rendezvous(
            families=(PROCESS, LOCAL, TORCHRUN, JAX) if self.rendezvous.rank else (TORCHRUN,),
            pods=replicas,
            address=self.rendezvous.address.replace("<run>", run),
            rank=self.rendezvous.rank,
        )


class StatusOfKind(Model):
    """Signs in the status of an object that its run has ended: conditions, or a phase."""

    phase: StatusRoute | None = None
    """Route of the field with the phase. Without it, the other fields are types of `status.conditions`."""
    succeeded: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Phases of a run that succeeded, or the condition that is then true."""
    failed: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Phases of a run that failed, or the condition that is then true."""
    suspended: tuple[Text, ...] = ()
    """Phases of a suspended run, or the condition that is then true."""

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        if self.phase is None and max(map(len, (self.succeeded, self.failed, self.suspended))) > 1:
            raise conflict("a state has one condition", "keep one condition, or set `phase`")
        return self

    @property
    def facts(self) -> Conditions | Phases:
        if self.phase is None:
            suspended = self.suspended[0] if self.suspended else None
            return Conditions(succeeded=self.succeeded[0], failed=self.failed[0], suspended=suspended)
        field = tuple(self.phase.split("."))
        succeeded, failed, suspended_in = (
            (Phase(field=field, values=values),) if values else ()
            for values in (self.succeeded, self.failed, self.suspended)
        )
        return Phases(succeeded=succeeded, failed=failed, suspended=suspended_in)


class DeclaredKind(Model):
    """Custom resource that jobs can have as their kind. Its definition must be in `crds/` of the overlay."""

    api_version: ApiVersion
    """API version that the cluster serves, such as `sparkoperator.k8s.io/v1beta2`."""
    kind: KubernetesKind
    """Kind of the object, such as `SparkApplication`."""
    pods: Annotated[dict[JobName, PodsOfKind], Field(min_length=1)]
    """Pods by role. gen builds their templates from the job."""
    status: StatusOfKind
    """Signs in the status that a run has ended. Health checks of GitOps engines depend on them."""
    spec: Fields = {}
    """Fields of `spec` of every object. A job overrides those that `fields` permits."""
    fields: tuple[SpecField, ...] = ()
    """Fields of `spec` that a job may set, such as `sparkVersion` or `driver.cores`, with everything below them.
    Name no fields with volumes, accounts, labels, schedulers or devices: gen does not check what they grant."""
    suspend: SpecRoute | None = None
    """Route of the field that suspends the object. Without it, its jobs cannot be suspended."""
    deadline: SpecRoute | None = None
    """Route of the field that limits the run time, in seconds. Without it, its jobs have no `timeout`."""
    retries: SpecRoute | None = None
    """Route of the field with the number of retries. Without it, its jobs have no `retries`."""
    container: Label | None = None
    """Name that the operator requires for the training container."""
    restart_policies: Annotated[tuple[RestartPolicy, ...], Field(min_length=1)] = ("Never", "OnFailure")
    """Restart policies that the operator supports; the first is the default."""

    @model_validator(mode="after")
    def _no_field_twice(self) -> Self:
        routes = list(self._routes())
        for index, route in enumerate(routes):
            if other := next((one for one in routes[:index] if overlap(one, route)), None):
                raise conflict(f"`{_text(route)}` and `{_text(other)}` overlap", "give each field a route of its own")
        for field in self.fields:
            if other := next((one for one in routes if overlap(one, _path(f"spec.{field}"))), None):
                message = f"a job must not set `{field}`, because gen sets `{_text(other)}`"
                raise conflict(message, f"remove `{field}` from `fields`, or name the fields below it")
        return self

    @model_validator(mode="after")
    def _items_are_whole(self) -> Self:
        for role, pods in self.pods.items():
            template, replicas = pods.template_route, pods.replicas_route or pods.template_route
            if pods.rendezvous is not None and pods.replicas is None:
                raise conflict(f"`{role}` has one pod, which meets no other", "remove `rendezvous`, or name `replicas`")
            if list_of(template) != list_of(replicas):
                message = f"`template` and `replicas` of `{role}` are not in the same item of a list"
                raise conflict(message, "name fields of the same list, such as `spec.tasks[].replicas`")
            own = [in_item(template), *([in_item(replicas)] if pods.replicas is not None else [])]
            if list_of(template) is None and pods.item_name != "name":
                message = f"`itemName` of `{role}` has no effect on a template that is not in a list"
                raise conflict(message, "remove it")
            if list_of(template) is not None and any(overlap((pods.item_name,), route) for route in own):
                raise conflict(f"`itemName` of `{role}` is a field of its pods", "name another field")
            if len(own) > 1 and overlap(*own) and list_of(template) is not None:
                raise conflict(f"`template` and `replicas` of `{role}` overlap", "give each field a route of its own")
        return self

    @model_validator(mode="after")
    def _items_are_alike(self) -> Self:
        forms: dict[object, tuple[str, str | None, str]] = {}
        for role, pods in self.pods.items():
            form = pods.template, pods.replicas, pods.item_name
            holder = list_of(pods.template_route)
            if holder is not None and forms.setdefault(holder, form) != form:
                message = f"`{role}` has other routes than the other items of its list"
                raise conflict(message, "use the same `template`, `replicas` and `itemName` for all roles of a list")
        return self

    @model_validator(mode="after")
    def _no_constant_is_lost(self) -> Self:
        for route in self._routes():
            value: Any = self.spec
            for step in route[1:]:
                value = value.get(step, {}) if isinstance(value, dict) else value
            if value != {}:
                hint = "remove it; `defaults.kinds` and `patches` of the overlay can change all jobs of the kind"
                raise conflict(f"`spec` has a value at `{_text(route)}`, which gen sets", hint)
        return self

    def _routes(self) -> Iterator[tuple[str, ...]]:
        """Routes of the fields that gen sets."""
        patterns = [_pattern(route) for pods in self.pods.values() for route in (pods.template, pods.replicas) if route]
        yield from dict.fromkeys(holder for one in patterns if (holder := list_of(one)) is not None)
        yield from (in_item(one) for one in patterns if list_of(one) is None)
        yield from (_path(pods.image) for pods in self.pods.values() if pods.image is not None)
        yield from (_path(route) for route in (self.suspend, self.deadline, self.retries) if route is not None)

    @cached_property
    def field_routes(self) -> tuple[Path, ...]:
        """Fields below `spec` that jobs may set."""
        return tuple(map(_path, self.fields))

    @cached_property
    def retries_route(self) -> Path | None:
        return _path(self.retries) if self.retries is not None else None

    @cached_property
    def facts(self) -> Resource:
        facts = self._resource(*self.api_version.split("/"))
        return replace(facts, scheduled_by=CRON_WORKFLOW) if waiting(facts) is not None else facts

    def _resource(self, group: str, version: str) -> Resource:
        return Resource(
            group=group,
            kind=self.kind,
            versions={self.api_version: self.restart_policies},
            pods=tuple(_pod_sets(self.pods)),
            container=self.container,
            is_run=True,
            suspend=_path(self.suspend) if self.suspend is not None else None,
            deadline=_path(self.deadline) if self.deadline is not None else None,
            status=self.status.facts,
            # a controller of its own admits it (Kueue documentation, "external frameworks")
            kueue=Queueing(framework=f"{self.kind}.{version}.{group}", shipped=False) if self.suspend else None,
        )


def list_of(route: Pattern) -> Path | None:
    """The route of the list of a route; None for one through mappings."""
    if ANY_ITEM not in route:
        return None
    return tuple(str(step) for step in route[: route.index(ANY_ITEM)])


def in_item(route: Pattern) -> Path:
    """The part of a route in an item of its list, or the whole route."""
    start = route.index(ANY_ITEM) + 1 if ANY_ITEM in route else 0
    return tuple(str(step) for step in route[start:])


def _pod_sets(pods: dict[str, PodsOfKind]) -> Iterator[PodSet]:
    """One for each route: the roles of a list share theirs."""
    first = {one.template_route: (role, one) for role, one in reversed(pods.items())}
    for role, one in reversed(first.values()):
        counts = (Count(route=one.replicas_route),) if one.replicas_route is not None else ()
        yield PodSet(template=one.template_route, counts=counts, role=role, item_name=one.item_name)


def _pattern(route: str) -> Pattern:
    """A route, with a wildcard for the items of a list."""
    outer, items, inner = route.partition("[].")
    return (*outer.split("."), ANY_ITEM, *inner.split(".")) if items else tuple(outer.split("."))


def _path(route: str) -> tuple[str, ...]:
    return tuple(route.split("."))


def _text(route: tuple[str, ...]) -> str:
    return ".".join(route)
