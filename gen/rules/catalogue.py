"""All rules by name: checks of objects, and findings that precede them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from gen.diagnostics import Severity
from gen.resources import RESOURCES
from gen.rules.gitops.registry import GITOPS_RULES
from gen.rules.operators import OPERATOR_RULES
from gen.rules.problem import SILENCE
from gen.rules.rule import Rule, RuleSource
from gen.rules.server import RULES

if TYPE_CHECKING:
    from gen.resources.base import Resource

_STRICT = "The API server rejects the object with strict field validation, and may drop the field without."
_DEFINED = "The API server validates the object against the definition of its kind."

_FORM = (
    Rule(
        "not-an-object",
        "A document is not a mapping with `apiVersion` and `kind`.",
        "Only such documents can be applied to a cluster.",
        "Add `apiVersion` and `kind`, or move the file out of the folder.",
    ),
    Rule(
        "object-size",
        "An object is too large for a request.",
        "The API server rejects requests of more than 3 MiB, and etcd stores about half of that.",
        "Put the data on a volume or into an image, or split it into several objects.",
    ),
    Rule(
        "unknown-kind",
        "The kind is unknown in that API version: no schema describes it.",
        "An object without a schema cannot be checked.",
        "Correct `apiVersion` or `kind`, name the folder of its definition with `--schema-location`, or "
        "skip such objects with `--ignore-missing-schemas`.",
    ),
    Rule(
        "unknown-field",
        "A field is not defined for the kind, also in pod templates inside training resources.",
        _STRICT,
        "Correct the name, or remove the field.",
    ),
    Rule("missing-field", "A required field is missing.", _STRICT, "Add the field."),
    Rule("wrong-type", "A value has the wrong type for its field.", _STRICT, "Set a value of the expected type."),
    Rule(
        "not-allowed", "A value is not one of those that its field allows.", _DEFINED, "Use one of the allowed values."
    ),
    Rule(
        "invalid-value",
        "A value is outside the range, pattern or size that its schema requires.",
        _DEFINED,
        "Set a valid value.",
    ),
    Rule(
        "double-entry",
        "Two entries of a keyed list have the same key.",
        _DEFINED,
        "Remove one of the two, or change its key.",
    ),
    Rule(
        "cel",
        "An object breaks a CEL rule of its definition.",
        _DEFINED,
        "Change the object so that the rule in the finding holds.",
    ),
    Rule(
        "cel-not-evaluated",
        "A CEL rule of a definition cannot be evaluated by gen.",
        "API servers support functions that CEL itself does not. gen also limits the evaluation steps.",
        "Try the object against a cluster (`kubectl apply --server-side --dry-run=server`).",
        source=RuleSource.GEN,
        severity=Severity.WARNING,
    ),
    Rule(
        "rule-failed",
        "A rule failed to check an object.",
        "This is a bug in gen. The object may have faults that the rule would have found.",
        "Report it to gen's issue tracker with the object. The results of the other rules are valid.",
        source=RuleSource.GEN,
    ),
    Rule(
        "removed-api",
        "An API version is no longer served by the Kubernetes version that is checked against.",
        "The API server does not know the kind in this version.",
        "Use the API version that replaced it, and adapt the changed fields.",
    ),
    Rule(
        "deprecated-api",
        "An API version is deprecated.",
        "A later version of Kubernetes or of the operator does not serve it.",
        "Use the API version that replaces it.",
        severity=Severity.WARNING,
    ),
    Rule(
        "wrong-scope",
        "A cluster-scoped object has a namespace.",
        "The API server drops the namespace of a cluster-scoped object: the object is valid in the whole cluster.",
        "Remove `metadata.namespace`.",
        severity=Severity.WARNING,
    ),
    Rule(
        "silenced",
        "An annotation that silences a rule names an unknown rule, or gives no reason.",
        "Reviewers need a reason to accept a silenced rule.",
        f'Write `{SILENCE}<rule>: "<reason>"`.',
        source=RuleSource.GEN,
        severity=Severity.WARNING,
    ),
)

CATALOGUE: Final[dict[str, Rule]] = {rule.name: rule for rule in _FORM} | RULES | OPERATOR_RULES | GITOPS_RULES


def rules_for(group: str, kind: str) -> tuple[Rule, ...]:
    """The rules that check objects of a kind."""
    return cached_rules(group, kind, RESOURCES.get((group, kind)))


@cache
def cached_rules(group: str, kind: str, facts: Resource | None) -> tuple[Rule, ...]:  # noqa: ARG001 - rules depend on them
    return tuple(rule for rule in CATALOGUE.values() if rule.is_for(group, kind))
