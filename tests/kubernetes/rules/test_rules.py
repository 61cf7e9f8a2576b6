"""Every rule has cases and documentation, and rendered objects pass all rules."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
import yaml

from gen.base.repository.layout import DEFINITIONS
from gen.kubernetes.check.objects import check
from gen.kubernetes.rules import RuleSource, gitops, operators, rules_in, server
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from tests.cases import for_each
from tests.kubernetes.rules.support import CASES, VERSION
from tests.support import HERE as TESTS
from tests.support import PROJECT

if TYPE_CHECKING:
    from types import ModuleType

RENDERED = [
    path
    for folder in (PROJECT / "rendered", *sorted((TESTS / "golden").glob("*/rendered")))
    for path in sorted(folder.rglob("*.yaml"))
]


def test_every_rule_has_valid_and_invalid_cases() -> None:
    assert set(CASES) == {name for name, rule in RULES.items() if rule.find is not None}
    assert [rule for rule, case in CASES.items() if not case["good"] or not case["bad"]] == []
    assert {RULES[rule].source for rule in CASES} == {RuleSource.SERVER, RuleSource.OPERATOR, RuleSource.GITOPS}


def test_rendered_objects_have_no_problems() -> None:
    known = Kinds(VERSION)
    assert RENDERED
    for path in RENDERED:
        body = yaml.load(path.read_bytes(), yaml.CSafeLoader)
        case = next(parent.parent for parent in path.parents if parent.name == "rendered")
        folders = tuple(case.glob(f"overlays/*/{DEFINITIONS}"))
        kinds = Kinds(VERSION, Definitions(folders)) if folders else known
        assert (path, check(body, kinds).problems) == (path, ())


@for_each("rule", RULES)
def test_a_rule_has_a_summary_a_reason_and_a_remedy(rule: str) -> None:
    documented = RULES[rule]
    assert documented.name == rule
    for text in (documented.summary, documented.reason, documented.remedy):
        assert len(text.split()) > 1
        assert text.strip().endswith((".", "`"))


@pytest.mark.parametrize("package", [server, operators, gitops], ids=lambda package: package.__name__)
def test_every_rule_in_a_file_is_registered(package: ModuleType) -> None:
    names = [name for _, name, _ in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    assert sorted(rules_in(map(import_module, names)).keys() - RULES.keys()) == []
