"""Strategic merge: by hand where ours knows more than Kustomize, and against Kustomize itself where it does not."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gen.diagnostics import Findings
from gen.load import Layer, source_of
from gen.patch.provenance import Provenance
from gen.patch.strategic import StrategicMerge
from gen.validate.schemas import schemas

if TYPE_CHECKING:
    from pathlib import Path

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
    }
    spec = {
        "containers": [{**main, **container}, {"name": "side", "image": "s:1"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/w"}}],
        "tolerations": [{"key": "t", "operator": "Exists"}],
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


def test_a_mapping_can_be_replaced_as_a_whole() -> None:
    merged = merge(deployment(), {"metadata": {"labels": {"$patch": "replace", "only": "this"}}})
    assert merged["metadata"]["labels"] == {"only": "this"}


def test_ports_are_told_apart_by_protocol() -> None:
    ports = [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]
    patch = {
        "spec": {
            "template": {"spec": {"containers": [{"name": "main", "ports": [{"containerPort": 53, "name": "dns"}]}]}}
        }
    }
    merged = pod(merge(deployment(ports=ports), patch))["containers"][0]["ports"]
    assert merged == [{"containerPort": 53, "protocol": "TCP", "name": "dns"}, {"containerPort": 53, "protocol": "UDP"}]


names = st.sampled_from(["main", "side", "new"])
values = st.sampled_from(["1", "x"])
variables = st.lists(
    st.builds(lambda name, value: {"name": name, "value": value}, st.sampled_from("ABC"), values),
    max_size=3,
    unique_by=lambda entry: entry["name"],
)
containers = st.lists(
    st.fixed_dictionaries(
        {"name": names},
        optional={
            "image": st.just("b:2"),
            "env": variables.filter(bool),
            "args": st.lists(values, min_size=1, max_size=2),
            "workingDir": st.just("/x"),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda entry: entry["name"],
)
volumes = st.lists(
    st.builds(lambda name: {"name": name, "emptyDir": {"medium": "Memory"}}, st.sampled_from("vz")),
    min_size=1,
    max_size=2,
    unique_by=lambda entry: entry["name"],
)
pods = st.fixed_dictionaries(
    {},
    optional={
        "containers": containers,
        "volumes": volumes,
        "tolerations": st.lists(st.builds(lambda key: {"key": key}, values), min_size=1, max_size=2),
        "nodeSelector": st.dictionaries(st.sampled_from("pq"), values | st.none(), min_size=1),
        "priorityClassName": values,
    },
)
patches = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {}, optional={"annotations": st.dictionaries(st.sampled_from("ab"), values, min_size=1)}
        ),
        "spec": st.builds(lambda spec: {"template": {"spec": spec}}, pods),
    },
)


@given(patches)
@settings(max_examples=200)
def test_an_object_is_never_changed_in_place_and_a_second_time_changes_nothing(patch: dict[str, Any]) -> None:
    body = deployment()
    before = copy.deepcopy(body)
    merged = merge(body, patch)
    assert body == before
    assert merge(merged, patch) == merged


@pytest.fixture(scope="session")
def kustomize(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    return tmp_path_factory.mktemp("kustomize")


@given(st.lists(patches, min_size=8, max_size=8))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_kustomize_makes_the_same_of_a_deployment(kustomize: Path, given_patches: list[dict[str, Any]]) -> None:
    """Many patches a run, each of a Deployment of its own, because starting kubectl takes long."""
    bodies = {f"demo-{index}": patch for index, patch in enumerate(given_patches)}
    resources, kustomization = [], []
    for name, patch in bodies.items():
        resources.append(named(deployment(), name))
        body = {"apiVersion": "apps/v1", "kind": "Deployment", **patch}
        kustomization.append({"patch": json.dumps(named(body, name))})
    (kustomize / "all.yaml").write_text("---\n".join(yaml.safe_dump(resource) for resource in resources))
    (kustomize / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["all.yaml"], "patches": kustomization}))
    done = subprocess.run(["kubectl", "kustomize", kustomize], capture_output=True, text=True, check=True)
    theirs = {body["metadata"]["name"]: body for body in yaml.safe_load_all(done.stdout)}
    ours = {name: merge(named(deployment(), name), patch) for name, patch in bodies.items()}
    assert {name: without_empty(body) for name, body in ours.items()} == {
        name: without_empty(body) for name, body in theirs.items()
    }


def named(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {**body, "metadata": {**body.get("metadata", {}), "name": name}}


def without_empty(value: Any) -> Any:
    """Kustomize drops some empty mappings that a patch leaves behind; neither means anything to Kubernetes."""
    if isinstance(value, dict):
        inner = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item != {} or key == "emptyDir"}
    return [without_empty(item) for item in value] if isinstance(value, list) else value
