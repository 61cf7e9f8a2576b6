"""The stage that checks what is about to be written: closed schemas, and rules that schemas cannot say.

A fault that an object has only with the overlay's patches is the overlay's, and the finding points to the patch.
Anything else passed the models already, so it is a bug of gen, and no user is blamed for it. Rules are for objects that
a patch touched; that what gen itself builds keeps them is a matter of its tests.

The run's hash covers what is written, so it is not known yet; a dummy of the same form stands for it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import BugError, Findings, Route
from gen.identity import DUMMY, filled
from gen.manifest import Manifest, Patched, Valid
from gen.patch.provenance import labelled
from gen.validate.rules import RULES
from gen.validate.schemas import schemas
from gen.validate.view import View

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    from gen.kubernetes import Body
    from gen.patch.provenance import Provenance


def validate(patched: Patched, version: str, found: Findings) -> Valid | None:
    """The objects when they fit; None when something was found. BugError when no user could have caused it."""
    before = len(found.items)
    for built, manifest, provenance in zip(patched.built, patched.manifests, patched.provenance, strict=True):
        body = filled(manifest.body, DUMMY)
        problems = _problems(body, version, patched=bool(provenance))
        if problems:
            _blame(problems, manifest.with_body(body), built, version, provenance, found)
    return Valid(patched.manifests) if len(found.items) == before else None


def _problems(body: Body, version: str, *, patched: bool) -> list[tuple[Route, str]]:
    validator = schemas(version).validator(body["apiVersion"], body["kind"])
    if not validator.is_valid(body):
        return [problem for error in validator.iter_errors(body) for problem in _explained(error)]
    if not patched:
        return []
    view = View.of(body, version)
    return [problem for rule in RULES.values() for problem in rule(view)]


def _explained(error: ValidationError) -> list[tuple[Route, str]]:
    """One entry for each fault; for an unknown or missing field the route leads to the field and not to its holder."""
    route: Route = tuple(error.instance_path)
    if (missing := getattr(error.kind, "property", None)) is not None:
        return [((*route, missing), f"`{missing}` is missing")]
    unexpected = getattr(error.kind, "unexpected", None)
    if unexpected:
        return [((*route, name), f"unknown field `{name}`") for name in unexpected]
    return [(route, " ".join(error.message.split())[:200])]


def _blame(
    problems: list[tuple[Route, str]],
    manifest: Manifest,
    built: Manifest,
    version: str,
    provenance: Provenance,
    found: Findings,
) -> None:
    """Report what came with patches. `built` is the object without them."""
    original = filled(built.body, DUMMY)
    ours = {(labelled(original, route), message) for route, message in _problems(original, version, patched=True)}
    for route, message in problems:
        where = f"{manifest.identity}, {dotted(route) or 'the object'}: {message}"
        known = (labelled(manifest.body, route), message) in ours
        place = None if known else provenance.blame(manifest.body, route)
        if place is None:
            raise BugError(f"{where} (from {manifest.source})")
        hint = "correct the patch; see the field in the Kubernetes API reference"
        found.error("invalid-object", place, where, hint)


def dotted(route: Route) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route)
    return text.removeprefix(".")
