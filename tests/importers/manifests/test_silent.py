"""Fields that the schema of a manifest allows are rendered or reported: none is lost silently."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from gen.base import follow
from gen.importers.cleaning import cleaned
from gen.importers.draft import check_text, text_of
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, judge, overlay_text, prove, report_proof
from gen.kubernetes.schemas.registry import schemas
from tests.importers.manifests.changes import PYTORCH, changed
from tests.importers.manifests.forms import EQUAL
from tests.importers.manifests.proofs import read
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.base import Route

SCHEMAS = schemas("1.36")
SEED, CHANGES, MAX_DEPTH = 32, 25, 4


def holders(value: object, schema: Any, route: Route = ()) -> Iterator[tuple[Route, Any]]:
    """Routes of mappings, with their schemas."""
    schema = SCHEMAS.resolve(schema or {})
    if isinstance(value, dict):
        yield route, schema
        for key, inner in value.items():
            below = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if isinstance(below, dict):
                yield from holders(inner, below, (*route, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from holders(inner, schema.get("items"), (*route, index))


def any_value(schema: Any, by: Random, depth: int = 0) -> Any:
    """A value that is not the default of a cluster."""
    schema = SCHEMAS.resolve(schema)
    kind = schema.get("type") or "integer"
    kind = next((one for one in kind if one != "null"), "string") if isinstance(kind, list) else kind
    if "enum" in schema:
        return by.choice(schema["enum"])
    if kind == "array":
        return [any_value(schema.get("items", {"type": "string"}), by, depth + 1)]
    if kind == "object":
        fields = schema.get("properties")
        if not fields:
            inner = schema.get("additionalProperties")
            return {f"zq{by.randrange(99)}": any_value(inner, by, depth + 1) if isinstance(inner, dict) else "zq"}
        more = [name for name in fields if name not in schema.get("required", ())]
        names = [*schema.get("required", ()), *by.sample(more, min(len(more), 2 if depth < MAX_DEPTH else 0))]
        return {name: any_value(fields[name], by, depth + 1) for name in names if name in fields}
    return {"integer": 7, "number": 7, "boolean": True}.get(kind, f"zq{by.randrange(999)}")


def seen(body: dict[str, Any]) -> list[str]:
    """Everything that an author sees of an import: fields, the overlay, patches and findings."""
    jobs, found = read(body)
    for job in jobs:
        check_text(job, text_of(job, ""), found)
    if found.failed():
        return ["refused", *sorted(item.message for item in found)]
    text = overlay_text(fragment(jobs))
    shown: list[Any] = []
    for job in jobs:
        judge(PROJECT, job, NAME, text, lacks=False, found=found)
        for proof in prove(PROJECT, job, NAME, text, found) if not found.failed() else ():
            report_proof(proof, found)
            shown += [proof.job.fields, proof.job.overlay, proof.job.grants, proof.patch, sorted(proof.added)]
    assert not [item for item in found if item.code == "internal-error"], list(found)
    return [json.dumps(shown, sort_keys=True), *sorted(f"{item.message} {item.hint}" for item in found)]


WITHOUT_EFFECT = {
    "restartPolicy",  # of a pod template, where operators take that of the role
    *("enableServiceLinks", "startupPolicy", "network", "successPolicy", "submissionMode", "shutdownAfterJobFinishes"),
    *("completionMode", "protocol", "fieldRef.apiVersion", "ttlSecondsAfterFinished"),
}
"""Fields whose value has no effect, or can be what gen renders anyway."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EQUAL))
def test_an_added_field_is_rendered_or_reported(name: str) -> None:
    by = Random(f"{SEED}-{name}")  # noqa: S311 - values of a test
    body = EQUAL[name]
    known = seen(body)
    places = [
        (route, field, schema)
        for route, holder in holders(body, SCHEMAS.schema(body["apiVersion"], body["kind"]))
        for field, schema in holder.get("properties", {}).items()
        if route[:1] == ("spec",) and field not in (follow(body, route) or ())
        if not (route[-1] == "metadata" or field in WITHOUT_EFFECT)
    ]
    lost = []
    for route, field, schema in by.sample(places, min(CHANGES, len(places))):
        changed = deepcopy(body)
        value = follow(changed, route)[field] = any_value(schema, by)
        if cleaned(changed) != cleaned(body) and seen(changed) == known:
            lost.append((".".join(map(str, (*route, field))), value))
    assert lost == []


def test_an_unknown_field_beside_a_known_one_is_reported() -> None:
    template = changed(
        PYTORCH,
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"], "more": 1}]}
                    ]
                }
            }
        },
    )
    assert any("the unknown field `more`" in line for line in seen(template))
    template = deepcopy(PYTORCH)
    template["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["more"] = 1
    assert any("the unknown field `more`" in line for line in seen(template))
