"""Fields of a Kubernetes object that no model describes."""

from __future__ import annotations

from typing import Annotated, Any

from gen.load.yaml12 import typed
from gen.model.scalars import conflict
from gen.model.validators import Before, JsonForm


def _values(value: Any) -> Any:
    data = typed(value)
    if _has_null(data):
        raise conflict("a field is null", "remove it, or give it a value")
    return data


def _has_null(data: Any) -> bool:
    if isinstance(data, dict):
        return any(map(_has_null, data.values()))
    return any(map(_has_null, data)) if isinstance(data, list) else data is None


Fields = Annotated[dict[str, Any], Before(_values), JsonForm({"title": "fields of the object", "type": "object"})]
"""Fields by name. Scalars without quotes are numbers and booleans as in YAML 1.2."""
