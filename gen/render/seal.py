"""The seal stage: the identity of a run, a hash over everything that changes the computation, and nothing else.

It covers the patched content of every object of the run, the queue, and `attempt`. It excludes metadata (labels,
annotations, lifecycle marks) and the suspend field, which can change in place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import orjson

from gen.base import with_field
from gen.base.placeholders import HASH_LENGTH, RUN, TRIAL
from gen.kubernetes.facts import queue_labels, resource_of_object
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.objects import QUEUE, QUEUE_LABEL, Body
from gen.render.results import Manifest, SealedObjects, ValidObjects

DUMMY = "0" * HASH_LENGTH
"""Placeholder for the hash during checks, as long as a hash. It starts with a digit, which fewer names allow."""
_RUN, _TRIAL = RUN.encode(), TRIAL.encode()


def seal(valid: ValidObjects, attempt: int) -> SealedObjects:
    """Replace `RUN` with the hash of the run, also in objects that outlive the run."""
    digest = run_hash(valid, attempt)
    if not any(manifest.embedded for manifest in valid.manifests):
        return SealedObjects(valid.manifests, digest)
    return SealedObjects(with_steps(manifest.with_body(_sealed(manifest, digest)) for manifest in valid.manifests))


def _sealed(manifest: Manifest, digest: str) -> Body:
    """Argo names the runs of a schedule, so `TRIAL` stays in the object of a step."""
    if not manifest.embedded:
        return fill_hash(manifest.body, digest)
    body: Body = orjson.loads(orjson.dumps(manifest.body).replace(_RUN, digest.encode()))
    return body


def run_hash(valid: ValidObjects, attempt: int) -> str:
    # a definition contains the metadata of its steps, too, and cannot change
    whole = any(manifest.whole_hash for manifest in valid.manifests)
    content = [
        manifest.body if whole and manifest.embedded else _content(manifest)
        for manifest in valid.manifests
        if manifest.of_run
    ]
    text = orjson.dumps([attempt, content], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:HASH_LENGTH]


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
    assert kind is not None  # gen made it
    return graph_of(kind).with_objects(body, steps)


def _content(manifest: Manifest) -> Body:
    content = {key: value for key, value in manifest.body.items() if key != "metadata"}
    labels = manifest.body["metadata"].get("labels", {})
    content["queue"] = labels.get(QUEUE_LABEL)
    if more := {key: labels[key] for key in queue_labels() - {QUEUE_LABEL, QUEUE} if key in labels}:
        content["scheduling"] = more
    return with_field(content, manifest.suspend, None) if manifest.suspend else content


def fill_hash(body: Body, digest: str) -> Body:
    """The object with `RUN` replaced. Replacing it in JSON text is several times as fast as walking the object."""
    text = orjson.dumps(body)
    if _RUN not in text and _TRIAL not in text:
        return body
    text = text.replace(_RUN, digest.encode()).replace(_TRIAL, f"trial-{digest}".encode())
    result: Body = orjson.loads(text)
    return result
