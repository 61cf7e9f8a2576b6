"""Every reported finding is explained, and every code is used."""

from __future__ import annotations

import ast
import re

import pytest

from gen.base.findings import UsageError
from gen.commands.explain import Request, run
from gen.kubernetes.rules import RENAMED
from gen.kubernetes.rules.catalogue import CATALOGUE, CODES, RULES, SECTIONS
from gen.render.write.compare import Status
from gen.report.explain import explain, list_findings
from tests.cases import for_each
from tests.source_tree import modules, tree, walk
from tests.support import HERE

MAKERS = {"error", "warning", "Refused", "Diagnostic", "Problem", "_Said", "Breach"}
"""Functions that are called with the name of a finding."""
NAME = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
SHOWN = re.compile(r": (?:error|warning|note): .* \[([a-z-]+)\]$", re.MULTILINE)


def reported() -> set[str]:
    """Names of findings in the calls that report them: a string, or the constant of a code."""
    found = {status.value for status in Status}
    for module in modules():
        for node in walk(tree(module)):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in MAKERS:
                found.update(name for argument in node.args[:2] if NAME.fullmatch(name := name_of(argument)))
    return found


def name_of(node: ast.AST) -> str:
    """`over-quota` for the string and for `OVER_QUOTA` or `jobs.OVER_QUOTA`; otherwise empty."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    constant = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return constant.lower().replace("_", "-") if constant.isupper() else ""


@pytest.mark.slow
def test_every_reported_finding_is_explained() -> None:
    assert sorted(reported() - CATALOGUE.keys()) == []


def test_every_finding_in_expected_outputs_is_explained() -> None:
    texts = [path.read_text("utf-8") for path in HERE.rglob("*.txtar")]
    shown = {name for text in texts for name in SHOWN.findall(text)}
    assert len(shown) > 40
    assert sorted(shown - CATALOGUE.keys()) == []


def test_every_code_is_used() -> None:
    sources = [module for module in modules() if "findings" not in module.split(".")]
    used = {name_of(node) for module in sources for node in walk(tree(module))}
    assert sorted(CODES.keys() - used) == []


def test_every_name_has_one_meaning() -> None:
    names = [*RULES, *(code.name for codes in SECTIONS.values() for code in codes)]
    assert sorted(names) == sorted(set(names)) == sorted(CATALOGUE)
    assert {name for name, code in CATALOGUE.items() if code.name != name} == set()
    summaries = [" ".join(code.summary.split()) for code in CATALOGUE.values()]
    assert {one for one in summaries if summaries.count(one) > 1} == set()


@for_each(("former", "present"), RENAMED.items())
def test_the_explanation_of_a_former_name_leads_to_the_present_one(former: str, present: str) -> None:
    assert present in RULES
    assert former not in RULES
    text = explain(former)
    assert text.count("Why: ") == 1
    assert f"`{present}`" in text


def test_the_list_contains_every_name() -> None:
    assert {line.split()[0] for line in list_findings().splitlines() if line} >= CATALOGUE.keys()


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(
        UsageError, match=r"unknown finding, field or kind `unknown-volum`: did you mean `unknown-volume`\?"
    ):
        run(Request(name="unknown-volum"))
    with pytest.raises(UsageError, match=r"field or kind `pytroch`: did you mean `pytorch`\?"):
        run(Request(name="pytroch"))
    with pytest.raises(UsageError, match=r"field or kind `job.tensorbord`: did you mean `job.tensorboard`\?"):
        run(Request(name="job.tensorbord"))
    with pytest.raises(UsageError, match=r"`nothing-like-it`: `gen explain` lists findings, `gen explain job` lists"):
        run(Request(name="nothing-like-it"))
