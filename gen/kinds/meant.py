"""The kind of job that another name means: of the Kubernetes kind, or of another tool."""

from __future__ import annotations

from gen.diagnostics import near
from gen.kinds import KINDS


def kind_meant(name: str) -> str:
    """Empty if it is not obvious."""
    word = name.lower()
    for kind, model in KINDS.items():
        if word in (model.facts.kind.lower(), *model.called):
            return kind
    return near(name, KINDS)


def field_of_others(name: str) -> str:
    """Hint about a field that only other kinds have; empty if none has it."""
    owners = [kind for kind, model in KINDS.items() if name in (field.alias for field in model.model_fields.values())]
    if not owners:
        return ""
    *others, last = (f"`{kind}`" for kind in owners)
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"remove it; only jobs of kind {listed} have it"
