"""Names of pipelines and their steps, which leave room for each other in the names of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gen.importers.draft import label
from gen.job.kinds import ALL_KINDS
from gen.job.names import shortened
from gen.render.parts.names import most_characters

MAX_NAMES: Final = 40
"""Characters of a pipeline and of a step together, whose pods have names with roles. Each can have the half."""


def most_of_step(fields: Mapping[str, Any]) -> int:
    """Characters of a pipeline and of a step with these fields together."""
    facts = ALL_KINDS[fields["kind"]].facts
    roles = (*(role.lower() for pods in facts.pods for role in pods.roles), *fields.get("roles", ()))
    return most_characters(facts, roles, hashed=True) - len("-")


def pipeline_name(wanted: str, steps: Mapping[str, Mapping[str, Any]]) -> str:
    """A name of a pipeline that leaves room for those of its steps."""
    room = min(most_of_step(fields) - len(name) for name, fields in steps.items())
    name = shortened(label(wanted, "pipeline"), max(room, MAX_NAMES // 2))
    return name if name[:1].isalpha() else f"pipeline-{name}"
