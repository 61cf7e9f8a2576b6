"""Services of object stores: the settings of rclone, and the credentials that containers get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.overlay.profiles.stores import STORES
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "cos": (
        {"cos": "ap-guangzhou", "secret": "keys"},
        {"TYPE": "s3", "PROVIDER": "TencentCOS", "ENDPOINT": "cos.ap-guangzhou.myqcloud.com"},
    ),
    "gs": ({"gs": {}}, {"TYPE": "google cloud storage", "BUCKET_POLICY_ONLY": "true", "ENV_AUTH": "true"}),
    "oss": (
        {"oss": "cn-hangzhou", "secret": "keys"},
        {"TYPE": "s3", "PROVIDER": "Alibaba", "ENDPOINT": "oss-cn-hangzhou.aliyuncs.com"},
    ),
    "s3": (
        {"s3": {"endpoint": "https://minio.example.com", "provider": "Minio"}, "secret": "keys"},
        {"TYPE": "s3", "PROVIDER": "Minio", "ENDPOINT": "https://minio.example.com"},
    ),
}
JOB = {
    "kind": "pytorch",
    "image": "registry.example.com/train:1",
    "command": "train",
    "cpu": 1,
    "memory": "1Gi",
    "timeout": "1h",
}


def rendered(repo: Repository, store: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The pod of a job with the object store `files`."""
    overlay = {"kubernetes": "1.34", "namespaces": {"team": {}}, "stores": {"files": {"bucket": "team", **store}}}
    repo.overlay(yaml.safe_dump(overlay))
    repo.job(yaml.safe_dump(JOB | fields))
    report, code = repo.render()
    assert code == 0, report.findings
    (path,) = (repo.root / "rendered/dev/jobs").rglob("pytorchjob-*.yaml")
    pod: dict[str, Any] = yaml.safe_load(path.read_text())["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    return pod


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container.get("env", ())}


def test_every_service_has_an_example() -> None:
    assert EXAMPLES.keys() == STORES.keys()


@pytest.mark.parametrize("service", sorted(STORES))
def test_settings_and_keys_of_each_service(service: str, repo: Repository) -> None:
    store, settings = EXAMPLES[service]
    pod = rendered(repo, store, outputs={"/out": {"store": "files", "path": "a"}})
    env = variables(pod["containers"][0])
    expected: dict[str, Any] = {"NO_CHECK_BUCKET": "true", **settings}
    if "secret" in store:
        expected |= {name: {"secretKeyRef": {"name": "keys", "key": key}} for name, key in STORES[service].keys.items()}
    assert env == {f"RCLONE_CONFIG_S0_{name}": value for name, value in expected.items()}


def test_credentials_of_inputs_stay_out_of_the_training_container(repo: Repository) -> None:
    pod = rendered(repo, EXAMPLES["cos"][0], inputs={"/in": {"store": "files", "path": "a"}})
    (copy,) = pod["initContainers"]
    assert len(variables(copy)) == 6
    assert "env" not in pod["containers"][0]
    assert pod["containers"][0]["command"] == ["sh", "-c", "train"], "only outputs and logs need a script"
    assert "terminationGracePeriodSeconds" not in pod


def test_credentials_of_outputs_stay_out_of_the_init_container(repo: Repository) -> None:
    pod = rendered(repo, EXAMPLES["cos"][0], outputs={"/out": {"store": "files", "path": "a"}})
    (copy,) = pod["initContainers"]
    assert "env" not in copy


@for_each("path", ["a/../../b", "..", "a//b", "/a", "a/", "a\nb", "./a", "a\\b", "\u0085"])
def test_a_path_cannot_leave_the_prefix(path: str, repo: Repository) -> None:
    overlay = {"kubernetes": "1.34", "namespaces": {"team": {}}, "stores": {"files": {"s3": {}, "bucket": "team"}}}
    repo.overlay(yaml.safe_dump(overlay))
    repo.job(yaml.safe_dump(JOB | {"inputs": {"/in": {"store": "files", "path": path}}}))
    report, code = repo.render()
    assert code == 1
    assert report.findings[0].code in ("invalid-value", "invalid-character")


def test_a_folder_of_the_container_cannot_name_a_credential(repo: Repository) -> None:
    """The kubelet would put its value into the arguments, which the script prints."""
    folder = "/x$(RCLONE_CONFIG_S0_SECRET_ACCESS_KEY)"
    inputs = {f"{folder}/in": {"store": "files", "path": "a"}}
    pod = rendered(repo, EXAMPLES["cos"][0], inputs=inputs, outputs={f"{folder}/out": {"store": "files", "path": "b"}})
    for container in (*pod["initContainers"], *pod["containers"]):
        assert not [part for part in container["command"] if "$(" in part.replace("$$", "")]


@for_each("path", ["$(HOME)", "$$(HOME)", "$HOME", "a b", "'; touch x", "`x`", "数据", "-o"])
def test_a_path_reaches_rclone_as_it_is_written(path: str, repo: Repository) -> None:
    """The kubelet replaces `$$` by `$`, and would replace `$(HOME)`."""
    pod = rendered(repo, {"s3": {}, "prefix": "p"}, inputs={"/in": {"store": "files", "path": path}})
    argument = pod["initContainers"][0]["command"][-2]
    assert "$(" not in argument.replace("$$", "")
    assert argument.replace("$$", "$") == f"S0:team/p/{path}"
