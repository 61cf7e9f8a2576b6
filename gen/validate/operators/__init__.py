"""Rules of operators: what their webhooks and controllers refuse, or do otherwise than it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gen.validate.rule import Rule

OPERATOR_RULES: Final[dict[str, Rule]] = {}
