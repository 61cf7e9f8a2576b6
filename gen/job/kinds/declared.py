"""Kinds that overlays declare: custom resources that gen has no facts of, such as those of an in-house operator.

The overlay names the routes of the pod templates and of the fields that control a run, and the other fields that a job
may set. gen builds the pods as for its own kinds, so every guard holds for them. Pods are at one place for each role,
or in a list with an item for each role, such as a task with its name, template and number.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, create_model

from gen.base import Route, did_you_mean, follow, get, near, with_field
from gen.base.yaml.strict import Plain, typed
from gen.base.yaml.user_text import verbatim
from gen.job.kinds.base import Job, Problem
from gen.job.kinds.declaration import DeclaredKind, Fields, PodsOfKind, in_item, list_of
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, default
from gen.job.plan import Plan, PodPlan
from gen.job.pods import ReplicatedRole, RoleFields
from gen.kubernetes.facts.base import Path
from gen.kubernetes.facts.pods import pods_by_shape
from gen.kubernetes.objects import Body


def with_items(
    body: Body, declared: Mapping[str, PodsOfKind], plans: Iterable[PodPlan], pods: Mapping[str, Body]
) -> Body:
    """An object with its pods, in the order of the roles."""
    lists: dict[Path, list[object]] = {}
    for plan in plans:
        one = declared[plan.role.name]
        holder = list_of(one.template_route)
        target: Body = {one.item_name: plan.role.name} if holder is not None else body
        target = with_field(target, in_item(one.template_route), pods[plan.role.name])
        if one.replicas_route is not None:
            target = with_field(target, in_item(one.replicas_route), plan.role.replicas)
        if holder is None:
            body = target
        else:
            lists.setdefault(holder, []).append(target)
    for holder, items in lists.items():
        body = with_field(body, holder, items)
    return body


class DeclaredJob(Job):
    """Custom resource that the overlay declares."""

    declaration: ClassVar[DeclaredKind]
    proven: ClassVar[bool] = False
    offers_ports: ClassVar[bool] = True  # an operator that gen does not know may
    unsupported: ClassVar[Mapping[str, str]] = {}

    roles: Model = default(Model)
    spec: Fields = Field(default_factory=dict)
    """Fields of the object's `spec`, of those in `fields` of the kind's declaration. gen adds the pods."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """An object that has fields in place of a pod template gets one with its image, which a job must have: that of
        the role or of all, such as `spec.driver.image` or `spec.image`.
        """
        for pods in cls.declaration.pods.values():
            *above, name = pods.image_route or ("",)
            routes = ((*above[:length], name) for length in range(len(above), 0, -1))
            image = next((found for route in routes if (found := follow(body, route)) is not None), None)
            template = tuple(str(step) for step in pods.template_route)
            if isinstance(image, str) and list_of(pods.template_route) is None and follow(body, template) is None:
                container = {"name": cls.facts.container or "main", "image": image}
                body = with_field(body, template, {"spec": {"containers": [container]}})
        return body

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        known = follow({"spec": cls.declaration.spec}, tuple(field.split(".")))
        return None if value == known else _quoted(value)

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        roles = (self._role(name, pods, run) for name, pods in self.declaration.pods.items())
        return tuple(role for role in roles if role.replicas > 0)

    def _role(self, name: str, pods: PodsOfKind, run: str) -> Role:
        fields: RoleFields | None = getattr(self.roles, _attribute(name))
        replicas = fields.replicas if isinstance(fields, ReplicatedRole) else None
        if replicas is None:
            replicas = self.workers if pods.trains and pods.replicas is not None else 1
        return Role(
            name=name,
            replica_type=name,
            replicas=replicas,
            fields=fields,
            trains=pods.trains,
            runs=pods.runs,
            rendezvous=pods.meeting(run, replicas),
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        body: Body = {"spec": _merged(self.declaration.spec, self.spec)}
        body = with_items(body, self.declaration.pods, plan.pods, pods)
        for pod in plan.pods:
            if (route := self.declaration.pods[pod.role.name].image_route) is not None:
                body = with_field(body, route, pod.image)
        for route, value in ((self.facts.deadline, plan.timeout), (self.declaration.retries_route, plan.retries)):
            if route is not None and value is not None:
                body = with_field(body, route, value)
        spec: Body = body["spec"]
        return spec

    def origin(self, route: Route) -> Route | None:
        """The field of `spec`, or the nearest one around it."""
        if route[:1] != ("spec",):
            return ("kind",)
        known: list[str | int] = []
        value: Any = self.spec
        for step in route[1:]:
            if get(value, step) is None:
                break
            known.append(step)
            value = get(value, step)
        return ("spec", *known) if self.spec else ("kind",)

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from self._field_problems(self.spec, ())
        for route in pods_by_shape(self.spec):
            message = "pods are built from the job, so `spec` cannot contain a pod template"
            yield Problem(("spec", *route), message, "remove it, and set `image`, `command` and the fields of `roles`")

    def _field_problems(self, value: Mapping[str, object], above: Path) -> Iterator[Problem]:
        """Fields that the overlay does not permit."""
        permitted = self.declaration.field_routes
        for key, inner in value.items():
            field = (*above, str(key))
            if field in permitted:
                continue
            if isinstance(inner, dict) and any(other[: len(field)] == field for other in permitted):
                yield from self._field_problems(inner, field)
            else:
                message = f"a job may not set `spec.{'.'.join(field)}`"
                yield Problem(("spec", *field), message, self._remedy(field), key=True)

    def _remedy(self, field: Path) -> str:
        """What to do instead of setting a field that the overlay does not permit."""
        declaration = self.declaration
        if any(list_of(pods.template_route) == ("spec", *field) for pods in declaration.pods.values()):
            return "remove it, and set the fields of `roles`"
        fields: dict[object, str] = {
            self.facts.suspend: "`state: suspended`",
            self.facts.deadline: "`timeout`",
            declaration.retries_route: "`retries`",
            **{pods.image_route: "`image`" for pods in declaration.pods.values()},
            **{pods.replicas_route: "`workers`, or `replicas` of the role" for pods in declaration.pods.values()},
        }
        instead = fields.get(("spec", *field))
        if instead is not None:
            return f"set {instead}"
        if guess := near(field[-1], [other[-1] for other in declaration.field_routes if other[:-1] == field[:-1]]):
            return f"did you mean `{guess}`?"
        known = [".".join(other) for other in declaration.field_routes]
        remedy = f"add it to `kinds.{self.kind}.fields` of the overlay"
        return did_you_mean(".".join(field), known, besides=remedy)


def _merged(base: Body, top: Body) -> Body:
    """`top` over `base`; mappings are merged at any depth."""
    mappings = {key for key in base.keys() & top.keys() if isinstance(base[key], dict) and isinstance(top[key], dict)}
    both = {key: _merged(base[key], top[key]) for key in mappings}
    return {**base, **top, **both}


def _quoted(value: object) -> Any:
    """A value whose texts are not read as numbers or booleans."""
    if isinstance(value, dict):
        return {key: _quoted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_quoted(inner) for inner in value]
    return verbatim(value) if isinstance(value, str) and typed(Plain(value)) != value else value


def _attribute(role: str) -> str:
    """Name of the attribute of a role, which may contain `-`."""
    return f"of_{role.replace('-', '_')}"


def _roles(title: str, pods: Mapping[str, PodsOfKind]) -> type[Model]:
    """A model with a field for each role."""
    fields: dict[str, Any] = {}
    for name, one in pods.items():
        model = RoleFields if one.replicas is None else ReplicatedRole
        fields[_attribute(name)] = (model | None, Field(default=None, alias=name, description=f"Pods of `{name}`."))
    return create_model(f"{title}Roles", __base__=Model, __doc__="Values for single roles.", **fields)


def declared_model(name: str, declaration: DeclaredKind) -> type[DeclaredJob]:
    """The model of jobs of a declared kind."""
    title = "Declared" + "".join(word.title() for word in name.split("-"))
    roles = _roles(title, declaration.pods)
    about = "Values for single roles, which override those of the job."
    fields: dict[str, Any] = {
        "kind": (Literal[name], Field(description="Kind of job.")),
        "roles": (roles, Field(default=roles(), description=about)),
    }
    doc = f"{declaration.facts.kind}, as the overlay declares it."
    model = create_model(title, __base__=DeclaredJob, __doc__=doc, **fields)
    model.facts, model.declaration = declaration.facts, declaration
    model.example = {"image": "registry.example.com/team/train:1", "command": "python /app/train.py"}
    model.unsupported = dict(_unsupported(name, declaration))
    model.copied = {".".join(("spec", *field)): ("spec", *field) for field in declaration.field_routes}
    return model


def _unsupported(name: str, declaration: DeclaredKind) -> Iterator[tuple[str, str]]:
    if declaration.retries is None:
        yield "retries", f"the declaration of `{name}` names no field for it"
    if not any(pods.trains and pods.replicas is not None for pods in declaration.pods.values()):
        yield "workers", f"the declaration of `{name}` names no number of pods"
