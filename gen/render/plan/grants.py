"""References that a namespace needs a grant for: queue, priority, service account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean
from gen.findings.grants import NOT_GRANTED, UNKNOWN_PRIORITY, UNKNOWN_QUEUE, UNKNOWN_SERVICE_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Collection

    from gen.diagnostics import Route
    from gen.overlay.fields import OverlayFields
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
            remedy = f"add it to `namespaces.{namespace}.{list_name}` of the overlay"
            declared = wanted in _declared(context.overlay.fields, list_name)
            hint = remedy if declared else did_you_mean(wanted, granted[list_name], otherwise=remedy)
            message = f"namespace `{namespace}` has no {field} `{wanted}` in overlay `{overlay}`"
            context.error(code, (field,), message, hint)


def _declared(fields: OverlayFields, list_name: str) -> Collection[str]:
    declared: dict[str, Collection[str]] = {"queues": fields.queues, "priorities": fields.priorities}
    return declared.get(list_name, ())


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
