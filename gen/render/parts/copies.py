"""Copies of files into the pods of a role, and out of them when the command ends.

Files come from and go to object stores and volumes. Each run has a folder of its own for outputs and logs, so that a
run never overwrites the files of another one.

An init container with rclone copies the inputs, and rclone itself into a volume. The training container runs the
command below a script, which copies the outputs when it ends: a sidecar that fails would not fail the pod
(documentation of Kubernetes, "Sidecar Containers").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from msgspec import Struct

from gen.base import Route, did_you_mean
from gen.base.codes.grants import NOT_GRANTED, UNKNOWN_STORE
from gen.base.codes.jobs import INVALID_VALUE, MOUNT_CONFLICT
from gen.base.placeholders import RUN
from gen.job.fields import Input, Place
from gen.job.kinds.role import Role
from gen.job.plan import OWN_FOLDER, InputPlan, LogPlan, MountPlan, OutputPlan, PodPlan, TransferPlan, VolumePlan
from gen.kubernetes.objects import Body, present
from gen.overlay.entries import StoreFields
from gen.render.parts import containers, data, grants
from gen.render.parts.context import Context
from gen.render.parts.data import volume_of

VOLUMES = f"{OWN_FOLDER}/volumes"
_OWN = "gen"
"""Volume for the copy of rclone, pipes and logs."""
_SCRATCH = {"inputs": "gen-in-{}", "outputs": "gen-out-{}"}
_INDEX = "GEN_INDEX_{}"
_NAME_OF_RUN = "GEN_RUN"
_SHELL = ("sh", "-c")
NAME = "copy"


class Folder(Struct, frozen=True, kw_only=True):
    """A folder of an object store or a volume."""

    place: str
    """As rclone names it; the path of a volume in the container."""
    store: str | None
    volume: str | None


class PlacesPlan(Struct, frozen=True, kw_only=True):
    """Folders by the route of the field that names them."""

    folders: Mapping[Route, Folder]
    env: Mapping[str, tuple[Body, ...]]
    """Settings of rclone by object store."""
    volumes: Mapping[str, VolumePlan]


def plan_places(context: Context) -> PlacesPlan:
    folders: dict[Route, Folder] = {}
    env: dict[str, tuple[Body, ...]] = {}
    volumes: dict[str, VolumePlan] = {}
    places = tuple(places_of(context))
    names = sorted({place.store for _, place in places if place.store is not None})
    for route, place in places:
        if (place.store is None) == (place.volume is None):
            message = "expected exactly one of `store` and `volume`"
            context.error(INVALID_VALUE, route, message, "set one of the two")
        elif place.store is not None:
            if (store := _store(context, route, place, place.store)) is not None:
                remote = f"S{names.index(place.store)}"
                path = "/".join(part for part in (store.bucket, store.prefix, place.path) if part)
                folders[route] = Folder(place=f"{remote}:{containers.literal(path)}", store=place.store, volume=None)
                env[place.store] = tuple(_remote(remote, store))
        elif (volume := _volume(context, route, place, str(place.volume))) is not None:
            volumes[volume.name] = volume
            at = f"{VOLUMES}/{volume.name}/{containers.literal(place.path)}"
            folders[route] = Folder(place=at, store=None, volume=volume.name)
    return PlacesPlan(folders=folders, env=env, volumes=volumes)


def places_of(context: Context) -> Iterator[tuple[Route, Place]]:
    job = context.job
    yield from ((("inputs", path), job.inputs[path]) for path in sorted(job.inputs))
    yield from ((("outputs", path), job.outputs[path]) for path in sorted(job.outputs))
    if job.logs is not None:
        yield ("logs",), job.logs


def _store(context: Context, route: Route, place: Place, name: str) -> StoreFields | None:
    overlay, known, at = context.overlay, context.overlay.fields.stores, (*route, "store")
    if name not in known:
        hint = did_you_mean(name, known, otherwise="declare it in `stores` of the overlay")
        context.error(UNKNOWN_STORE, at, f"overlay `{overlay.name}` has no object store `{name}`", hint)
        return None
    if not grants.check_listed(context, at, "object store", name, context.grant.stores):
        return None
    store: StoreFields = known[name]
    if store.read_only and not isinstance(place, Input):
        message = f"object store `{name}` is read-only in overlay `{overlay.name}`"
        context.error(NOT_GRANTED, at, message, "use an object store that jobs can write to")
        return None
    return store


def _volume(context: Context, route: Route, place: Place, name: str) -> VolumePlan | None:
    at = (*route, "volume")
    declared = data.declared_volume(context, name, at, key=False)
    if declared is None:
        return None
    if declared.read_only and not isinstance(place, Input):
        message = f"volume `{name}` is read-only in overlay `{context.overlay.name}`"
        context.error(NOT_GRANTED, at, message, "use a volume that jobs can write to")
        return None
    if not declared.profile.outlives_pods:
        message = f"volume `{name}` ends with the pod, and no other pod can read or write it"
        context.error(INVALID_VALUE, at, message, "use an object store, or a volume that stays")
        return None
    profile = declared.profile
    source = profile.pod_source(volume_of(context.overlay, context.given.namespace, name))
    return VolumePlan(name=name, source=source, annotations=profile.pod_annotations, labels=profile.pod_labels)


def _remote(name: str, store: StoreFields) -> Iterator[Body]:
    """Variables with the settings of rclone. Buckets are not created, and need not be listed."""
    prefix = f"RCLONE_CONFIG_{name}_"
    values = {**store.profile.settings(), "NO_CHECK_BUCKET": "true"}
    if store.secret is None:
        values["ENV_AUTH"] = "true"
    for setting, value in sorted(values.items()):
        yield {"name": f"{prefix}{setting}", "value": value}
    for setting, key in store.profile.keys.items() if store.secret is not None else ():
        reference = {"secretKeyRef": {"name": store.secret, "key": key}}
        yield {"name": f"{prefix}{setting}", "valueFrom": reference}


def check_folders(context: Context, roles: tuple[Role, ...]) -> None:
    """Pods that copy to the same place must know their indices, and a command that gen can start."""
    job = context.job
    fields = [name for name in ("outputs", "logs") if getattr(job, name) and name not in job.unsupported_fields()]
    if not fields:
        return
    if _several(roles) and not job.facts.pod_index:
        message = f"the pods of {job.facts.noun} do not know their index, and would copy to the same folder"
        context.error(INVALID_VALUE, (fields[0],), message, "use one pod, or write to a volume in `data`", key=True)
    if any(context.of_role(role, "command") is None for role in _ending(roles)):
        message = f"`{fields[0]}` needs a `command`, because gen does not know that of the image"
        context.error(INVALID_VALUE, (fields[0],), message, "add `command`", key=True)


def plan_transfer(context: Context, role: Role, roles: tuple[Role, ...], places: PlacesPlan) -> TransferPlan | None:
    """None for a role without copies."""
    if not places.folders:
        return None
    inputs = tuple(_inputs(context, places)) if role.needs_data else ()
    ends = role in _ending(roles)
    outputs = tuple(_outputs(context, role, roles, places)) if ends else ()
    log = _log(context, role, roles, places) if ends else None
    if not inputs and not outputs and log is None:
        return None
    settings = context.overlay.fields.copying
    wraps = bool(outputs) or log is not None
    sources = [("inputs", step.path) for step in inputs]
    targets: list[Route] = [*(("outputs", step.path) for step in outputs), *([("logs",)] if log is not None else [])]
    own = [MountPlan(volume=_OWN, path=OWN_FOLDER, route=("outputs",))] if wraps else []
    scratch = [_scratch(context, field, path) for field, path in sources]
    return TransferPlan(
        image=grants.of_platform(context, settings.image, "inputs" if inputs else str(targets[0][0])),
        resources={"cpu": settings.cpu, "memory": settings.memory},
        inputs=inputs,
        input_env=_settings(places, sources),
        input_mounts=(*own, *scratch, *_volume_mounts(places, sources, read_only=True)),
        outputs=outputs,
        log=log,
        env=(*(_variables(context, several=_several(roles)) if wraps else ()), *_settings(places, targets)),
        mounts=(
            *own,
            *scratch,
            *(_scratch(context, "outputs", step.path) for step in outputs),
            *_volume_mounts(places, targets, read_only=False),
        ),
        volumes=tuple(_volumes(context, places, [*sources, *targets], wraps=wraps)),
        grace=settings.grace,
    )


def check_own_folder(context: Context, mounts: Iterable[MountPlan]) -> None:
    """Report mounts of the job in the folder that the copies use."""
    for mount in mounts:
        if len(mount.route) > 1 and f"{mount.path}/".startswith(f"{OWN_FOLDER}/"):
            message = f"`{mount.path}` is in `{OWN_FOLDER}`, which gen uses for copies"
            key = mount.route[0] != "data"
            context.error(MOUNT_CONFLICT, mount.route, message, "choose another path", key=key)


def added_volumes(transfer: TransferPlan, volumes: Iterable[VolumePlan]) -> list[VolumePlan]:
    """Volumes of the copies that the pod does not have yet."""
    names = {volume.name for volume in volumes}
    return [volume for name, volume in {one.name: one for one in transfer.volumes}.items() if name not in names]


def _ending(roles: Iterable[Role]) -> list[Role]:
    """Roles with pods that end with the command."""
    return [role for role in roles if role.runs and role.needs_data]


def _several(roles: Iterable[Role]) -> bool:
    """Whether several pods end, also one after the other."""
    return sum(max(role.most, prod(role.indices)) for role in _ending(roles)) > 1


def _inputs(context: Context, places: PlacesPlan) -> Iterator[InputPlan]:
    for path in sorted(context.job.inputs):
        if (folder := places.folders.get(("inputs", path))) is not None:
            yield InputPlan(source=folder.place, path=path)


def _outputs(context: Context, role: Role, roles: tuple[Role, ...], places: PlacesPlan) -> Iterator[OutputPlan]:
    ending, several = _ending(roles), _several(roles)
    first = next((one for one in ending if one.trains), ending[0])
    for path, output in sorted(context.job.outputs.items()):
        folder = places.folders.get(("outputs", path))
        if folder is None or (output.pods == "first" and role is not first):
            continue
        all_pods = output.pods == "all"
        target = f"{folder.place}/{_run(context)}"
        yield OutputPlan(
            path=path,
            target=f"{target}/{_pod(context, role)}" if several and all_pods else target,
            pod="0" if all_pods or not several else _indices(context),
        )


def _log(context: Context, role: Role, roles: tuple[Role, ...], places: PlacesPlan) -> LogPlan | None:
    folder = places.folders.get(("logs",))
    if folder is None:
        return None
    target = f"{folder.place}/{_run(context)}"
    target = f"{target}/{_pod(context, role)}" if _several(roles) else target
    return LogPlan(folder=target, target="") if folder.volume else LogPlan(folder=f"{OWN_FOLDER}/logs", target=target)


def _run(context: Context) -> str:
    """The folder of a run. The hash of a schedule is that of all of its runs."""
    return f"$({_NAME_OF_RUN})" if context.starter.repeats or context.run.later is not None else f"{context.name}-{RUN}"


def _pod(context: Context, role: Role) -> str:
    return f"{role.name}-{_indices(context)}"


def _indices(context: Context) -> str:
    return "-".join(f"$({_INDEX.format(number)})" for number, _ in enumerate(context.job.facts.pod_index))


def _variables(context: Context, *, several: bool) -> Iterator[Body]:
    """Variables with the name of the run and the indices of the pod."""
    facts = context.job.facts
    fields = {_INDEX.format(number): field for number, field in enumerate(facts.pod_index if several else ())}
    if context.run.later is not None or (context.starter.repeats and context.starter.named_later):
        yield {"name": _NAME_OF_RUN, "value": context.object_name}
    elif context.starter.repeats:
        fields[_NAME_OF_RUN] = context.object_facts.pod_run
    yield from ({"name": name, "valueFrom": {"fieldRef": {"fieldPath": field}}} for name, field in fields.items())


def _settings(places: PlacesPlan, routes: Iterable[Route]) -> tuple[Body, ...]:
    stores = sorted({store for route in routes if (store := places.folders[route].store) is not None})
    return tuple(variable for store in stores for variable in places.env[store])


def _volume_mounts(places: PlacesPlan, routes: Iterable[Route], *, read_only: bool) -> Iterator[MountPlan]:
    for name in sorted({name for route in routes if (name := places.folders[route].volume) is not None}):
        yield MountPlan(volume=name, path=f"{VOLUMES}/{name}", read_only=read_only, route=("outputs",))


def _scratch(context: Context, field: str, path: str) -> MountPlan:
    return MountPlan(volume=_name(context, field, path), path=path, route=(field, path))


def _name(context: Context, field: str, path: str) -> str:
    return _SCRATCH[field].format(sorted(getattr(context.job, field)).index(path))


def _volumes(context: Context, places: PlacesPlan, routes: Iterable[Route], *, wraps: bool) -> Iterator[VolumePlan]:
    if wraps:
        yield VolumePlan(name=_OWN, source={"emptyDir": {}})
    for route in routes:
        if (name := places.folders[route].volume) is not None:
            yield places.volumes[name]
        if len(route) > 1:
            field, path = str(route[0]), str(route[1])
            size = getattr(context.job, field)[path].size
            yield VolumePlan(name=_name(context, field, path), source={"emptyDir": present(sizeLimit=size)})


def copy_container(transfer: TransferPlan) -> Body:
    tool = f"{OWN_FOLDER}/bin/rclone" if transfer.wraps else ""
    pairs = (part for step in transfer.inputs for part in (step.source, containers.literal(step.path)))
    return present(
        name=NAME,
        image=transfer.image,
        command=[*_SHELL, containers.script("copy_in.sh"), NAME, tool, *pairs],
        env=[dict(entry) for entry in transfer.input_env],
        resources=containers.resources(transfer.resources),
        securityContext={"allowPrivilegeEscalation": False},
        volumeMounts=containers.volume_mounts(transfer.input_mounts),
    )


def main_command(pod: PodPlan) -> Body:
    """`command` and `args` of the training container."""
    if pod.transfer is None or not pod.transfer.wraps:
        return {"command": list(pod.command), "args": list(pod.args)}
    return {
        "command": [*_SHELL, containers.script("run.sh"), "run", *_options(pod.transfer), "--", *pod.command, *pod.args]
    }


def _options(transfer: TransferPlan) -> Iterator[str]:
    if transfer.log is not None:
        yield from ("--log", transfer.log.folder, transfer.log.target)
    for output in transfer.outputs:
        yield from ("--output", output.pod, containers.literal(output.path), output.target)
