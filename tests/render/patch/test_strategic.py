"""Strategic merge: by hand where ours knows more than Kustomize, and against Kustomize itself where it does not."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gen.diagnostics import Findings
from gen.load import Layer, source_of
from gen.render.patch.provenance import Provenance
from gen.render.patch.strategic import StrategicMerge
from gen.schemas.registry import schemas

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


def test_a_mapping_can_be_removed_wherever_it_stands() -> None:
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


def test_ports_are_told_apart_by_protocol() -> None:
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


def test_an_entry_is_deleted_before_it_is_added_anew() -> None:
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


def entries(name: str, *forms: Any, by: Any = None) -> Any:
    """A list that merges by `name`: entries of the given forms, or such as remove one."""
    key = by or (lambda entry: entry[name])
    return st.lists(st.one_of(*forms), min_size=1, max_size=3, unique_by=key)


def removal(**of: Any) -> Any:
    return st.fixed_dictionaries({**of, "$patch": st.just("delete")})


def as_the_whole_list(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For a list that the object has: where there is none, Kustomize takes the directive for an entry."""
    return [{"$patch": "replace"}, *(item for item in items if "$patch" not in item)]


values = st.sampled_from(["1", "x"])
names = st.sampled_from(["main", "side", "new"])
letters = st.sampled_from("ABC")
protocols = st.sampled_from(["TCP", "UDP"])
ports_by = {"containerPort": st.sampled_from([53, 80]), "protocol": protocols}
ports = entries(
    "containerPort",
    st.fixed_dictionaries(ports_by, optional={"name": st.just("dns")}),
    removal(**ports_by),
    by=lambda port: (port["containerPort"], port["protocol"]),
)
variables = entries(
    "name",
    st.fixed_dictionaries({"name": letters, "value": values}),
    st.fixed_dictionaries(
        {"name": letters, "value": st.none(), "valueFrom": st.just({"fieldRef": {"fieldPath": "f"}})}
    ),
    removal(name=letters),
)
containers = entries(
    "name",
    st.fixed_dictionaries(
        {"name": names},
        optional={
            "image": st.just("b:2"),
            "env": variables | st.none(),
            "args": st.lists(values, min_size=1, max_size=2) | st.none(),
            "ports": ports,
            "workingDir": st.just("/x"),
            "resources": st.fixed_dictionaries(
                {"$patch": st.sampled_from(["merge", "replace"]), "limits": st.just({"cpu": "1"})}
            ),
        },
    ),
    removal(name=st.just("side")),
)
volumes = entries(
    "name",
    st.fixed_dictionaries({"name": st.sampled_from("vz"), "emptyDir": st.just({"medium": "Memory"})}),
    st.just({"name": "v", "emptyDir": None, "hostPath": {"path": "/v"}}),
    st.just({"name": "w", "hostPath": None, "persistentVolumeClaim": {"claimName": "w"}}),
    st.just({"name": "y", "secret": {"secretName": "y"}}),
    removal(name=st.sampled_from("vwx")),
)
pods = st.fixed_dictionaries(
    {},
    optional={
        "containers": containers,
        "initContainers": containers,
        "volumes": volumes | volumes.map(as_the_whole_list),
        "tolerations": st.lists(st.builds(lambda key: {"key": key}, values), min_size=1, max_size=2),
        "nodeSelector": st.dictionaries(st.sampled_from("pq"), values | st.none(), min_size=1),
        "imagePullSecrets": entries("name", st.fixed_dictionaries({"name": st.sampled_from("bc")})),
        "securityContext": st.sampled_from(
            [None, {"$patch": "delete"}, {"$patch": "replace", "fsGroup": 1}, {"sysctls": None}, {"runAsGroup": 1}]
        ),
        "priorityClassName": values | st.none(),
    },
)
patches = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "annotations": st.dictionaries(st.sampled_from("ab"), values, min_size=1),
                "labels": st.sampled_from([None, {"$patch": "delete"}, {"app": None}, {"more": "1"}]),
                "finalizers": st.lists(st.sampled_from(["example.com/a", "example.com/b"]), min_size=1, unique=True),
            },
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


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([deployment, job]), patches), min_size=24, max_size=24))
@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_kustomize_makes_the_same_of_built_in_kinds(kustomize: Path, cases: list[tuple[Any, dict[str, Any]]]) -> None:
    """Many patches a run, each of an object of its own, because starting kubectl takes long."""
    objects = [(named(make(), f"demo-{index}"), patch) for index, (make, patch) in enumerate(cases)]
    kustomization = []
    for body, patch in objects:
        whole = {"apiVersion": body["apiVersion"], "kind": body["kind"], **patch}
        kustomization.append({"patch": json.dumps(named(whole, body["metadata"]["name"]))})
    (kustomize / "all.yaml").write_text("---\n".join(yaml.safe_dump(body) for body, _ in objects))
    (kustomize / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["all.yaml"], "patches": kustomization}))
    done = subprocess.run(["kubectl", "kustomize", kustomize], capture_output=True, text=True, check=True)
    theirs = {body["metadata"]["name"]: comparable(body) for body in yaml.safe_load_all(done.stdout)}
    for body, patch in objects:
        assert comparable(merge(body, patch)) == theirs[body["metadata"]["name"]], patch


def named(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {**body, "metadata": {**body.get("metadata", {}), "name": name}}


def comparable(value: Any) -> Any:
    """Without what has no meaning: some empty mappings, which Kustomize drops, and the order of ports."""
    if isinstance(value, dict):
        inner = {key: comparable(item) for key, item in value.items()}
        if "ports" in inner:
            inner["ports"] = sorted(inner["ports"], key=lambda port: (port["containerPort"], port["protocol"]))
        return {key: item for key, item in inner.items() if item != {} or key == "emptyDir"}
    return [comparable(item) for item in value] if isinstance(value, list) else value
