"""What people are told of findings: rules about manifests, and codes of everything else; one in full, or all."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from gen.diagnostics import UsageError, did_you_mean
from gen.findings.files import FILES
from gen.findings.jobs import JOBS
from gen.findings.overlays import OVERLAYS
from gen.findings.rendered import CHANGES
from gen.rules.catalogue import CATALOGUE
from gen.rules.problem import SILENCE
from gen.rules.rule import RuleSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.findings.code import Code
    from gen.rules.rule import Rule

SECTIONS: Final = {
    "Of files": FILES,
    "Of jobs, and what their overlay grants": JOBS,
    "Of overlays and patches": OVERLAYS,
    "Of rendered/, and what a change would do": CHANGES,
}
"""Codes of findings about inputs and changes, by what they are about."""

CODES: Final = {code.name: code for section in SECTIONS.values() for code in section}
"""Some are names of rules as well: the same mistake, in a job file or in a manifest."""

_WIDTH = 100


def words_of(name: str, *, in_input: bool) -> Code | Rule | None:
    """What is said of a finding that stands in a job or an overlay, or else in a manifest."""
    rule, code = CATALOGUE.get(name), CODES.get(name)
    return (code or rule) if in_input else (rule or code)


def explained(name: str) -> str:
    """What a finding of this name checks, why, and what to do. UsageError when there is none."""
    rule, code = CATALOGUE.get(name), CODES.get(name)
    if rule is None and code is None:
        raise UsageError(f"no finding is called `{name}`: {did_you_mean(name, (*CATALOGUE, *CODES))}")
    told = [_filled(_of_rule(rule))] if rule is not None else []
    told += [_filled(_of_code(code))] if code is not None else []
    return "\n".join(told)


def _filled(parts: Iterable[str]) -> str:
    return "".join(textwrap.fill(" ".join(part.split()), _WIDTH) + "\n" for part in parts if part)


def _of_rule(rule: Rule) -> Iterator[str]:
    kinds = ", ".join(sorted(f"{kind} ({group})" for group, kind in rule.kinds)) if rule.kinds is not None else ""
    judge = rule.source.value if rule.source is RuleSource.GEN else f"the {rule.source.value}"
    yield f"{rule.name}: {rule.severity.value} of manifests, as {judge} judges"
    yield f"For: {kinds}" if kinds else ""
    yield rule.says
    yield f"Why: {rule.reason}"
    yield f"Remedy: {rule.remedy}"
    yield f'To silence it for one object: annotate the object with `{SILENCE}{rule.name}: "<reason>"`'


def _of_code(code: Code) -> Iterator[str]:
    section = next(title for title, codes in SECTIONS.items() if code in codes)
    yield f"{code.name}: {section[:1].lower()}{section[1:]}"
    yield code.says
    yield f"Why: {code.reason}"
    yield f"Remedy: {code.remedy}"


def listed() -> str:
    """Every rule with its severity and its first sentence, and every code."""
    width = max(map(len, (*CATALOGUE, *CODES)))
    rules = [(rule.name, rule.severity.value, rule.says) for rule in CATALOGUE.values()]
    lines = ["Of manifests\n", *(f"{name:<{width}}  {how:<7}  {_first_sentence(says)}\n" for name, how, says in rules)]
    for title, codes in SECTIONS.items():
        lines += [f"\n{title}\n", *(f"{code.name:<{width}}  {_first_sentence(code.says)}\n" for code in codes)]
    return "".join(lines)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")
