"""The API server and the controllers, each started when a test needs it, or the reason to skip.

The cluster of `cluster` serves MPIJob v2beta1, that of `cluster_v1` the MPIJob of the training operator.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from tests.controllers import controller_manager as kcm
from tests.controllers import mpi_operator as mpi
from tests.controllers import training_operator as training
from tests.controllers.programs import Controller, Programs
from tests.controllers.workbench import Workbench
from tests.e2e.cluster import Cluster
from tests.e2e.server import api_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests with controllers are slow. The hook gets the items of all folders."""
    here = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(here):  # a tenth of the time of `is_relative_to`
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The folder with the programs. `programs.path(name)` skips the test if one is missing."""
    folder = os.environ.get("CONTROLLERS")
    if not folder:
        pytest.skip("CONTROLLERS names no folder with controllers; `just e2e-controllers` builds them")
    return Programs(Path(folder), tmp_path_factory.mktemp("controllers"))


@contextmanager
def _served(folder: Path, **options: Any) -> Iterator[Cluster]:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver; scripts/apiserver.sh makes one")
    with api_server(Path(assets), folder, **options) as client:
        yield Cluster(client)


@pytest.fixture(scope="session")
def served() -> Callable[..., AbstractContextManager[Cluster]]:
    """Start another API server, with its data in a folder and with the options of `api_server`."""
    return _served


@pytest.fixture(scope="session")
def cluster(controllers: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An API server without nodes. Controllers install the CRDs that they need."""
    del controllers  # without programs, a server is not needed
    with _served(tmp_path_factory.mktemp("apiserver"), authorization="RBAC") as server:
        yield server


@pytest.fixture(scope="session")
def controller_manager(cluster: Cluster, controllers: Programs) -> Iterator[Controller]:
    """kube-controller-manager with its controllers of Jobs, Deployments, volumes, namespaces and garbage."""
    with kcm.started(cluster, controllers) as controller:
        yield controller


@pytest.fixture(scope="session")
def training_operator(cluster: Cluster, controllers: Programs) -> Iterator[Controller]:
    """The training operator with its webhooks, for all of its kinds but MPIJob."""
    with training.started(cluster, controllers, mpi=False) as controller:
        yield controller


@pytest.fixture(scope="session")
def mpi_jobs(cluster: Cluster, controllers: Programs) -> None:
    """The definition of MPIJob v2beta1."""
    controllers.path("mpi-operator")
    mpi.install(cluster, controllers)


@pytest.fixture(scope="module")
def mpi_operator(
    cluster: Cluster, controllers: Programs, controller_manager: Controller, mpi_jobs: None
) -> Iterator[Controller]:
    """The MPI operator, with the controller of the Jobs that it creates.

    One module after the other has one: its port is fixed.
    """
    del controller_manager, mpi_jobs
    with mpi.started(cluster, controllers) as controller:
        yield controller


@pytest.fixture(scope="session")
def cluster_v1(controllers: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An API server with the MPIJob of the training operator, which runs."""
    controllers.path("training-operator")
    with _served(tmp_path_factory.mktemp("apiserver-v1")) as server, training.started(server, controllers, mpi=True):
        yield server


@pytest.fixture
def workbench(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Workbench]:
    """A new repository and a new namespace in a cluster, with the options of `Workbench.at`."""
    test = request.node.name.split("[")[0].removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    # cases of one test have a namespace each
    name = f"{test}-{crc32(request.node.nodeid.encode()):08x}"
    return lambda cluster, **options: Workbench.at(tmp_path / "repo", cluster, name, **options)
