"""A server with roles, and a repository with its runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.e2e.cluster import Cluster, read_definitions
from tests.e2e.server import api_server
from tests.live.world import USERS, World, kubeconfig
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GROUPS = (
    "argoproj.io",
    "scheduling.volcano.sh",
    "scheduling.x-k8s.io",
    "kubeflow.org",
    "jobset.x-k8s.io",
    "kueue.x-k8s.io",
    "ray.io",
    "batch.volcano.sh",
    "trainer.kubeflow.org",
)
WORKLOADS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "workloads.kueue.x-k8s.io",
        "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/kueue"},
    },
    "spec": {
        "group": "kueue.x-k8s.io",
        "names": {"kind": "Workload", "plural": "workloads", "singular": "workload", "listKind": "WorkloadList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1beta2",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}
"""The part of Kueue's definition that the tests need."""
NEEDS_A_SERVER = {"server", "world"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a server are slow. The hook gets the items of all folders."""
    here = f"{Path(__file__).parent}/"
    for item in items:  # a tenth of the time of `is_relative_to`
        if str(item.path).startswith(here) and NEEDS_A_SERVER & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver; scripts/apiserver.sh makes one")
    folder = tmp_path_factory.mktemp("live")
    with api_server(Path(assets), folder, "RBAC", USERS) as client:
        cluster = Cluster(client)
        for group in GROUPS:
            cluster.install(read_definitions(SHARED / "crds" / group))
        cluster.install([WORKLOADS])
        yield cluster


@pytest.fixture
def world(tmp_path: Path, server: Cluster) -> Callable[[str], World]:
    """A repository with a namespace of its own in the cluster."""
    config = tmp_path / "kubeconfig"
    config.write_text(yaml.safe_dump(kubeconfig(server.client)), "utf-8")
    return lambda name: World.at(tmp_path / "repo", server, name, config)
