"""Imports of objects, and their proofs."""

from __future__ import annotations

import json
from typing import Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from gen.importers.draft import check_text, text_of
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, Proof, overlay_text, prove
from tests.support import PROJECT


def read(*bodies: dict[str, Any]) -> tuple[list[ImportedJob], Findings]:
    """Jobs of objects in one file."""
    found = Findings()
    raw = "\n---\n".join(json.dumps(body) for body in bodies).encode()
    given = ImportInput(file="objects.yaml", files=(("objects.yaml", raw),), otherwise="team")
    return list(IMPORTERS["manifests"]().read(given, found)), found


def proof_of(*bodies: dict[str, Any], **overlay: Any) -> Proof:
    """The proof of the only job, in an overlay with these fields besides those of the job."""
    jobs, found = read(*bodies)
    assert not found.failed(), list(found)
    (job,) = jobs
    check_text(job, text_of(job, ""), found)
    made = next(prove(PROJECT, job, NAME, overlay_text({**overlay, **fragment([job])}), found), None)
    assert made is not None, list(found)
    assert not found.failed(), list(found)
    return made


def operations(body: dict[str, Any]) -> dict[str, Any]:
    """Values by the ends of the paths of the patch."""
    proof = proof_of(body)
    assert proof.remaining == ()
    assert proof.patch is not None
    assert proof.patch["target"] == {"kind": body["kind"], "name": "run", "namespace": "team"}
    return {one["path"].rpartition("/spec/")[2]: one["value"] for one in proof.patch["patch"]}


def messages(body: dict[str, Any]) -> list[str]:
    return [one.message for one in read(body)[1]]
