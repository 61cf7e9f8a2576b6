"""All codes of findings by name: rules about objects, and codes of all other findings."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from gen.base import INTERNAL_ERROR, Code, Severity
from gen.base.codes import clusters, commands, files, grants, imports, jobs, overlays, pins, rendered
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.rules import SILENCE, Rule, RuleSource, rules_in

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
        "unknown-api",
        "The kind is unknown in that API version: no schema describes it.",
        "An object without a schema cannot be checked.",
        "Correct `apiVersion` or `kind`, name the folder of its definition with `--schema-location`, or "
        "skip such objects with `--ignore-missing-schemas`.",
    ),
    Rule(
        "undefined-field",
        "A field is not defined for the kind, also in pod templates inside training resources.",
        _STRICT,
        "Correct the name, or remove the field.",
    ),
    Rule("absent-field", "A required field is missing.", _STRICT, "Add the field."),
    Rule("wrong-type", "A value has the wrong type for its field.", _STRICT, "Set a value of the expected type."),
    Rule(
        "not-allowed", "A value is not one of those that its field allows.", _DEFINED, "Use one of the allowed values."
    ),
    Rule(
        "schema-constraint",
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
        "pods-may-fail",
        "A pod template in a custom resource breaks a rule of pods.",
        "The API server accepts the object. Pods that its operator makes from the template are refused, unless it "
        "changes the value first.",
        "Correct the template, or silence the rule if the operator replaces the value.",
        severity=Severity.WARNING,
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
        INTERNAL_ERROR,
        "gen failed to process an object, a job or an overlay. The exit code is 3.",
        "This is a bug in gen or in a plugin. Faults that gen would have found there are missing; nothing is written.",
        "Report the finding to gen's issue tracker with the file at its place, without secrets, and with the output of "
        "`gen --version`. The other findings are valid.",
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

MODULES: Final = {
    "server": (
        "metadata pods containers resources volumes scheduling jobs workloads services "
        "config_maps networking storage classes autoscaling access webhooks admission_policies definitions "
        "devices namespaces required_fields training_resources"
    ),
    "operators": "training mpi trainer jobset volcano ray katib kueue common",
    "gitops": "runs engines across_objects",
}
"""Modules of rules by package, in the order of application."""
_IN_MODULES = rules_in(
    import_module(f"{__package__}.{package}.{name}") for package, names in MODULES.items() for name in names.split()
)
RULES: Final[dict[str, Rule]] = {rule.name: rule for rule in _FORM} | _IN_MODULES
"""Rules about objects, in the order of application. Annotations of objects can silence them."""
FORMER_RULES: Final = frozenset(
    {"definition-costs", "definition-defaults", "endpoints", "flow-schemas", "ingress-classes", "ip-ranges", "nodes"}
    | {"priority-levels", "records", "signing-requests", "storage-drivers", "windows"}
)
"""Rules that were removed. Annotations that silence them are accepted."""


def _codes(module: ModuleType) -> tuple[Code, ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, Code))


SECTIONS: Final = {
    "Files and YAML": _codes(files),
    "Jobs": _codes(jobs),
    "Commands of jobs": _codes(commands),
    "Pins": _codes(pins),
    "Grants, quotas and budgets": _codes(grants),
    "Overlays, patches and admission policies": _codes(overlays),
    "Imports": _codes(imports),
    "Rendered files and the effects of a change": _codes(rendered),
    "Clusters": _codes(clusters),
}
"""All other codes by subject, computed from the constants in `gen.base.codes`."""

CODES: Final = {code.name: code for section in SECTIONS.values() for code in section}
CATALOGUE: Final[dict[str, Code]] = RULES | CODES
"""Rules and codes. Each name has one meaning; `gen.kubernetes.rules.RENAMED` lists former names."""


def rules_for(group: str, kind: str) -> tuple[Rule, ...]:
    """The rules that check objects of a kind."""
    return cached_rules(group, kind, RESOURCES.get((group, kind)))


@cache
def cached_rules(group: str, kind: str, facts: Resource | None) -> tuple[Rule, ...]:  # noqa: ARG001 - rules depend on them
    return tuple(rule for rule in RULES.values() if rule.is_for(group, kind))
