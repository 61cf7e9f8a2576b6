"""Every rule there is, by name: those that look at whole objects, and those that are broken on the way to them."""

from __future__ import annotations

from functools import cache
from typing import Final

from gen.diagnostics import Severity
from gen.rules.gitops import GITOPS_RULES
from gen.rules.operators import OPERATOR_RULES
from gen.rules.problem import SILENCE
from gen.rules.rule import Rule, RuleSource
from gen.rules.server import RULES

_STRICT = "With strict field validation the API server refuses the object; without, it may drop the field."
_DEFINED = "The API server holds the object against the definition of its kind."

_FORM = (
    Rule(
        "not-an-object",
        "A document is a mapping with `apiVersion` and `kind`.",
        "Nothing else can be applied to a cluster.",
        "Add `apiVersion` and `kind`, or keep the file out of the folder.",
    ),
    Rule(
        "object-size",
        "An object fits into a request.",
        "The API server refuses requests of more than 3 MiB, and etcd stores half of that.",
        "Put the data on a volume or into an image, or split it over several objects.",
    ),
    Rule(
        "unknown-kind",
        "There is a schema of the kind in that API version.",
        "An object that nothing can be said of may be wrong in any way.",
        "Correct `apiVersion` or `kind`, name the folder of its definition with `--schema-location`, or pass by with "
        "`--ignore-missing-schemas`.",
    ),
    Rule(
        "unknown-field",
        "Every field is one of its kind, in pod templates inside training resources too.",
        _STRICT,
        "Correct the name, or remove the field.",
    ),
    Rule("missing-field", "Fields that are required are there.", _STRICT, "Add the field."),
    Rule("wrong-type", "Values are of the type that their field takes.", _STRICT, "Write a value of that type."),
    Rule("not-allowed", "Where a field takes one of some words, it is one of them.", _DEFINED, "Use one of the words."),
    Rule(
        "invalid-value",
        "Values keep the ranges, patterns and sizes that their schema states.",
        _DEFINED,
        "Write a value that fits.",
    ),
    Rule(
        "double-entry",
        "In a list whose entries have a key, no two have the same.",
        _DEFINED,
        "Remove one of the two, or give it another key.",
    ),
    Rule(
        "cel",
        "The CEL rules of a definition hold.",
        _DEFINED,
        "Change the object so that the rule in the finding holds.",
    ),
    Rule(
        "cel-not-evaluated",
        "The CEL rules of a definition can be evaluated here.",
        "A server has functions that CEL itself does not; a rule that uses one is only checked there.",
        "Try the object against a cluster (`kubectl apply --server-side --dry-run=server`).",
        source=RuleSource.GEN,
        severity=Severity.WARNING,
    ),
    Rule(
        "rule-failed",
        "Every rule can judge every object.",
        "It is a mistake of gen when one cannot; the object may be wrong in a way that nobody looked for.",
        "Report it to gen's issues, with the object; what the other rules say holds.",
        source=RuleSource.GEN,
    ),
    Rule(
        "removed-api",
        "The API version is still served by the Kubernetes version that is checked against.",
        "The server knows no such kind.",
        "Write the API version that took its place, and adapt what changed with it.",
    ),
    Rule(
        "deprecated-api",
        "The API version has not been given up.",
        "A later version of Kubernetes or of the operator does not serve it.",
        "Write the API version that takes its place.",
        severity=Severity.WARNING,
    ),
    Rule(
        "wrong-scope",
        "Objects of a cluster have no namespace.",
        "The server refuses a namespace on a kind that has none.",
        "Remove `metadata.namespace`.",
    ),
    Rule(
        "silenced",
        "An annotation that silences a rule names one that there is, and gives a reason.",
        "A rule is silenced for a reason that others can judge.",
        f'Write `{SILENCE}<rule>: "<reason>"`.',
        source=RuleSource.GEN,
        severity=Severity.WARNING,
    ),
)

CATALOGUE: Final[dict[str, Rule]] = {rule.name: rule for rule in _FORM} | RULES | OPERATOR_RULES | GITOPS_RULES


@cache
def rules_for(group: str, kind: str) -> tuple[Rule, ...]:
    """The rules that look at objects of a kind."""
    return tuple(rule for rule in CATALOGUE.values() if rule.is_for(group, kind))
