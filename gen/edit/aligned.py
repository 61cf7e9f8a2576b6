"""An imported object with the names that gen gives: of the run, its training container and its volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.importers.manifests.templates import main_index
from gen.kubernetes import at, present
from gen.resources import resource_of_object
from gen.resources.pods import follow, pod_sets, replaced

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body

LIST_KEYS: Final = {
    **dict.fromkeys(("containers", "initContainers", "volumes", "env", "imagePullSecrets"), "name"),
    **dict.fromkeys(("replicatedJobs", "tasks"), "name"),
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "workerGroupSpecs": "groupName",
    "tolerations": "*",
}
"""Fields by which the items of lists correspond; `*` for items that are one value."""


def named_as(body: Any, old: str, new: str) -> Any:
    """A value with another name of the run in all of its texts."""
    if isinstance(body, str):
        return body.replace(old, new)
    if isinstance(body, list):
        return [named_as(one, old, new) for one in body]
    if isinstance(body, dict):
        return {key: named_as(one, old, new) for key, one in body.items()}
    return body


def aligned(original: Body, rendered: Body) -> Body:
    """The original with the names of the rendered object, for each of its pod templates."""
    facts = resource_of_object(rendered["apiVersion"], rendered["kind"])
    if facts is None:
        return original
    for pods in pod_sets(facts, rendered):
        template = _same_template(original, pods.route, rendered)
        spec = at(template[1], "spec") if template is not None else None
        if template is not None and isinstance(spec, dict):
            changed = _aligned_pod(spec, pods.template["spec"], facts.container)
            if facts.restarts_by_role:
                changed.pop("restartPolicy", None)
            metadata = {key: value for key, value in (at(template[1], "metadata") or {}).items() if key != "name"}
            original = replaced(original, template[0], present(metadata=metadata, spec=changed))
    return original


def _same_template(original: Body, route: Route, rendered: Body) -> tuple[Route, Any] | None:
    """The template of the same role, whose item may have another index."""
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
            changed[field] = [_renamed_mounts(one, names) for one in spec[field]]
    if isinstance(changed.get("containers"), list) and changed["containers"]:
        changed["containers"][main] = {**changed["containers"][main], "name": ours["containers"][0]["name"]}
    if isinstance(spec.get("volumes"), list):
        changed["volumes"] = [{**one, "name": names.get(one.get("name"), one.get("name"))} for one in spec["volumes"]]
    return changed


def _volume_names(spec: Body, ours: Body) -> dict[Any, str]:
    """Names of volumes in the original, and in the rendered object for the same source."""
    left = [dict(one) for one in ours.get("volumes") or ()]
    names: dict[Any, str] = {}
    volumes = spec.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        source = {key: value for key, value in volume.items() if key != "name"} if isinstance(volume, dict) else {}
        same = next((one for one in left if _is_within(source, one)), None)
        if same is not None:
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


def _renamed_mounts(container: Any, names: dict[Any, str]) -> Any:
    mounts = at(container, "volumeMounts")
    if not isinstance(mounts, list):
        return container
    changed = [{**one, "name": names.get(one.get("name"), one.get("name"))} for one in mounts if isinstance(one, dict)]
    return {**container, "volumeMounts": changed}
