"""Words of Kubernetes: how messages name an object."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.objects import identity, identity_of, qualified
from tests.cases import for_each


def test_an_object_is_named_by_kind_namespace_and_name() -> None:
    assert identity("Service", "team", "demo") == "Service team/demo"
    assert identity("PersistentVolume", "", "data") == "PersistentVolume data"
    assert (qualified("team", "demo"), qualified("", "demo")) == ("team/demo", "demo")


@for_each(
    ("body", "expected"),
    [
        ({"kind": "Service", "metadata": {"name": "demo", "namespace": "team"}}, "Service team/demo"),
        ({"kind": "PersistentVolume", "metadata": {"name": "data"}}, "PersistentVolume data"),
        ({"kind": "Service", "metadata": {"namespace": "team"}}, "Service team"),
        ({"kind": "Service", "metadata": {"name": ["demo"]}}, "Service"),
        ({"kind": 5, "metadata": {"name": "demo"}}, "demo"),
        ({"kind": "Service", "metadata": None}, "Service"),
        (["Service"], ""),
        (None, ""),
    ],
)
def test_any_data_is_named_by_the_parts_that_it_has(body: Any, expected: str) -> None:
    assert identity_of(body) == expected
