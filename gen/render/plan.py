"""The plan stage: decisions about names, sizes, references and grants. Later stages make none.

Some nodes must be able to run all pods of a job: its volumes and its queue keep pods together, `spread` keeps them
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Code, Findings, Route, did_you_mean
from gen.base.codes.grants import UNKNOWN_NAMESPACE
from gen.base.codes.jobs import INVALID_VALUE, NO_EFFECT, NO_NODE, ONE_NODE_CLAIM
from gen.base.placeholders import TRIAL
from gen.job.kinds.role import Target
from gen.job.metric import known_metrics
from gen.job.model import aliases_of, default_of
from gen.job.plan import Plan, PodPlan, QueuePlan, Spread, TensorBoardPlan
from gen.kubernetes.objects import HOSTNAME, ZONE
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins, RunPins
from gen.render.job_run import JobInput, JobRun
from gen.render.parts import copies, grants, metadata, names
from gen.render.parts.checkpoints import plan_checkpoints
from gen.render.parts.context import Context
from gen.render.parts.data import plan_data
from gen.render.parts.grants import check_devices, plan_runtime, runtime_demand
from gen.render.parts.network import on_host, plan_network
from gen.render.parts.pods import plan_pods
from gen.render.parts.queue import check_schedulers, plan_queue
from gen.render.parts.tensorboard import plan_tensorboard
from gen.render.starters import starter_of
from gen.render.starters.base import Starter
from gen.render.starters.start_values import check_run_names
from gen.render.starters.workflow import plan_exit

_LABELS = {"node": HOSTNAME, "zone": ZONE}
"""The node label with the domains of each level of `spread`."""
_ONE_NODE = ("ReadWriteOnce",)
"""Access modes of a volume that one node at a time can mount."""


class _Need(Struct, frozen=True):
    """Values of a node label; the nodes of a pod must have one."""

    values: frozenset[str]
    who: str
    route: Route


class _Apart(Struct, frozen=True):
    """Pods on different nodes or in different zones."""

    level: str
    pods: tuple[PodPlan, ...]
    why: str
    route: Route
    remedy: str


def make_plan(run: JobRun, overlay: Overlay, found: Findings, pins: Pins | None = None) -> Plan | None:
    """All decisions about a run in an overlay; None if the overlay grants nothing to its namespace."""
    given = run.given
    grant = overlay.grant(given.namespace)
    if grant is None:
        _report_no_grant(given, overlay, found)
        return None
    job = given.job
    # a workflow with the same name would not run again
    stable = overlay.fields.runs.naming == "stable" and not (job.own_fields or run.step)
    starter = starter_of(type(job), given.data)
    stable = stable or starter.repeats
    name = run.name if stable else run.hashed
    object_name = TRIAL if starter.named_later else name
    context = Context(run, overlay, grant, object_name, found, RunPins(shared=pins), starter)
    served = overlay.fields.operators.get(job.kind, job.facts.served[0])
    api_version = job.facts.api_version(served)
    metadata.check_metadata(context)
    grants.check_grants(context)
    network = plan_network(context)
    queue = plan_queue(context, api_version)
    runtime = plan_runtime(context)
    priority = overlay.fields.priorities.get(job.priority or "")
    target = Target(
        api_version=api_version,
        served=served,
        namespace=given.namespace,
        name=run.name,
        run=context.object_name,
        host_network=on_host(network),
        runtime=runtime,
        together=queue is not None and queue.profile.together,
    )
    _check_kind(context, target)
    data = plan_data(context)
    saved = plan_checkpoints(context, data.mounts)
    if saved is not None:
        data = replace(data, mounts=(*data.mounts, *saved.mounts), env=saved.env)
    places = copies.plan_places(context)
    pods = plan_pods(context, data, places, network, target) if not job.own_fields else ()
    of_runtime = runtime_demand(job, overlay, *_requested(pods)) if runtime is not None else None
    check_devices(context, of_runtime, _requested(pods)[1])
    if pods and (job.command or any(pod.command for pod in pods)):
        from gen.render.parts.command_checks import check_commands

        check_commands(context, pods)
    check_schedulers(context, queue, pods)
    tensorboard = plan_tensorboard(context, data)
    _check_reach(context, pods, queue, tensorboard)
    names.check_name(context, pods)
    started = starter.plan(context, api_version, pods) or Starter(facts=job.facts)
    _check_cleanup(context)
    if run.later is not None:
        check_run_names(context, run.later)
    starter.check(context, pods, data.storage)
    plan = Plan(
        kind=job.kind,
        container=job.main_container(),
        name=run.name,
        job=given.name,
        run=name,
        object_name=context.object_name,
        namespace=given.namespace,
        source=given.source.file,
        overlay=overlay.name,
        kubernetes=overlay.kubernetes,
        api_version=api_version,
        served=served,
        pods=started.adapted(pods),
        runtime=runtime,
        files=data.files if not job.own_fields else {},
        storage=tuple(sorted({*data.storage, *places.volumes})),
        tensorboard=tensorboard,
        queue=queue,
        priority=priority.class_name if priority is not None else job.priority,
        preemption_policy=priority.preemption_policy if priority is not None else None,
        service_account=job.service_account,
        pull_secrets=tuple(dict.fromkeys(job.image_pull_secrets)),
        retries=job.retries,
        timeout=job.timeout,
        state=job.state,
        checkpoints=saved.saved if saved is not None else "",
        resumes=saved.continues if saved is not None else "",
        starter=started,
        on_exit=plan_exit(context),
        attempt=job.attempt,
        metrics=known_metrics(job.metrics),
        values=given.values,
        can_suspend=context.object_facts.suspend is not None,
        suspend_stops=context.object_facts.suspend_stops,
        stable=stable,
        arena=job.arena if overlay.fields.compat.arena and not run.step else "",
        engines=overlay.engines,
        labels=job.labels,
        annotations=job.annotations,
        step=run.step,
        pins=context.pins.own,
    )
    started.check_plan(context, job.companions(plan))
    return plan


def _requested(pods: tuple[PodPlan, ...]) -> tuple[Mapping[str, str], str]:
    """Resources and accelerator of the nodes of a job with a runtime, which has one role."""
    return (pods[0].resources, pods[0].accelerator) if pods else ({}, "")


def _report_no_grant(given: JobInput, overlay: Overlay, found: Findings) -> None:
    hint = did_you_mean(given.namespace, (name for name in overlay.fields.namespaces if name != "*"))
    if overlay.is_system(given.namespace):
        hint = "`*` does not include namespaces of Kubernetes and of GitOps engines"
    message = f"overlay `{overlay.name}` has no grant for namespace `{given.namespace}`"
    remedy = f"add it to `namespaces` of the overlay, move the file, or exclude it in `select`; {hint}"
    found.error(UNKNOWN_NAMESPACE, given.place(key=True), message, remedy)


def _check_kind(context: Context, target: Target) -> None:
    """What depends on the kind and the operator that serves it."""
    job = context.job
    policies = job.facts.versions[target.api_version]
    if job.restart is not None and job.restart not in policies:
        hint = did_you_mean(job.restart, policies)
        message = f"{job.facts.kind} of {target.api_version} cannot restart with `{job.restart}`"
        context.error(INVALID_VALUE, ("restart",), message, hint)
    if job.state == "suspended" and (facts := context.object_facts).suspend is None:
        context.error(INVALID_VALUE, ("state",), f"{facts.noun} cannot be suspended", facts.instead_of_suspension)
    _check_supported(context)
    for problem in job.problems(target):
        if not problem.no_effect:
            context.error(INVALID_VALUE, problem.route, problem.message, problem.hint, key=problem.key)
        elif context.set_by_job(problem.route):
            context.error(NO_EFFECT, problem.route, problem.message, problem.hint, key=True)


def _check_cleanup(context: Context) -> None:
    """Report pods that outlive a run of a schedule or a trial of a search: quotas count them until its end."""
    job, starter = context.job, context.starter
    if job.outlasting and starter.whole:
        message = (
            f"`{job.outlasting}` keeps pods after the end of a {starter.run}, "
            f"when the {starter.whole} can start the next one"
        )
        hint = f"remove `{job.outlasting}`: quotas would not count pods of both"
        context.error(INVALID_VALUE, (job.outlasting,), message, hint, key=True)


def _check_supported(context: Context) -> None:
    """Refuse fields that the kind cannot express, also if the overlay's defaults set them."""
    job, reasons = context.job, context.job.unsupported_fields()
    if not reasons:
        return
    for name, alias in aliases_of(type(job)).items():
        if alias in reasons and name in job.model_fields_set and getattr(job, name) != default_of(type(job), name):
            message = f"`{alias}` is not supported for `kind: {job.kind}`: {reasons[alias]}"
            hint = f"remove `{alias}`; a default for other kinds belongs in `defaults.kinds` of the overlay"
            context.error(INVALID_VALUE, (alias,), message, hint, key=True)


def _check_reach(
    context: Context, pods: tuple[PodPlan, ...], queue: QueuePlan | None, tensorboard: TensorBoardPlan | None
) -> None:
    """Report pods that no nodes can run, and claims of one node that several pods mount."""
    for pod in pods:
        if pod.effect.host_network:
            _check_host(context, pod)
    if (queue is None or queue.profile.one_domain is None) and not any(_is_limited(context, pod) for pod in pods):
        return
    needs = {pod.role.name: dict(_agreed(context, pod)) for pod in pods}
    apart = list(_kept_apart(context, pods))
    _check_spread(context, apart, needs)
    _check_devices(context, pods, needs)
    _check_queue(context, pods, apart, queue)
    _check_claims(context, pods, needs, tensorboard)


def _check_host(context: Context, pod: PodPlan) -> None:
    """Volumes that pods on the host network cannot mount."""
    for name, route in _mounted(context, pod).items():
        if remedy := context.overlay.fields.volumes[name].profile.for_host_network:
            message = f"pods on the host network cannot mount volume `{name}`"
            hint = f"use another `network`, or {remedy} in the overlay"
            _refuse_nodes(context, route, message, hint, INVALID_VALUE)


def _is_limited(context: Context, pod: PodPlan) -> bool:
    """Whether anything keeps the pods of a role together or apart. For most jobs, nothing does."""
    if pod.nodes.spread is not None or HOSTNAME in pod.nodes.labels:
        return True
    declared = context.overlay.fields.volumes.items()
    limited = {name for name, volume in declared if volume.node_labels or volume.access_modes == _ONE_NODE}
    return bool(limited) and not limited.isdisjoint(_mounted(context, pod))


def _agreed(context: Context, pod: PodPlan) -> Iterator[tuple[str, _Need]]:
    """By node label, the narrowest need of a pod. Two that exclude each other are reported."""
    narrowest: dict[str, _Need] = {}
    for label, need in _needs(context, pod):
        other = narrowest.get(label)
        if other is None or need.values < other.values:
            narrowest[label] = need
        elif not need.values & other.values:
            nodes = [" or ".join(f"`{label}={value}`" for value in sorted(one.values)) for one in (need, other)]
            message = f"{need.who} needs nodes with {nodes[0]}, and {other.who} those with {nodes[1]}"
            _refuse_nodes(context, need.route, message, "remove one of the two, or use volumes and nodes of one place")
    yield from narrowest.items()


def _needs(context: Context, pod: PodPlan) -> Iterator[tuple[str, _Need]]:
    route = context.route_of(pod.role, "placement")
    for label, values in pod.nodes.labels.items():
        yield label, _Need(frozenset(values), "the job", route)
    for name, field in _mounted(context, pod).items():
        for label, value in context.overlay.fields.volumes[name].node_labels.items():
            yield label, _Need(frozenset([value]), f"volume `{name}`", field)


def _mounted(context: Context, pod: PodPlan) -> dict[str, Route]:
    """Volumes of the overlay in a pod, with the fields that mount them."""
    declared = context.overlay.fields.volumes
    mounts = (*pod.mounts, *(pod.transfer.input_mounts if pod.transfer is not None else ()))
    return {mount.volume: mount.route or ("inputs",) for mount in reversed(mounts) if mount.volume in declared}


def _kept_apart(context: Context, pods: Iterable[PodPlan]) -> Iterator[_Apart]:
    """Pods that `spread` keeps apart, and those of a role on the host network, which share the ports of their node."""
    apart: dict[Spread, list[PodPlan]] = {}
    for pod in pods:
        if pod.nodes.spread is not None:
            apart.setdefault(pod.nodes.spread, []).append(pod)
        if pod.effect.spread and pod.role.most > 1:
            yield _Apart("node", (pod,), "the host network", ("network",), "use another `network`")
    for spread, members in apart.items():
        route = (*context.route_of(members[0].role, "placement"), "spread")
        yield _Apart(spread.level, tuple(members), f"`spread: {spread.level}`", route, "remove `spread`")


def _check_spread(context: Context, apart: Iterable[_Apart], needs: Mapping[str, Mapping[str, _Need]]) -> None:
    """Pods that are kept apart need as many nodes, or several zones."""
    for one in apart:
        found = [needs[pod.role.name].get(_LABELS[one.level]) for pod in one.pods]
        known = [need for need in found if need is not None]
        if len(known) < len(found) or (one.level == "zone" and context.of_role(one.pods[0].role, "placement").zone):
            continue  # `plan_spread` has checked the zones of a placement
        places = frozenset[str]().union(*(need.values for need in known))
        number = sum(pod.role.most for pod in one.pods)
        if len(places) < (number if one.level == "node" else 2):
            needed = f"{len(places)} {one.level}{'s' if len(places) > 1 else ''}"
            message = f"{one.why} keeps {number} pods apart, and {known[0].who} permits {needed}"
            _refuse_nodes(
                context, one.route, message, f"{one.remedy}, or use more nodes and volumes that they can mount"
            )


def _check_devices(context: Context, pods: Iterable[PodPlan], needs: Mapping[str, Mapping[str, _Need]]) -> None:
    """Pods that are kept on one node share its devices."""
    together: dict[tuple[str, frozenset[str]], list[PodPlan]] = {}
    for pod in pods:
        node = needs[pod.role.name].get(HOSTNAME)
        if pod.accelerator and node is not None and len(node.values) == 1:
            together.setdefault((pod.accelerator, node.values), []).append(pod)
    for members in together.values():
        _check_node(context, members, needs[members[0].role.name][HOSTNAME].who)


def _check_node(context: Context, members: list[PodPlan], who: str) -> None:
    """Whether a node has the devices of all pods."""
    most = context.overlay.fields.accelerators[members[0].accelerator].per_node
    total = sum(pod.role.gpus * pod.role.most for pod in members)
    if most is not None and total > most:
        message = f"{who} permits one node for all pods; they request {total} GPUs, and a node has {most}"
        hint = "reduce `gpus` or `workers`, or use a queue and volumes of more nodes"
        _refuse_nodes(context, context.route_of(members[0].role, "gpus"), message, hint)


def _check_queue(context: Context, pods: Iterable[PodPlan], apart: Iterable[_Apart], queue: QueuePlan | None) -> None:
    """Report a queue that keeps the pods of a role in one domain although they are kept apart."""
    domain = queue.profile.one_domain if queue is not None else None
    if queue is None or domain is None:
        return
    for pod in pods:
        if domain == HOSTNAME and pod.accelerator:
            _check_node(context, [pod], f"queue `{queue.name}`")
    for one in apart:
        narrow = domain == HOSTNAME or (domain == ZONE and one.level == "zone")
        if narrow and any(pod.role.most > 1 for pod in one.pods):
            message = f"queue `{queue.name}` needs all pods of a role in one `{domain}`, and {one.why} keeps them apart"
            _refuse_nodes(context, one.route, message, f"{one.remedy}, or use another `queue`")


def _check_claims(
    context: Context,
    pods: Iterable[PodPlan],
    needs: Mapping[str, Mapping[str, _Need]],
    tensorboard: TensorBoardPlan | None,
) -> None:
    """Pods do not follow a claim to the node that has mounted it, unless they all name one node."""
    users: dict[str, list[PodPlan]] = {}
    for pod in pods:
        for name in _mounted(context, pod):
            users.setdefault(name, []).append(pod)
    for name, members in sorted(users.items()):
        nodes = [needs[pod.role.name].get(HOSTNAME) for pod in members]
        if context.overlay.fields.volumes[name].access_modes != _ONE_NODE or all(
            node is not None and len(node.values) == 1 for node in nodes
        ):
            continue
        board = tensorboard is not None and tensorboard.volume.name == name
        number = sum(pod.role.most for pod in members) + board
        if number == 1:
            continue
        with_board = " with that of TensorBoard" if board else ""
        message = f"only one node can mount volume `{name}`, and {number} pods{with_board} use it"
        hint = "use a volume with `accessModes: [ReadWriteMany]`, or one pod, such as with `workers: 1`"
        place = context.place(*_mounted(context, members[0])[name], key=True)
        context.found.warning(ONE_NODE_CLAIM, place, message, hint)


def _refuse_nodes(context: Context, route: Route, message: str, hint: str, code: Code = NO_NODE) -> None:
    """Roles with the same mistake are one finding."""
    place = context.place(*route, key=True)
    if not any(one.place == place and one.code == code.name for one in context.found.items):
        context.error(code, route, message, hint, key=True)
