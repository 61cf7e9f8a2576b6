"""Fields of an overlay that imported jobs need, and those that it lacks.

If one of the jobs names an accelerator, all others with GPUs must name one, too. One of the overlay with the same
resource is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from gen.base import Route, as_mapping, replaced
from gen.importers import Fields, ImportedJob, Original
from gen.importers.draft import texts_in
from gen.job.kinds import KINDS
from gen.overlay.entries import AcceleratorFields
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.queues.kueue import Kueue
from gen.render.parts.grants import rewritten

_NAME: Final = "gpu"
_FIELD: Final = "accelerators"
_PLAIN: Final[Fields] = {_NAME: {"nvidia": {}}}
"""What `gpus` means in an overlay without accelerators."""


def with_accelerators(jobs: Sequence[ImportedJob]) -> list[ImportedJob]:
    """The jobs. If one needs an accelerator in the overlay, all others with GPUs get one, too.

    A job without `accelerator` uses the only one of an overlay, with any devices.
    """
    mixed = any(_FIELD in job.overlay for job in jobs)
    return [_named(job) if mixed else job for job in jobs]


def with_known_accelerators(
    jobs: Sequence[ImportedJob], overlay: Overlay | None, parse: Callable[[Fields], Overlay | None]
) -> list[ImportedJob]:
    """The jobs with the accelerators of an overlay in place of new ones that give pods the same devices and do not
    choose other nodes. `parse` makes an overlay of fields.
    """
    wanted: Fields = {}
    for job in jobs:
        merge(wanted, job.overlay.get(_FIELD, {}))
    read = parse({_FIELD: wanted}) if wanted and overlay is not None and overlay.fields.accelerators else None
    if read is None or overlay is None:
        return [*jobs]
    known = {name: _devices(one) for name, one in overlay.fields.accelerators.items()}
    same: dict[str, str] = {}
    for name, one in read.fields.accelerators.items():
        found = [other for other, devices in known.items() if devices == _devices(one)]
        same |= {name: found[0]} if found and name not in known else {}
    return [_renamed(job, same) for job in jobs]


def _devices(one: AcceleratorFields) -> tuple[object, object]:
    """The extended resource, and the labels of the nodes."""
    return one.profile.units(), {**one.profile.effect(1).node_labels, **one.node_labels}


def _renamed(job: ImportedJob, names: Mapping[str, str]) -> ImportedJob:
    """The job with other names of accelerators, which the overlay has."""
    own = {names.get(name, name): {} if name in names else one for name, one in job.overlay.get(_FIELD, {}).items()}
    fields = _with_name(job.fields, lambda known: names.get(known or "", known))
    return replace(job, fields=fields, overlay={**job.overlay, _FIELD: own}) if _FIELD in job.overlay else job


def with_mirrors(originals: Iterable[Original], overlay: Overlay | None) -> list[Original]:
    """The originals with the images that an overlay pulls in place of theirs."""
    if overlay is None:
        return [*originals]
    changed = []
    for one in originals:
        body = one.body
        for route, text in texts_in(body):
            if route[-1] == "image" and (pulled := rewritten(overlay, text)) != text:
                body = replaced(body, route, pulled)
        changed.append(replace(one, body=body))
    return changed


def with_frameworks(jobs: Sequence[ImportedJob]) -> list[ImportedJob]:
    """The jobs; each queue of Kueue lists the frameworks of all its jobs that Kueue does not ship."""
    frameworks: dict[str, set[str]] = {}
    for job in jobs:
        facts = KINDS[job.fields["kind"]].facts if job.fields.get("kind") in KINDS else None
        if facts is not None and (needed := Kueue.needs(facts, facts.api_version(facts.served[0]))):
            frameworks.setdefault(str(job.fields.get("queue")), set()).add(needed)
    return [
        replace(job, overlay={**job.overlay, "queues": _listed(job.overlay["queues"], frameworks)})
        if "queues" in job.overlay
        else job
        for job in jobs
    ]


def _listed(queues: Fields, frameworks: Mapping[str, set[str]]) -> Fields:
    return {
        name: {"kueue": {**profile["kueue"], "frameworks": sorted(frameworks[name])}}
        if "kueue" in profile and name in frameworks
        else profile
        for name, profile in queues.items()
    }


def new_accelerators(needed: Mapping[str, Any], overlay: Mapping[str, Any]) -> list[str]:
    """The accelerators for an overlay without any. Its own jobs with `gpus` would use the only one."""
    return [] if overlay.get(_FIELD) else [*needed.get(_FIELD, ())]


def _named(job: ImportedJob) -> ImportedJob:
    fields = _with_name(job.fields, lambda known: known or _NAME)
    if fields == job.fields:
        return job
    return replace(job, fields=fields, overlay={**job.overlay, _FIELD: {**job.overlay.get(_FIELD, {}), **_PLAIN}})


def _with_name(fields: Fields, name: Callable[[str | None], str | None]) -> Fields:
    """The fields of a job, a role or a step, with another accelerator where it has one or needs one for GPUs."""
    known = fields.get("accelerator")
    inner = {
        part: {key: _with_name(one, name) if isinstance(one, dict) else one for key, one in fields[part].items()}
        for part in ("roles", "steps")
        if isinstance(fields.get(part), dict) and known is None
    }
    wanted = name(known) if known is not None or str(fields.get("gpus", "0")) != "0" else None
    return {**fields, **inner, **({} if wanted is None else {"accelerator": wanted})}


_LIMITED: Final = ("volumes", "stores", "networks", "accelerators", "runtimes")
"""Fields with profiles by name that every namespace may use, unless its grant lists some."""
_BY_NAME: Final = (*_LIMITED, "queues")
"""Fields with profiles by name: a profile of the overlay is kept."""
EVERY: Final = "*"


def fragment(jobs: Iterable[ImportedJob]) -> Fields:
    """The fields of an overlay that all the jobs together need."""
    needed: Fields = {}
    for job in jobs:
        merge(needed, job.overlay)
        merge(needed, {"namespaces": {job.namespace: job.grants}}, most=True)
    return needed


def uses(jobs: Iterable[ImportedJob]) -> dict[str, dict[str, list[str]]]:
    """Names of the profiles that the jobs of each namespace use, by field."""
    names: dict[str, dict[str, list[str]]] = {}
    for job in jobs:
        merge(names.setdefault(job.namespace, {}), {name: [*job.overlay.get(name, ())] for name in _LIMITED})
    return names


def undeclared(needed: Mapping[str, Any], overlay: Mapping[str, Any]) -> list[str]:
    """Queues that an overlay grants without `queues`: as soon as it has one, it must declare all of them."""
    if not needed.get("queues") or overlay.get("queues"):
        return []
    lists = [grant.get("queues") for grant in as_mapping(overlay.get("namespaces")).values() if isinstance(grant, dict)]
    return sorted({str(name) for names in lists if isinstance(names, list) for name in names} - needed["queues"].keys())


def clashes(jobs: Iterable[ImportedJob]) -> Iterator[tuple[ImportedJob, Route, ImportedJob]]:
    """Jobs that need another profile than an earlier job by the same name, with its route and that job."""
    first: dict[Route, tuple[Any, ImportedJob]] = {}
    for job in jobs:
        for field in _BY_NAME:
            for name, profile in job.overlay.get(field, {}).items():
                known, other = first.setdefault((field, name), (profile, job))
                if known != profile:
                    yield job, (field, name), other


def lacking(jobs: Sequence[ImportedJob], overlay: Mapping[str, Any]) -> Fields:
    """The fields that an overlay lacks for jobs."""
    return missing(fragment(jobs), overlay, uses(jobs))


def merge(data: Fields, more: Mapping[str, Any], *, most: bool = False) -> None:
    """Add fields: those of mappings and items of lists that are missing; with `most`, also larger numbers."""
    for name, value in more.items():
        if isinstance(value, dict):
            merge(data.setdefault(name, {}), value, most=most)
        elif most and isinstance(value, int) and isinstance(data.get(name), int):
            data[name] = max(value, data[name])
        elif isinstance(value, list):
            known = data.setdefault(name, [])
            known += [item for item in value if item not in known]
        else:
            data.setdefault(name, value)


def missing(
    needed: Mapping[str, Any], overlay: Mapping[str, Any], used: Mapping[str, Mapping[str, list[str]]]
) -> Fields:
    """The part of `needed` that an overlay lacks. Its own values are never replaced."""
    lacking: Fields = {}
    for name, value in needed.items():
        if name == "namespaces":
            more = _grants(value, used, overlay)
        elif name in _BY_NAME and isinstance(overlay.get(name), dict):
            more = {key: one for key, one in value.items() if key not in overlay[name]}
        else:
            more = _lacking(value, overlay.get(name))
        if more or (name == "namespaces" and more is not None):
            lacking[name] = more
    only = [*as_mapping(overlay.get(_FIELD))]
    if lacking.get(_FIELD) and len(only) == 1 and "accelerator" not in as_mapping(overlay.get("defaults")):
        lacking.setdefault("defaults", {})["accelerator"] = only[0]  # of its own jobs, which may name none
    return lacking


def _lacking(value: object, known: object) -> Any:
    if known is None:
        return value
    if isinstance(value, dict) and isinstance(known, dict):
        parts = {name: _lacking(inner, known.get(name)) for name, inner in value.items()}
        return {name: part for name, part in parts.items() if part}
    if isinstance(value, list) and isinstance(known, list):
        return [item for item in value if item not in known]
    return None


def _grants(
    wanted: Mapping[str, Any], used: Mapping[str, Mapping[str, list[str]]], overlay: Mapping[str, Any]
) -> Fields | None:
    """Grants by namespace. A new entry starts with the values of `*`, which it replaces."""
    known = overlay.get("namespaces")
    known = known if isinstance(known, dict) else {}
    made: Fields = {}
    for namespace, grants in wanted.items():
        current = as_mapping(known.get(namespace, known.get(EVERY)))
        names = used.get(namespace, {})
        limited = {name: names.get(name, []) for name in _LIMITED if isinstance(current.get(name), list)}
        more = {
            name: part for name, value in {**grants, **limited}.items() if (part := _lacking(value, current.get(name)))
        }
        if namespace in known or (EVERY in known and not more):
            made |= {namespace: more} if more else {}
        elif known or more:
            made[namespace] = _together(current, more)
    if made and not known:
        made[EVERY] = {}  # without any entry, every namespace was admitted
    return made or None


def _together(current: Fields, more: Fields) -> Fields:
    result: Fields = {}
    merge(result, current)
    merge(result, more)
    return result


def conflicts(needed: Mapping[str, Any], overlay: Mapping[str, Any]) -> Iterator[Route]:
    """Routes of defaults that the overlay sets to something else."""
    known = overlay.get("defaults")
    for name, value in needed.get("defaults", {}).items():
        if isinstance(known, dict) and name in known and str(known[name]) != str(value):
            yield "defaults", name
