"""Volumes and ports of pod templates as volumes of the overlay, shared memory and files of the job; TensorBoard of a
run; and what programs take from outside of the object: names of Services, and variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from gen.base import (
    Location,
    Route,
    as_list,
    as_mapping,
    as_mappings,
    as_texts,
    at,
    quoted,
    regex,
)
from gen.importers.cleaning import cleaned
from gen.importers.draft import JobDraft, literal, texts_in, validated
from gen.importers.manifests.objects import container_route, inside
from gen.importers.manifests.placeholders import USUAL
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.objects import JOB_LABEL, Body, present
from gen.overlay.profiles.accelerators.google import TPU
from gen.render.parts.data import FILES

if TYPE_CHECKING:
    from gen.importers import Fields, ImportInput
    from gen.importers.manifests.objects import Item, Template
    from gen.importers.manifests.placeholders import Placeholder
    from gen.job.kinds.base import Job
    from gen.kubernetes.facts.base import Resource

SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - the mount path, not a file of this process
_FOLDERS: Final = (None, "", "Directory", "DirectoryOrCreate")


Holders = dict[str, dict[str, Location]]
"""By volume of the job: the roles that mount it, with the places."""


def mounted(draft: JobDraft, item: Item, one: Template, files: FileVolumes, main: Route, holders: Holders) -> Fields:
    """Set `data` and `files` of the job; returns fields of the role. Other volumes become a patch. `main` is the route
    of the training container.
    """
    fields: Fields = {}
    place = item.place(*one.route)
    sources = {str(at(volume, "name")): volume for volume in as_mappings(one.spec.get("volumes"))}
    for name in sources:
        for file, text in files.get((one.route, name), {}).items():
            draft.set(literal(text), "files", file, place=place)
    for number, mount in enumerate(as_list(one.container.get("volumeMounts"))):
        volume, path = sources.get(str(at(mount, "name"))), at(mount, "mountPath")
        if not isinstance(volume, dict) or not isinstance(path, str):
            continue
        size = at(volume, "emptyDir", "sizeLimit")
        if path == SHARED_MEMORY and at(volume, "emptyDir", "medium") == "Memory" and size is not None:
            fields["sharedMemory"] = str(size)
        elif (profile := _profile(volume)) is not None:
            name = _mount(draft, volume, mount, profile, place)
            holders.setdefault(name, {}).setdefault(one.role, item.place(*main, "volumeMounts", number))
    return fields


def _mount(draft: JobDraft, volume: Body, mount: Body, profile: Fields, place: Location) -> str:
    """Set `data`; returns the name of the volume."""
    claim = at(volume, "persistentVolumeClaim", "claimName")
    name = draft.volume(claim if isinstance(claim, str) else str(volume.get("name")), profile)
    if "hostPath" in profile:
        draft.grant("allow", "hostPath")
    details = present(
        path=literal(mount["mountPath"]),
        subPath=literal(str(mount["subPath"])) if mount.get("subPath") else None,
        readOnly=True if mount.get("readOnly") is True else None,
    )
    value, known = details if len(details) > 1 else details["path"], draft.fields.get("data", {})
    if known.get(name, value) != value and "emptyDir" not in profile:  # a job mounts a volume once
        volumes = draft.overlay["volumes"]
        names = (f"{name[:59]}-{number}" for number in count(2))
        name = next(one for one in names if known.get(one, value) == value and volumes.get(one, profile) == profile)
        volumes[name] = profile
    if name not in known:
        draft.set(value, "data", name, place=place)
    return name


def separate(draft: JobDraft, holders: Holders, every: Sequence[Item]) -> None:
    """Leave claims of single roles that only one node can mount to a patch, and report others: all pods mount them."""
    job = validated(ALL_KINDS[draft.fields["kind"]], draft.fields)
    roles = [role.name for role in job.replica_roles(draft.name) if role.needs_data] if job is not None else []
    single = {one.name for one in every if _is_of_one_node(one.body)}
    for name, places in holders.items():
        profile, others = draft.overlay["volumes"][name], [role for role in roles if role not in places]
        if not others or "emptyDir" in profile:
            continue
        if profile.get("claim") in single:
            del draft.overlay["volumes"][name], draft.fields["data"][name]
            continue
        what = f"the limit of the volume `{name}` to {quoted(list(places))}"
        hint = f"check that the pods of {quoted(others)} may mount it, too: a claim may be for one node"
        draft.drop(next(iter(places.values())), what, "all pods of a job have its volumes", hint)
    if not draft.fields.get("data", {"": ""}):
        del draft.fields["data"]


def _is_of_one_node(body: Body) -> bool:
    """Whether it is a claim with pods that must be on one node."""
    modes = as_list(at(body, "spec", "accessModes"))
    return bool(
        body["kind"] == "PersistentVolumeClaim"
        and modes
        and {"ReadWriteOnce", "ReadWriteOncePod"} >= {*map(str, modes)}
    )


def _profile(volume: Body) -> Fields | None:
    """The declaration of a volume in an overlay; None if only a patch has it."""
    if len(volume) > len(("name", "source")):
        return None
    match {key: value for key, value in volume.items() if key != "name"}:
        case {"persistentVolumeClaim": {"claimName": str(claim), **rest}}:
            return {"claim": claim, **({"readOnly": True} if rest.get("readOnly") is True else {})}
        case {"hostPath": {"path": str(path), **rest}} if rest.get("type") in _FOLDERS:
            return {"hostPath": {"path": path, **({"type": rest["type"]} if rest.get("type") else {})}}
        case {"emptyDir": dict(settings)} if set(settings) <= {"medium", "sizeLimit"}:
            return {"emptyDir": {key: str(value) for key, value in settings.items() if value}}
        case other if not other:  # `emptyDir: {}`, without its empty value
            return {"emptyDir": {}}
    return None


FileVolumes = Mapping[tuple[Route, str], Mapping[str, str]]
"""Texts by path of each ConfigMap volume that becomes `files`, by the route of its template and its name."""


def file_volumes(every: Sequence[Template], maps: Mapping[str, Body]) -> FileVolumes:
    """The volumes of imported ConfigMaps that only the training container mounts. All files of a pod have one mode, and
    all pods have the same files.
    """
    found: dict[tuple[Route, str], Mapping[str, str]] = {}
    texts: dict[str, str] = {}
    for one in every:
        modes: list[object] = []
        for volume in as_mappings(one.spec.get("volumes")):
            content = _files(one, volume, maps)
            if content is None or any(texts.get(path, text) != text for path, text in content.items()):
                continue
            if modes in ([], [_mode(volume)]):
                modes = [_mode(volume)]
                texts |= content
                found[one.route, str(volume["name"])] = content
    return found


def _files(one: Template, volume: Body, maps: Mapping[str, Body]) -> dict[str, str] | None:
    """Texts by path; None if a part of the volume is no file of the job."""
    source, name = volume.get("configMap"), volume.get("name")
    wanted = at(source, "name") if set(volume) == {"name", "configMap"} else None
    data = at(maps.get(wanted) if isinstance(wanted, str) else None, "data")
    if not isinstance(data, dict) or not all(isinstance(text, str) for text in data.values()):
        return None
    keys = {key: key for key in data}
    if isinstance(source, dict) and isinstance(source.get("items"), list):
        if any("mode" in as_mapping(entry) or at(entry, "key") not in data for entry in source["items"]):
            return None
        keys = {str(at(entry, "key")): str(at(entry, "path")) for entry in source["items"]}
    content: dict[str, str] = {}
    for container in _containers(one.spec):
        mounts = [mount for mount in as_mappings(container.get("volumeMounts")) if mount.get("name") == name]
        for mount in mounts:
            files = _mounted_files(mount, keys, data)
            if container is not one.container or files is None or content.keys() & files:
                return None
            content |= files
    return content or None


def _mounted_files(mount: Body, keys: Mapping[str, str], data: Mapping[str, str]) -> dict[str, str] | None:
    path = str(mount.get("mountPath")).rstrip("/")
    if not set(mount) <= {"name", "mountPath", "subPath", "readOnly"}:
        return None
    if isinstance(part := mount.get("subPath"), str):
        key = next((key for key, file in keys.items() if file == part), None)
        return {path: data[key]} if key is not None else None
    return {f"{path}/{file}": data[key] for key, file in keys.items()}


def _mode(volume: Body) -> object:
    mode = at(volume, "configMap", "defaultMode")
    return _FILE_MODE if mode is None else mode


_FILE_MODE: Final = 0o644
"""Mode of files of a ConfigMap, if the volume sets no other."""


def _containers(spec: Body) -> Iterator[Body]:
    for field in ("containers", "initContainers"):
        yield from as_mappings(spec.get(field))


def maps_of(every: Sequence[Template], files: FileVolumes) -> dict[str, bool]:
    """Names of the ConfigMaps of the pods, each with whether they need it only as files of the job."""
    found: dict[str, bool] = {}
    for one in every:
        for volume in as_mappings(one.spec.get("volumes")):
            carried = (one.route, str(volume.get("name"))) in files
            for name in (str(at(source, "name")) for source in inside(volume, *_MAP_SOURCES)):
                found[name] = carried and found.get(name, True)
        for container in _containers(one.spec):
            found |= dict.fromkeys((str(at(source, "name")) for source in inside(container, *_MAP_SOURCES)), False)
    return found


_MAP_SOURCES: Final = ("configMap", "configMapRef", "configMapKeyRef")


def without_files(one: Template, files: FileVolumes) -> Body:
    """The pod without the volumes that became files of the job, but with their mode, as the volume of gen has it."""
    gone = [volume for volume in as_mappings(one.spec.get("volumes")) if (one.route, str(volume.get("name"))) in files]
    if not gone:
        return one.spec
    names = {str(volume["name"]) for volume in gone}
    kept = [volume for volume in one.spec["volumes"] if volume not in gone]
    if (mode := _mode(gone[0])) != _FILE_MODE:
        kept.append({"name": FILES, "configMap": {"defaultMode": mode}})
    changed = {**one.spec, "volumes": kept}
    for field in ("containers", "initContainers"):
        if isinstance(one.spec.get(field), list):
            changed[field] = [_without_mounts(container, names) for container in one.spec[field]]
    return changed


def _without_mounts(container: Any, gone: set[str]) -> Any:
    mounts = at(container, "volumeMounts")
    if not isinstance(mounts, list):
        return container
    return {**container, "volumeMounts": [one for one in mounts if str(at(one, "name")) not in gone]}


_LOGDIR = regex(r"--logdir(?:[= ]+)([^\s'\"]+)")


def boards(every: list[Item], run: Item) -> Iterator[tuple[Item, list[Item]]]:
    """Deployments of TensorBoard, each with its Services: their names start with that of the run, or they have a claim
    of its pods.
    """
    claims = _claims(run.body)
    for item in every:
        spec = at(item.body, "spec", "template", "spec")
        if item.body["kind"] != "Deployment" or _logdir(spec) is None:
            continue
        if not item.name.startswith(run.name) and claims.isdisjoint(_claims(spec)):
            continue
        labels = at(item.body, "spec", "template", "metadata", "labels")
        services = [
            one for one in every if one.body["kind"] == "Service" and _selects(at(one.body, "spec", "selector"), labels)
        ]
        yield item, services


def _claims(value: object) -> set[str]:
    """Names of the claims of all pods below a value."""
    names = (at(one, "claimName") for one in inside(value, "persistentVolumeClaim"))
    return {name for name in names if isinstance(name, str)}


def set_board(draft: JobDraft, board: tuple[Item, list[Item]]) -> set[int]:
    """Set `tensorboard`; returns its objects."""
    item, services = board
    container = _container(at(item.body, "spec", "template", "spec"))
    fields: Fields = {"logdir": literal(_logdir(at(item.body, "spec", "template", "spec")) or "")}
    if isinstance(image := container.get("image"), str):
        fields["image"] = literal(image)
    mounts = [one["path"] if isinstance(one, dict) else one for one in draft.fields.get("data", {}).values()]
    if not any(f"{fields['logdir']}/".startswith(f"{str(mount).rstrip('/')}/") for mount in mounts):
        hint = "write the logs to a volume of the job, and set `tensorboard: {logdir: <a folder on it>}`"
        draft.drop(item.place(), f"TensorBoard `{item.name}`", "its logs are not on a volume of the job", hint)
        return {id(one) for one in (item, *services)}
    draft.set(fields, "tensorboard", place=item.place())
    for service in services:
        if (kind := at(service.body, "spec", "type")) not in (None, "ClusterIP"):
            hint = "use `kubectl port-forward`, or `tensorboard: {ingress: true}` if the overlay has an ingress"
            why = "TensorBoard has no users, so gen does not open it to the network"
            draft.drop(service.place("spec", "type"), f"`type: {kind}` of Service `{service.name}`", why, hint)
    return {id(one) for one in (item, *services)}


def _container(spec: object) -> Body:
    return as_mapping(next(iter(as_list(at(spec, "containers"))), None))


def _logdir(spec: object) -> str | None:
    container = _container(spec)
    words = [str(one) for name in ("command", "args") for one in container.get(name) or ()]
    text = " ".join(words)
    found = _LOGDIR.search(text) if "tensorboard" in text else None
    return found[1] if found is not None else None


def _selects(selector: object, labels: object) -> bool:
    if not isinstance(selector, dict) or not isinstance(labels, dict):
        return False
    return bool(selector) and selector.items() <= labels.items()


_SHOWN: Final = 5
_IDLE_PORT: Final = frozenset({"containerPort", "name", "protocol"})


def has_idle_ports(container: Body, model: type[Job]) -> bool:
    """Whether the ports of a container only document: neither its operator nor a probe reads one."""
    ports = as_list(container.get("ports"))
    probes = json.dumps([container.get(name) for name in _PROBES])
    return bool(ports) and all(_is_idle(as_mapping(one), model, probes) for one in ports)


def _is_idle(port: Body, model: type[Job], probes: str) -> bool:
    name, number = str(port.get("name")), port.get("containerPort")
    if not _IDLE_PORT.issuperset(port) or port.get("protocol", "TCP") != "TCP" or f'"{name}"' in probes:
        return False
    return model.read_ports[name] == number if name in model.read_ports else not model.offers_ports


_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")


def report_ports(draft: JobDraft, item: Item, every: Sequence[Template], model: type[Job]) -> None:
    """Report the ports with names that Services may know, and those of nodes, which the scheduler keeps free."""
    for one in every:
        ports = as_list(one.container["ports"]) if has_idle_ports(one.container, model) else []
        named = ((number, at(port, "name")) for number, port in enumerate(ports))
        others = {name: number for number, name in named if isinstance(name, str) and name not in model.read_ports}
        if one.spec.get("hostNetwork") is True:
            others |= {str(at(port, "containerPort")): n for n, port in enumerate(ports) if at(port, "name") is None}
        hint = "write the number in Services and policies that name the port, or add it with `patches` of the overlay"
        if others:
            what, why = f"the port {quoted([*others], _SHOWN)}", "pods reach each other without it"
            route = (*container_route(one, model.facts.container), "ports", min(others.values()))
            draft.drop(item.place(*route), what, why, hint)


def selects_name(item: Item, run: Item) -> bool:
    """Whether an object selects pods of a run by its name, in a label that only the operator sets."""
    selector = as_mapping(at(item.body, "spec", "selector"))
    own = {str(key) for labels in inside(cleaned(run.body), "labels") for key in as_mapping(labels)}
    return any(value == run.name and key not in own for key, value in selector.items())


def with_selectors(body: Body, item: Item, facts: Resource, job: str) -> Body:
    """The object with selectors of pods by a label of gen in place of one of the operator, which has the name of the
    object, and that of a run is another one.
    """
    known = facts.of_pods.run_labels
    own = {str(key) for labels in inside(body, "labels") for key in as_mapping(labels)}
    ends = {label.rpartition("/")[2] for label, more in known.items() if not more}

    def is_name(label: object, name: object) -> bool:
        return name == item.name and str(label).rpartition("/")[2] in ends and label not in own

    def changed(value: Any, *, selects: bool = False) -> Any:
        if isinstance(value, list):
            return [changed(one, selects=selects) for one in value]
        if not isinstance(value, dict):
            return value
        if selects and len(names := as_list(value.get("values"))) == 1 and is_name(value.get("key"), names[0]):
            return {**value, "key": JOB_LABEL, "values": [job]}
        own_name = {JOB_LABEL: job} if selects and any(is_name(*one) for one in value.items()) else {}
        rest = {key: inner for key, inner in value.items() if not own_name or not is_name(key, inner)}
        return {
            key: changed(inner, selects=selects or key == "labelSelector") for key, inner in rest.items()
        } | own_name

    return {**body, "spec": changed(body["spec"])}


def report_services(draft: JobDraft, item: Item, every: Sequence[Item]) -> None:
    """Report programs that use a Service of a run by its name, which selects no pods of the runs of gen."""
    for service in (one for one in every if one.body["kind"] == "Service" and selects_name(one, item)):
        name = re.escape(service.name)
        form = re.compile(rf"(?<=//){name}(?![\w-])|(?<![\w./-]){name}(?=:\d|(?:\.[a-z0-9-]+)?\.svc\b)")
        used = [route for route, text in texts_in(item.body["spec"], ("spec",)) if form.search(text)]
        if used and any(form.search(text) for _, text in texts_in(draft.fields)):
            message = f"the Service `{service.name}` selects pods by the name `{item.name}`, and a run has another one"
            hint = "write the host name of a pod in its place, which starts with `{{ run.id }}`"
            draft.cannot_run(item.place(*used[0]), message, hint)


_BRACED: Final = regex(r"(?<![\\$])\$\{([A-Za-z_]\w*)\}")
_OF_ITSELF: Final = regex(r"(?m)(?<![\w$])([A-Za-z_]\w*)=([\"']?)\$(?:\1|\{\1\})\2(?=[\s;&]|$)")
"""An assignment that sets nothing: what makes the object of the file gives it a value."""


_OF_TPU: Final = regex(r"(?:TPU|MEGASCALE)_\w+")
"""Variables that GKE gives containers with TPUs ("Plan TPUs in GKE")."""


def report_variables(
    draft: JobDraft,
    item: Item,
    every: Sequence[Template],
    given: ImportInput,
    placeholders: Sequence[Placeholder],
    job: Job | None,
) -> None:
    """Report variables in scripts of a file for `envsubst` that neither the object nor a script sets. A placeholder
    outside of scripts, where nothing else would replace it, or a value of `--define` shows that the file is one. `job`
    has no params in place of the placeholders.
    """
    signs = [f"${sign}".encode() for name in given.define for sign in (name, f"{{{name}}}")]
    if not any("$" in one.text for one in placeholders) and not any(
        sign in raw for _, raw in given.files for sign in signs
    ):
        return
    roles = job.replica_roles("run") if job is not None else ()
    known = {*USUAL, *(job.given_env if job is not None else ()), *(one["name"] for role in roles for one in role.env)}
    for one in every:
        for number, container in enumerate(as_list(one.spec.get("containers"))):
            words = [*as_texts(at(container, "command")), *as_texts(at(container, "args"))]
            text, words = "\n".join(words), [_OF_ITSELF.sub("", one) for one in words]
            own = known | {str(at(entry, "name")) for entry in as_list(at(container, "env"))}
            of_tpu = TPU in {*as_mapping(at(container, "resources", "limits"))}
            used = dict.fromkeys([*_BRACED.findall(text), *(one[0] for one in _OF_ITSELF.findall(text))])
            for name in used if not at(container, "envFrom") else ():
                sets = re.compile(rf"(?<![\w$]){name}\+?=|\bfor\s+{name}\b|\bread\b[^\n;]*\b{name}\b")
                if name not in own and not (of_tpu and _OF_TPU.fullmatch(name)) and not any(map(sets.search, words)):
                    field = "command" if re.search(rf"\$\{{?{name}\b", str(at(container, "command"))) else "args"
                    what = f"the variable `{name}` of `{field}`"
                    hint = f"import it again with `--define {name}=VALUE`, or set it in `env`, unless the image has it"
                    items = [index for index, word in enumerate(as_list(container[field])) if name in str(word)]
                    place = item.place(*one.route, "spec", "containers", number, field, *items[:1])
                    draft.drop(place, what, "nothing in the file gives it a value", hint)
