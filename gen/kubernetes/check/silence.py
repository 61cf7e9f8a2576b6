"""Problems that the annotations of an object silence, each with a reason. A render loads it without the rules."""

from __future__ import annotations

from msgspec import Struct

from gen.base import Code, Diagnostic, Findings, Location, Severity, did_you_mean, message_text
from gen.base.codes.commands import SILENCEABLE
from gen.kubernetes.rules import RENAMED, SILENCE, Problem, silences


class CheckResult(Struct, frozen=True):
    """Result of checking one object."""

    problems: tuple[Problem, ...] = ()
    silenced: tuple[tuple[Problem, str], ...] = ()
    """With the reasons that the object gives."""


def silenced(problems: list[Problem], body: object) -> CheckResult:
    """Problems of an object, apart from those that its annotations silence."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    reasons = silences(annotations)
    wrong = [_about_silence(key, value) for key, value in annotations.items()] if isinstance(annotations, dict) else []
    kept = [problem for problem in problems if problem.rule not in reasons]
    others = tuple((problem, reasons[problem.rule]) for problem in problems if problem.rule in reasons)
    return CheckResult((*kept, *(problem for problem in wrong if problem is not None)), others)


def _about_silence(key: object, reason: object) -> Problem | None:
    if not isinstance(key, str) or not key.startswith(SILENCE) or not isinstance(reason, str):
        return None
    from gen.kubernetes.rules.catalogue import FORMER_RULES, RULES

    name, route = key.removeprefix(SILENCE), ("metadata", "annotations", key)
    if name in FORMER_RULES or name in SILENCEABLE:
        return None
    if RENAMED.get(name, name) not in RULES:
        return Problem("silenced", route, f"unknown rule `{name}`", did_you_mean(name, RULES))
    return None if reason.strip() else Problem("silenced", route, f"`{name}` is silenced without a reason")


def warn(found: Findings, annotations: object, code: Code, place: Location, message: str, hint: str) -> None:
    """Report a warning; a note if an annotation gives a reason against it."""
    reason = silences(annotations).get(code.name)
    if reason is None:
        found.warning(code, place, message, hint)
        return
    text = message_text(f"silenced ({reason}): {message}")
    found.extend([Diagnostic(place, code.name, text, severity=Severity.NOTE)])
