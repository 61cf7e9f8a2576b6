"""Conditions of tasks: when a step starts, and comparisons of known values."""

from __future__ import annotations

from gen.importers.kfp.argo_tasks import depends_on
from gen.importers.kfp.graph import holds, status_in
from tests.cases import for_each


@for_each(
    ("text", "expected"),
    [
        ("a", "succeeded"),
        ("a && b.Succeeded", "succeeded"),
        ("(a.Succeeded || a.Skipped) && b", "succeeded"),
        ("a.Failed", "failed"),
        ("!a.Succeeded", "failed"),
        ("a.Failed || b.Errored", "failed"),
        ("a || a.Failed", "ended"),
        ("a.Succeeded && b.Failed", None),
        ("a || b", None),
        ("a &&", None),
        ("", None),
        ("__import__('os')", None),
        ("a.b.c", None),
        ("(" * 500 + "a" + ")" * 500, None),
        (" && ".join(f"t{n}" for n in range(40)), None),
    ],
)
def test_conditions_of_dependencies(text: str, expected: str | None) -> None:
    assert depends_on(text)[1] == expected


@for_each(
    ("text", "expected"),
    [
        ('"a" == "a"', True),
        ("a != a", False),
        ("1.0 == 1", True),
        ("2 > 10", False),
        ("a > b", None),
        ("{{x}} == 1", None),
        ("a == b && c == d", False),
    ],
)
def test_comparisons_of_known_values(text: str, expected: bool | None) -> None:
    assert holds(text) is expected


def test_status_of_tasks() -> None:
    assert status_in("{{tasks.a.status}} == Failed") == status_in('"{{workflow.status}}" != "Succeeded"') == "failed"
    assert status_in("{{tasks.a.status}} == Succeeded") == "succeeded"
    assert status_in("{{tasks.a.status}} == Running") is None


@for_each(
    ("text", "expected"),
    [
        ("!('a' == 'b')", True),
        ("!('a' == 'a') && 1 == 1", False),
        ("(1 == 1) && {{x}} == 2", None),
        ("(1 == 2) && {{x}} == 2", False),
        ("('a || b' == 'a || b') || {{x}} == 2", True),
        ("!" * 200 + "(1 == 1)", None),
    ],
)
def test_conditions_with_else(text: str, expected: bool | None) -> None:
    assert holds(text) is expected
