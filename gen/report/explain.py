"""Explanations of findings: rules about manifests, and codes of all other findings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from gen.base.codes import Code
from gen.base.codes.commands import SILENCEABLE
from gen.kubernetes.facts.created_pods import CreatedPod
from gen.kubernetes.rules.catalogue import CATALOGUE, RULES, SECTIONS
from gen.kubernetes.rules.rule import RENAMED, SILENCE, Rule, RuleSource
from gen.report.escaping import sanitize
from gen.report.fields import DEFAULT_WIDTH
from gen.report.formats import Documentation

MANIFESTS: Final = "Manifests"
"""Title of the list of rules."""


def finding_names() -> frozenset[str]:
    """Codes of findings, with former ones."""
    return frozenset((*CATALOGUE, *RENAMED))


def explain(name: str, documentation: Documentation | None = None, width: int = DEFAULT_WIDTH) -> str:
    """The meaning of a finding, its reason and its remedy, with its page. KeyError for an unknown name."""
    site = documentation or Documentation()
    code = CATALOGUE[name if name in CATALOGUE else RENAMED[name]]
    paragraphs = [*(_rule_paragraphs(code) if isinstance(code, Rule) else _code_paragraphs(code))]
    if name in RENAMED:
        paragraphs.append(f"The rule about manifests that had this name is `{RENAMED[name]}`")
    return _filled(paragraphs, width) + _page(site.finding(code.name))


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
    if code.name in SILENCEABLE:
        yield f'To silence its warnings for a job, write `annotations: {{{SILENCE}{code.name}: "<reason>"}}` in it'


def list_findings() -> str:
    """Every rule with its severity and summary, and every code with its summary."""
    width = max(map(len, CATALOGUE))
    lines = [f"{MANIFESTS}\n"]
    lines += [
        f"{rule.name:<{width}}  {rule.severity.value:<7}  {_first_sentence(rule.summary)}\n" for rule in RULES.values()
    ]
    for title, codes in SECTIONS.items():
        lines.append(f"\n{title}\n")
        lines += [f"{code.name:<{width}}  {_first_sentence(code.summary)}\n" for code in codes]
    return "".join(lines)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")


def explain_pods(path: str, pods: Iterable[CreatedPod]) -> str:
    """The pods of an object, with the images, variables and resources of their containers."""
    lines = [path]
    for pod in pods:
        asked = ", ".join(f"{name}: {amount}" for name, amount in sorted(pod.resources.items()))
        lines.append(f"  {pod.name}  {asked}")
        containers = [(one, " (init)") for one in pod.init_containers] + [(one, "") for one in pod.containers]
        for container, marked in containers:
            names = " ".join(str(one.get("name")) for one in container.get("env") or ())
            image = container.get("image") or "the image of the runtime"
            lines.append(f"    {container.get('name')}{marked}: {image}")
            lines += [f"      {names}"] if names else []
    return "".join(f"{sanitize(line).rstrip()}\n" for line in lines)
