"""What people are told of rules: one in full, or the list of all."""

from __future__ import annotations

import textwrap

from gen.diagnostics import UsageError, did_you_mean
from gen.validate.catalogue import CATALOGUE
from gen.validate.check import SILENCE

_WIDTH = 100


def explained(name: str) -> str:
    """What a rule checks, why, and what to do. UsageError when there is no such rule."""
    rule = CATALOGUE.get(name)
    if rule is None:
        others = "findings about job files and overlays say all in themselves"
        raise UsageError(f"there is no rule `{name}`: {did_you_mean(name, CATALOGUE)}; {others}")
    kinds = ", ".join(sorted(f"{kind} ({group})" for group, kind in rule.kinds)) if rule.kinds is not None else ""
    parts = (
        f"{rule.name}: {rule.severity.value}, as the {rule.judge.value} judges",
        f"For: {kinds}" if kinds else "",
        rule.says,
        f"Why: {rule.reason}",
        f"Remedy: {rule.remedy}",
        f'To silence it for one object: annotate the object with `{SILENCE}{rule.name}: "<reason>"`',
    )
    return "".join(textwrap.fill(" ".join(part.split()), _WIDTH) + "\n" for part in parts if part)


def listed() -> str:
    """Every rule with its severity and its first sentence."""
    width = max(map(len, CATALOGUE))
    lines = (
        f"{rule.name:<{width}}  {rule.severity.value:<7}  {_first_sentence(rule.says)}" for rule in CATALOGUE.values()
    )
    return "".join(f"{line}\n" for line in lines)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")
