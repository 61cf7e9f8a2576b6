"""One cluster for the whole run, or the reason why there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.kubernetes.facts.kfp import PIPELINE, PIPELINE_VERSION
from gen.kubernetes.schemas.registry import schemas, versions
from tests.e2e.cluster import Cluster, read_definitions
from tests.e2e.followed import World
from tests.e2e.objects import all_rendered
from tests.e2e.server import api_server
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests against a server are slow. The hook gets the items of all folders."""
    here = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(here):  # a tenth of the time of `is_relative_to`
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver; scripts/apiserver.sh makes one")
    definitions = SHARED / "crds"
    if not definitions.is_dir():
        pytest.skip(f"found no CRDs in {definitions}")
    with api_server(Path(assets), tmp_path_factory.mktemp("apiserver")) as client:
        cluster = Cluster(client)
        known = list(read_definitions(definitions))
        cluster.install([*known, *_pipelines({body["metadata"]["name"] for body in known})])
        cluster.add_namespaces(sorted(_namespaces()))
        yield cluster


def _pipelines(known: set[str]) -> Iterator[Body]:
    """The kinds of Kubeflow Pipelines as our schemas have them, if the folder has none."""
    group, version = PIPELINE.group, PIPELINE.served[0].rpartition("/")[2]
    for kind in (PIPELINE.kind, PIPELINE_VERSION.kind):
        plural = f"{kind.lower()}s"
        fields = schemas(versions()[-1]).schema(PIPELINE.served[0], kind)["properties"]["spec"]["properties"]
        spec = {name: one or {"x-kubernetes-preserve-unknown-fields": True} for name, one in fields.items()}
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
        served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
        if f"{plural}.{group}" not in known:
            yield {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.{group}"},
                "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [served]},
            }


def _namespaces() -> set[str]:
    return {one.body["metadata"]["namespace"] for one in all_rendered() if "namespace" in one.body["metadata"]}


@pytest.fixture
def world(tmp_path: Path, cluster: Cluster) -> Callable[[str, str], World]:
    """A repository, an engine and a namespace for a kind and a case."""
    return lambda kind, case: World(tmp_path / "repo", cluster, kind, case)
