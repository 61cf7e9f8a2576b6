"""Kinds that overlays declare: custom resources that gen has no facts of, such as those of an in-house operator.

The overlay names the routes of the pod templates and of the fields that control a run, and the other fields that a job
may set. gen builds the pods as for its own kinds, so every guard holds for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct
from pydantic import Field, create_model

from gen.diagnostics import did_you_mean, near
from gen.kinds.base import Job, Problem
from gen.kinds.declared_items import DeclaredPods, list_of, with_items
from gen.kinds.role import Role, Target
from gen.kubernetes import Body, with_field
from gen.model.base import Model, default
from gen.model.pods import ReplicatedRole, RoleFields
from gen.model.untyped import Fields
from gen.resources.pods import get, pods_by_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gen.diagnostics import Route
    from gen.kinds.plan import Plan
    from gen.resources.base import Path, Resource


class Declaration(Struct, frozen=True, kw_only=True):
    """Declaration of a kind in an overlay."""

    name: str
    """Name of the kind in jobs."""
    facts: Resource
    pods: Mapping[str, DeclaredPods]
    """By role."""
    fields: tuple[Path, ...]
    """Fields below `spec` that jobs may set."""
    spec: Body
    """Fields of `spec` of every object."""
    retries: Path | None = None


class DeclaredJob(Job):
    """Custom resource that the overlay declares."""

    declaration: ClassVar[Declaration]
    proven: ClassVar[bool] = False
    unsupported: ClassVar[Mapping[str, str]] = {}

    roles: Model = default(Model)
    spec: Fields = Field(default_factory=dict)
    """Fields of the object's `spec`, of those in `fields` of the kind's declaration. gen adds the pods."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the operator names the pods
        roles = (self._role(name, pods) for name, pods in self.declaration.pods.items())
        return tuple(role for role in roles if role.replicas > 0)

    def _role(self, name: str, pods: DeclaredPods) -> Role:
        fields: RoleFields | None = getattr(self.roles, _attribute(name))
        replicas = fields.replicas if isinstance(fields, ReplicatedRole) else None
        if replicas is None:
            replicas = self.workers if pods.trains and pods.replicas is not None else 1
        return Role(name=name, replica_type=name, replicas=replicas, fields=fields, trains=pods.trains, runs=pods.runs)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        body: Body = {"spec": _merged(self.declaration.spec, self.spec)}
        body = with_items(body, self.declaration.pods, plan.pods, pods)
        for pod in plan.pods:
            if (route := self.declaration.pods[pod.role.name].image) is not None:
                body = with_field(body, route, pod.image)
        for route, value in ((self.facts.deadline, plan.timeout), (self.declaration.retries, plan.retries)):
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

    def problems(self, target: Target) -> Iterable[Problem]:  # noqa: ARG002 - a declaration has one version
        yield from self._field_problems(self.spec, ())
        for route in pods_by_shape(self.spec):
            message = "pods are built from the job, so `spec` cannot contain a pod template"
            yield Problem(("spec", *route), message, "remove it, and set `image`, `command` and the fields of `roles`")

    def _field_problems(self, value: Mapping[str, Any], above: Path) -> Iterator[Problem]:
        """Fields that the overlay does not permit."""
        permitted = self.declaration.fields
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
        if any(list_of(pods.template) == ("spec", *field) for pods in declaration.pods.values()):
            return "remove it, and set the fields of `roles`"
        fields: dict[object, str] = {
            self.facts.suspend: "`state: suspended`",
            self.facts.deadline: "`timeout`",
            declaration.retries: "`retries`",
            **{pods.image: "`image`" for pods in declaration.pods.values()},
            **{pods.replicas: "`workers`, or `replicas` of the role" for pods in declaration.pods.values()},
        }
        instead = fields.get(("spec", *field))
        if instead is not None:
            return f"set {instead}"
        if guess := near(field[-1], [other[-1] for other in declaration.fields if other[:-1] == field[:-1]]):
            return f"did you mean `{guess}`?"
        known = [".".join(other) for other in declaration.fields]
        remedy = f"add it to `kinds.{declaration.name}.fields` of the overlay"
        return did_you_mean(".".join(field), known, besides=remedy)


def _merged(base: Body, top: Body) -> Body:
    """`top` over `base`; mappings are merged at any depth."""
    mappings = {key for key in base.keys() & top.keys() if isinstance(base[key], dict) and isinstance(top[key], dict)}
    both = {key: _merged(base[key], top[key]) for key in mappings}
    return {**base, **top, **both}


def _attribute(role: str) -> str:
    """Name of the attribute of a role, which may contain `-`."""
    return f"of_{role.replace('-', '_')}"


def _roles(title: str, pods: Mapping[str, DeclaredPods]) -> type[Model]:
    """A model with a field for each role."""
    fields: dict[str, Any] = {}
    for name, one in pods.items():
        model = RoleFields if one.replicas is None else ReplicatedRole
        fields[_attribute(name)] = (model | None, Field(default=None, alias=name, description=f"Pods of `{name}`."))
    return create_model(f"{title}Roles", __base__=Model, __doc__="Values for single roles.", **fields)


def declared_model(declaration: Declaration) -> type[DeclaredJob]:
    """The model of jobs of a declared kind."""
    name, pods = declaration.name, declaration.pods
    title = "Declared" + "".join(word.title() for word in name.split("-"))
    roles = _roles(title, pods)
    about = "Values for single roles, which override those of the job."
    fields: dict[str, Any] = {
        "kind": (Literal[name], Field(description="Kind of job.")),
        "roles": (roles, Field(default=roles(), description=about)),
    }
    doc = f"{declaration.facts.kind}, as the overlay declares it."
    model = create_model(title, __base__=DeclaredJob, __doc__=doc, **fields)
    model.facts, model.declaration = declaration.facts, declaration
    model.example = {"image": "registry.example.com/team/train:1", "command": "python train.py"}
    model.unsupported = dict(_unsupported(declaration))
    return model


def _unsupported(declaration: Declaration) -> Iterator[tuple[str, str]]:
    name = declaration.name
    if declaration.retries is None:
        yield "retries", f"the declaration of `{name}` names no field for it"
    if not any(pods.trains and pods.replicas is not None for pods in declaration.pods.values()):
        yield "workers", f"the declaration of `{name}` names no number of pods"
