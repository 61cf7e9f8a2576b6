"""Strategic merge: by hand where ours knows more than Kustomize, and against Kustomize itself where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from gen.base.findings import Findings
from gen.base.yaml.layers import Layer
from gen.base.yaml.source import source_of
from gen.kubernetes.schemas.registry import schemas
from gen.render.patch.provenance import Provenance
from gen.render.patch.strategic import StrategicMerge

VERSION = "1.32"


def merge(body: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    source = source_of(b"{}", "overlays/dev/overlay.yaml", Findings())
    assert source is not None
    return StrategicMerge(schemas(VERSION), Layer(source), Provenance()).apply(body, patch)


def deployment(**container: Any) -> dict[str, Any]:
    main = {
        "name": "main",
        "image": "a:1",
        "args": ["x"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
    }
    spec = {
        "initContainers": [{"name": "first", "image": "f:1"}, {"name": "new", "image": "n:1"}],
        "containers": [{**main, **container}, {"name": "side", "image": "s:1"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/w"}}],
        "tolerations": [{"key": "t", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
        "securityContext": {"runAsUser": 1, "sysctls": [{"name": "s", "value": "1"}]},
    }
    labels = {"app": "demo"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "demo", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels, "annotations": {"n": "1"}}, "spec": spec},
        },
    }


def job() -> dict[str, Any]:
    template = deployment()["spec"]["template"]
    spec = {"parallelism": 2, "template": template}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "demo", "labels": {"app": "demo"}},
        "spec": spec,
    }


def training(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "demo"},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": template}}},
    }


def pod(body: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = body["spec"]["template"]["spec"]
    return spec


def test_containers_merge_by_name_inside_training_resources_too() -> None:
    template = deployment()["spec"]["template"]
    new = {"spec": {"containers": [{"name": "main", "env": [{"name": "B", "value": "9"}]}]}}
    patch = {"spec": {"pytorchReplicaSpecs": {"Worker": {"template": new}}}}
    merged = merge(training(template), patch)["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    assert [c["name"] for c in merged["spec"]["containers"]] == ["main", "side"]
    assert merged["spec"]["containers"][0]["env"] == [{"name": "B", "value": "9"}, {"name": "A", "value": "1"}]
    assert merged["spec"]["containers"][0]["args"] == ["x"]


def test_null_removes_a_field_and_directives_remove_and_replace_entries() -> None:
    patch = {
        "spec": {
            "template": {
                "metadata": {"annotations": None},
                "spec": {
                    "volumes": [{"name": "v", "$patch": "delete"}],
                    "containers": [{"name": "main", "env": [{"$patch": "replace"}, {"name": "Z", "value": "z"}]}],
                },
            }
        }
    }
    merged = merge(deployment(), patch)
    assert "annotations" not in merged["spec"]["template"]["metadata"]
    assert [volume["name"] for volume in pod(merged)["volumes"]] == ["w"]
    assert pod(merged)["containers"][0]["env"] == [{"name": "Z", "value": "z"}]


def test_a_mapping_can_be_removed_at_any_depth() -> None:
    spec = {"securityContext": {"$patch": "delete"}, "affinity": {"nodeAffinity": {"$patch": "delete"}}}
    merged = merge(deployment(), {"spec": {"template": {"spec": spec}}})
    assert "securityContext" not in pod(merged)
    assert pod(merged)["affinity"] == {}


@pytest.mark.parametrize(
    ("field", "entry", "expected"),
    [
        ("tolerations", {"key": "t", "$patch": "delete"}, "entries of this list have no key"),
        ("volumes", {"$patch": "delete"}, "the entry has no `name`"),
        ("tolerations", {"$patch": "merge"}, "entries of this list have no key"),
        ("volumes", {"emptyDir": {}}, "entries of this list merge by `name`, which is missing"),
    ],
)
def test_an_entry_that_cannot_be_applied_is_a_problem(field: str, entry: dict[str, Any], expected: str) -> None:
    source = source_of(b"{}", "overlays/dev/overlay.yaml", Findings())
    assert source is not None
    merging = StrategicMerge(schemas(VERSION), Layer(source), Provenance())
    merging.apply(deployment(), {"spec": {"template": {"spec": {field: [entry]}}}})
    ((route, message, _),) = merging.problems
    assert route == ("spec", "template", "spec", field, 0)
    assert expected in message


def test_a_mapping_can_be_replaced_as_a_whole() -> None:
    merged = merge(deployment(), {"metadata": {"labels": {"$patch": "replace", "only": "this"}}})
    assert merged["metadata"]["labels"] == {"only": "this"}


def test_ports_are_distinguished_by_protocol() -> None:
    ports = [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]
    patch = {
        "spec": {
            "template": {"spec": {"containers": [{"name": "main", "ports": [{"containerPort": 53, "name": "dns"}]}]}}
        }
    }
    merged = pod(merge(deployment(ports=ports), patch))["containers"][0]["ports"]
    assert merged == [{"containerPort": 53, "protocol": "TCP", "name": "dns"}, {"containerPort": 53, "protocol": "UDP"}]


def variables_of(body: dict[str, Any]) -> Any:
    return pod(body)["containers"][0]["env"]


def with_variables(*env: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "env": list(env)}]}}}}


def test_a_deletion_removes_every_entry_with_the_key() -> None:
    body = deployment(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}])
    merged = merge(body, with_variables({"name": "A", "$patch": "delete"}))
    assert variables_of(merged) == [{"name": "B", "value": "2"}]


def test_an_entry_is_deleted_before_it_is_added_again() -> None:
    body = deployment(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}])
    deletion, addition = {"name": "A", "$patch": "delete"}, {"name": "A", "value": "1"}
    for entries in ([deletion, addition], [addition, deletion]):
        assert variables_of(merge(body, with_variables(*entries))) == [{"name": "A", "value": "1"}]


def test_a_directive_to_merge_a_list_is_no_entry_of_it() -> None:
    merged = merge(deployment(), with_variables({"$patch": "merge"}, {"name": "A", "value": "9"}))
    assert variables_of(merged) == [{"name": "A", "value": "9"}, {"name": "B", "value": "2"}]


def test_an_entry_that_a_patch_has_twice_is_a_problem() -> None:
    source = source_of(b"{}", "overlays/dev/overlay.yaml", Findings())
    assert source is not None
    merging = StrategicMerge(schemas(VERSION), Layer(source), Provenance())
    merging.apply(deployment(), with_variables({"name": "A", "value": "1"}, {"name": "A", "value": "2"}))
    ((route, message, _),) = merging.problems
    assert route[-2:] == ("env", 1)
    assert message == "duplicate entry with `name: A`"


def test_a_directive_to_merge_an_entry_keeps_the_entry_in_replaced_lists() -> None:
    entry = {"name": "Z", "value": "z"}
    merged = merge(deployment(), with_variables({"$patch": "replace"}, {**entry, "$patch": "merge"}))
    assert variables_of(merged) == [entry]
    toleration = {"key": "x", "operator": "Exists"}
    patch = {"spec": {"template": {"spec": {"tolerations": [{**toleration, "$patch": "merge"}]}}}}
    assert pod(merge(deployment(), patch))["tolerations"] == [toleration]
