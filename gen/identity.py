"""A run's identity: a hash over everything that changes what is computed, and nothing else.

It covers the patched content of every object of the run, the queue that admits it, and `attempt`. It leaves out
metadata (labels, annotations, lifecycle marks) and whether the run is suspended, all of which may change in place.
"""

from __future__ import annotations

import hashlib

import orjson

from gen.kubernetes import QUEUE_LABEL, RUN, Body
from gen.manifest import Manifest, Patched, Sealed

LENGTH = 8
_RUN = RUN.encode()


def seal(patched: Patched, attempt: int) -> Sealed:
    """Put the run's hash into every place where `RUN` stands."""
    digest = run_hash(patched, attempt)
    manifests = (m.with_body(_filled(m.body, digest)) if m.of_run else m for m in patched.manifests)
    return Sealed(tuple(manifests), patched.provenance)


def unsealed(patched: Patched) -> Sealed:
    """Objects that belong to no run, in which no hash stands."""
    return Sealed(patched.manifests, patched.provenance)


def run_hash(patched: Patched, attempt: int) -> str:
    content = [_content(manifest) for manifest in patched.manifests if manifest.of_run]
    text = orjson.dumps([attempt, content], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:LENGTH]


def _content(manifest: Manifest) -> Body:
    content = {key: value for key, value in manifest.body.items() if key != "metadata"}
    content["queue"] = manifest.body["metadata"].get("labels", {}).get(QUEUE_LABEL)
    return _without(content, manifest.suspend) if manifest.suspend else content


def _without(body: Body, route: tuple[str, ...]) -> Body:
    step, *rest = route
    if step not in body:
        return body
    if not rest:
        return {key: value for key, value in body.items() if key != step}
    return {**body, step: _without(body[step], tuple(rest))}


def _filled(body: Body, digest: str) -> Body:
    """Through JSON, which is several times as fast as a walk, and leaves an object of its own made of plain data."""
    filled: Body = orjson.loads(orjson.dumps(body).replace(_RUN, digest.encode()))
    return filled
