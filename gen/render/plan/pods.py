"""The pods of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gen import quantity
from gen.findings.jobs import INVALID_VALUE, MISSING_FIELD, NO_PODS
from gen.kinds.mounts import MountPlan, VolumePlan
from gen.kinds.plan import PodPlan
from gen.kubernetes import ACCELERATOR_LABEL, DEVICES_LABEL, present
from gen.model.effect import combined
from gen.model.pods import MAX_PODS
from gen.render.plan.accelerators import accelerator_of, check_accelerators
from gen.render.plan.code import DEFAULT_WORKING_DIR, code_mount, code_volumes, plan_code
from gen.render.plan.context import has_own
from gen.render.plan.data import DataPlan, check_mounts, shared_memory
from gen.render.plan.environment import environment
from gen.render.plan.images import granted
from gen.render.plan.in_memory import check_in_memory
from gen.render.plan.names import check_pod_metadata
from gen.render.plan.networks import annotations_of, check_network, check_pod, role_effect
from gen.render.plan.nodes import check_gpu_models, plan_nodes
from gen.render.plan.pins import note_architecture
from gen.render.plan.spread import plan_spread
from gen.render.plan.tensorboard import COMPONENT
from gen.render.plan.transfer import added_volumes, check_folders, check_own_folder, plan_transfer
from gen.render.plan.unused import check_unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds import Role
    from gen.kinds.plan import CodePlan, Spread
    from gen.kinds.role import Target
    from gen.model.effect import Effect
    from gen.render.plan.accelerators import Choice
    from gen.render.plan.context import Context
    from gen.render.plan.networks import Connection
    from gen.render.plan.places import PlacesPlan


def plan_pods(
    context: Context, data: DataPlan, places: PlacesPlan, network: Connection | None, target: Target
) -> tuple[PodPlan, ...]:
    """One plan for each role with pods."""
    job = context.job
    roles = job.adapted(job.replica_roles(context.object_name), target)
    if not roles:
        hint = "set `replicas: 1` or more for at least one role"
        context.error(NO_PODS, ("roles",), "no role of the job has pods", hint, key=True)
    _check_number(context, roles)
    _check_names(context, roles)
    _check_images(context, roles)
    check_accelerators(context, roles)
    check_gpu_models(context, roles)
    check_network(context, roles, network)
    check_unused(context, roles)
    check_folders(context, roles)
    common = _Common(
        roles=roles,
        data=data,
        places=places,
        network=network,
        code=plan_code(context) if any(role.needs_data for role in roles) else None,
        restart=job.restart or job.facts.versions[target.api_version][0],
        spread=plan_spread(context, roles),
    )
    return tuple(_pod(context, role, common) for role in roles)


class _Common(Struct, frozen=True, kw_only=True):
    """What the pods of all roles have in common."""

    roles: tuple[Role, ...]
    data: DataPlan
    places: PlacesPlan
    network: Connection | None
    code: CodePlan | None
    restart: str
    spread: Mapping[str, Spread]


def _check_number(context: Context, roles: tuple[Role, ...]) -> None:
    """Each number is limited by its model, and their sum here."""
    if (total := sum(role.most for role in roles)) > MAX_PODS:
        message = f"the roles have {total} pods in total; a job has at most {MAX_PODS}"
        context.error(INVALID_VALUE, ("roles",), message, "reduce `workers` or `replicas`")


def _check_names(context: Context, roles: tuple[Role, ...]) -> None:
    """Services select pods by the name of their role, and one of them is TensorBoard's."""
    if any(role.name == COMPONENT for role in roles):
        message = f"`{COMPONENT}` is the name of the pods of TensorBoard"
        context.error(INVALID_VALUE, ("roles", COMPONENT), message, "choose another name for the role", key=True)


def _pod(context: Context, role: Role, common: _Common) -> PodPlan:
    transfer = plan_transfer(context, role, common.roles, common.places)
    role = replace(role, gpus=context.of_role(role, "gpus") or 0, restart=role.restart or common.restart)
    choice = accelerator_of(context, role)
    of_network = role_effect(context, role, common.network)
    effect = combined([choice.fields.effect(role.gpus), of_network]) if choice is not None else of_network
    working_dir = context.of_role(role, "working_dir")
    data, code = (common.data, common.code) if role.needs_data else (None, None)
    size = _shared_memory(context, role, choice)
    check_in_memory(context, role, data, size)
    volumes, mounts = _mounted(context, role, data, code, size, effect)
    if transfer is not None:
        volumes += added_volumes(transfer, volumes)
        mounts += transfer.mounts
        check_own_folder(context, mounts)
    check_mounts(context, mounts)
    check_pod_metadata(context, role)
    resources = _resources(context, role, effect)
    check_pod(context, role, of_network, choice, resources)
    nodes = plan_nodes(context, role, effect, choice, common.spread.get(role.name))
    note_architecture(context, nodes)
    return PodPlan(
        role=role,
        image=granted(context, context.of_role(role, "image") or "", context.route_of(role, "image")),
        pull_policy=context.of_role(role, "image_pull_policy"),
        command=_command(context, role),
        args=context.of_role(role, "args") if _runs(role, "args") else (),
        working_dir=working_dir or (DEFAULT_WORKING_DIR if code else None),
        env=environment(context, role, effect.env),
        resources=resources,
        mounts=tuple(mounts),
        volumes=tuple(volumes),
        nodes=nodes,
        labels={
            **effect.labels,
            **_merged(volume.labels for volume in volumes),
            **context.of_role(role, "pod_labels"),
            **_accelerator_labels(choice, effect),
        },
        annotations={
            **annotations_of(effect),
            **_merged(volume.annotations for volume in volumes),
            **context.of_role(role, "pod_annotations"),
        },
        effect=effect,
        accelerator=choice.name if choice is not None else "",
        code=code,
        transfer=transfer,
    )


def _mounted(
    context: Context, role: Role, data: DataPlan | None, code: CodePlan | None, shared: str | None, effect: Effect
) -> tuple[list[VolumePlan], list[MountPlan]]:
    """The volumes of a pod and where they are mounted, without those that copy files. `shared` is its shared memory."""
    volumes = list(data.volumes if data is not None else ())
    mounts = list(data.mounts if data is not None else ())
    if code is not None:
        volumes += code_volumes(code)
        mounts.append(code_mount(context.of_role(role, "working_dir")))
    if shared is not None:
        volume, mount = shared_memory(shared, context.route_of(role, "shared_memory"))
        volumes.append(volume)
        mounts.append(mount)
    for added in effect.mounts:
        volumes.append(VolumePlan(name=added.name, source=added.source))
        if added.path is not None:
            mount = MountPlan(volume=added.name, path=added.path, read_only=added.read_only, route=("network",))
            mounts.append(mount)
    return volumes, mounts


def _merged(metadata: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {key: value for one in metadata for key, value in one.items()}


def _runs(role: Role, field: str) -> bool:
    """Whether a role runs the field of the job. A role that only waits for another one runs its own fields."""
    return role.runs or has_own(role, field)


def _check_images(context: Context, roles: tuple[Role, ...]) -> None:
    without = [role.name for role in roles if not context.of_role(role, "image")]
    if not without or not context.job.needs_image or context.given.left_out & {"image", "roles"}:
        return
    some = len(without) < len(roles)
    message = "`image` is missing" + (f" for {', '.join(without)}" if some else "")
    route = ("roles", without[0]) if some else ()
    context.error(MISSING_FIELD, route, message, "add `image`, preferably with a tag or a digest", key=True)


def _command(context: Context, role: Role) -> tuple[str, ...]:
    if not _runs(role, "command"):
        return () if _runs(role, "args") else role.command
    command, args = context.of_role(role, "command"), context.of_role(role, "args")
    if command is None:
        if (
            not _is_own_command(context, role)
            and not args
            and not context.given.left_out & {"command", "args", "roles"}
        ):
            context.error(
                MISSING_FIELD,
                (),
                "`command` is missing",
                "add `command`, a text for the shell or a list; `args: []` runs the command of the image",
                key=True,
            )
        return ()
    if isinstance(command, str):
        if not command.strip():
            hint = "write a command; `args: []` in its place runs the command of the image"
            context.error(INVALID_VALUE, context.route_of(role, "command"), "`command` is empty", hint)
        elif args:
            hint = "move them into `command`, or make `command` a list"
            context.error(
                INVALID_VALUE,
                context.route_of(role, "args"),
                "a shell `command` cannot have `args`",
                hint,
            )
        return "sh", "-c", command
    return tuple(command)


def _is_own_command(context: Context, role: Role) -> bool:
    """Whether the job asks for the command of the image: `args` is set, and empty."""
    return has_own(role, "args") or "args" in context.job.model_fields_set


def _accelerator_labels(choice: Choice | None, effect: Effect) -> dict[str, str]:
    if choice is None or not choice.name:
        return {}
    claimed = {DEVICES_LABEL: str(sum(claim.count for claim in effect.claims))} if effect.claims else {}
    return {ACCELERATOR_LABEL: choice.name, **claimed}


def _shared_memory(context: Context, role: Role, choice: Choice | None) -> str | None:
    own: str | None = context.of_role(role, "shared_memory")
    return own if own is not None or choice is None else choice.fields.shared_memory


def _resources(context: Context, role: Role, effect: Effect) -> dict[str, str]:
    own = {"cpu": context.of_role(role, "cpu"), "memory": context.of_role(role, "memory")}
    own = present(**own, **{"ephemeral-storage": context.of_role(role, "disk")})
    return {**own, **{name: quantity.canonical(amount) for name, amount in effect.resources.items()}}
