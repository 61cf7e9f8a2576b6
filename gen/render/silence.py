"""Warnings about what may be meant, which annotations of a job silence."""

from __future__ import annotations

from gen.base.codes.code import Code
from gen.base.findings import Diagnostic, Findings, Location, Severity, message_text
from gen.kubernetes.rules.rule import silences


def warn(found: Findings, annotations: object, code: Code, place: Location, message: str, hint: str) -> None:
    """Report a warning; a note if an annotation gives a reason against it."""
    reason = silences(annotations).get(code.name)
    if reason is None:
        found.warning(code, place, message, hint)
        return
    text = message_text(f"silenced ({reason}): {message}")
    found.extend([Diagnostic(place, code.name, text, severity=Severity.NOTE)])
