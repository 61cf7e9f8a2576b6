"""One cluster for the whole run, or the reason why there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.cluster import Cluster, read_definitions
from tests.e2e.objects import all_rendered
from tests.e2e.server import api_server
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests against a server are slow. The hook gets the items of all folders."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver; scripts/apiserver.sh makes one")
    definitions = SHARED / "crds"
    if not definitions.is_dir():
        pytest.skip(f"there are no CRDs in {definitions}")
    with api_server(Path(assets), tmp_path_factory.mktemp("apiserver")) as client:
        cluster = Cluster(client)
        cluster.install(read_definitions(definitions))
        cluster.add_namespaces(sorted(_namespaces()))
        yield cluster


def _namespaces() -> set[str]:
    return {one.body["metadata"]["namespace"] for one in all_rendered() if "namespace" in one.body["metadata"]}
