"""The check stage: closed schemas, and rules that schemas cannot express.

A fault that only the patched object has is reported at the patch. Any other fault is a bug of gen, because the models
accepted the input. Rules are evaluated for patched objects only: gen's own tests prove that the objects it builds
conform to them. Best practices depend on the job, so they are checked in every run.

The hash of the run covers the final content and is not known yet; `DUMMY` takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.check.best_practices import check_best_practices, rule_named
from gen.diagnostics import BugError, Diagnostic, Findings, Severity, message_text
from gen.findings.jobs import UNKNOWN_FIELD
from gen.render.manifest import Manifest, Patched, Valid
from gen.render.patch.provenance import labelled
from gen.render.seal import DUMMY, filled
from gen.rules.problem import dotted

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.check.silence import Checked
    from gen.diagnostics import Location
    from gen.kubernetes import Body
    from gen.render.deciding_field import Decided
    from gen.render.patch.provenance import Provenance
    from gen.rules.problem import Problem
    from gen.schemas.lookup import Kinds


def check_manifests(
    patched: Patched,
    kinds: Kinds,
    found: Findings,
    deciding_field: Callable[[Problem], Decided | None] = lambda _: None,
    *,
    proven: bool = True,
) -> Valid | None:
    """The objects when they fit; None when an error was found. BugError when no user could have caused it.

    `deciding_field` finds the field of the job that decides about a problem. Unless the objects are `proven` to conform
    to their rules, they are checked without patches, too.
    """
    own = Findings()
    kinds.prepare((one.body["apiVersion"], one.body["kind"]) for one in patched.manifests)
    for built, manifest, provenance in zip(patched.built, patched.manifests, patched.provenance, strict=True):
        sound = proven and not provenance
        checked = _checked(manifest.body, kinds, sound=sound)
        if checked is None:
            continue
        if provenance:
            named = manifest.with_body(filled(manifest.body, DUMMY))
            original = filled(built.body, DUMMY)
            before = _checked(original, kinds, sound=proven)
            _blame(checked, named, original, before, provenance, own, deciding_field)
        else:
            metadata = filled(manifest.body["metadata"], DUMMY)
            named = manifest.with_body({**manifest.body, "metadata": metadata})  # all that a message shows
            known = set()
            for problem in checked.problems:
                decided, place = _decided(problem, deciding_field(problem))
                same = place, decided.rule, decided.message, decided.hint
                if place is None or same not in known:  # one field of the job decides about several roles
                    _report(decided, place, named, own)
                known.add(same)
    found.extend(own.items)
    return None if own.failed() else Valid(patched.manifests)


def _checked(body: Body, kinds: Kinds, *, sound: bool) -> Checked | None:
    """Problems of an object; None without any. A `sound` object that fits its schema can only break best practices."""
    # neither our schemas nor best practices depend on the hash
    if sound and not kinds.has_definitions and _fits(body, kinds):
        return check_best_practices(body)
    body = filled(body, DUMMY)
    return check_best_practices(body) if sound and _fits(body, kinds) else _all(body, kinds)


def _fits(body: Body, kinds: Kinds) -> bool:
    """Whether an object conforms to its schema."""
    kind = kinds.get(body["apiVersion"], body["kind"])
    if kind is None:
        raise BugError(f"no schema found for {body['apiVersion']} {body['kind']}")
    return kind.validator.is_valid(body)


def _all(body: Body, kinds: Kinds) -> Checked | None:
    """Problems of all rules; None without any."""
    from gen.check.objects import check  # noqa: PLC0415 - where no patch is, no rule is needed

    checked = check(body, kinds)
    return checked if checked.problems or checked.silenced else None


def _blame(
    checked: Checked,
    manifest: Manifest,
    original: Body,
    before: Checked | None,
    provenance: Provenance,
    found: Findings,
    deciding_field: Callable[[Problem], Decided | None],
) -> None:
    """Report faults that patches introduced at the patch. `before` has those of the object before the patches."""
    ours = {(labelled(original, one.route), one.message) for one in (before.problems if before is not None else ())}
    for problem in checked.problems:
        known = (labelled(manifest.body, problem.route), problem.message) in ours
        if known:
            _report(*_decided(problem, deciding_field(problem)), manifest, found)
        else:
            on_key = problem.rule == UNKNOWN_FIELD.name
            _report(problem, provenance.blame(manifest.body, problem.route, key=on_key), manifest, found)
    for problem, reason in checked.silenced:
        _report(problem, provenance.blame(manifest.body, problem.route), manifest, found, reason)


def _decided(problem: Problem, decided: Decided | None) -> tuple[Problem, Location | None]:
    """The problem with the remedy in the job, and its place there."""
    if decided is None:
        return problem, None
    return replace(problem, hint=decided.hint or problem.hint), decided.place


def _report(
    problem: Problem, place: Location | None, manifest: Manifest, found: Findings, silenced: str | None = None
) -> None:
    rule = rule_named(problem.rule)
    where = f"{manifest.identity}, {dotted(problem.route) or 'the object'}: {problem.message}"
    severity = Severity.NOTE if silenced is not None else rule.severity_of(manifest.body)
    if place is None:
        if severity is Severity.ERROR:
            raise BugError(f"{where} (from {manifest.source})")
        place = manifest.source
    message = where if silenced is None else f"silenced ({silenced}): {where}"
    found.items.append(
        Diagnostic(place, problem.rule, message_text(message), message_text(problem.hint or rule.hint), (), severity)
    )


__all__ = ["check_manifests", "dotted"]
