"""Problems that the annotations of an object silence, each with a reason."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from gen.diagnostics import did_you_mean
from gen.rules.problem import SILENCE, Problem


class Checked(Struct, frozen=True):
    """Result of checking one object."""

    problems: tuple[Problem, ...] = ()
    silenced: tuple[tuple[Problem, str], ...] = ()
    """With the reasons that the object gives."""


def silenced(problems: list[Problem], body: Any) -> Checked:
    """Problems of an object, apart from those that its annotations silence."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    reasons = {
        key.removeprefix(SILENCE): reason
        for key, reason in (annotations.items() if isinstance(annotations, dict) else ())
        if isinstance(key, str) and key.startswith(SILENCE) and isinstance(reason, str)
    }
    wrong = [_about_silence(name, reason) for name, reason in reasons.items()]
    kept = [problem for problem in problems if not reasons.get(problem.rule, "").strip()]
    others = tuple((problem, reasons[problem.rule]) for problem in problems if problem not in kept)
    return Checked((*kept, *(problem for problem in wrong if problem is not None)), others)


def _about_silence(name: str, reason: str) -> Problem | None:
    from gen.rules.catalogue import CATALOGUE  # noqa: PLC0415 - most objects silence nothing

    route = ("metadata", "annotations", SILENCE + name)
    if name not in CATALOGUE:
        return Problem("silenced", route, f"unknown rule `{name}`", did_you_mean(name, CATALOGUE))
    return None if reason.strip() else Problem("silenced", route, f"`{name}` is silenced without a reason")
