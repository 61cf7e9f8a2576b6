"""Verdict on imported jobs, and the proof of one: each is rendered in memory, in the overlay of the import.

The verdict is the same for every importer: a job is ready, needs fields or a larger quota of the overlay, renders
something else than its original, cannot run, or does not render. The reader of commands judges its program, as in every
render. The proof compares the result with the original objects. A value without a field becomes a patch of the overlay;
with that patch, only additions of gen may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, at, counted, dotted, follow, quoted, with_field, with_texts
from gen.base.codes import FatalCode
from gen.base.codes.imports import DIFFERS, NEEDS_SECRET
from gen.base.yaml.user_text import with_additions, written
from gen.importers import Fields, ImportedJob, Original
from gen.importers.comparison import Difference, compared
from gen.importers.overlay_needs import with_mirrors
from gen.importers.renders import Renders, in_memory
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.objects import Body
from gen.kubernetes.rules.catalogue import CATALOGUE
from gen.overlay.read import OverlayReader
from gen.render.results import JobInOverlay

NAME: Final = "imported"
"""Name of the overlay with only the fields for the jobs, if none is named."""
_KUBERNETES: Final = "1.37"
"""Kubernetes version for the check of the objects, if no overlay is named."""
_TRIED: Final = 40
"""Operations of a refused patch, or fields with a default, that are tried one by one."""


class Outcome(StrEnum):
    """How an import of a job ended, from best to worst."""

    READY = "ready"
    NEEDS = "needs fields of the overlay"
    OVER_QUOTA = "needs a larger quota"
    DIFFERS = "renders, but not all of the original"
    CANNOT_RUN = "renders, but cannot run"
    NOT_RENDERED = "does not render"


class Verdict(Struct, frozen=True):
    """The outcome for a job, and why it is not a better one."""

    job: ImportedJob
    outcome: Outcome
    why: tuple[Diagnostic, ...] = ()

    @property
    def line(self) -> str:
        """The verdict for people."""
        first = next(iter(self.why), None)
        more = f", and {len(self.why) - 1} more" if len(self.why) > 1 else ""
        why = f": {first.message} ({first.place}{more})" if first is not None else ""
        return f"{self.job.namespace}/{self.job.name} {self.outcome}{why}"


def overlay_text(needed: Mapping[str, object]) -> str:
    """The text of an overlay with only the fields for the jobs."""
    return written({"kubernetes": _KUBERNETES, **needed})


def judge(root: Path, job: ImportedJob, overlay: str, text: str, *, lacks: bool, found: Findings) -> Verdict:
    """Render a job in an overlay with this text, and report the reason if it cannot run. `lacks` is whether the overlay
    of the user lacks fields that the text has.
    """
    own = Findings()
    in_memory(root, job, overlay, text, own)
    errors = [item for item in own if item.is_error]
    fatal = [item for item in own if not item.is_error and isinstance(CATALOGUE.get(item.code), FatalCode)]
    known = {(one.place.line, part.lstrip("$")) for one in job.obstacles for part in one.message.split("`")[1:2]}
    hopeless = [one for one in fatal if (one.place.line, "".join(one.message.split("`")[1:2])) not in known]
    found.extend([*errors, *hopeless])
    if errors:
        return Verdict(job, Outcome.NOT_RENDERED, tuple(errors))
    if hopeless or job.obstacles:
        return Verdict(job, Outcome.CANNOT_RUN, (*job.obstacles, *hopeless))
    return Verdict(job, Outcome.NEEDS if lacks else Outcome.READY)


def with_proofs(verdict: Verdict, proofs: Sequence[Proof], differences: Findings) -> Verdict:
    """The verdict on a job that needs patches, or renders something else than its original, for these reasons."""
    if verdict.outcome in (Outcome.CANNOT_RUN, Outcome.NOT_RENDERED):
        return verdict
    if differences.items:
        return Verdict(verdict.job, Outcome.DIFFERS, tuple(differences))
    return replace(verdict, outcome=Outcome.NEEDS) if any(one.patch is not None for one in proofs) else verdict


_COMPUTED: Final = frozenset(
    {"workers", "replicas", "cleanup", "slotsPerWorker", "minAvailable", "backend", "concurrency", "sharedMemory"}
)
"""Fields with a default that depends on the kind, its operator, the overlay or other fields."""


def without_defaults(root: Path, job: ImportedJob, overlay: str, text: str) -> ImportedJob:
    """The job without the fields that only repeat their default: it renders the same without them."""
    routes = [*_computed(job.fields)][:_TRIED]
    known = _texts_of(in_memory(root, job, overlay, text, Findings())) if routes else []
    for route in routes if known else ():
        if route[-1] not in _COMPUTED and follow(job.fields, route):
            continue  # a role with fields
        shorter = replace(job, fields=with_field(job.fields, route, None))
        if _texts_of(in_memory(root, shorter, overlay, text, Findings())) == known:
            job = shorter
    return job


def _computed(fields: Fields, route: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Routes of such fields, those of a role before the role."""
    for name, value in fields.items():
        if isinstance(value, dict) and name not in ("env", "files", "params"):
            yield from _computed(value, (*route, name))
        if (name in _COMPUTED and "{{" not in str(value)) or route == ("roles",):
            yield (*route, name)


def _texts_of(result: JobInOverlay | None) -> list[str]:
    """The objects without their first line, which has a digest of the job."""
    files = [file for run in result.rendered for file in run.files] if result is not None else []
    return [(file.text or "").partition("\n")[2] for file in files]


def summary(verdicts: Sequence[Verdict], found: Findings) -> list[str]:
    """The lines about jobs that are written: how many are ready, and why others are not."""
    if not verdicts:
        return ["no jobs found; nothing was written"]
    jobs = counted(len(verdicts), "job")
    outcomes = {one.outcome for one in verdicts}
    if outcomes <= {Outcome.READY}:
        again = "run `gen render`"
        if any(one.code == NEEDS_SECRET.name for one in found):
            again = f"create the Secrets that the report names, and {again}"
        return [f"imported {jobs}, {'all' if len(verdicts) > 1 else 'which is'} ready; {again}"]
    counts = [(outcome, sum(one.outcome is outcome for one in verdicts)) for outcome in Outcome]
    known = "; ".join(f"{outcome} ({number})" for outcome, number in counts if number)
    if len(verdicts) == 1:
        known = verdicts[0].outcome
    return [f"wrote {jobs}: {known}", *(f"  {one.line}" for one in verdicts if one.why or Outcome.READY in outcomes)]


Render = Callable[[ImportedJob, str, Findings], Body | None]

_SHOWN: Final = 5
"""Differences of one object that are reported."""


class Proof(Struct, frozen=True, kw_only=True):
    """How the rendered job differs from its original."""

    job: ImportedJob
    original: Original
    patch: Fields | None
    """Entry of `patches` of the overlay; None if it needs none."""
    added: tuple[str, ...]
    """What only gen sets: fields with other values than the defaults of clusters, and numbers of others by category."""
    remaining: tuple[Difference, ...]
    """What differs even with the patch."""
    refused: Mapping[str, Sequence[str]] = {}
    """By path: why gen refuses a patch of this value."""


def prove(root: Path, job: ImportedJob, overlay: str, text: str, found: Findings) -> Iterator[Proof]:
    """The proofs of the run, or of the steps, in an overlay with this text; none after a finding."""
    firsts = {(one.step, one.held): one for one in reversed(job.originals)}
    order = dict.fromkeys((one.step, one.held) for one in job.originals)
    originals = with_mirrors((firsts[one] for one in order), OverlayReader(root, Findings()).of_text(overlay, text))
    renders = Renders(root, overlay)
    for original in originals:
        first = renders.of(original, job, text, found)
        if first is None:
            return
        job, _ = _with_retries(partial(renders.of, original), job, text, original, first)
    patches = [_patch_of(renders, one, job, text) for one in originals]
    patched = (
        with_additions(text, {"patches": every}) if (every := [one for one in patches if one is not None]) else text
    )
    together = renders.of(originals[0], job, patched, Findings()) is not None if originals else False
    for original, patch in zip(originals, patches, strict=True):
        yield _prove(renders, job, text, patched if together else None, patch, original)


def _patch_of(renders: Renders, original: Original, job: ImportedJob, text: str) -> Fields | None:
    """The patch for all values of an original that its job lacks."""
    first = renders.of(original, job, text, Findings())
    every = [one for one in compared(original.body, first) if not one.added] if first is not None else []
    operations = [one.operation for one in every if one.route[:1] != ("apiVersion",)]
    if first is None or not operations:
        return None
    target = {"kind": first["kind"], "name": _name(job, original), "namespace": job.namespace}
    return {"target": target, "patch": operations}


def _prove(
    renders: Renders, job: ImportedJob, text: str, patched: str | None, patch: Fields | None, original: Original
) -> Proof:
    """The proof for one object. `patched` is the overlay with the patches of all objects; None if gen refuses one."""
    render = partial(renders.of, original)
    why: Mapping[str, Sequence[str]] = {}
    last = render(job, patched or text, Findings())
    assert last is not None  # rendered before
    if patched is None and patch is not None:
        kept, with_kept, why = _accepted(partial(_patched, render, job, text, patch), patch["patch"])
        patch, last = ({**patch, "patch": kept}, with_kept) if with_kept is not None else (None, last)
    every = list(compared(original.body, last))
    remaining = tuple(one for one in every if not one.added)
    return Proof(job=job, original=original, patch=patch, added=_added(every), remaining=remaining, refused=why)


def report_proof(proof: Proof, found: Findings) -> None:
    """A warning for each value that differs."""
    for one in proof.remaining[:_SHOWN]:
        known = "without a value of" if one.rendered is None else "with another value than"
        more = len(proof.remaining) - _SHOWN
        others = f", and {more} other values differ" if more > 0 and one is proof.remaining[_SHOWN - 1] else ""
        what = f"`{_name(proof.job, proof.original)}` is rendered {known} the original"
        message = f"{what}: `{dotted(one.route)}`{others}"
        reasons = list(dict.fromkeys(proof.refused.get(one.path, ())))
        why = f"; a patch is refused: {'; '.join(reasons[:2])}" if reasons else ""
        hint = f"check that the job does what you want{why}"
        place = proof.original.place
        if proof.original.find is not None and one.original is not None:
            place = proof.original.find(one.route, one.original)
        found.warning(DIFFERS, place, message, hint)


def proof_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """The part of the summary about comparisons, with the patches."""
    for proof in proofs:
        added = f"; gen adds {', '.join(proof.added)}" if proof.added else ""
        trial = " in each trial" if proof.original.held else ""
        yield f"{proof.job.namespace}/{_name(proof.job, proof.original)} {_result(proof)}{trial}{added}"
    patches = [proof.patch for proof in proofs if proof.patch is not None]
    if patches:
        yield "values without a field, as `patches` of the overlay; the platform owner decides about them:"
        yield from (f"  {line}" for line in written({"patches": patches}).splitlines())


def _result(proof: Proof) -> str:
    """Whether the object is the original, or the parts that it lacks."""
    mine = proof.original
    own = [one for one in proof.job.obstacles if not mine.step or one.place == mine.place or one in mine.lacks]
    routes = list(dict.fromkeys(dotted(one.route) for one in proof.remaining))
    if not own and not routes:
        return "renders its step" if proof.job.obstacles else "renders the original"
    messages = list(dict.fromkeys(one.message for one in own))
    more = f", and {len(messages) - 1} more" if messages[1:] else ""
    parts = [*filter(None, [quoted(routes, _SHOWN)]), *messages[:1]]
    return f"lacks a part of the original: {', '.join(parts)}{more}"


def _name(job: ImportedJob, original: Original) -> str:
    """The name of a run without its hash."""
    return f"{job.name}-{original.step}" if original.step else job.name


def _patched(
    render: Render, job: ImportedJob, text: str, patch: Fields, operations: Sequence[Fields]
) -> tuple[Body | None, list[str]]:
    """The run with these operations of a patch, or why they are refused."""
    own = Findings()
    body = render(job, with_additions(text, {"patches": [{**patch, "patch": operations}]}), own)
    return body, [item.message for item in own if item.is_error]


def _accepted(
    render: Callable[[Sequence[Fields]], tuple[Body | None, list[str]]], operations: Sequence[Fields]
) -> tuple[list[Fields], Body | None, Mapping[str, list[str]]]:
    """The operations that gen accepts, the run with them, and why it refuses the others, by their paths. Each is tried
    alone, and again after all that it may refer to.
    """
    last, why = render(operations)
    left = dict.fromkeys(range(len(operations)) if last is None else (), why)
    kept = {*range(len(operations))} - left.keys()
    for index in (*left, *left):
        if index < _TRIED and index in left:
            body, left[index] = render([operations[one] for one in sorted({*kept, index})])
            if body is not None:
                last = body
                kept.add(index)
                del left[index]
    refused = {operations[index]["path"]: reasons for index, reasons in left.items()}
    return [operations[index] for index in sorted(kept)], last, refused


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


def _added(every: Sequence[Difference]) -> tuple[str, ...]:
    """The fields by name, with their value if it is one word, and the numbers of those that no run depends on. The API
    server sets requests without a value to the limits.
    """
    fields: dict[str, None] = {}
    counts: dict[str, int] = {}
    amounts: dict[tuple[str | int, ...], set[str]] = {}
    for one in every:
        if not one.added:
            continue
        part = next((str(step) for step in one.route if step in ("limits", "requests")), "")
        if part:
            amounts.setdefault(one.route[: one.route.index(part)], set()).add(part)
        elif category := _category(one):
            counts[category] = counts.get(category, 0) + 1
        else:
            name = next(str(step) for step in reversed(one.route) if isinstance(step, str))
            plain = isinstance(one.rendered, str | int) and isinstance(one.route[-1], str)
            fields[f"`{name}: {_word(one.rendered)}`" if plain else f"`{name}`"] = None
    limits = ["limits equal to the requests"] if {"limits"} in amounts.values() else []
    fields |= {"`resources`": None} if {"limits", "requests"} in amounts.values() else {}
    numbers = (f"{category} ({count})" for category, count in sorted(counts.items()))
    return (*limits, *sorted(fields), *numbers)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _category(one: Difference) -> str:
    words = set(map(str, one.route))
    if "securityContext" in words or "tolerations" in words:
        return "security settings and tolerations"
    if words & {"labels", "annotations"} or one.route[-1] == "metadata":
        return "labels and annotations"
    return ""


def renamed(body: Any, suffix: str) -> Any:
    """The object with another name of its run."""
    name = str(at(body, "metadata", "name"))
    return with_texts(body, lambda text: text.replace(name, f"{name}{suffix}"))
