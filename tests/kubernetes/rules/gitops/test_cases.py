"""GitOps rules report the invalid cases and accept the valid ones."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.rules import RuleSource
from tests.cases import for_each
from tests.kubernetes.rules.support import cases, faults, faults_in_place


@for_each(("rule", "kind", "change"), cases("good", RuleSource.GITOPS))
def test_a_rule_accepts_valid_objects(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults(rule, kind, change) == []


@for_each(("rule", "kind", "change"), cases("bad", RuleSource.GITOPS))
def test_a_rule_reports_invalid_objects_with_their_place(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults_in_place(rule, kind, change), faults(rule, kind, change)
