"""The pods of each role: their plans, and the templates of training pods, which nothing else writes.

An init container with the image of the pod waits until other pods of a run have addresses, if the role needs them.
Fields of a job file that no pod uses are findings; defaults of the overlay are not, because other jobs may use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import regex
from gen.base.codes.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT, NO_PODS
from gen.job.kinds.role import Hosts, Role, Target
from gen.job.model import Model, alias_of, aliases_of, default_of
from gen.job.plan import CodePlan, MountPlan, Plan, PodPlan, Spread, VolumePlan
from gen.job.pods import MAX_PODS, PodFields, RoleFields
from gen.job.profile import Effect, combined
from gen.job.scalars import shown
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body, present
from gen.render.parts import accelerator, containers, copies, grants, node_labels, pins
from gen.render.parts.code import DEFAULT_WORKING_DIR, code_container, code_mount, code_volumes, plan_code
from gen.render.parts.containers import environment
from gen.render.parts.context import PROGRAM, Context, has_own
from gen.render.parts.data import DataPlan, check_in_memory, check_mounts, shared_memory, shared_memory_size
from gen.render.parts.metadata import BOARD, check_pod_metadata, run_labels
from gen.render.parts.network import Connection, annotations_of, check_network, check_pod, role_effect


def plan_pods(
    context: Context, data: DataPlan, places: copies.PlacesPlan, network: Connection | None, target: Target
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
    accelerator.check_accelerators(context, roles)
    node_labels.check_gpu_models(context, roles)
    check_network(context, roles, network)
    check_unused(context, roles)
    copies.check_folders(context, roles)
    common = _Common(
        roles=roles,
        data=data,
        places=places,
        network=network,
        code=plan_code(context) if any(role.needs_data for role in roles) else None,
        restart=job.restart or job.facts.versions[target.api_version][0],
        spread=node_labels.plan_spread(context, roles),
    )
    return tuple(_pod(context, role, common) for role in roles)


class _Common(Struct, frozen=True, kw_only=True):
    """Plans that the pods of all roles have in common."""

    roles: tuple[Role, ...]
    data: DataPlan
    places: copies.PlacesPlan
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
    """Services select pods by the name of their role, also that of TensorBoard."""
    if any(role.name == BOARD for role in roles):
        message = f"`{BOARD}` is the name of the pods of TensorBoard"
        context.error(INVALID_VALUE, ("roles", BOARD), message, "choose another name for the role", key=True)


def _pod(context: Context, role: Role, common: _Common) -> PodPlan:
    transfer = copies.plan_transfer(context, role, common.roles, common.places)
    role = replace(role, gpus=context.of_role(role, "gpus") or 0, restart=role.restart or common.restart)
    choice = accelerator.accelerator_of(context, role)
    of_network = role_effect(context, role, common.network)
    effect = combined([choice.fields.effect(role.gpus), of_network]) if choice is not None else of_network
    working_dir = context.of_role(role, "working_dir")
    data, code = (common.data, common.code) if role.needs_data else (None, None)
    size = shared_memory_size(context, role, choice, data.mounts if data is not None else ())
    check_in_memory(context, role, data, size)
    volumes, mounts = _mounted(context, role, data, code, size, effect)
    if transfer is not None:
        volumes += copies.added_volumes(transfer, volumes)
        mounts += transfer.mounts
        copies.check_own_folder(context, mounts)
    check_mounts(context, mounts)
    check_pod_metadata(context, role)
    resources = _resources(context, role, effect)
    check_pod(context, role, of_network, choice, resources)
    nodes = node_labels.plan_nodes(context, role, effect, choice, common.spread.get(role.name))
    pins.note_architecture(context, nodes)
    return PodPlan(
        role=role,
        image=grants.granted_image(context, context.of_role(role, "image") or "", context.route_of(role, "image")),
        pull_policy=context.of_role(role, "image_pull_policy"),
        command=_command(context, role),
        args=context.of_role(role, "args") if _runs(role, "args") else (),
        working_dir=working_dir or (DEFAULT_WORKING_DIR if code else None),
        env=environment(context, role, {**effect.env, **(data.env if data is not None else {})}),
        resources=resources,
        mounts=tuple(mounts),
        volumes=tuple(volumes),
        nodes=nodes,
        labels={
            **effect.labels,
            **_merged(volume.labels for volume in volumes),
            **context.of_role(role, "pod_labels"),
            **accelerator.accelerator_labels(choice, effect),
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
        of_image = has_own(role, "args") or "args" in context.job.model_fields_set
        if not of_image and not args and not context.given.left_out & {"command", "args", "roles"}:
            hint = "add `command`, a text for the shell or a list; `args: []` runs the command of the image"
            context.error(MISSING_FIELD, (), "`command` is missing", hint, key=True)
        return ()
    if isinstance(command, str):
        if not command.strip():
            hint = "write a command; `args: []` in its place runs the command of the image"
            context.error(INVALID_VALUE, context.route_of(role, "command"), "`command` is empty", hint)
        elif args:
            hint = "move them into `command`, or make `command` a list"
            context.error(INVALID_VALUE, context.route_of(role, "args"), "a shell `command` cannot have `args`", hint)
        return "sh", "-c", command
    return tuple(command)


def _resources(context: Context, role: Role, effect: Effect) -> dict[str, str]:
    own = {"cpu": context.of_role(role, "cpu"), "memory": context.of_role(role, "memory")}
    _check_memory(context, role, own["memory"])
    own = present(**own, **{"ephemeral-storage": context.of_role(role, "disk")})
    return {**own, **{name: quantity.canonical(amount) for name, amount in effect.resources.items()}}


LEAST_WITH_GPUS: Final = 512 << 20
"""Bytes that no program with a GPU can start with: CUDA alone takes more."""
_SMALL: Final = regex(r"([0-9.]+)[mkKM]i?")


def _check_memory(context: Context, role: Role, memory: str | None) -> None:
    amount = quantity.server_amount(memory) if memory and role.gpus else None
    if amount is None or amount >= LEAST_WITH_GPUS or "gpus" in context.given.left_out:
        return
    found = _SMALL.fullmatch(memory or "")
    hint = f"did you mean `{found[1]}Gi`?" if found is not None else "write an amount such as `64Gi`"
    message = f"`memory` is {shown(memory)}, which no program with a GPU can start with"
    context.error(INVALID_VALUE, context.route_of(role, "memory"), message, hint)


NAME = "wait-for-pods"


def wait_container(pod: PodPlan, hosts: Hosts) -> Body:
    return present(
        name=NAME,
        image=pod.image,
        imagePullPolicy=pod.pull_policy,
        command=["sh", "-c", containers.source("wait_for_pods.sh"), "sh", hosts.pattern, str(hosts.count)],
        # as much as the training container, so that the pod does not need more
        resources=containers.resources(pod.resources),
    )


def pod_template(plan: Plan, pod: PodPlan, facts: Resource) -> Body:
    """Pod template of one role."""
    labels = {**pod.labels, **run_labels(plan, pod.role.name)}
    metadata = present(labels=dict(sorted(labels.items())), annotations=dict(sorted(pod.annotations.items())))
    return {"metadata": metadata, "spec": _pod_spec(plan, pod, facts)}


def _pod_spec(plan: Plan, pod: PodPlan, facts: Resource) -> Body:
    host = pod.effect.host_network or None
    single, several = node_labels.selected_labels(pod.nodes)
    ssh = pod.code is not None and pod.code.ssh and pod.code.credentials is not None
    return present(
        subdomain=pod.role.subdomain,
        terminationGracePeriodSeconds=pod.transfer.grace if pod.transfer and pod.transfer.wraps else None,
        restartPolicy=None if facts.restarts_by_role else pod.role.restart,
        hostNetwork=host,
        # the default does not resolve service names on the host network
        dnsPolicy="ClusterFirstWithHostNet" if host else None,
        schedulerName=pod.effect.scheduler,
        serviceAccountName=plan.service_account,
        priorityClassName=plan.priority,
        preemptionPolicy=plan.preemption_policy,
        imagePullSecrets=[{"name": name} for name in plan.pull_secrets],
        nodeSelector=single,
        affinity=present(
            nodeAffinity=node_labels.node_affinity(several), podAntiAffinity=node_labels.pod_anti_affinity(plan, pod)
        ),
        tolerations=[dict(toleration) for toleration in pod.nodes.tolerations],
        topologySpreadConstraints=node_labels.spread_constraints(plan, pod.nodes.spread),
        # the group of git-sync; `OnRootMismatch` avoids a walk through large volumes
        securityContext={"fsGroup": 65533, "fsGroupChangePolicy": "OnRootMismatch"} if ssh else None,
        initContainers=[
            *([code_container(pod.code)] if pod.code else ()),
            *([copies.copy_container(pod.transfer)] if pod.transfer else ()),
            *([wait_container(pod, pod.role.wait_for)] if pod.role.wait_for else ()),
            *(dict(sidecar) for sidecar in pod.effect.sidecars),
        ],
        containers=[_container(plan, pod)],
        resourceClaims=accelerator.pod_claims(plan, pod),
        volumes=containers.pod_volumes(pod.volumes),
    )


def _container(plan: Plan, pod: PodPlan) -> Body:
    capabilities = pod.effect.capabilities
    return present(
        name=plan.container,
        image=pod.image,
        imagePullPolicy=pod.pull_policy,
        **copies.main_command(pod),
        workingDir=pod.working_dir,
        env=[dict(entry) for entry in (*pod.env, *(pod.transfer.env if pod.transfer else ()))],
        ports=[dict(port) for port in pod.role.ports],
        resources={**containers.resources(pod.resources), **accelerator.container_claims(pod)},
        securityContext={"capabilities": {"add": list(capabilities)}} if capabilities else None,
        volumeMounts=containers.volume_mounts(pod.mounts),
    )


def check_unused(context: Context, roles: tuple[Role, ...]) -> None:
    """Report fields of roles without pods, and fields of the job that every role overrides."""
    if "roles" in context.given.left_out or not roles:
        return
    for name, fields in _roles_without_pods(context, roles):
        _check_role(context, name, fields)
    if any(_takes_all(role) for role in roles):
        return
    for name in sorted(context.job.model_fields_set & aliases_of(PodFields).keys()):
        if name == "env":
            _check_env(context, roles)
        elif getattr(context.job, name) != default_of(PodFields, name):
            _check_field(context, roles, name)


def _takes_all(role: Role) -> bool:
    """Whether a role takes every field of the job."""
    return role.runs and role.trains and not (role.fields is not None and role.fields.model_fields_set)


def _roles_without_pods(context: Context, roles: tuple[Role, ...]) -> Iterator[tuple[str, RoleFields]]:
    every: Model | Mapping[str, RoleFields | None] = getattr(context.job, "roles", {})
    if not isinstance(every, Mapping):
        every = {alias: getattr(every, name) for name, alias in aliases_of(type(every)).items()}
    for name, fields in every.items():
        if fields is not None and all(role.name != name for role in roles):
            yield name, fields


def _check_role(context: Context, role: str, fields: RoleFields) -> None:
    if any(item.place == context.place("roles", role) for item in context.found.items):
        return  # the kind has reported the role itself
    scaled = "replicas" in type(fields).model_fields
    if scaled and not context.set_by_job(("roles", role, "replicas")):
        return
    if not scaled and "workers" in context.job.model_fields_set and not context.set_by_job(("workers",)):
        return
    for name in sorted(fields.model_fields_set - {"replicas"}):
        alias = alias_of(type(fields), name)
        if context.set_by_job(("roles", role, alias)):
            message = f"`{alias}` has no effect: the job has no pods with the role `{role}`"
            remedy = "set `replicas: 1` or more" if scaled else "increase `workers`"
            context.error(NO_EFFECT, ("roles", role, alias), message, f"{remedy}, or remove `{alias}`", key=True)


def _check_field(context: Context, roles: tuple[Role, ...], name: str) -> None:
    alias = alias_of(PodFields, name)
    if name in PROGRAM and not any(role.runs for role in roles):
        return  # the kind starts the program itself
    if not any(context.takes(role, name) for role in roles) and context.set_by_job((alias,)):
        message = f"`{alias}` has no effect: no role with pods uses it"
        own = next((role.name for role in roles if has_own(role, name)), None)
        other = f"remove `{alias}` from `roles.{own}`" if own else f"set `{alias}` in `roles.{roles[0].name}`"
        context.error(NO_EFFECT, (alias,), message, f"remove it, or {other}", key=True)


def _check_env(context: Context, roles: tuple[Role, ...]) -> None:
    """Variables of the job and of a role are merged."""
    for name in context.job.env:
        everywhere = all(role.fields is not None and name in role.fields.env for role in roles)
        if everywhere and context.set_by_job(("env", name)):
            message = f"`{name}` has no effect: every role with pods sets its own value"
            context.error(NO_EFFECT, ("env", name), message, f"remove it, or remove `{name}` from a role", key=True)
