"""The schema that guides a strategic merge: the one of the kind, or one made from its facts if gen has none.

A kind that is only defined in an overlay's `crds/` has no schema with merge keys. The facts lead to its pod templates,
where the merge keys of Kubernetes apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import BugError
from gen.resources import resource_of_object
from gen.resources.base import ANY_ITEM, ANY_KEY
from gen.schemas.kubernetes import POD_TEMPLATE, reference

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.resources.base import Pattern
    from gen.schemas.registry import Schema, Schemas


def merge_schema(schemas: Schemas, body: Body) -> Schema:
    """The resolved schema of an object."""
    try:
        return schemas.resolve(schemas.schema(body["apiVersion"], body["kind"]))
    except BugError:
        resource = resource_of_object(body["apiVersion"], body["kind"])
    schema: Schema = {}
    for pods in resource.pods if resource is not None else ():
        _add(schema, pods.template)
    return schema


def _add(schema: Any, pattern: Pattern) -> None:
    """Add the pod template at the end of a pattern to a schema."""
    for step in pattern:
        if step is ANY_KEY:
            schema = schema.setdefault("additionalProperties", {})
        elif step is ANY_ITEM:
            schema = schema.setdefault("items", {})
        else:
            schema = schema.setdefault("properties", {}).setdefault(step, {})
    schema.update(reference(POD_TEMPLATE))
