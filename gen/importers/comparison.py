"""Comparison of an imported object with the one that gen renders for it, without what does not count: values that a
cluster adds, defaults of its kind, and unknown fields.

The original gets the names that gen gives to its run, its training container and its volumes; then their values are
compared by route.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gen.base import Route, as_mapping, as_mappings, as_texts, at, follow, replaced
from gen.base.yaml.user_text import verbatim
from gen.importers import Fields
from gen.importers.manifests.container_names import with_container
from gen.importers.manifests.objects import main_index
from gen.importers.manifests.pods import without_metadata
from gen.kubernetes import quantity
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.builtin import POD_LIST_KEYS
from gen.kubernetes.facts.pods import is_at, matches, pod_sets, pods_by_shape
from gen.kubernetes.facts.server_defaults import IN_POD
from gen.kubernetes.objects import Body, present

LIST_KEYS: Final = {
    **POD_LIST_KEYS,
    **dict.fromkeys(("replicatedJobs", "tasks", "parameters", "algorithmSettings", "metricStrategies"), "name"),
    "workerGroupSpecs": "groupName",
    "runtimePatches": "manager",
    "tolerations": "*",
}
"""Fields that identify the items of lists; `*` for items that are one value."""


_SHELL: Final = ["sh", "-c"]


def aligned(original: Body, rendered: Body) -> Body:
    """The original with the names of the rendered object, for each of its pod templates."""
    facts = resource_of_object(rendered["apiVersion"], rendered["kind"])
    if facts is None:
        return original
    if facts.nodes is not None and isinstance(nodes := follow(original, facts.nodes.count[:-1]), dict):
        own = _as_logged(nodes, as_mapping(follow(rendered, facts.nodes.count[:-1])))
        original = replaced(original, facts.nodes.count[:-1], own)
    for route, ours in matches(rendered, facts.nodes.changes) if facts.nodes is not None else ():
        found = _same_template(original, route, rendered)
        if found is not None and isinstance(metadata := at(found[1], "metadata"), dict):
            original = replaced(original, (*found[0], "metadata"), without_metadata(metadata))
        both = (at(found and found[1], "spec"), at(ours, "spec"))
        if found is not None and all(at(one, "containers") and at(one, "volumes") for one in both):
            original = replaced(original, (*found[0], "spec"), _aligned_pod(*both, facts.container))
    for pods in pod_sets(facts, rendered):
        template = _same_template(original, pods.route, rendered)
        spec = at(template[1], "spec") if template is not None else None
        if template is not None and isinstance(spec, dict):
            changed = _aligned_pod(spec, pods.template["spec"], facts.container)
            if facts.restarts_by_role:
                changed.pop("restartPolicy", None)
            metadata = {key: value for key, value in (at(template[1], "metadata") or {}).items() if key != "name"}
            whole = {**as_mapping(template[1]), "metadata": metadata, "spec": changed}
            original = replaced(original, template[0], present(**whole))
            if isinstance(spec.get("containers"), list) and spec["containers"]:
                main = main_index(spec, facts.container)
                names = (at(one["containers"][main], "name") for one in (spec, changed))
                original = with_container(original, *names)
    return original


def _same_template(original: Body, route: Route, rendered: Body) -> tuple[Route, object] | None:
    """The template of the same role, which may have another index."""
    here: list[str | int] = []
    for index, step in enumerate(route):
        if isinstance(step, str):
            here.append(step)
            continue
        wanted = follow(rendered, route[: index + 1])
        key = LIST_KEYS.get(str(route[index - 1]), "name")
        items = follow(original, tuple(here))
        names = [at(one, key) for one in items] if isinstance(items, list) else []
        if at(wanted, key) not in names:
            return None
        here.append(names.index(at(wanted, key)))
    found = follow(original, tuple(here))
    return (tuple(here), found) if isinstance(found, dict) else None


def _aligned_pod(spec: Body, ours: Body, container: str | None) -> Body:
    names = _volume_names(spec, ours)
    main = main_index(spec, container)
    changed = dict(spec)
    for field in ("containers", "initContainers"):
        if isinstance(spec.get(field), list):
            trains = main if field == "containers" else None
            changed[field] = [
                _renamed_mounts(one, names | (_mount_names(one, spec, ours) if number == trains else {}))
                for number, one in enumerate(spec[field])
            ]
    if isinstance(changed.get("containers"), list) and changed["containers"]:
        own = _as_logged(changed["containers"][main], ours["containers"][0])
        changed["containers"][main] = {**own, "name": ours["containers"][0]["name"]}
    if isinstance(spec.get("volumes"), list):
        changed["volumes"] = [
            {**one, "name": names.get(key, key)} if isinstance(one, dict) and _is_key(key := one.get("name")) else one
            for one in spec["volumes"]
        ]
    return changed


def _as_logged(container: Body, ours: Body) -> Body:
    """A container with its program in a shell of its own, if that is the one of a trial."""
    whole = [*as_texts(container.get("command")), *as_texts(container.get("args"))]
    text = whole[-1] if whole[:-1] == _SHELL else shlex.join(whole)
    command = [*_SHELL, f"(\n{text.rstrip()}\n)"]
    if ours.get("command") != command or not container.get("command"):
        return container
    return {**{name: value for name, value in container.items() if name != "args"}, "command": command}


def _volume_names(spec: Body, ours: Body) -> dict[Any, str]:
    """Names of volumes in the original, and in the rendered object for the same source."""
    left = [dict(one) for one in ours.get("volumes") or ()]
    names: dict[Any, str] = {}
    for volume in as_mappings(spec.get("volumes")):
        source = {key: value for key, value in volume.items() if key != "name"}
        same = next((one for one in left if _is_within(source, one)), None)
        if same is not None and _is_key(volume.get("name")):
            left.remove(same)
            names[volume.get("name")] = same["name"]
    return names


def _is_within(source: Any, volume: Any) -> bool:
    """Whether a volume has everything of a source. An empty directory is written in several ways."""
    if not source:
        return set(volume) <= {"name"} or volume.get("emptyDir") == {}
    if isinstance(source, dict) and isinstance(volume, dict):
        return all(key in volume and _is_within(value, volume[key]) for key, value in source.items() if value)
    return str(source) == str(volume)


def _mount_names(container: Any, spec: Body, ours: Body) -> dict[Any, str]:
    """By path of a mount: the name of the volume with the same source that gen mounts there. A claim with several
    mounts is a volume for each.
    """
    ours_at = {at(one, "mountPath"): at(one, "name") for one in as_mappings(ours["containers"][0].get("volumeMounts"))}
    sources = {str(at(one, "name")): one for one in as_mappings(spec.get("volumes"))}
    volumes = {at(one, "name"): one for one in as_mappings(ours.get("volumes"))}
    names: dict[Any, str] = {}
    for mount in as_mappings(at(container, "volumeMounts")):
        path, source = str(mount.get("mountPath")), as_mapping(sources.get(str(mount.get("name"))))
        name = ours_at.get(path)
        source = {key: value for key, value in source.items() if key != "name"}
        if source and name in volumes and _is_within(source, volumes[name]):
            names[path] = str(name)
    return names


def _renamed_mounts(container: Any, names: dict[Any, str]) -> Any:
    mounts = at(container, "volumeMounts")
    if not isinstance(mounts, list):
        return container
    changed = [
        {**one, "name": names.get(str(one.get("mountPath")), names.get(key, key))}
        if isinstance(one, dict) and _is_key(key := one.get("name"))
        else one
        for one in mounts
    ]
    return {**container, "volumeMounts": changed}


def _is_key(name: object) -> bool:
    return name is None or isinstance(name, str)


_NONE: Final = object()
_WHOLE: Final = frozenset({"primaryPodLabels", "metricsCollectorSpec"})
"""Fields whose values mean something together: they are the same with additions, or another value."""


class Difference(Struct, frozen=True, kw_only=True):
    """A value that one of the objects does not have, or has differently."""

    route: Route
    """Route in the rendered object. For an item that it lacks, the last step is `-`."""
    original: object = None
    """None if only the rendered object has the value."""
    rendered: object = None
    """None if only the original has the value."""
    removed: bool = False
    """Whether the original means another value by a missing field: the numbers of pods of a runtime in the cluster."""

    @property
    def added(self) -> bool:
        """Whether only gen sets the value."""
        return self.original is None and not self.removed

    @property
    def path(self) -> str:
        """The path of a patch."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.route)

    @property
    def operation(self) -> Fields:
        """The operation of a patch that gives the rendered object the value of the original."""
        if self.removed:
            return {"op": "remove", "path": self.path}
        op = "add" if self.rendered is None else "replace"
        return {"op": op, "path": self.path, "value": verbatim(self.original)}


def compared(original: Body, rendered: Body) -> Iterator[Difference]:
    """Values that differ, apart from those that a missing field has by default."""
    theirs = {**original, "metadata": {**original["metadata"], "namespace": rendered["metadata"].get("namespace")}}
    theirs["metadata"].pop("generateName", None)
    theirs["metadata"]["name"] = rendered["metadata"]["name"]
    facts = resource_of_object(rendered["apiVersion"], rendered["kind"])
    count = facts.nodes.count if facts is not None and facts.nodes is not None else ()
    if count and follow(theirs, count) is None and (number := follow(rendered, count)) is not None:
        yield Difference(route=count, rendered=number, removed=True)
    yield from _Comparison(rendered).differences(aligned(theirs, rendered), rendered)


def _routes(body: Body, pattern: Pattern, value: object) -> list[Route]:
    return [route for route, one in matches(body, pattern) if one == value and type(one) is type(value)]


def without_defaults(body: Body, facts: Resource) -> Body:
    """An object without values that its operator sets anyway."""
    for pattern, value in facts.defaults.items():
        for route in _routes(body, pattern, value):
            holder = follow(body, route[:-1])
            body = replaced(body, route[:-1], {key: one for key, one in holder.items() if key != route[-1]})
    return body


class _Comparison:
    """Differences of an original from a rendered object, by routes of that."""

    def __init__(self, rendered: Body) -> None:
        self._body = rendered
        self._facts = resource_of_object(rendered["apiVersion"], rendered["kind"])
        self._pods = frozenset(pods_by_shape(rendered))

    def differences(self, original: object, rendered: object, route: Route = ()) -> Iterator[Difference]:
        if isinstance(original, dict) and isinstance(rendered, dict):
            yield from self._in_mapping(original, rendered, route)
        elif isinstance(original, list) and isinstance(rendered, list) and (key := _key(original, rendered, route)):
            yield from self._in_list(original, rendered, route, key)
        elif not _equal(original, rendered, route):
            yield Difference(route=route, original=original, rendered=rendered)

    def _in_mapping(self, original: Fields, rendered: Fields, route: Route) -> Iterator[Difference]:
        for key, value in original.items():
            here = (*route, key)
            if key in rendered:
                inner = [*self.differences(value, rendered[key], here)]
                is_whole = key in _WHOLE and any(not one.added for one in inner)
                yield from [Difference(route=here, original=value, rendered=rendered[key])] if is_whole else inner
            elif not self._is_default(here, value, original):
                yield Difference(route=here, original=value)
        for key, value in rendered.items():
            here = (*route, key)
            if key not in original and not self._is_default(here, value, rendered):
                yield Difference(route=here, rendered=value)

    def _in_list(self, original: list[object], rendered: list[object], route: Route, key: str) -> Iterator[Difference]:
        """Items with the same key are compared; a list can have one twice."""
        left = list(enumerate(rendered))
        for item in original:
            same = next((entry for entry in left if _item_key(entry[1], key) == _item_key(item, key)), None)
            if same is None:
                yield Difference(route=(*route, "-"), original=item)
                continue
            left.remove(same)
            yield from self.differences(item, same[1], (*route, same[0]))
        for index, item in left:
            yield Difference(route=(*route, index), rendered=item)

    def _is_default(self, route: Route, value: object, holder: Body) -> bool:
        """Whether a missing field in this mapping means the same value."""
        known = self._default(route, holder)
        if known == {} and isinstance(value, dict):
            return all(self._is_default((*route, key), one, value) for key, one in value.items())
        return known is not _NONE and known == value and type(known) is type(value)

    def _default(self, route: Route, holder: Body) -> object:
        """The meaning of a missing field; for a mapping with several of these fields, an empty one."""
        facts = self._facts
        start = next((size for size in range(len(route)) if route[:size] in self._pods), None)
        if start is not None and (facts is None or facts.nodes is None):  # else a missing field is that of the runtime
            return _found(IN_POD, route[start:])
        if facts is None:
            return _NONE
        found = _found(facts.implied, route, _found(facts.defaults, route))
        if callable(found):
            return found(self._body, holder)
        if found is not _NONE:
            return found
        counts = (count for pods in facts.pods for count in pods.counts)
        if facts.suspend == route:
            return False
        return next((count.default for count in counts if is_at(route, count.route)), _NONE)


def _found(known: Mapping[Pattern, object], route: Route, otherwise: object = _NONE) -> object:
    return next((value for pattern, value in known.items() if is_at(route, pattern)), otherwise)


def _key(original: list[object], rendered: list[object], route: Route) -> str:
    """The field that identifies the items of a list; empty if the list is one value."""
    name = str(route[-1]) if route else ""
    key = LIST_KEYS.get(name, "")
    every = [*original, *rendered]
    if key == "*":
        return key
    return key if key and all(isinstance(one, dict) and key in one for one in every) else ""


def _item_key(item: Any, key: str) -> Any:
    """The key of an item; a whole item is its own key."""
    return _sorted(item) if key == "*" else item[key]


def _sorted(item: object) -> Any:
    return tuple(sorted((name, str(value)) for name, value in item.items())) if isinstance(item, dict) else item


def _equal(original: object, rendered: object, route: Route) -> bool:
    if original == rendered and type(original) is type(rendered):
        return True
    texts = str(original), str(rendered)
    if texts[0] == texts[1] or (isinstance(original, bool) and texts[0].lower() == texts[1]):
        return True
    return _is_quantity(route) and _amount(original) == _amount(rendered) is not None


def _is_quantity(route: Route) -> bool:
    return any(step in ("limits", "requests", "sizeLimit", "resourcesPerNode") for step in route)


def _amount(value: object) -> object:
    try:
        return quantity.amount(str(value)[:64])
    except ValueError:
        return None
