"""Checks of prices and budgets of an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.jobs import MISSING_FIELD, NO_EFFECT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from gen.diagnostics import Findings
    from gen.load import Layers
    from gen.overlay.fields import OverlayFields
    from gen.overlay.grant import Grant


def check_prices(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report prices without a currency, and budgets that some devices would not count in."""
    prices = _prices(fields)
    given = [route for route, price in prices.items() if price is not None]
    if given and fields.currency is None and not fields.abstract:
        message = "`currency` is missing: the overlay has a price"
        found.error(MISSING_FIELD, layers.place(given[0], key=True), message, "add `currency`, such as `currency: EUR`")
    if fields.currency is not None and not given and not fields.abstract and not _inherits_currency(layers):
        message = "`currency` has no effect without a `price`"
        hint = f"add `{'.'.join(next(iter(prices)))}`, or remove `currency`"
        found.error(NO_EFFECT, layers.place(("currency",), key=True), message, hint)
    for namespace, grant in fields.namespaces.items():
        missing = [route for route, price in prices.items() if price is None and _may_use(grant, route)]
        if grant.budget is not None and missing and not fields.abstract:
            field = ".".join(missing[0])
            message = f"`budget` of `{namespace}` cannot be checked: `{field}` is missing"
            hint = f"add `{field}`, such as `price: 2.50`, or `price: 0` for devices without costs"
            found.error(MISSING_FIELD, layers.place(("namespaces", namespace, "budget"), key=True), message, hint)


def _inherits_currency(layers: Layers) -> bool:
    """Whether it is that of an overlay which others with prices may extend, too."""
    return layers.place(("currency",)).file != layers.layers[0].source.file


def _prices(fields: OverlayFields) -> Mapping[tuple[str, ...], Decimal | None]:
    """The prices by their routes."""
    if not fields.accelerators:
        return {("gpu", "price"): fields.gpu.price}
    return {("accelerators", name, "price"): one.price for name, one in fields.accelerators.items()}


def _may_use(grant: Grant, route: tuple[str, ...]) -> bool:
    return grant.accelerators is None or route[1] in grant.accelerators
