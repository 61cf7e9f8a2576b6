"""The rules about GitOps, computed from their files. Best practices are imported without the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.gitops import best_practices, defaults, engines, lifetime, secrets, storage
from gen.rules.gitops.across_objects import SET_RULES
from gen.rules.rule import Rule

if TYPE_CHECKING:
    from types import ModuleType

_FILES = (lifetime, storage, secrets, engines, defaults, best_practices)


def _rules(module: ModuleType) -> list[Rule]:
    return [value for value in vars(module).values() if isinstance(value, Rule)]


GITOPS_RULES: Final[dict[str, Rule]] = {rule.name: rule for module in _FILES for rule in _rules(module)} | SET_RULES
"""By name, in the order of the files; rules across objects come last."""
