"""Compiled pipelines of Kubeflow Pipelines as jobs."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final, Literal

from msgspec import Struct

from gen.base import as_mapping, at


class Loss(Struct, frozen=True, kw_only=True):
    """A part of a step that no job has."""

    what: str
    """As messages name it."""
    reason: Literal["field", "files", "output", "loop", "condition"] = "field"
    needed: bool = True
    """Whether the step cannot run without it."""


_FILES: Final = frozenset({"arguments.artifacts", "inputs.artifacts", "outputs"})
_NEEDED: Final = frozenset({"arguments.artifacts", "daemon", "inputs.artifacts", "podSpecPatch", "sidecars"})


def lost_field(name: str) -> Loss:
    """The loss of a field of a task or of a template."""
    return Loss(what=f"`{name}`", reason="files" if name in _FILES else "field", needed=name in _NEEDED)


def lost_condition(text: str) -> Loss:
    return Loss(what=f"the condition `{text}`", reason="condition")


def lost_loop(field: str) -> Loss:
    return Loss(what=f"the loop `{field}`", reason="loop")


def lost_outputs(component: object, task: str, read: Container[str]) -> Iterator[Loss]:
    """The losses of values that only the pod of a task has, because no artifact gives it a folder on the volume. One
    that another task reads, by the placeholders of those, is a loss of that task.
    """
    outputs = as_mapping(at(component, "outputDefinitions"))
    for name in as_mapping(outputs.get("parameters")) if not outputs.get("artifacts") else ():
        if f"{{{{tasks.{task}.outputs.parameters.{name}}}}}" not in read:
            yield Loss(what=f"the output `{name}`", reason="output", needed=False)
