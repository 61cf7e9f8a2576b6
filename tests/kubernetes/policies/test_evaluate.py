"""Matching, parameters, failure policies, messages and parts that are not evaluated."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.kubernetes.policies import evaluate
from gen.kubernetes.policies import policy_set as policy_set_module
from gen.kubernetes.policies.causes import cause
from gen.kubernetes.policies.evaluate import verdicts
from gen.kubernetes.policies.request import plural, request_for
from tests.cases import for_each
from tests.kubernetes.policies.support import GROUP, NAMESPACE, PARAMS, bases, findings, merged, policy_set
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body

POD = bases()["pods"]
NO = [{"expression": "object.metadata.name == 'none'"}]
DENIED = {"p": ["failed expression: object.metadata.name == 'none'"]}
NOT_A = {"key": "team", "operator": "NotIn", "values": ["a"]}
ALL = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}


def policy(**spec: Any) -> Body:
    given = {"matchConstraints": {"resourceRules": [ALL]}, "validations": NO, **spec}
    return {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": given}


def binding(name: str = "b", **spec: Any) -> Body:
    given = {"policyName": "p", "validationActions": ["Deny"], **spec}
    return {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": given}


def rule(**fields: Any) -> Body:
    return {"resourceRules": [{**ALL, **fields}]}


@for_each(
    ("constraints", "matches"),
    [
        (rule(resources=["pods"]), True),
        (rule(resources=["pods/*"]), True),
        (rule(resources=["*/*"]), True),
        (rule(resources=["pods/status"]), False),
        (rule(resources=["services"]), False),
        (rule(apiGroups=[""]), True),
        (rule(apiGroups=["apps"]), False),
        (rule(operations=["UPDATE"]), False),
        (rule(operations=["CREATE"]), True),
        (rule(scope="Cluster"), False),
        (rule(scope="Namespaced"), True),
        (rule(resourceNames=["web"]), True),
        (rule(resourceNames=["other"]), False),
        ({**rule(), "excludeResourceRules": [{**ALL, "resources": ["pods"]}]}, False),
        ({**rule(), "objectSelector": {"matchLabels": {"team": "a"}}}, True),
        ({**rule(), "objectSelector": {"matchLabels": {"team": "b"}}}, False),
        (
            {**rule(), "objectSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}},
            False,
        ),
        ({**rule(), "objectSelector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}}, True),
        ({**rule(), "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        ({**rule(), "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
    ],
)
def test_which_objects_a_policy_matches(tmp_path: Path, constraints: Body, matches: bool) -> None:
    policies = policy_set(tmp_path, policy(matchConstraints=constraints), binding())
    assert findings(policies, POD) == (DENIED if matches else {})
    narrowed = policy_set(tmp_path, policy(), binding(matchResources=constraints))
    assert findings(narrowed, POD) == (DENIED if matches else {})


def test_labels_of_a_namespace_are_known_from_its_file(tmp_path: Path) -> None:
    constraints = {**rule(), "namespaceSelector": {"matchLabels": {"tier": "prod"}}}
    objects = policy(matchConstraints=constraints), binding()
    (message,) = findings(policy_set(tmp_path, *objects), POD)["p"]
    assert message.startswith("not evaluated: the labels of namespace `default`")
    prod = merged(NAMESPACE, {"metadata": {"labels": {"tier": "prod"}}})
    assert findings(policy_set(tmp_path, *objects, prod), POD) == DENIED
    assert findings(policy_set(tmp_path, *objects, NAMESPACE), POD) == {}


@for_each(
    "expression",
    [
        "authorizer.group('').resource('pods').check('get').allowed()",
        "request.userInfo.username == 'a'",
        "namespaceObject.metadata.labels.a == 'b'",
        "object.metadata.uid == 'a'",
        "size(variables.later) > 0",
    ],
)
def test_what_only_a_cluster_knows_is_not_evaluated(tmp_path: Path, expression: str) -> None:
    variables = [{"name": "later", "expression": "request.userInfo.groups"}]
    own = policy(validations=[{"expression": expression}], variables=variables)
    (message,) = findings(policy_set(tmp_path, own, binding()), POD)["p"]
    assert message.startswith("not evaluated: ")


def test_another_version_of_an_object_is_not_evaluated(tmp_path: Path) -> None:
    constraints = rule(apiVersions=["v2"])
    (message,) = findings(policy_set(tmp_path, policy(matchConstraints=constraints), binding()), POD)["p"]
    assert message.startswith("not evaluated: the rule is for another version")
    exact = policy(matchConstraints={**constraints, "matchPolicy": "Exact"})
    assert findings(policy_set(tmp_path, exact, binding()), POD) == {}


def test_parameters_are_chosen_by_name_or_labels(tmp_path: Path) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    own = policy(
        paramKind=kind,
        validations=[{"expression": "params.data.maxReplicas == '1'", "messageExpression": "params.metadata.name"}],
    )
    other = merged(PARAMS, {"metadata": {"name": "other", "labels": {"use": "limits"}}})

    def found(reference: Body | None, *params: Body) -> dict[str, list[str]]:
        bound = binding(paramRef={"parameterNotFoundAction": "Deny", **reference}) if reference else binding()
        return findings(policy_set(tmp_path, own, bound, *params), POD)

    assert found({"name": "limits"}, PARAMS, other) == {"p": ["limits"]}
    assert found({"selector": {}}, PARAMS, other) == {"p": ["limits", "other"]}
    assert found({"selector": {"matchLabels": {"use": "limits"}}}, PARAMS, other) == {"p": ["other"]}
    missing = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert found({"name": "none"}, PARAMS) == {"p": [missing]}
    assert found({"name": "limits", "namespace": "elsewhere"}, PARAMS) == {"p": [missing]}
    assert found({"name": "none", "parameterNotFoundAction": "Allow"}, PARAMS) == {}
    assert "no such key" in found(None, PARAMS)["p"][0]


@pytest.mark.parametrize(
    ("failure", "expression", "expected"),
    [
        ("Fail", "object.spec.none == 1", ["expression 'object.spec.none == 1' resulted in error: no such key: none"]),
        ("Ignore", "object.spec.none == 1", []),
        ("Ignore", "object.metadata.name == 'none'", ["failed expression: object.metadata.name == 'none'"]),
    ],
)
def test_a_failure_policy_is_for_errors(tmp_path: Path, failure: str, expression: str, expected: list[str]) -> None:
    own = policy(failurePolicy=failure, validations=[{"expression": expression}])
    assert findings(policy_set(tmp_path, own, binding()), POD).get("p", []) == expected


@for_each(
    ("value", "failure", "denied"),
    [
        ("'team ' + object.metadata.labels.team", "Fail", False),
        ("string(object.metadata.labels.owner)", "Fail", True),
        ("string(object.metadata.labels.owner)", "Ignore", False),
        ("string(object.metadata.?labels['owner'].orValue(''))", "Fail", False),
        ("request.userInfo.username", "Fail", False),
    ],
)
@for_each("action", ["Deny", "Audit"])
def test_an_audit_annotation_that_fails_denies(
    tmp_path: Path, value: str, failure: str, denied: bool, action: str
) -> None:
    rules = {"validations": [{"expression": "true"}], "failurePolicy": failure}
    own = policy(**rules, auditAnnotations=[{"key": "owner", "valueExpression": value}])
    found = list(verdicts(policy_set(tmp_path, own, binding(validationActions=[action])), request_for(POD)))
    assert [(one.message, one.actions) for one in found] == (
        [(f"expression '{value}' resulted in error: no such key: owner", ("Deny",))] if denied else []
    )


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["true"], 1),
        (["true", "false"], 0),
        (["object.spec.none == 1", "false"], 0),
        (["object.spec.none == 1"], 1),
    ],
)
def test_all_conditions_must_hold(tmp_path: Path, conditions: list[str], expected: int) -> None:
    own = policy(matchConditions=[{"name": f"c{i}", "expression": text} for i, text in enumerate(conditions)])
    assert len(findings(policy_set(tmp_path, own, binding()), POD).get("p", [])) == expected


@for_each(
    ("texts", "message"),
    [
        ({"message": " text "}, "text"),
        ({"messageExpression": "'name ' + object.metadata.name", "message": "text"}, "name web"),
        ({"messageExpression": "'a\\nb'", "message": "text"}, "text"),
        ({"messageExpression": "'  '", "message": "text"}, "text"),
        ({"messageExpression": "object.spec.none + ''", "message": "text"}, "text"),
        (
            {"messageExpression": "['x', 'y'].map(x, x).join('') + string(object.metadata.name.size() / 0)"},
            NO[0]["expression"],
        ),
    ],
)
def test_the_message_of_a_validation(tmp_path: Path, texts: Body, message: str) -> None:
    own = policy(validations=[{**NO[0], **texts}])
    (found,) = findings(policy_set(tmp_path, own, binding()), POD)["p"]
    assert found.removeprefix("failed expression: ") == message


def test_variables_are_evaluated_once_and_when_read(tmp_path: Path) -> None:
    variables = [
        {"name": "wrong", "expression": "object.spec.none"},
        {"name": "images", "expression": "object.spec.containers.map(c, c.image)"},
        {"name": "count", "expression": "variables.images.size()"},
    ]
    own = policy(variables=variables, validations=[{"expression": "variables.count == 1"}])
    assert findings(policy_set(tmp_path, own, binding()), POD) == {}
    own = policy(variables=variables, validations=[{"expression": "variables.wrong == 1"}])
    (message,) = findings(policy_set(tmp_path, own, binding()), POD)["p"]
    assert message.endswith('composited variable "wrong" fails to evaluate: no such key: none')


def test_an_update_has_the_old_object(tmp_path: Path) -> None:
    own = policy(validations=[{"expression": "request.operation == 'CREATE' || object.spec == oldObject.spec"}])
    policies = policy_set(tmp_path, own, binding())
    other = merged(POD, {"spec": {"nodeName": "a"}})
    assert findings(policies, POD) == {}
    assert findings(policies, POD, POD) == {}
    assert list(findings(policies, other, POD)) == ["p"]


def test_policies_do_not_apply_to_policies(tmp_path: Path) -> None:
    policies = policy_set(tmp_path, policy(), binding())
    assert findings(policies, policy()) == {}
    assert findings(policies, binding()) == {}


def test_damaged_policies_are_not_evaluated(tmp_path: Path) -> None:
    damaged: tuple[Body, ...] = (
        {"validations": 5},
        {"matchConstraints": [1]},
        {"validations": [{"expression": "1 +"}]},
        {"variables": [{}]},
    )
    for spec in damaged:
        found = findings(policy_set(tmp_path, policy(**spec), binding()), POD)
        assert all(message.startswith("not evaluated: ") for message in found["p"])


def test_the_cause_is_the_item_that_fails(tmp_path: Path) -> None:
    body = copy.deepcopy(POD)
    body["spec"]["containers"].append({"name": "b", "image": "docker.io/b"})
    own = policy(
        variables=[{"name": "pod", "expression": "object.spec"}],
        validations=[{"expression": "variables.pod.containers.all(c, c.image.startsWith('registry.example.com/'))"}],
    )
    (verdict,) = verdicts(policy_set(tmp_path, own, binding()), request_for(body))
    assert verdict.cause == ("spec", "containers", 1, "image")


def test_a_policy_can_exempt_finished_runs(tmp_path: Path) -> None:
    text = (PROJECT / "docs" / "policies.md").read_text("utf-8")
    block = text[text.index("spec:\n  matchConditions:") :].partition("```")[0]
    own = policy(**yaml.safe_load(block)["spec"])
    policies = policy_set(tmp_path, own, binding())
    finished = copy.deepcopy(POD)
    finished["metadata"]["annotations"] = {"argocd.argoproj.io/hook": "Skip"}
    assert findings(policies, POD) == DENIED
    assert findings(policies, finished) == {}


def test_a_set_can_be_sent_to_another_process(tmp_path: Path) -> None:
    policies = policy_set(tmp_path, policy(), binding())
    assert findings(policies, POD) == DENIED
    assert findings(pickle.loads(pickle.dumps(policies)), POD) == DENIED  # noqa: S301 - our own bytes


@for_each(
    ("kind", "resource"),
    [
        ("Pod", "pods"),
        ("NetworkPolicy", "networkpolicies"),
        ("Ingress", "ingresses"),
        ("Endpoints", "endpoints"),
        ("StorageClass", "storageclasses"),
        ("PyTorchJob", "pytorchjobs"),
    ],
)
def test_the_resource_of_a_kind(kind: str, resource: str) -> None:
    assert plural(kind) == resource


def test_variables_that_read_each_other_twice_are_followed_once() -> None:
    texts = {f"v{number}": f"variables.v{number - 1} + variables.v{number - 1}" for number in range(1, 40)}
    assert cause("variables.v39 == 1", {"v0": "1", **texts}, POD, lambda _: True) == ()


@for_each(("resource", "asked"), [("services", False), ("pods", True)])
def test_an_object_gets_its_defaults_only_for_a_policy_that_matches(tmp_path: Path, resource: str, asked: bool) -> None:
    request = request_for(POD)
    list(verdicts(policy_set(tmp_path, policy(matchConstraints=rule(resources=[resource])), binding()), request))
    assert ("body" in vars(request)) is asked


def test_policies_of_other_resources_and_other_objects_cost_an_object_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = policy(
        matchConstraints=rule(resources=["pods"]),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        validations=[{"expression": "params.data.maxReplicas == '1'"}],
    )
    other = merged(policy(matchConstraints=rule(resources=["services"])), {"metadata": {"name": "other"}})
    params = [merged(PARAMS, {"metadata": {"name": f"limits-{number}"}}) for number in range(50)]
    bindings = binding(paramRef={"name": "limits"}), binding("c", policyName="other")
    policies = policy_set(tmp_path, own, other, *bindings, *params, PARAMS)
    expected = findings(policies, POD)
    asked = []

    def matches(constraints: Body | None, *rest: Any) -> bool:
        asked.append(constraints)
        return matched(constraints, *rest)

    matched = evaluate.matches
    monkeypatch.setattr(evaluate, "matches", matches)
    monkeypatch.delattr(policy_set_module, "is_cluster_scoped")  # which each parameter is asked for once
    assert findings(policies, POD) == expected == {"p": ["failed expression: params.data.maxReplicas == '1'"]}
    assert asked == [own["spec"]["matchConstraints"], None]
