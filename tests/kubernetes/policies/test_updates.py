"""Policies about updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases import for_each
from tests.kubernetes.policies.support import UpdateCase, binding, findings, policy_set, update_cases

if TYPE_CHECKING:
    from pathlib import Path

CASES = update_cases()


@for_each("case", CASES, ids=lambda case: case.old["metadata"]["name"])
def test_an_update_is_judged_with_the_old_object(case: UpdateCase, tmp_path: Path) -> None:
    policies = policy_set(tmp_path, case.policy, binding(case.policy))
    assert case.denied is not None or case.accepted is not None
    if case.denied is not None:
        assert list(findings(policies, case.denied, case.old)) == [case.name]
    if case.accepted is not None:
        assert findings(policies, case.accepted, case.old) == {}


def test_a_policy_about_updates_does_not_match_a_creation(tmp_path: Path) -> None:
    for case in CASES:
        if case.name != "creations-only":
            policies = policy_set(tmp_path, case.policy, binding(case.policy))
            assert findings(policies, case.denied or case.old) == {}, case.name


def test_what_the_server_keeps_is_not_evaluated(tmp_path: Path) -> None:
    (case, *_) = CASES
    validations = [{"expression": "object.metadata.uid == oldObject.metadata.uid"}]
    policy = {**case.policy, "spec": {**case.policy["spec"], "validations": validations}}
    policies = policy_set(tmp_path, policy, binding(policy))
    assert findings(policies, case.old, case.old) == {case.name: ["not evaluated: `metadata.uid` is set by the server"]}
