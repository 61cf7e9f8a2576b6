"""Numbers of pods: the `workers` and `replicas` that give the roles of a kind as many pods as its object has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from gen.importers.draft import as_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.importers.base import Fields
    from gen.importers.draft import JobDraft
    from gen.kinds import Job
    from gen.kinds.role import Role


def fitted(draft: JobDraft, model: type[Job], replicas: dict[str, int]) -> dict[str, Role]:
    """Set the numbers of pods; returns the roles that the kind then has. No two kinds count `workers` alike."""
    last: dict[str, Role] = {}
    for fields in _numbers(draft, replicas):
        roles = _roles_of(model, fields)
        last = last or roles
        if {name: role.replicas for name, role in roles.items()} == replicas:
            draft.fields = fields
            return roles
    draft.set(next(iter(replicas.values()), 1), "workers")
    return last


def _numbers(draft: JobDraft, replicas: dict[str, int]) -> Iterator[Fields]:
    """Ways to write the numbers of pods, the shortest first."""
    own = {name: {**fields, "replicas": str(replicas.get(name, 1))} for name, fields in draft.fields["roles"].items()}
    plain = {key: value for key, value in draft.fields.items() if key != "workers"}
    workers = replicas.get("worker", 1)
    for number in dict.fromkeys((workers, sum(replicas.values()))):
        yield {**plain, "workers": str(number)}
        without = {name: fields for name, fields in own.items() if name != "worker"}
        yield {**plain, "workers": str(number), "roles": {**draft.fields["roles"], **without}}
        singles = {name: fields for name, fields in without.items() if replicas.get(name, 1) != 1}
        yield {**plain, "workers": str(number), "roles": {**draft.fields["roles"], **singles}}
    yield {**plain, "roles": own}


def _roles_of(model: type[Job], fields: Fields) -> dict[str, Role]:
    """The roles of a job with these fields; none if it is invalid."""
    job = validated(model, fields)
    return {role.name: role for role in job.replica_roles("run")} if job is not None else {}


def validated(model: type[Job], fields: Fields) -> Job | None:
    try:
        return model.model_validate(as_read(fields))
    except ValidationError:
        return None


def needed_roles(draft: JobDraft, model: type[Job], replicas: dict[str, int]) -> set[str]:
    """Roles that have pods only because the job names them."""
    full = draft.fields
    needed = set()
    for name, fields in full["roles"].items():
        if fields:
            continue
        others = {key: value for key, value in full["roles"].items() if key != name}
        roles = _roles_of(model, {**full, "roles": others})
        if {key: role.replicas for key, role in roles.items()} != replicas:
            needed.add(name)
    return needed
