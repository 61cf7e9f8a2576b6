"""Overlays of a repository, ready to print: what each offers, and the quotas of its namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.quantity import money
from gen.render.quota import quotas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.inventory.listing import JobRow
    from gen.overlay.overlay import Overlay

Table = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Title, headings and rows."""


class OverlayView(Struct, frozen=True, kw_only=True):
    """An overlay with its tables."""

    name: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]


def overlay_view(overlay: Overlay, rows: Sequence[JobRow]) -> OverlayView:
    """`rows` are those of all overlays."""
    fields = overlay.fields
    facts = {
        "Cluster": overlay.cluster_name or "",
        "Kubernetes": overlay.kubernetes,
        "Engines": ", ".join(overlay.engines) if fields.gitops else "",
        "Currency": fields.currency or "",
        "Labels": ", ".join(f"{name}={value}" for name, value in fields.labels.items()),
    }
    own = [row for row in rows if row.overlay == overlay.name]
    tables = (table for table in _tables(overlay, own) if table[2])
    return OverlayView(
        name=overlay.name, facts=tuple((name, value) for name, value in facts.items() if value), tables=tuple(tables)
    )


def _tables(overlay: Overlay, rows: Sequence[JobRow]) -> Iterator[Table]:
    fields, currency = overlay.fields, overlay.fields.currency or ""
    yield (
        "Namespaces",
        ("Namespace", "Active jobs", "GPUs", "Limits", "Cost in a month, at most", "Budget"),
        tuple(_namespaces(overlay, rows)),
    )
    yield (
        "Accelerators",
        ("Name", "Profile", "Devices of a node", "Price of an hour"),
        tuple(
            (name, ", ".join(one.given), str(one.per_node or ""), _price(one.price, currency))
            for name, one in fields.accelerators.items()
        ),
    )
    yield (
        "Storage",
        ("Volume", "Profile", "Size", "Access"),
        tuple(
            (name, ", ".join(one.given), str(one.size or ""), "read-only" if one.read_only else "")
            for name, one in fields.volumes.items()
        ),
    )
    yield "Stores", ("Store", "Service"), _named(fields.stores)
    yield "Networks", ("Network", "Profiles"), _named(fields.networks)
    yield "Queues", ("Queue", "Scheduler"), _named(fields.queues)


def _named(entries: object) -> tuple[tuple[str, ...], ...]:
    known = entries.items() if isinstance(entries, dict) else ()
    return tuple((name, ", ".join(one.given)) for name, one in known)


def _price(price: object, currency: str) -> str:
    return "" if price is None else f"{price} {currency}"


def _namespaces(overlay: Overlay, rows: Sequence[JobRow]) -> Iterator[tuple[str, ...]]:
    active = [row for row in rows if row.state == "active"]
    currency = overlay.fields.currency or ""
    for name in sorted({*(row.namespace for row in rows), *(key for key in overlay.fields.namespaces if key != "*")}):
        grant = overlay.grant(name)
        budget = grant.budget if grant is not None else None
        month = sum(row.month for row in rows if row.namespace == name)
        yield (
            name,
            str(sum(row.namespace == name for row in active)),
            str(sum(row.gpus or 0 for row in active if row.namespace == name)),
            ", ".join(f"{limit} {' '.join(quota[-1:])}" for quota, limit in quotas(overlay, name).items()),
            f"{money(month)} {currency}" if overlay.prices is not None else "",
            _price(budget, currency),
        )
