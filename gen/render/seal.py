"""The seal stage: the identity of a run, a hash over everything that changes the computation, and nothing else.

It covers the patched content of every object of the run, the queue, and `attempt`. It excludes metadata (labels,
annotations, lifecycle marks) and the suspend field, which can change in place.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from gen.kubernetes import HASH_LENGTH, QUEUE, QUEUE_LABEL, RUN, TRIAL, Body
from gen.render.manifest import Manifest, Sealed, Valid
from gen.resources import queue_labels, resource_of_object
from gen.resources.graphs import graph_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DUMMY = "0" * HASH_LENGTH
"""Placeholder for the hash during checks, as long as a hash. It starts with a digit, which fewer names allow."""
_RUN, _TRIAL = RUN.encode(), TRIAL.encode()


def seal(valid: Valid, attempt: int) -> Sealed:
    """Replace `RUN` with the hash of the run, also in objects that outlive the run."""
    digest = run_hash(valid, attempt)
    if not any(manifest.embedded for manifest in valid.manifests):
        return Sealed(valid.manifests, digest)
    return Sealed(with_steps(manifest.with_body(_sealed(manifest, digest)) for manifest in valid.manifests))


def _sealed(manifest: Manifest, digest: str) -> Body:
    """Argo names the runs of a schedule, so `TRIAL` stays in the object of a step."""
    if not manifest.embedded:
        return filled(manifest.body, digest)
    body: Body = orjson.loads(orjson.dumps(manifest.body).replace(_RUN, digest.encode()))
    return body


def unsealed(valid: Valid) -> Sealed:
    """Objects that belong to no job and contain no hash."""
    return Sealed(valid.manifests)


def run_hash(valid: Valid, attempt: int) -> str:
    # a definition contains the metadata of its steps, too, and cannot change
    whole = any(_is_definition(manifest.body) for manifest in valid.manifests)
    content = [
        manifest.body if whole and manifest.embedded else _content(manifest)
        for manifest in valid.manifests
        if manifest.of_run
    ]
    text = orjson.dumps([attempt, content], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:HASH_LENGTH]


def _is_definition(body: Body) -> bool:
    kind = resource_of_object(body["apiVersion"], body["kind"])
    return kind is not None and kind.is_definition


def with_steps(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The objects that have files: those of steps are texts in their workflow."""
    known = tuple(manifests)
    steps = {manifest.step: manifest.body for manifest in known if manifest.embedded}
    if not steps:
        return known
    return tuple(
        manifest.with_body(_filled_in(manifest.body, steps)) if manifest.is_workload else manifest
        for manifest in known
        if not manifest.embedded
    )


def _filled_in(body: Body, steps: Mapping[str, Body]) -> Body:
    """The workflow or the definition with the object of each step."""
    kind = resource_of_object(body["apiVersion"], body["kind"])
    assert kind is not None  # noqa: S101 - gen made it
    return graph_of(kind).with_objects(body, steps)


def _content(manifest: Manifest) -> Body:
    content = {key: value for key, value in manifest.body.items() if key != "metadata"}
    labels = manifest.body["metadata"].get("labels", {})
    content["queue"] = labels.get(QUEUE_LABEL)
    if more := {key: labels[key] for key in queue_labels() - {QUEUE_LABEL, QUEUE} if key in labels}:
        content["scheduling"] = more
    return _without(content, manifest.suspend) if manifest.suspend else content


def _without(body: Body, route: tuple[str, ...]) -> Body:
    step, *rest = route
    if step not in body:
        return body
    if not rest:
        return {key: value for key, value in body.items() if key != step}
    return {**body, step: _without(body[step], tuple(rest))}


def filled(body: Body, digest: str) -> Body:
    """The object with `RUN` replaced. Replacing it in JSON text is several times as fast as walking the object."""
    text = orjson.dumps(body)
    if _RUN not in text and _TRIAL not in text:
        return body
    text = text.replace(_RUN, digest.encode()).replace(_TRIAL, f"trial-{digest}".encode())
    result: Body = orjson.loads(text)
    return result
