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
