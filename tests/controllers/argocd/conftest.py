"""One Argo CD for all tests, and for each test a repository that it delivers."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controllers import controller_manager as kcm
from tests.controllers.argocd import argo_cd as argo
from tests.controllers.argocd.delivery import Delivery
from tests.controllers.argocd.servers import serving, slack
from tests.controllers.git_server import GitServer, git_server
from tests.e2e.cluster import Cluster
from tests.e2e.server import api_server
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.controllers.argocd.argo_cd import ArgoCD
    from tests.controllers.programs import Programs


@pytest.fixture(scope="session")
def messages() -> list[str]:
    """What Argo CD sent to Slack."""
    return []


@pytest.fixture(scope="session")
def argo_cd(controllers: Programs, messages: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArgoCD]:
    """Argo CD with a cluster of its own, including the kube-controller-manager that completes deletions."""
    argo.binary(controllers)
    argo.installation(controllers)
    controllers.path("kube-controller-manager")
    assets, definitions = os.environ.get("KUBEBUILDER_ASSETS"), SHARED / "crds"
    if not assets:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver; scripts/apiserver.sh makes one")
    if not definitions.is_dir():
        pytest.skip(f"found no CRDs in {definitions}")
    with ExitStack() as stack:
        client = stack.enter_context(api_server(Path(assets), tmp_path_factory.mktemp("argocd-apiserver")))
        cluster = Cluster(client)
        cluster.install(_definitions(definitions))
        stack.enter_context(kcm.started(cluster, controllers))
        url = stack.enter_context(serving(slack(messages)))
        yield stack.enter_context(argo.started(cluster, controllers, url))


def _definitions(folder: Path) -> Iterator[Body]:
    """CRDs of the operators. Of the two of MPIJob, a cluster has one."""
    for path in sorted((*folder.glob("kubeflow.org/*.yaml"), *folder.glob("ray.io/*.yaml"))):
        if path.name != "mpijobs.yaml":
            yield yaml.load(path.read_bytes(), yaml.CSafeLoader)


@pytest.fixture(scope="session")
def git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    with git_server(tmp_path_factory.mktemp("git")) as server:
        yield server


@pytest.fixture
def delivery(
    argo_cd: ArgoCD, git: GitServer, tmp_path: Path, messages: list[str], request: pytest.FixtureRequest
) -> Delivery:
    """A new repository, installed in Argo CD with the name of the test."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:20].strip("-")
    case = "" if not hasattr(request.node, "callspec") else request.node.callspec.id.lower()
    return Delivery.at(tmp_path / "repository", f"{name}-{case}".strip("-"), argo_cd, git, messages)
