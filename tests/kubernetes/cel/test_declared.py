"""Types of objects by the schema of their definition."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.check.objects import Budget, Rules
from tests.cases import for_each


@for_each(("value", "holds"), [({"metadata": {}}, True), ({"metadata": {"namespace": "a"}}, False), ({}, False)])
@for_each("field", ["namespace", "__namespace__"])
def test_a_field_with_the_name_of_a_keyword_is_written_as_it_is_or_escaped(
    field: str, value: dict[str, Any], holds: bool
) -> None:
    """Since Kubernetes 1.31 (`recognizeKeywordAsFieldName` of `apiserver/pkg/cel/types.go`)."""
    metadata = {"type": "object", "properties": {"namespace": {"type": "string"}}}
    rules = Rules({"type": "object", "properties": {"metadata": metadata}})
    assert rules.holds(f"!has(self.metadata.{field}) || size(self.metadata.{field}) == 0", value, Budget()) is holds
