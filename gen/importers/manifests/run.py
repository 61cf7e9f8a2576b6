"""A run as a job, by the facts of its kind: its roles, their common fields, and the fields of the kind.

Values at the routes that the kind declares are copied. `workers` and `replicas` are set so that the roles have as many
pods as in the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from pydantic import ValidationError

from gen.base import as_list, as_mappings, at, follow, quoted, regex
from gen.base.codes.imports import INVALID_MANIFEST
from gen.importers import Fields
from gen.importers.draft import ORDER, JobDraft, as_read, literal, literals, validated
from gen.importers.manifests.objects import Item, Template, beside, container_route, inside, templates
from gen.importers.manifests.pods import queue_of, role_fields, set_queue
from gen.importers.manifests.runtimes import set_runtime
from gen.importers.manifests.volumes import FileVolumes, Holders, mounted
from gen.job.kinds.base import Job
from gen.job.kinds.role import Role, Target
from gen.job.pods import MAX_PODS
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import Pattern, Resource, Wildcard
from gen.kubernetes.facts.builtin import INDEX
from gen.kubernetes.objects import Body
from gen.render.parts.containers import UNBUFFERED

EVERY: Final = "*"


def copied(model: type[Job], facts: Resource, body: Body, every: list[Template]) -> Iterator[tuple[str, object]]:
    """Fields with dots, and their values. Defaults are left out."""
    if facts is not model.facts:
        return  # a schedule has other routes
    for field, route in model.copied.items():
        for name, value in _values(field, route, body, every):
            if value in (None, "", [], {}) and field in model.without:
                yield name, model.without[field]
                continue
            if value is None or value in ("", [], {}) or _is_default(model, name, value):
                continue
            if (text := model.as_written(name, literals(value))) is not None:
                yield name, text


def _values(field: str, route: Pattern, body: Body, every: list[Template]) -> Iterator[tuple[str, object]]:
    if not any(isinstance(step, Wildcard) for step in route):
        yield field, follow(body, tuple(step for step in route if not isinstance(step, Wildcard)))
        return
    for one in every:
        if one.pods is not None and one.steps:
            value = follow(body, beside(route, one.pods, one.route))
            yield field.replace(EVERY, one.role), value


def _is_default(model: type[Job], field: str, value: object) -> bool:
    known = next((one for one in model.model_fields.values() if one.alias == field), None)
    if known is None or isinstance(value, dict | list):
        return known is not None and as_read(known.default) == as_read(value)
    return str(known.default).lower() == str(value).lower()


def fitted(draft: JobDraft, model: type[Job], replicas: dict[str, int]) -> dict[str, Role]:
    """Set the numbers of pods; returns the roles that the kind then has. Kinds count `workers` in different ways."""
    last: dict[str, Role] = {}
    for fields in chain(_numbers(draft, replicas), _without_others(model, draft.fields, replicas)):
        roles = _roles_of(model, fields)
        last = last or roles
        if {name: role.replicas for name, role in roles.items() if role.replicas or name in replicas} == replicas:
            draft.fields = fields
            return roles
    draft.set(next(iter(replicas.values()), 1), "workers")
    return last


def _numbers(draft: JobDraft, replicas: dict[str, int]) -> Iterator[Fields]:
    """Ways to write the numbers of pods, the shortest first."""
    own = {name: {**fields, "replicas": str(replicas.get(name, 1))} for name, fields in draft.fields["roles"].items()}
    plain = {key: value for key, value in draft.fields.items() if key != "workers"}
    workers = replicas.get("worker", 1)
    yield plain
    yield from ({**plain, "workers": str(number)} for number in dict.fromkeys((workers, *replicas.values())))
    for number in dict.fromkeys((workers, sum(replicas.values()))):
        yield {**plain, "workers": str(number)}
        without = {name: fields for name, fields in own.items() if name != "worker"}
        yield {**plain, "workers": str(number), "roles": {**draft.fields["roles"], **without}}
        singles = {name: fields for name, fields in without.items() if replicas.get(name, 1) != 1}
        yield {**plain, "workers": str(number), "roles": {**draft.fields["roles"], **singles}}
    yield {**plain, "roles": own}


def _without_others(model: type[Job], fields: Fields, replicas: dict[str, int]) -> Iterator[Fields]:
    """The job without pods of roles that it has only by default."""
    others = {name: {"replicas": "0"} for name in _roles_of(model, fields) if name not in replicas}
    if others:
        yield {**fields, "roles": {**fields["roles"], **others}}


def _roles_of(model: type[Job], fields: Fields) -> dict[str, Role]:
    """The roles of a job with these fields; none if it is invalid."""
    job = validated(model, fields)
    return {role.name: role for role in job.replica_roles("run")} if job is not None else {}


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


_OF_TRAINING: Final = frozenset({"gpus", "accelerator", "cpu", "memory", "disk", "sharedMemory"})
_OF_PROGRAM: Final = frozenset({"command", "args"})
_ONE: Final = {"priorityClassName": "priority", "serviceAccountName": "serviceAccount"}
_GRANTS: Final = {"priority": "priorities", "serviceAccount": "serviceAccounts"}


def read_run(draft: JobDraft, item: Item, body: Body, model: type[Job], facts: Resource, files: FileVolumes) -> Holders:
    """Set the fields of a job from an object of `facts`; `files` has its volumes that become files. Returns the roles
    that mount its volumes.
    """
    every = templates(facts, body)
    _check_names(draft, item, every)
    roles: dict[str, Fields] = {}
    holders: Holders = {}
    for one in every:
        place = item.place(*one.route)
        fields = role_fields(draft, item, one, facts)
        fields |= mounted(draft, item, one, files, container_route(one, facts.container), holders)
        roles[one.role] = fields
        draft.places.update({name: place for name in fields if name not in draft.places})
    for one in every:
        _pod_settings(draft, one, item, every)
    _life(draft, item, body, facts)
    set_queue(draft, item, body, model, facts, every)
    for field, value in copied(model, facts, body, every):
        route = tuple(step for step in model.copied.get(field, ()) if not isinstance(step, Wildcard))
        draft.set(value, *field.split("."), place=item.place(*(route or ("spec",))))
    _grant(draft, body)
    set_runtime(draft, model)
    if "roles" not in model.model_fields:
        draft.fields |= next(iter(roles.values()), {})
        if every and every[0].replicas != 1:
            draft.set(every[0].replicas, "workers")
        return holders
    _remove_invalid(draft, model)
    _drop_reserved(draft, model, every, roles)
    if UNBUFFERED not in model.fixed_env and facts.nodes is None:
        for fields in roles.values():
            if fields.get("env", {}).get(UNBUFFERED) == "1":
                fields["env"] = {name: value for name, value in fields["env"].items() if name != UNBUFFERED}
    policies = model.facts.versions.get(body["apiVersion"]) or ("",)
    _set_roles(draft, model, every, roles, policies[0])
    _set_counts(draft, item, model.read_counts(body["spec"]) if facts is model.facts and every else {})
    _remove_refused(draft, model)
    if not draft.fields.get("roles", "none"):
        del draft.fields["roles"]
    _report_reserved(draft, item, model, facts, every, reserved(model, draft.fields))
    return holders


def _grant(draft: JobDraft, body: Body) -> None:
    """Grant the priority, and all ServiceAccounts, also those in patches of a runtime and of a declared kind such as
    Spark.
    """
    for field, grant in _GRANTS.items():
        if field in draft.fields:
            draft.grant(grant, draft.fields[field])
    for name in inside(body.get("spec"), "serviceAccountName", "serviceAccount"):
        if name != "default":
            draft.grant("serviceAccounts", str(name))


def _check_names(draft: JobDraft, item: Item, every: list[Template]) -> None:
    for number, one in enumerate(every):
        if any(other.role == one.role for other in every[:number]):
            hint = "give each a name of its own, as the API server requires"
            size = next((size for size in range(len(one.route), 0, -1) if isinstance(one.route[size - 1], int)), 0)
            route = (*one.route[:size], one.pods.item_name) if size and one.pods is not None else one.route
            draft.found.error(INVALID_MANIFEST, item.place(*route), f"two roles have the name `{one.role}`", hint)


def _pod_settings(draft: JobDraft, one: Template, item: Item, every: Iterable[Template]) -> None:
    """Set the fields that a job has once for all pods. Pods would lose or open ports with another network."""
    spec = one.spec
    for name, field in _ONE.items():
        if isinstance(spec.get(name), str) and field not in draft.fields and spec[name] != "default":
            draft.set(literal(spec[name]), field, place=item.place(*one.route, "spec", name))
    secrets = spec.get("imagePullSecrets")
    names = [at(one, "name") for one in secrets] if isinstance(secrets, list) else []
    if names and "imagePullSecrets" not in draft.fields and all(isinstance(name, str) for name in names):
        draft.set(literals(names), "imagePullSecrets", place=item.place(*one.route, "spec", "imagePullSecrets"))
    if all(other.spec.get("hostNetwork") is True for other in every):
        draft.set("host", "network", place=item.place(*one.route, "spec", "hostNetwork"))
        draft.need({"hostNetwork": True}, "networks", "host")
        draft.grant("allow", "hostNetwork")


def _life(draft: JobDraft, item: Item, body: Body, facts: Resource) -> None:
    """How long the run may take, and what happens at its end."""
    seconds = follow(body, facts.deadline) if facts.deadline is not None else None
    if isinstance(seconds, int) and seconds > 0:
        draft.set(quantity.duration(seconds), "timeout", place=item.place(*(facts.deadline or ())))
    if facts.cleanup is not None and isinstance(policy := follow(body, facts.cleanup), str):
        draft.set(policy, "cleanup", place=item.place(*facts.cleanup))
    queued = not facts.is_schedule and queue_of(body, facts)
    if facts.suspend is not None and follow(body, facts.suspend) is True and not queued:
        draft.set("suspended", "state", place=item.place(*facts.suspend))
    retries = follow(body, facts.retries) if facts.retries is not None else None
    if isinstance(retries, int) and retries > 0:
        draft.set(retries, "retries", place=item.place(*(facts.retries or ())))


def _drop_reserved(draft: JobDraft, model: type[Job], every: list[Template], roles: dict[str, Fields]) -> None:
    """Remove variables that the kind sets."""
    given = [entry for one in every for entry in as_mappings(one.container.get("env"))]
    ports = {str(entry.get("value")) for entry in given if entry.get("name") == _PORT}
    if "master_port" in model.model_fields and len(ports) == 1 and (port := ports.pop()).isdecimal():
        draft.fields |= {} if _is_default(model, "masterPort", port) else {"masterPort": int(port)}
    gone = reserved(model, draft.fields)
    for fields in roles.values():
        for name in gone & fields.get("env", {}).keys():
            del fields["env"][name]


_PORT: Final = "MASTER_PORT"
_INDEX: Final = "JOB_COMPLETION_INDEX"
_OF_INDEX: Final = regex(rf"\$\({_INDEX}\)|metadata\.(?:annotations|labels)(?=\['batch\.)")


def _report_reserved(
    draft: JobDraft, item: Item, model: type[Job], facts: Resource, every: list[Template], gone: frozenset[str]
) -> None:
    """Report variables that the kind sets to another value."""
    job = validated(model, draft.fields)
    roles = {role.name: role for role in job.replica_roles(item.name)} if job is not None else {}
    for one in every:
        ours = {_INDEX: INDEX}
        ours |= {str(entry["name"]): _meant(entry) for entry in (roles[one.role].env if one.role in roles else ())}
        route = (*container_route(one, facts.container), "env")
        for number, entry in enumerate(as_list(one.container.get("env"))):
            name, place = str(at(entry, "name")), item.place(*route, number)
            if name in gone and not _is_same(_meant(entry), ours.get(name)):
                value = ours.get(name, INDEX).replace(item.name, "{{ run.id }}")
                known = f", to `{value}`" if "metadata." not in value else ""
                hint = "use the value that the pods get; `gen explain` describes the kind"
                draft.drop(place, f"`{name}`", f"gen or the operator sets it in every pod{known}", hint)
            elif name not in gone and (unknown := sorted((_referred(at(entry, "value")) & gone) - ours.keys())):
                message = f"`{name}` refers to {quoted(unknown)}, which the operator sets only behind it"
                draft.cannot_run(place, message, "write the value, or combine the two in `command`")


def _meant(entry: object) -> str:
    """The value of a variable, or the field of the pod."""
    text = at(entry, "valueFrom", "fieldRef", "fieldPath") or at(entry, "value")
    return _OF_INDEX.sub(lambda found: INDEX if found[0].startswith("$") else "metadata.annotations", str(text))


def _is_same(given: str, ours: str | None) -> bool:
    """Whether a value is the same, also as a longer name of a host."""
    host = ours is not None and not given[:1].isdecimal() and given.partition(".")[0] == ours.partition(".")[0]
    return given == ours or (host and "metadata." not in given)


def reserved(model: type[Job], fields: Fields) -> frozenset[str]:
    """Variables that a job of a kind cannot set."""
    job = validated(model, fields)
    if job is None:
        return model.reserved_env
    own = (str(entry["name"]) for role in job.replica_roles("run") for entry in role.env)
    return frozenset((*job.reserved, *own))


def _set_roles(
    draft: JobDraft, model: type[Job], every: list[Template], roles: dict[str, Fields], default: str
) -> None:
    """Set the common fields of the roles, the numbers of their pods, and `restart` if it is not `default`."""
    own = draft.fields.get("roles", {})
    draft.fields["roles"] = {name: own.get(name, {}) for name in roles}
    replicas = {one.role: one.replicas for one in every}
    known = fitted(draft, model, replicas)
    for field, holders in _holders(roles, known).items():
        values = {name: roles[name].get(field) for name in holders}
        if field == "env":
            _share_variables(draft, roles)
            continue
        common = _common(list(values.values()))
        if common is None and field == "image" and known.keys() - roles.keys():
            common = values[holders[0]]  # roles without pods need one, too
        if common is not None:
            draft.fields[field] = common
        for name, fields in roles.items():
            if field in fields and not (name in holders and fields[field] == common):
                draft.fields["roles"][name][field] = fields[field]
    for name, fields in draft.fields["roles"].items():
        if fields.get("args") == [] and name in known and not known[name].runs:
            del fields["args"]  # it runs the program of the operator anyway
    _share_restart(draft, every, default)
    _remove_defaults(draft, model)
    kept = draft.fields["roles"]
    needed = needed_roles(draft, model, replicas)
    order = (*_NUMBERS_OF_ROLES, "minReplicas", "maxReplicas", *ORDER)
    draft.fields["roles"] = {
        name: {field: fields[field] for field in dict.fromkeys((*order, *fields)) if field in fields}
        for name, fields in kept.items()
        if fields or name in needed
    }
    if not draft.fields["roles"]:
        del draft.fields["roles"]


def _set_counts(draft: JobDraft, item: Item, counts: Mapping[str, object]) -> None:
    for field, value in counts.items():
        draft.fields.pop(field, None)
        if field == "workers" and isinstance(value, int) and value > MAX_PODS:
            own = [name for name in _NUMBERS_OF_ROLES if at(item.body, "spec", name) == value]
            message = f"an array has at most {MAX_PODS} tasks, and this one has {value}"
            hint = "write several jobs, or let each task do more"
            draft.found.error(INVALID_MANIFEST, item.place("spec", *own[:1]), message, hint)
        elif value is not None:
            draft.set(value, *field.split("."), place=item.place("spec"))


def _holders(roles: dict[str, Fields], known: dict[str, Role]) -> dict[str, list[str]]:
    """By field: the roles that take the value of the job."""
    names = list(dict.fromkeys(field for fields in roles.values() for field in fields))
    return {field: [name for name in roles if _takes(known.get(name), field)] for field in names}


def _common(values: list[object]) -> object:
    """The value of the job: that of most roles, if all have one. Roles only add to mappings."""
    most = max(values, key=values.count, default=None)
    whole = not isinstance(most, dict) or values.count(most) == len(values)
    return most if whole and None not in values and values.count(most) * 2 > len(values) else None


def _takes(role: Role | None, field: str) -> bool:
    if role is None:
        return True
    return (role.trains or field not in _OF_TRAINING) and (role.runs or field not in _OF_PROGRAM)


_REFERENCE: Final = regex(r"\$\(([\w.-]+)\)")


def _referred(value: object) -> set[str]:
    """Variables that Kubernetes expands in a value."""
    return set(_REFERENCE.findall(value)) if isinstance(value, str) else set()


def _share_variables(draft: JobDraft, roles: dict[str, Fields]) -> None:
    """Variables that all roles have in common; roles only add to those of the job."""
    every = [fields.get("env", {}) for fields in roles.values()]
    first, others = every[0], every[1:]
    common = {name: value for name, value in first.items() if all(one.get(name) == value for one in others)}
    while alone := [name for name, value in common.items() if _referred(value) & (first.keys() - common.keys())]:
        del common[alone[0]]  # variables of the job are before those of a role, and would not know them
    if common:
        draft.fields["env"] = common
    for name, fields in roles.items():
        own = {key: value for key, value in fields.get("env", {}).items() if key not in common}
        if own:
            draft.fields["roles"][name]["env"] = own


def _share_restart(draft: JobDraft, every: list[Template], default: str) -> None:
    """A job has one policy; that of most roles, unless it is the default of the kind. Others become a patch."""
    policies = [one.restart for one in every if one.restart is not None]
    most = max(policies, key=policies.count, default=None)
    if most not in (None, default):
        draft.set(most, "restart", place=draft.place)


_NUMBERS_OF_ROLES: Final = ("replicas", "parallelism", "completions", "numOfHosts")


def _remove_defaults(draft: JobDraft, model: type[Job]) -> None:
    """Remove numbers of roles without which the job has the same pods."""

    def pods() -> list[tuple[object, ...]]:
        roles = _roles_of(model, draft.fields).values()
        return [(one.name, one.replicas, one.hosts, one.indices, one.largest) for one in roles]

    known = pods()
    for fields in draft.fields["roles"].values():
        for name in [name for name in _NUMBERS_OF_ROLES if name in fields]:
            value = fields.pop(name)
            if pods() != known or not known:
                fields[name] = value


def _remove_invalid(draft: JobDraft, model: type[Job]) -> None:
    """Remove copied values that the fields of the kind cannot have; they become a patch."""
    for _ in range(len(model.copied)):
        try:
            model.model_validate(as_read(draft.fields))
        except ValidationError as error:
            routes = [[str(step) for step in one["loc"]] for one in error.errors()]
            copied_fields = {name.partition(".")[0] for name in model.copied}
            route = next((one for one in routes if one[0] in copied_fields and len(one) > 0), None)
            if route is None or not _removed(draft.fields, route[: 3 if route[0] == "roles" else 1]):
                return
        else:
            return


def _remove_refused(draft: JobDraft, model: type[Job]) -> None:
    """Remove fields of roles that the kind refuses: operators write the commands of some pods."""
    for _ in range(len(draft.fields) * 4):
        job = validated(model, draft.fields)
        served = next(iter(model.facts.served), "")
        target = Target(
            api_version=model.facts.api_version(served),
            served=served,
            namespace=draft.namespace,
            name=draft.name,
            run=draft.name,
        )
        problems = list(job.problems(target)) if job is not None else []
        route = next((one.route for one in problems if len(one.route) > 1 or one.no_effect), None)
        if route is None or not _removed(draft.fields, [str(step) for step in route]):
            return


def _removed(fields: Fields, route: list[str]) -> bool:
    """Remove the value at a route; False if there is none."""
    *above, last = route
    holder = follow(fields, tuple(above))
    if not isinstance(holder, dict) or last not in holder:
        return False
    del holder[last]
    return True
