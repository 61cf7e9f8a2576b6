"""Nodes that can run all pods of a job: its volumes and its queue keep pods together, `spread` keeps them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gen.base import Code, Route
from gen.base.codes.jobs import INVALID_VALUE, NO_NODE, ONE_NODE_CLAIM
from gen.job.plan import PodPlan, QueuePlan, Spread, TensorBoardPlan
from gen.kubernetes.objects import HOSTNAME, ZONE
from gen.render.parts.context import Context

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


def check_reach(
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
            _report(context, route, message, hint, INVALID_VALUE)


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
            _report(context, need.route, message, "remove one of the two, or use volumes and nodes of one place")
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
            _report(context, one.route, message, f"{one.remedy}, or use more nodes and volumes that they can mount")


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
        _report(context, context.route_of(members[0].role, "gpus"), message, hint)


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
            _report(context, one.route, message, f"{one.remedy}, or use another `queue`")


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


def _report(context: Context, route: Route, message: str, hint: str, code: Code = NO_NODE) -> None:
    """Roles with the same mistake are one finding."""
    place = context.place(*route, key=True)
    if not any(one.place == place and one.code == code.name for one in context.found.items):
        context.error(code, route, message, hint, key=True)
