"""The stage that checks what is about to be written: closed schemas, and rules that schemas cannot say.

A fault that an object has only with the overlay's patches is the overlay's, and the finding points to the patch.
Anything else passed the models already, so it is a bug of gen, and no user is blamed for it. Rules are for objects that
a patch touched; that what gen itself builds keeps them is a matter of its tests.

The run's hash covers what is written, so it is not known yet; a dummy of the same form stands for it here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gen.diagnostics import BugError, Findings, Severity
from gen.kubernetes import RUN
from gen.manifest import Manifest, Sealed, Valid
from gen.validate.problem import dotted

if TYPE_CHECKING:
    from gen.patch.provenance import Provenance
    from gen.validate.kinds import Kinds
    from gen.validate.problem import Problem


_DUMMY = "0" * 8
"""In place of a run's hash, which is as long."""


def validate(patched: Patched, version: str, found: Findings) -> Valid | None:
    """The objects when they fit; None when something was found. BugError when no user could have caused it."""
    own = Findings()
    for manifest, provenance in zip(sealed.manifests, sealed.provenance, strict=True):
        for problem in _problems(manifest, version, patched=bool(provenance)):
            _blame(manifest, provenance, problem, own)
    found.extend(own.items)
    return None if own.failed() else Valid(sealed.manifests)


def _problems(manifest: Manifest, version: str, *, patched: bool) -> tuple[Problem, ...]:
    body, kinds = manifest.body, _kinds(version)
    kind = kinds.get(body["apiVersion"], body["kind"])
    if kind is None:
        raise BugError(f"there is no schema of {body['apiVersion']} {body['kind']}")
    if not patched and kind.validator.is_valid(body):
        return ()
    from gen.validate.check import check  # noqa: PLC0415 - where no patch is, no rule is needed

    return check(_with_hash(body), kinds).problems


def _with_hash(value: Any) -> Any:
    """With the hash that a run's names will have, so that they are judged at their full length."""
    if isinstance(value, str):
        return value.replace(RUN, _DUMMY)
    if isinstance(value, dict):
        return {_with_hash(key): _with_hash(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_hash(inner) for inner in value]
    return value


@cache
def _kinds(version: str) -> Kinds:
    from gen.validate.kinds import Kinds  # noqa: PLC0415 - as above

    return Kinds(version)


def _blame(manifest: Manifest, provenance: Provenance, problem: Problem, found: Findings) -> None:
    where = f"{manifest.identity}, {dotted(problem.route) or 'the object'}"
    place = provenance.blame(manifest.body, problem.route)
    if place is None:
        raise BugError(f"{where}: {problem.message} (from {manifest.source})")
    from gen.validate.catalogue import CATALOGUE  # noqa: PLC0415 - where nothing is wrong, no rule is needed

    rule = CATALOGUE[problem.rule]
    add = found.error if rule.severity is Severity.ERROR else found.warning
    add(problem.rule, place, f"{where}: {problem.message}", problem.hint or rule.hint)
