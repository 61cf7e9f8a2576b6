"""Field of a job that decides whether its run follows a best practice, for the place and remedy of a finding."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from gen.base.findings import Location, Route
from gen.job.kinds.role import Role
from gen.kubernetes.rules.rule import Problem
from gen.render.job_run import JobInput

_FIELDS: Final = {
    "no-deadline": "timeout",
    "keeps-pods": "cleanup",
    "no-limits": "memory",
    "mutable-image": "image",
    "folder-of-root": "workingDir",
}
"""By rule."""


class DecidingField(Struct, frozen=True):
    """The place of the field in the job or in the overlay's defaults."""

    place: Location
    hint: str = ""
    """The remedy, if it is not the one of the rule."""


def deciding_field(given: JobInput, problem: Problem) -> DecidingField | None:
    """None if no field of a job decides."""
    field = _FIELDS.get(problem.rule)
    if field is None:
        origin = given.job.origin(problem.route)
        return DecidingField(given.place(*origin)) if origin is not None else None
    if "initContainers" in problem.route:
        return None
    for role in given.job.replica_roles(given.name):
        if (role.holder or role.replica_type) not in problem.route:
            continue
        hint = _of_role_alone(role) if problem.rule == "no-limits" else ""
        own = role.fields is not None and field in role.fields.model_fields_set
        if hint or own or (role.fields is not None and field not in given.job.model_fields_set):
            return DecidingField(given.place("roles", role.name, field), hint)
    return DecidingField(given.place(field))


_OF_ROUTES: Final = {
    **{name: name for name in ("image", "command", "args", "env", "labels", "annotations", "tolerations")},
    **dict.fromkeys(("replicas", "parallelism", "completions", "numNodes", "minAvailable"), "workers"),
    **dict.fromkeys(("cpu", "memory"), ""),
    **dict.fromkeys(("activeDeadlineSeconds", "cleanPodPolicy", "runPolicy"), "timeout"),
    **dict.fromkeys(("nodeSelector", "affinity", "tolerations"), "placement"),
    **dict.fromkeys(("volumes", "volumeMounts"), "data"),
    **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC"), "network"),
    "preemptionPolicy": "priority",
    "priorityClassName": "priority",
    "serviceAccountName": "serviceAccount",
    "imagePullSecrets": "imagePullSecrets",
    "suspend": "state",
    "backoffLimit": "retries",
    "namespace": "kind",
    "name": "name",
}
"""The fields of jobs that fields of objects come from."""


def field_of_route(given: JobInput, route: Route) -> Location:
    """The place in a job or in the overlay's defaults that probably decides about a route; the kind of the job else."""
    origin = given.job.origin(route)
    if origin is not None:
        return given.place(*origin)
    for step in reversed(route):
        field = _OF_ROUTES.get(str(step)) if isinstance(step, str) else None
        name = field if field is not None else "gpus" if "/gpu" in str(step) else None
        name = str(step) if name == "" else name
        if name is None:
            continue
        for role in given.job.replica_roles(given.name):
            if (role.holder or role.replica_type) in route and _sets(given, role, name):
                return given.place("roles", role.name, name)
        if name in given.data:
            return given.place(name)
    return given.place("kind")


def _sets(given: JobInput, role: Role, name: str) -> bool:
    roles = given.data.get("roles")
    own = roles.get(role.name) if isinstance(roles, dict) else None
    return isinstance(own, dict) and name in own


def _of_role_alone(role: Role) -> str:
    """The remedy for a role that does not get `cpu` and `memory` of the job; empty for other roles."""
    if role.trains:
        return ""
    return f"set `cpu` and `memory` of the role: `roles: {{{role.name}: {{cpu: 1, memory: 2Gi}}}}`"
