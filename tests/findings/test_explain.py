"""Every reported finding is explained, and every code is used."""

from __future__ import annotations

import ast
import re

import pytest

from gen.commands.explain import Request, run
from gen.diagnostics import UsageError
from gen.findings.registry import CODES
from gen.render.write import Status
from gen.report.explain import explain, list_findings
from gen.report.explanation import explanation
from gen.rules.catalogue import CATALOGUE
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


def test_every_reported_finding_is_explained() -> None:
    assert sorted(reported() - CODES.keys() - CATALOGUE.keys()) == []


def test_every_finding_in_expected_outputs_is_explained() -> None:
    texts = [path.read_text("utf-8") for path in HERE.rglob("expected*.txt")]
    shown = {name for text in texts for name in SHOWN.findall(text)}
    assert len(shown) > 40
    assert sorted(shown - CODES.keys() - CATALOGUE.keys()) == []


def test_every_code_is_used() -> None:
    sources = [module for module in modules() if "findings" not in module.split(".")]
    used = {name_of(node) for module in sources for node in walk(tree(module))}
    assert sorted(CODES.keys() - used) == []


def test_a_name_of_a_code_and_a_rule_is_explained_twice() -> None:
    text = explain("suspended-in-queue")
    assert text.count("Why: ") == 2
    assert CODES["suspended-in-queue"].remedy in " ".join(text.split())
    inside, outside = (explanation("suspended-in-queue", in_input=one) for one in (True, False))
    assert (inside, outside) == (CODES["suspended-in-queue"], CATALOGUE["suspended-in-queue"])


def test_the_list_contains_every_name() -> None:
    assert {line.split()[0] for line in list_findings().splitlines() if line} >= CODES.keys() | CATALOGUE.keys()


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(
        UsageError, match=r"unknown finding, field or kind `unknown-volum`: did you mean `unknown-volume`\?"
    ):
        run(Request(name="unknown-volum"))
    with pytest.raises(UsageError, match=r"field or kind `pytroch`: did you mean `pytorch`\?"):
        run(Request(name="pytroch"))
    with pytest.raises(UsageError, match=r"field or kind `job.tensorbord`: did you mean `tensorboard`\?"):
        run(Request(name="job.tensorbord"))
    with pytest.raises(UsageError, match=r"`nothing-like-it`: `gen explain` lists findings, `gen explain job` lists"):
        run(Request(name="nothing-like-it"))
