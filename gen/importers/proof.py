"""Proof of an imported job: it is rendered in memory, and the result is compared with the original objects.

A value without a field becomes a patch of the overlay. With that patch, only additions of gen may differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, follow
from gen.base.codes.imports import DIFFERS
from gen.base.yaml.user_text import verbatim, with_additions, written
from gen.importers.base import Fields, ImportedJob, Original
from gen.importers.comparison import Difference, aligned, differences, named_as
from gen.importers.manifests.objects import cleaned
from gen.importers.verdict import in_memory
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body

Render = Callable[[ImportedJob, str, Findings], Body | None]

_TRIED: Final = 40
"""Operations of a refused patch that are tried one by one."""
_SHOWN: Final = 5
"""Differences of one object that are reported."""


class Proof(Struct, frozen=True, kw_only=True):
    """How the rendered job differs from its original."""

    job: ImportedJob
    original: Original
    patch: Fields | None
    """Entry of `patches` of the overlay; None if it needs none."""
    added: dict[str, int]
    """Number of values that only gen sets, by category."""
    remaining: tuple[Difference, ...]
    """What differs even with the patch."""
    refused: tuple[str, ...] = ()
    """Why gen refuses a patch of these values."""


def prove(root: Path, job: ImportedJob, overlay: str, text: str, found: Findings) -> Iterator[Proof]:
    """The proofs of the run, or of the steps, in an overlay with this text; none after a finding."""
    steps = dict.fromkeys(one.step for one in job.originals)
    for original in [next(one for one in job.originals if one.step == step) for step in steps]:
        proof = _prove(partial(_rendered, root, overlay, original), job, text, original, found)
        if proof is None:
            return
        job = proof.job
        yield proof


def _prove(render: Render, job: ImportedJob, text: str, original: Original, found: Findings) -> Proof | None:
    """The proof for one object; None if the job cannot be rendered, which is reported."""
    first = render(job, text, found)
    if first is None:
        return None
    job, first = _with_retries(render, job, text, original, first)
    patched = partial(_patched, render, job, text)
    patch, last, why = _accepted(patched, _patch(job, original, first, _lost(original.body, first)), first)
    every = list(_compared(original.body, last))
    remaining = tuple(one for one in every if not one.added)
    return Proof(job=job, original=original, patch=patch, added=_categories(every), remaining=remaining, refused=why)


def report_proof(proof: Proof, found: Findings) -> None:
    """A warning for each value that differs."""
    for one in proof.remaining[:_SHOWN]:
        route = ".".join(map(str, one.route))
        known = "without it" if one.rendered is None else "with another value"
        more = len(proof.remaining) - _SHOWN
        others = f", and {more} other values differ" if more > 0 and one is proof.remaining[_SHOWN - 1] else ""
        message = f"`{_name(proof.job, proof.original)}` is rendered {known} than the original: `{route}`{others}"
        message = message.replace("without it than the original", "without a value of the original")
        why = f"; a patch is refused: {'; '.join(proof.refused[:2])}" if proof.refused else ""
        hint = f"check that the job does what you want{why}"
        found.warning(DIFFERS, proof.original.place, message, hint)


def proof_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """The part of the summary about comparisons, with the patches."""
    for proof in proofs:
        added = ", ".join(f"{count} in {category}" for category, count in proof.added.items())
        equal = "renders the original" if not proof.remaining else "does not render all of the original"
        name = _name(proof.job, proof.original)
        yield f"{proof.job.namespace}/{name} {equal}{f'; gen adds {added}' if added else ''}"
    patches = [proof.patch for proof in proofs if proof.patch is not None]
    if patches:
        yield "values without a field, as `patches` of the overlay; the platform owner decides about them:"
        yield from (f"  {line}" for line in written({"patches": patches}).splitlines())


def _name(job: ImportedJob, original: Original) -> str:
    """The name of a run without its hash."""
    return f"{job.name}-{original.step}" if original.step else job.name


def _rendered(
    root: Path, overlay: str, original: Original, job: ImportedJob, text: str, found: Findings
) -> Body | None:
    """The object of a job for its original, with the name of that."""
    own = Findings()
    result = in_memory(root, job, overlay, text, own)
    found.extend([item for item in own if item.is_error])
    if result is None:
        return None
    return _run_of(result.rendered[0].files[0].text or "", job, original)


def _patched(render: Render, job: ImportedJob, text: str, patch: Fields) -> tuple[Body | None, list[str]]:
    """The run with a patch, or why the patch is refused."""
    own = Findings()
    body = render(job, with_additions(text, {"patches": [patch]}), own)
    return body, [item.message for item in own if item.is_error]


def _accepted(
    render: Callable[[Fields], tuple[Body | None, list[str]]], patch: Fields | None, first: Body
) -> tuple[Fields | None, Body, tuple[str, ...]]:
    """The part of a patch that gen accepts, the run with it, and why it refuses the rest."""
    if patch is None:
        return None, first, ()
    body, why = render(patch)
    if body is not None:
        return patch, body, ()
    operations = patch["patch"]
    kept: list[Fields] = []
    reasons = why
    for operation in operations[:_TRIED] if len(operations) > 1 else ():
        body, why = render({**patch, "patch": [*kept, operation]})
        kept += [operation] if body is not None else []
    if not kept:
        return None, first, tuple(dict.fromkeys(reasons))
    last, _ = render({**patch, "patch": kept})
    return {**patch, "patch": kept}, last or first, tuple(dict.fromkeys(reasons))


def _run_of(text: str, job: ImportedJob, original: Original) -> Body:
    read = read_manifests(text.encode("utf-8", "surrogateescape"), "", Findings())
    assert read is not None  # gen has written it
    body = read.documents[0]
    if original.step:
        templates = body["spec"]["templates"]
        body = json.loads(next(one for one in templates if one["name"] == original.step)["resource"]["manifest"])
    body = cleaned(body)
    name: str = body["metadata"]["name"]
    renamed: Body = named_as(body, name, original.body["metadata"].get("name", job.name))
    return renamed


def _with_retries(
    render: Render, job: ImportedJob, text: str, original: Original, body: Body
) -> tuple[ImportedJob, Body]:
    """The job with the `retries` that give the limit of the original: operators count them in different ways."""
    facts = resource_of_object(body["apiVersion"], body["kind"])
    wanted = follow(original.body, facts.retries) if facts is not None and facts.retries is not None else None
    if facts is None or facts.retries is None or not isinstance(wanted, int) or follow(body, facts.retries) == wanted:
        return job, body
    fields = {**job.fields, **job.fields["steps"][original.step]} if original.step else job.fields
    pods = max(int(fields.get("workers", 1)), 1)
    for number in dict.fromkeys((wanted // pods, (wanted - 1) // pods, wanted - 1, 1)):
        if number < 1:
            continue
        other = _with_field(job, original, "retries", number)
        rendered = render(other, text, Findings())
        if rendered is not None and follow(rendered, facts.retries) == wanted:
            return other, rendered
    return job, body


def _with_field(job: ImportedJob, original: Original, name: str, value: object) -> ImportedJob:
    if not original.step:
        return replace(job, fields={**job.fields, name: value})
    steps = job.fields["steps"]
    step = {**steps[original.step], name: value}
    return replace(job, fields={**job.fields, "steps": {**steps, original.step: step}})


def _compared(original: Body, rendered: Body) -> Iterator[Difference]:
    theirs = {**original, "metadata": {**original["metadata"], "namespace": rendered["metadata"].get("namespace")}}
    theirs["metadata"].pop("generateName", None)
    theirs["metadata"]["name"] = rendered["metadata"]["name"]
    return differences(aligned(theirs, rendered), rendered)


def _lost(original: Body, rendered: Body) -> list[Difference]:
    """Values that a patch must set."""
    return [one for one in _compared(original, rendered) if not one.added and one.route[:1] != ("apiVersion",)]


def _patch(job: ImportedJob, original: Original, rendered: Body, lost: list[Difference]) -> Fields | None:
    if not lost:
        return None
    operations = [
        {
            "op": "add" if one.rendered is None else "replace",
            "path": _pointer(one.route),
            "value": verbatim(one.original),
        }
        for one in lost
    ]
    target = {"kind": rendered["kind"], "name": _name(job, original), "namespace": job.namespace}
    return {"target": target, "patch": operations}


def _pointer(route: Sequence[str | int]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in route)


def _categories(every: Sequence[Difference]) -> dict[str, int]:
    """Numbers of added values by category, in the order of the words."""
    counts: dict[str, int] = {}
    for one in every:
        if one.added:
            name = _category(one)
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _category(one: Difference) -> str:
    words = set(map(str, one.route))
    if "securityContext" in words or "tolerations" in words:
        return "security and tolerations"
    if words & {"labels", "annotations"}:
        return "labels and annotations"
    return "defaults"
