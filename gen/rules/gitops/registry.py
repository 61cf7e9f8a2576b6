"""The rules about GitOps, computed from their files. Best practices are imported without the others."""

from __future__ import annotations

from typing import Final

from gen.rules.gitops import best_practices, defaults, engines, lifetime, secrets, storage
from gen.rules.gitops.across_objects import SET_RULES
from gen.rules.rule import Rule, rules_in

_FILES = (lifetime, storage, secrets, engines, defaults, best_practices)

GITOPS_RULES: Final[dict[str, Rule]] = rules_in(_FILES) | SET_RULES
"""By name, in the order of the files; rules across objects come last."""
