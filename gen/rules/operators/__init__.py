"""Rules of operators: objects that their webhooks or controllers reject, or treat differently than written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.operators import jobset, katib, kueue, masters, mpi, pods, ray, trainer, training, volcano, workflows
from gen.rules.rule import Rule

if TYPE_CHECKING:
    from types import ModuleType

_FILES = (training, masters, mpi, trainer, jobset, volcano, ray, katib, kueue, workflows, pods)


def _rules(module: ModuleType) -> list[Rule]:
    return [value for value in vars(module).values() if isinstance(value, Rule)]


OPERATOR_RULES: Final[dict[str, Rule]] = {rule.name: rule for module in _FILES for rule in _rules(module)}
"""By name, in the order of the files."""
