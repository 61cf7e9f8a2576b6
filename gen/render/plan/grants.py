"""References that a namespace needs a grant for: queue, priority, service account, network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean
from gen.findings.grants import NOT_GRANTED, UNKNOWN_NETWORK, UNKNOWN_PRIORITY, UNKNOWN_QUEUE, UNKNOWN_SERVICE_ACCOUNT
from gen.findings.jobs import INVALID_VALUE
from gen.model.effect import Effect, combined
from gen.networks import POD_NETWORK

if TYPE_CHECKING:
    from collections.abc import Collection

    from gen.diagnostics import Route
    from gen.overlay.fields import NetworkFields
    from gen.render.plan.context import Context

_GRANTED = (
    ("queue", "queue", "queues", UNKNOWN_QUEUE),
    ("priority", "priority", "priorities", UNKNOWN_PRIORITY),
    ("service_account", "serviceAccount", "serviceAccounts", UNKNOWN_SERVICE_ACCOUNT),
)
"""Attribute and field of the job, field of `namespaces` that grants it, finding code."""


def check_grants(context: Context) -> None:
    """Check the names that the overlay must grant."""
    namespace, overlay = context.given.namespace, context.overlay.name
    granted = {
        "queues": context.grant.queues,
        "priorities": context.grant.priorities,
        "serviceAccounts": context.grant.service_accounts,
    }
    for attribute, field, list_name, code in _GRANTED:
        wanted = getattr(context.job, attribute)
        if wanted is not None and wanted not in granted[list_name]:
            hint = did_you_mean(
                wanted,
                granted[list_name],
                otherwise=f"add it to `namespaces.{namespace}.{list_name}` of the overlay",
            )
            message = f"namespace `{namespace}` has no {field} `{wanted}` in overlay `{overlay}`"
            context.error(code, (field,), message, hint)


def check_listed(context: Context, route: Route, noun: str, name: str, granted: Collection[str] | None) -> None:
    """Report a network or an accelerator that the namespace may not use; None grants all of them."""
    if granted is not None and name not in granted:
        namespace, overlay = context.given.namespace, context.overlay.name
        message = f"namespace `{namespace}` may not use {noun} `{name}` in overlay `{overlay}`"
        remedy = f"add it to `namespaces.{namespace}.{noun}s` of the overlay"
        context.error(NOT_GRANTED, route, message, did_you_mean(name, granted, besides=remedy))


def check_allowed(context: Context, route: Route, permission: str) -> None:
    """Report a permission that a profile needs and the namespace does not have; it may be empty."""
    if permission and permission not in context.grant.allow:
        namespace, overlay = context.given.namespace, context.overlay.name
        message = f"namespace `{namespace}` may not use `{permission}` in overlay `{overlay}`"
        hint = f"add `{permission}` to `namespaces.{namespace}.allow` of the overlay"
        context.error(NOT_GRANTED, route, message, hint)


def network_effect(context: Context) -> Effect:
    """Effect of the job's network on its pods; no effect if it cannot be used, which is reported."""
    name = context.job.network
    if name == POD_NETWORK:
        return Effect()
    overlay = context.overlay
    known, networks = overlay.fields.networks, context.grant.networks
    if name not in known:
        message = f"overlay `{overlay.name}` has no network `{name}`"
        context.error(UNKNOWN_NETWORK, ("network",), message, did_you_mean(name, [*known, POD_NETWORK]))
        return Effect()
    check_listed(context, ("network",), "network", name, [*networks, POD_NETWORK] if networks is not None else None)
    network: NetworkFields = known[name]
    for profile in network.profiles:
        check_allowed(context, ("network",), profile.grant)
    effect = combined(profile.effect() for profile in network.profiles)
    if effect.host_network and not context.job.uses_host_network:
        message = f"a {context.job.facts.kind} cannot use the network of its nodes, as `{name}` does"
        context.error(INVALID_VALUE, ("network",), message, "use a network without `hostNetwork`, or another kind")
    return effect
