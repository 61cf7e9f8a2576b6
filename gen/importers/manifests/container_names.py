"""Names of training containers: what refers to one, such as annotations and commands of `kubectl`, has the name that it
has in a job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from gen.base import as_list, as_mapping, at, follow, regex, replaced
from gen.base.codes.imports import NOT_CARRIED
from gen.importers import ImportedJob
from gen.importers.draft import JobDraft, texts_in
from gen.importers.manifests.objects import Item, templates
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.base import Job
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body

_KUBECTL: Final = r"(?:(?!\s--\s)(?:\\\n|[^;&|\n]))*?\s(?:-c[\s=]*|--container[\s=]+)"
"""Words of `kubectl` before the name of a container. Those after `--` are of another program."""
_BY_CONTAINER: Final = regex(
    r"((?:container\.(?:apparmor\.security\.beta|seccomp\.security\.alpha)\.kubernetes\.io/|ad\.datadoghq\.com/"
    r"|[\w.-]+/container\.))([^.]+)(.*)"
)
"""Annotations with the name of a container in their key."""
_OF_CONTAINERS: Final = regex(r"containerName|[\w.-]+/(?:[\w.-]+-)?container(?:s|-names?)?")
"""Fields and annotations with the name of a container as their value, or several names with commas."""


def with_container(value: Any, old: str, new: str, before: str = "") -> Any:
    """A value with the new name of a container in all references. `before` is the program of a list of arguments."""
    if isinstance(value, dict):
        of_args = str(next(iter(as_list(value.get("command"))), ""))
        made = {}
        for key, inner in value.items():
            found = _BY_CONTAINER.fullmatch(str(key))
            name = f"{found[1]}{new}{found[3]}" if found is not None and found[2] == old else key
            if isinstance(inner, str) and _OF_CONTAINERS.fullmatch(str(key)):
                made[name] = ",".join(new if one.strip() == old else one for one in inner.split(","))
            else:
                made[name] = with_container(inner, old, new, of_args if key == "args" else "")
        return made
    form = re.compile(rf"(\bkubectl\b{_KUBECTL}){re.escape(str(old))}(?![\w.-])")
    if isinstance(value, list):
        words = [str(one) for one in (before, *value)] if before else [str(one) for one in value]
        if words and words[0].rpartition("/")[2] == "kubectl" and not any("\v" in one for one in words):
            return form.sub(rf"\g<1>{new}", "\v".join(words)).split("\v")[1 if before else 0 :]
        return [with_container(one, old, new) for one in value]
    return form.sub(rf"\g<1>{new}", value) if isinstance(value, str) else value


def is_by_container(key: str, name: str) -> bool:
    """Whether the key of an annotation, which `with_container` does not know, may have the name of a container."""
    own = key.rpartition("/")[2]
    return "/" in key and _BY_CONTAINER.fullmatch(key) is None and (own == name or own.startswith(f"{name}."))


def with_names_in_job(draft: JobDraft, item: Item, body: Body, model: type[Job], facts: Resource) -> Body:
    """The object with the name that its training containers have in a job: in annotations of their pods, and in
    programs of all pods. A variable of a container needs no name for that.
    """
    body = model.with_container_names(body) if facts is model.facts else body
    every = [one for one in templates(facts, body) if one.pods is not None]
    mains = {str(one.container.get("name")) for one in every}
    name = model.main_container()
    for one in every:
        pod = follow(body, one.route)
        others = {
            str(at(container, "name"))
            for container in as_list(one.spec.get("containers"))
            if container is not one.container
        }
        for old in mains - others - {name}:
            for key in as_mapping(one.metadata.get("annotations")) if one.container.get("name") == old else ():
                if is_by_container(str(key), old):
                    message = f"`{key}` may name the container `{old}`, which is `{name}` in pods of the job"
                    place = item.place(*one.route, "metadata", "annotations", key)
                    draft.found.warning(NOT_CARRIED, place, message, f"if it does, write `{name}` in its place")
            pod = with_container(pod, old, name)
        for route, text in texts_in(pod):
            own = at(follow(pod, route[:3]), "name")
            own = name if own == one.container.get("name") else own
            if route[-1] == "containerName" and route[3] == "env" and text == own:
                source = follow(pod, route[:-1])
                pod = replaced(pod, route[:-1], {key: value for key, value in source.items() if key != route[-1]})
        body = replaced(body, one.route, pod)
    return body


def with_names_of_steps(job: ImportedJob, others: Iterable[ImportedJob]) -> ImportedJob:
    """A step with the names that the training containers of other steps have in their jobs, as far as one is clear."""
    names: dict[str, set[str]] = {}
    for body, kind in ((one.body, other.fields["kind"]) for other in others for one in other.originals):
        for one in templates(ALL_KINDS[kind].facts, body):
            names.setdefault(str(one.container.get("name")), set()).add(ALL_KINDS[kind].main_container())
    for old, (new, *more) in ((old, sorted(new)) for old, new in names.items()):
        if not more and old != new:
            originals = (replace(one, body=with_container(one.body, old, new)) for one in job.originals)
            job = replace(job, fields=with_container(job.fields, old, new), originals=tuple(originals))
    return job
