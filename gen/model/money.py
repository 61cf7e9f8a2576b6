"""Amounts of money and currencies."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final

from gen.model.scalars import matching, refuse, schema
from gen.model.validators import Before, JsonForm
from gen.regex import regex

_AMOUNT: Final = regex(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


def _amount(value: Any) -> Any:
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Decimal(value)
    text = str(value).replace(" ", "") if isinstance(value, str) else ""
    meant = next((one for one in (text.replace(",", "."), text.strip("$€£¥"), text[:-3]) if _AMOUNT.fullmatch(one)), "")
    raise refuse("an amount of money", value, f"did you mean `{meant}`?" if meant else "use a form like `2.50`")


Price = Annotated[Decimal, Before(_amount), schema("amount", "number", "string")]
"""An amount of money, without its currency."""
Currency = Annotated[
    str,
    matching(
        regex("[A-Z]{3}"),
        3,
        "a code of a currency",
        "use a form like `EUR`",
        meant=lambda text: text.upper() if text.upper() != text else "",
    ),
    JsonForm({"title": "currency", "type": "string", "pattern": "^[A-Z]{3}$"}),
]
