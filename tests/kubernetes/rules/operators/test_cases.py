"""Rules of operators report the invalid cases and accept the valid ones."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.check.objects import check
from gen.kubernetes.rules import RuleSource
from gen.kubernetes.schemas.lookup import Kinds
from tests.cases import for_each
from tests.kubernetes.rules.support import VERSION, an_object, cases, changed, faults, faults_in_place, route


@for_each(("rule", "kind", "change"), cases("good", RuleSource.OPERATOR))
def test_a_rule_accepts_valid_objects(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults(rule, kind, change) == []


@for_each(("rule", "kind", "change"), cases("bad", RuleSource.OPERATOR))
def test_a_rule_reports_invalid_objects_with_their_place(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults_in_place(rule, kind, change), faults(rule, kind, change)


def test_pull_secrets_without_names_are_reported() -> None:
    change = {"spec pytorchReplicaSpecs Master template spec imagePullSecrets": [{}, {"name": ""}]}
    problems = check(changed(an_object("PyTorchJob"), change), Kinds(VERSION)).problems
    assert route("spec") in {one.route[:1] for one in problems}


def test_a_minimum_above_its_maximum_has_its_own_remedy() -> None:
    change = {"spec rayClusterSpec workerGroupSpecs 0 minReplicas": 2}
    assert [one.hint for one in faults("ray-groups", "RayJob", change)] == ["decrease it, or increase `maxReplicas`"]
