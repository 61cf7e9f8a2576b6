"""Copies of files into the pods of a role, and out of them when the command ends.

Each run has a folder of its own for outputs and logs, so that a run never overwrites the files of another one.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from gen.findings.jobs import INVALID_VALUE, MOUNT_CONFLICT
from gen.kinds.mounts import MountPlan, VolumePlan
from gen.kinds.transfer_plan import OWN_FOLDER, InputPlan, LogPlan, OutputPlan, TransferPlan
from gen.kubernetes import RUN, TRIAL, Body, present
from gen.render.plan.images import of_platform
from gen.render.plan.places import VOLUMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Route
    from gen.kinds import Role
    from gen.render.plan.context import Context
    from gen.render.plan.places import PlacesPlan

_OWN = "gen"
"""Volume for the copy of rclone, pipes and logs."""
_SCRATCH = {"inputs": "gen-in-{}", "outputs": "gen-out-{}"}
_INDEX = "GEN_INDEX_{}"
_NAME_OF_RUN = "GEN_RUN"


def check_folders(context: Context, roles: tuple[Role, ...]) -> None:
    """Pods that copy to the same place must know their indices, and a command that gen can start."""
    job = context.job
    fields = [name for name in ("outputs", "logs") if getattr(job, name) and name not in job.unsupported_fields()]
    if not fields:
        return
    if _several(roles) and not job.facts.pod_index:
        message = f"the pods of a {job.facts.kind} do not know their index, and would copy to the same folder"
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
        image=of_platform(context, settings.image, "inputs" if inputs else str(targets[0][0])),
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
    """Roles whose pods end with the command."""
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
    return f"$({_NAME_OF_RUN})" if context.job.schedule is not None or context.run.later else f"{context.name}-{RUN}"


def _pod(context: Context, role: Role) -> str:
    return f"{role.name}-{_indices(context)}"


def _indices(context: Context) -> str:
    return "-".join(f"$({_INDEX.format(number)})" for number, _ in enumerate(context.job.facts.pod_index))


def _variables(context: Context, *, several: bool) -> Iterator[Body]:
    """Variables with the name of the run and the indices of the pod."""
    facts = context.job.facts
    fields = {_INDEX.format(number): field for number, field in enumerate(facts.pod_index if several else ())}
    if context.run.later or (context.job.schedule is not None and context.object_name == TRIAL):
        yield {"name": _NAME_OF_RUN, "value": context.object_name}
    elif context.job.schedule is not None and facts.scheduled_by is not None:
        fields[_NAME_OF_RUN] = facts.scheduled_by.pod_run
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
