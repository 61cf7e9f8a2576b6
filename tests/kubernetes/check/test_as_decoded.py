"""Objects as Go decodes them: nulls, scopes, ranges of numbers, kinds without a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.findings import Route, Severity
from gen.kubernetes.check.objects import check
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Kinds
from tests.kubernetes.rules.support import VERSION, an_object, changed

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


def _rejected(body: Body) -> list[tuple[str, Route]]:
    problems = check(body, Kinds(VERSION)).problems
    return [(one.rule, one.route) for one in problems if RULES[one.rule].severity is Severity.ERROR]


def test_a_null_in_a_mapping_is_an_empty_value_as_in_go() -> None:
    """`limits: {memory: null}` is a limit of 0; a null label has an empty value."""
    change = {"spec containers 0 resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": None}}}
    at = ("spec", "containers", 0, "resources", "requests", "memory")
    assert _rejected(changed(an_object("Pod"), change)) == [("resources", at)]
    body = {**an_object("ConfigMap"), "data": {"a b": None}}
    assert _rejected(body) == [("config-maps", ("data", "a b"))]


def test_a_namespace_of_a_cluster_scoped_kind_is_a_warning_in_any_form() -> None:
    """The server drops it."""
    for kind in ("ClusterRole", "StorageClass", "ValidatingWebhookConfiguration", "APIService", "FlowSchema"):
        body = changed(an_object(kind), {"metadata namespace": "NOT a name"})
        assert _rejected(body) == []
        assert "wrong-scope" in {one.rule for one in check(body, Kinds(VERSION)).problems}


def test_replicas_of_a_kind_with_a_scale_have_32_bits() -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}
    at = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")
    for count in (10**10, -1):
        worker = {"replicas": count, "template": template}
        body = changed(an_object("PyTorchJob"), {"spec pytorchReplicaSpecs Worker": worker})
        assert at in {route for _, route in _rejected(body)}


def test_a_deprecated_kind_without_a_schema_is_unknown() -> None:
    body = {"apiVersion": "ray.io/v1alpha1", "kind": "RayJob", "metadata": {"name": "a"}}
    assert {rule for rule, _ in _rejected(body)} == {"unknown-api"}
    assert {one.rule for one in check(body, Kinds(VERSION), missing=True).problems} == {"deprecated-api"}
