"""Generated strategic merge patches: the result is that of Kustomize, and stays the same the second time."""

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

if TYPE_CHECKING:
    from pathlib import Path
from tests.render.patch.test_strategic import deployment, job, merge


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
    """Without parts that have no meaning: some empty mappings, which Kustomize drops, and the order of ports."""
    if isinstance(value, dict):
        inner = {key: comparable(item) for key, item in value.items()}
        if "ports" in inner:
            inner["ports"] = sorted(inner["ports"], key=lambda port: (port["containerPort"], port["protocol"]))
        return {key: item for key, item in inner.items() if item != {} or key == "emptyDir"}
    return [comparable(item) for item in value] if isinstance(value, list) else value
