"""Explanations of findings: rules about manifests, and codes of all other findings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from gen.findings.registry import CODES, SECTIONS
from gen.report.documentation import Documentation
from gen.report.fields import DEFAULT_WIDTH
from gen.rules.catalogue import CATALOGUE
from gen.rules.problem import SILENCE
from gen.rules.rule import RuleSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.findings.code import Code
    from gen.rules.rule import Rule

MANIFESTS: Final = "Manifests"
"""Title of the list of rules."""


def finding_names() -> frozenset[str]:
    """Codes of findings and names of rules."""
    return frozenset((*CATALOGUE, *CODES))


def explain(name: str, documentation: Documentation | None = None, width: int = DEFAULT_WIDTH) -> str:
    """The meaning of a finding, its reason and its remedy, with its pages. KeyError for an unknown name."""
    rule, code = CATALOGUE.get(name), CODES.get(name)
    if rule is None and code is None:
        raise KeyError(name)
    site = documentation or Documentation()
    parts = [_filled(_rule_paragraphs(rule), width) + _page(site.entry(name, rule=True))] if rule is not None else []
    parts += [_filled(_code_paragraphs(code), width) + _page(site.entry(name, rule=False))] if code is not None else []
    return "\n".join(parts)


def _page(url: str) -> str:
    return f"Documentation: {url}\n" if url else ""


def _filled(paragraphs: Iterable[str], width: int) -> str:
    return "".join(textwrap.fill(" ".join(text.split()), width) + "\n" for text in paragraphs if text)


def _rule_paragraphs(rule: Rule) -> Iterator[str]:
    source = rule.source.value if rule.source is RuleSource.GEN else f"the {rule.source.value}"
    yield f"{rule.name}: {rule.severity.value} in manifests, enforced by {source}"
    if rule.kinds is not None:
        yield "Kinds: " + ", ".join(sorted(f"{kind} ({group})" for group, kind in rule.kinds))
    yield rule.summary
    yield f"Why: {rule.reason}"
    yield f"Remedy: {rule.remedy}"
    annotation = f'`{SILENCE}{rule.name}: "<reason>"`'
    yield f"To silence it for one object, annotate the object with {annotation}; for a job, in a patch of the overlay"


def _code_paragraphs(code: Code) -> Iterator[str]:
    section = next(title for title, codes in SECTIONS.items() if code in codes)
    yield f"{code.name}: {section}"
    yield code.summary
    yield f"Why: {code.reason}"
    yield f"Remedy: {code.remedy}"


def list_findings() -> str:
    """Every rule with its severity and summary, and every code with its summary."""
    width = max(map(len, (*CATALOGUE, *CODES)))
    lines = [f"{MANIFESTS}\n"]
    lines += [
        f"{rule.name:<{width}}  {rule.severity.value:<7}  {_first_sentence(rule.summary)}\n"
        for rule in CATALOGUE.values()
    ]
    for title, codes in SECTIONS.items():
        lines.append(f"\n{title}\n")
        lines += [f"{code.name:<{width}}  {_first_sentence(code.summary)}\n" for code in codes]
    return "".join(lines)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")
