"""The stage that checks what is about to be written: closed schemas, and rules that schemas cannot say.

A value that an overlay's patch set is the overlay's fault, and the finding points there. Anything else passed the
models already, so it is a bug of gen, and no user is blamed for it. Rules are for objects that a patch touched; that
what gen itself builds keeps them is a matter of its tests.

The run's hash covers what is written, so it is not known yet; a dummy of the same form stands for it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import BugError, Findings, Route
from gen.identity import DUMMY, filled
from gen.manifest import Manifest, Patched, Valid
from gen.validate.rules import RULES
from gen.validate.schemas import schemas
from gen.validate.view import View

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    from gen.patch.provenance import Provenance


def validate(patched: Patched, version: str, found: Findings) -> Valid | None:
    """The objects when they fit; None when something was found. BugError when no user could have caused it."""
    before = len(found.items)
    for manifest, provenance in zip(patched.manifests, patched.provenance, strict=True):
        judged = manifest.with_body(filled(manifest.body, DUMMY))
        for route, message in _problems(judged, version, patched=bool(provenance)):
            _blame(judged, provenance, route, message, found)
    return Valid(patched.manifests) if len(found.items) == before else None


def _problems(manifest: Manifest, version: str, *, patched: bool) -> list[tuple[Route, str]]:
    body = manifest.body
    validator = schemas(version).validator(body["apiVersion"], body["kind"])
    if not validator.is_valid(body):
        return [problem for error in validator.iter_errors(body) for problem in _explained(error)]
    if not patched:
        return []
    view = View.of(body, version)
    return [problem for rule in RULES.values() for problem in rule(view)]


def _explained(error: ValidationError) -> list[tuple[Route, str]]:
    """One entry for each fault; for an unknown field the route leads to the field and not to what holds it."""
    route: Route = tuple(error.instance_path)
    unexpected = getattr(error.kind, "unexpected", None)
    if unexpected:
        return [((*route, name), f"unknown field `{name}`") for name in unexpected]
    return [(route, " ".join(error.message.split())[:200])]


def _blame(manifest: Manifest, provenance: Provenance, route: Route, message: str, found: Findings) -> None:
    where = f"{manifest.identity}, {dotted(route) or 'the object'}"
    place = provenance.blame(manifest.body, route)
    if place is None:
        raise BugError(f"{where}: {message} (from {manifest.source})")
    found.error(
        "invalid-object",
        place,
        f"{where}: {message}",
        "correct the patch; see the field in the Kubernetes API reference",
    )


def dotted(route: Route) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route)
    return text.removeprefix(".")
