"""The network of a job: which one it is, and whether its pods can use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from gen.base import did_you_mean
from gen.base.codes.grants import UNKNOWN_NETWORK
from gen.base.codes.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT, OVERRIDDEN_DEFAULT, RESERVED_METADATA
from gen.job.fields import POD_NETWORK
from gen.job.kinds.role import Role
from gen.job.profile import ATTACHMENTS, NOTHING, Effect, clashes, without_devices
from gen.job.scalars import shown
from gen.overlay.entries import NetworkFields
from gen.render.parts import accelerator, grants
from gen.render.parts.context import Context

_FIELD = ("network",)
_HUGE_PAGES = "hugepages-"
_LOGGING = "NCCL_DEBUG"
"""Start of variables that only decide what NCCL prints."""


class Connection(NamedTuple):
    """The network of a job."""

    name: str
    fields: NetworkFields


def plan_network(context: Context) -> Connection | None:
    """The network of the job; None for that of the cluster, or if it cannot be used, which is reported."""
    name = context.job.network
    if name == POD_NETWORK:
        return None
    overlay = context.overlay
    known, networks = overlay.fields.networks, context.grant.networks
    if name not in known:
        message = f"overlay `{overlay.name}` has no network `{name}`"
        context.error(UNKNOWN_NETWORK, _FIELD, message, did_you_mean(name, [*known, POD_NETWORK]))
        return None
    grants.check_listed(context, _FIELD, "network", name, [*networks, POD_NETWORK] if networks is not None else None)
    network: NetworkFields = known[name]
    for word in dict.fromkeys(profile.grant for profile in network.profiles):
        grants.check_allowed(context, _FIELD, word)
    _check_kind(context, name, network.effect(0))
    return Connection(name, network)


def on_host(network: Connection | None) -> bool:
    """Whether pods share the network of their nodes."""
    return network is not None and network.fields.effect(0).host_network


def annotations_of(effect: Effect) -> dict[str, str]:
    """All annotations of a pod by an effect."""
    attached = {ATTACHMENTS: ",".join(effect.attachments)} if effect.attachments else {}
    return {**effect.annotations, **effect.training_annotations, **attached}


def _check_kind(context: Context, name: str, effect: Effect) -> None:
    """Report effects of the network that the kind cannot have."""
    kind = context.job.facts.kind
    if effect.host_network and not context.job.uses_host_network:
        message = f"a {kind} cannot use the network of its nodes, as `{name}` does"
        context.error(INVALID_VALUE, _FIELD, message, "use a network without `hostNetwork`, or another kind")
    if effect.sidecars and not context.job.adds_containers:
        message = f"a {kind} cannot add a container to its pods, as `{name}` does"
        context.error(INVALID_VALUE, _FIELD, message, "use another network, or another kind")


def role_effect(context: Context, role: Role, network: Connection | None) -> Effect:
    """Changes to the pods of a role by the network of the job."""
    if network is None:
        return NOTHING
    effect = network.fields.effect(role.gpus)
    if not role.trains:
        return without_devices(effect)
    images = [
        {**sidecar, "image": grants.of_platform(context, sidecar["image"], *_FIELD)} for sidecar in effect.sidecars
    ]
    return replace(effect, sidecars=tuple(images)) if images else effect


def check_network(context: Context, roles: Iterable[Role], network: Connection | None) -> None:
    """Report pods that cannot use the network, and fields of the job that work against it."""
    if network is None:
        return
    for role in roles:
        gpus = context.of_role(role, "gpus") or 0
        if role.trains and not context.given.left_out & {"gpus", "roles"}:
            route = context.route_of(role, "gpus") if gpus else _FIELD
            for problem in network.fields.problems(gpus):
                context.error(INVALID_VALUE, route, problem.message, problem.hint)
        if role.trains:
            _check_environment(context, role, network, network.fields.effect(gpus).env)


def _check_environment(context: Context, role: Role, network: Connection, defaults: Mapping[str, str]) -> None:
    """Report variables that switch the network off, and those that replace its defaults."""
    disabling = {name: values for one in network.fields.profiles for name, values in one.disabled_by.items()}
    for name, value, route in _variables(context, role):
        disables = isinstance(value, str) and value in disabling.get(name, ())
        replaces = not name.startswith(_LOGGING) and value != defaults.get(name, value)
        if not (disables or replaces) or not context.set_by_job(route):
            continue
        if disables:
            message = f"with `{name}={value}`, network `{network.name}` has no effect"
            context.error(NO_EFFECT, route, message, f"remove `{name}`, or use `network: {POD_NETWORK}`", key=True)
        else:
            message = f"`{name}` replaces {shown(defaults[name])}, the value for network `{network.name}`"
            hint = f"remove `{name}`, unless this training needs another value"
            context.found.warning(OVERRIDDEN_DEFAULT, context.place(*route, key=True), message, hint)


def _variables(context: Context, role: Role) -> Iterator[tuple[str, object, tuple[str, ...]]]:
    """Variables that the job sets for a role, with their routes."""
    own = role.fields.env if role.fields is not None else {}
    yield from ((name, value, ("env", name)) for name, value in context.job.env.items() if name not in own)
    yield from ((name, value, ("roles", role.name, "env", name)) for name, value in own.items())


def check_pod(
    context: Context, role: Role, network: Effect, choice: accelerator.Choice | None, resources: Mapping[str, str]
) -> None:
    """Report different values of the network, the accelerator and the metadata of a role."""
    if choice is not None:
        for clash in clashes(choice.fields.effect(role.gpus), network):
            values = f"{shown(clash.one)} and {shown(clash.other)}"
            message = f"the accelerator and the network set `{clash.key}` to {values}"
            context.error(INVALID_VALUE, _FIELD, message, "use the same value for both in the overlay")
    _check_metadata(context, role, network)
    pages = next((name for name in resources if name.startswith(_HUGE_PAGES)), None)
    if pages is not None and not (resources.keys() | context.given.left_out) & {"cpu", "memory", "roles"}:
        route = _FIELD if pages in network.resources else context.route_of(role, "gpus")
        message = f"the pods request `{pages}`, which requires `memory` or `cpu`"
        context.error(MISSING_FIELD, route, message, "add `memory`, such as `memory: 64Gi`")


def _check_metadata(context: Context, role: Role, network: Effect) -> None:
    """Report labels and annotations that would replace those of the network."""
    ours = {"pod_annotations": annotations_of(network), "pod_labels": network.labels}
    for field, values in ours.items():
        for key, value in context.of_role(role, field).items():
            if key in values and value != values[key]:
                route = (*context.route_of(role, field), key)
                message = f"`{key}` is set by the network of the job"
                context.error(RESERVED_METADATA, route, message, "remove it, or use another network", key=True)
