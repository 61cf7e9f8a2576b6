"""Field of a job that decides whether its run follows a best practice, for the place of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gen.diagnostics import Location
    from gen.render.parse.job import JobInput
    from gen.rules.problem import Problem

_FIELDS: Final = {"no-deadline": "timeout", "keeps-pods": "cleanup", "no-limits": "memory", "mutable-image": "image"}
"""By rule."""


def deciding_field(given: JobInput, problem: Problem) -> Location | None:
    """Place in the job or in the overlay's defaults; None when no field of a job decides."""
    field = _FIELDS.get(problem.rule)
    if field is None or "initContainers" in problem.route:
        return None
    for role in given.job.replica_roles(given.name):
        if role.fields is None or role.replica_type not in problem.route:
            continue
        if field in role.fields.model_fields_set or field not in given.job.model_fields_set:
            return given.place("roles", role.name, field)
    return given.place(field)
