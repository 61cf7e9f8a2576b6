"""Fields of a job file that no pod uses. Defaults of the overlay are not reported, because other jobs may use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gen.base.codes.jobs import NO_EFFECT
from gen.job.kinds.role import Role
from gen.job.model import Model, alias_of, aliases_of, default_of
from gen.job.pods import PodFields, RoleFields
from gen.render.parts.context import PROGRAM, Context, has_own


def check_unused(context: Context, roles: tuple[Role, ...]) -> None:
    """Report fields of roles without pods, and fields of the job that every role overrides."""
    if "roles" in context.given.left_out or not roles:
        return
    for name, fields in _roles_without_pods(context, roles):
        _check_role(context, name, fields)
    if any(_takes_all(role) for role in roles):
        return
    for name in sorted(context.job.model_fields_set & aliases_of(PodFields).keys()):
        if name == "env":
            _check_env(context, roles)
        elif getattr(context.job, name) != default_of(PodFields, name):
            _check_field(context, roles, name)


def _takes_all(role: Role) -> bool:
    """Whether a role takes every field of the job."""
    return role.runs and role.trains and not (role.fields is not None and role.fields.model_fields_set)


def _roles_without_pods(context: Context, roles: tuple[Role, ...]) -> Iterator[tuple[str, RoleFields]]:
    every: Model | Mapping[str, RoleFields] = getattr(context.job, "roles", {})
    for name, fields in every.items() if isinstance(every, Mapping) else _by_alias(every):
        if fields is not None and all(role.name != name for role in roles):
            yield name, fields


def _by_alias(roles: Model) -> Iterator[tuple[str, RoleFields | None]]:
    """Roles by their names in job files."""
    return ((alias, getattr(roles, name)) for name, alias in aliases_of(type(roles)).items())


def _check_role(context: Context, role: str, fields: RoleFields) -> None:
    if any(item.place == context.place("roles", role) for item in context.found.items):
        return  # the kind has reported the role itself
    scaled = "replicas" in type(fields).model_fields
    if scaled and not context.set_by_job(("roles", role, "replicas")):
        return
    if not scaled and "workers" in context.job.model_fields_set and not context.set_by_job(("workers",)):
        return
    for name in sorted(fields.model_fields_set - {"replicas"}):
        alias = alias_of(type(fields), name)
        if context.set_by_job(("roles", role, alias)):
            message = f"`{alias}` has no effect: the job has no pods with the role `{role}`"
            remedy = "set `replicas: 1` or more" if scaled else "increase `workers`"
            context.error(NO_EFFECT, ("roles", role, alias), message, f"{remedy}, or remove `{alias}`", key=True)


def _check_field(context: Context, roles: tuple[Role, ...], name: str) -> None:
    alias = alias_of(PodFields, name)
    if name in PROGRAM and not any(role.runs for role in roles):
        return  # the kind starts the program itself
    if not any(context.takes(role, name) for role in roles) and context.set_by_job((alias,)):
        message = f"`{alias}` has no effect: no role with pods uses it"
        own = next((role.name for role in roles if has_own(role, name)), None)
        other = f"remove `{alias}` from `roles.{own}`" if own else f"set `{alias}` in `roles.{roles[0].name}`"
        context.error(NO_EFFECT, (alias,), message, f"remove it, or {other}", key=True)


def _check_env(context: Context, roles: tuple[Role, ...]) -> None:
    """Variables of the job and of a role are merged."""
    for name in context.job.env:
        everywhere = all(role.fields is not None and name in role.fields.env for role in roles)
        if everywhere and context.set_by_job(("env", name)):
            message = f"`{name}` has no effect: every role with pods sets its own value"
            context.error(NO_EFFECT, ("env", name), message, f"remove it, or remove `{name}` from a role", key=True)
