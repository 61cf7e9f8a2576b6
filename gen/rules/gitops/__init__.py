"""Rules about GitOps: objects with which Argo CD or Flux would lose runs or data, or never finish syncing.

The table in `docs/gitops.md` lists the known dangers, with the place of each check.
"""

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
