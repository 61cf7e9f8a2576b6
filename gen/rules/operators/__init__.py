"""Rules of operators: objects that their webhooks or controllers reject, or treat differently than written."""

from __future__ import annotations

from typing import Final

from gen.rules.operators import jobset, katib, kueue, masters, mpi, pods, ray, trainer, training, volcano, workflows
from gen.rules.rule import Rule, rules_in

_FILES = (training, masters, mpi, trainer, jobset, volcano, ray, katib, kueue, workflows, pods)

OPERATOR_RULES: Final[dict[str, Rule]] = rules_in(_FILES)
"""By name, in the order of the files."""
