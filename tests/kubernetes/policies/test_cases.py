"""Policies of the kinds that platform teams publish. `tests/e2e/test_policies.py` compares them with a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases import for_each
from tests.kubernetes.policies.support import NAMESPACE, PARAMS, PolicyCase, binding, cases, findings, policy_set

if TYPE_CHECKING:
    from pathlib import Path

CASES = cases()


@for_each("case", CASES, ids=[case.name for case in CASES])
def test_a_policy_denies_one_object_and_accepts_the_other(tmp_path: Path, case: PolicyCase) -> None:
    policies = policy_set(tmp_path, case.policy, binding(case.policy, "Deny"), PARAMS, NAMESPACE)
    assert case.denied is None or list(findings(policies, case.denied)) == [case.name]
    assert case.accepted is None or findings(policies, case.accepted) == {}


def test_there_are_many_policies() -> None:
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)
