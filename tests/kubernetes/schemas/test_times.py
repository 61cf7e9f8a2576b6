"""Times are checked as Go parses them, in every field of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from gen.kubernetes.check.objects import check
from gen.kubernetes.schemas.lookup import Kinds
from tests.cases import for_each
from tests.kubernetes.rules.support import VERSION, an_object, changed

TIMES = ["2025-01-31T12:00:00Z", "2025-01-31T12:00:00.5+02:00", "2024-02-29T23:59:59-08:00"]
MICRO_TIMES = ["2025-01-31T12:00:00.000000Z", "2025-01-31T12:00:00.123456+02:00"]
NO_TIMES = [
    "",
    "a",
    "2025-01-31",
    "2025-01-31T12:00:00",
    "2025-13-31T12:00:00Z",
    "2025-01-31t12:00:00Z",
    "2025-01-31 1:00Z",
]
FIELDS = [
    ("Pod", "metadata creationTimestamp"),
    ("Node", "spec taints 0 timeAdded"),
    ("Event", "firstTimestamp"),
    ("CronJob", "spec jobTemplate metadata creationTimestamp"),
    ("StatefulSet", "spec volumeClaimTemplates 0 metadata deletionTimestamp"),
    ("ResourceClaimTemplate", "spec metadata creationTimestamp"),
    ("PyTorchJob", "metadata creationTimestamp"),
]
MICRO_FIELDS = [("Lease", "spec renewTime"), ("Event", "eventTime")]


def reported(kind: str, path: str, value: str) -> list[tuple[str, str]]:
    body = changed(an_object(kind), {path: value})
    route = tuple(int(step) if step.isdecimal() else step for step in path.split(" "))
    problems: Any = check(body, Kinds(VERSION)).problems
    return [(one.rule, one.hint) for one in problems if one.route == route and "not a valid time" in one.message]


@for_each(("kind", "path"), FIELDS)
def test_a_time_is_rfc_3339(kind: str, path: str) -> None:
    assert [value for value in TIMES + MICRO_TIMES if reported(kind, path, value)] == []
    hint = "remove it, or use a time such as `2025-01-31T12:00:00Z`"
    assert [reported(kind, path, value) for value in NO_TIMES] == [[("schema-constraint", hint)]] * len(NO_TIMES)


@pytest.mark.parametrize(("kind", "path"), MICRO_FIELDS)
def test_a_precise_time_has_six_decimal_places(kind: str, path: str) -> None:
    assert [value for value in MICRO_TIMES if reported(kind, path, value)] == []
    hint = "remove it, or use a time such as `2025-01-31T12:00:00.000000Z`"
    refused = NO_TIMES + TIMES
    assert [reported(kind, path, value) for value in refused] == [[("schema-constraint", hint)]] * len(refused)
