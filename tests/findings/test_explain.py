"""Every name that a finding can have is explained, and every explanation is of a finding that there is."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from gen.diagnostics import UsageError
from gen.render.write import Status
from gen.report.explain import CODES, SECTIONS, explained, listed, words_of
from gen.rules.catalogue import CATALOGUE
from tests.support import HERE, PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

MAKERS = {"error", "warning", "Refused", "Diagnostic", "Problem", "_Said", "Breach"}
"""What is called with the name of a finding."""
NAME = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
SHOWN = re.compile(r": (?:error|warning|note): .* \[([a-z-]+)\]$", re.MULTILINE)


def texts_of(tree: ast.AST) -> Iterator[str]:
    yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def made() -> set[str]:
    """Names that findings are made with, by the calls in the source."""
    found = {status.value for status in Status}
    for path in (PROJECT / "gen").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in MAKERS:
                first = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant)]
                found.update(text for text in first if isinstance(text, str) and NAME.fullmatch(text))
    return found


def test_every_finding_that_is_made_is_explained() -> None:
    assert sorted(made() - CODES.keys() - CATALOGUE.keys()) == []


def test_every_finding_of_the_cases_is_explained() -> None:
    texts = [path.read_text("utf-8") for path in HERE.rglob("expected*.txt")]
    shown = {name for text in texts for name in SHOWN.findall(text)}
    assert len(shown) > 40
    assert sorted(shown - CODES.keys() - CATALOGUE.keys()) == []


def test_every_explanation_is_of_a_finding_that_there_is() -> None:
    sources = [path for path in (PROJECT / "gen").rglob("*.py") if "findings" not in path.parts]
    texts = {text for path in sources for text in texts_of(ast.parse(path.read_text("utf-8")))}
    assert sorted(CODES.keys() - texts) == []


def test_names_are_explained_once_in_whole_sentences() -> None:
    codes = [code for section in SECTIONS.values() for code in section]
    assert len(codes) == len(CODES)
    for code in codes:
        for text in (code.says, code.reason, code.remedy):
            assert text.endswith("."), (code.name, text)
            assert text[0].isupper() or text.startswith(("`", "gen ")), (code.name, text)


def test_a_name_of_both_kinds_is_explained_twice() -> None:
    text = explained("suspended-in-queue")
    assert text.count("Why: ") == 2
    assert CODES["suspended-in-queue"].remedy in " ".join(text.split())
    inside, outside = (words_of("suspended-in-queue", in_input=one) for one in (True, False))
    assert (inside, outside) == (CODES["suspended-in-queue"], CATALOGUE["suspended-in-queue"])


def test_the_list_has_every_name() -> None:
    assert {line.split()[0] for line in listed().splitlines() if line} >= CODES.keys() | CATALOGUE.keys()


def test_a_name_that_there_is_not_gets_a_near_one() -> None:
    with pytest.raises(UsageError, match=r"no finding is called `unknown-volum`: did you mean `unknown-volume`\?"):
        explained("unknown-volum")
