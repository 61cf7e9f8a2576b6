"""A real API server agrees with every case of the rules of API servers, for built-in kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.rules import RuleSource, is_custom
from tests.e2e.agreement import refusal
from tests.kubernetes.rules.support import an_object, cases, changed

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster


_NOT_WHOLE = {("signing-requests", "good")}
"""The certificate request of this case is not one."""


def body_of(kind: str | Body, change: dict[str, Any]) -> Body:
    changes = {path: value for path, value in change.items() if path not in {"at", "object"}}
    return changed(an_object(kind), changes)


def built_in(which: str) -> list[Any]:
    found = cases(which, RuleSource.SERVER)
    groups = [body_of(*one.values[1:])["apiVersion"].rpartition("/")[0] for one in found]
    return [
        one
        for one, group in zip(found, groups, strict=True)
        if not is_custom(group) and (one.values[0], which) not in _NOT_WHOLE
    ]


@pytest.mark.parametrize(("rule", "kind", "change"), built_in("good"))
def test_the_server_accepts_a_valid_case(rule: str, kind: str | Body, change: dict[str, Any], cluster: Cluster) -> None:
    reason = refusal(body_of(kind, change), cluster)
    assert not reason or reason.startswith("409"), rule


@pytest.mark.parametrize(("rule", "kind", "change"), built_in("bad"))
def test_the_server_rejects_an_invalid_case(
    rule: str, kind: str | Body, change: dict[str, Any], cluster: Cluster
) -> None:
    assert refusal(body_of(kind, change), cluster), rule
