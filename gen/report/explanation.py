"""The code or rule by which a finding is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.registry import CODES
from gen.rules.catalogue import CATALOGUE

if TYPE_CHECKING:
    from gen.findings.code import Code
    from gen.rules.rule import Rule


def explanation(name: str, *, in_input: bool) -> Code | Rule | None:
    """The code or rule of a finding. For a name of both, the code if the finding is in a job or overlay."""
    rule, code = CATALOGUE.get(name), CODES.get(name)
    return (code or rule) if in_input else (rule or code)
