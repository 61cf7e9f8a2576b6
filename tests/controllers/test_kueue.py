"""Jobs with a queue: which kinds Kueue holds back, and how they start when it admits them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gen.overlay.profiles.queues.kueue import Kueue
from tests.controllers import kueue
from tests.controllers.waiting import give_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.controllers.programs import Programs
    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.usefixtures("training_operator", "mpi_operator")

PYTORCH = "kind: pytorch\nimage: a:1\ncommand: x\nworkers: 2\nqueue: research\ncpu: 1\nmemory: 1Gi\n"
MPI = "kind: mpi\nimage: a:1\ncommand: x\nworkers: 2\nqueue: research\ncpu: 1\nmemory: 1Gi\n"
KUBEFLOW = ["kubeflow.org/mpijob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob"]


@pytest.fixture(scope="module")
def installed(cluster: Cluster, controllers: Programs) -> Cluster:
    kueue.installed(cluster, controllers)
    return cluster


@pytest.fixture
def bench(installed: Cluster, workbench: Callable[[Cluster], Workbench]) -> Workbench:
    """A namespace with a queue that admits nothing yet."""
    bench = workbench(installed)
    kueue.add_queue(installed, bench.namespace, bench.namespace)
    return bench


def test_overlays_may_list_every_framework_of_a_release(controllers: Programs) -> None:
    """Also those that its configuration has as comments."""
    text = (controllers.manifests("kueue") / "controller_manager_config.yaml").read_text("utf-8")
    listed = text.partition("frameworks:\n")[2].partition("externalFrameworks:")[0]
    names = re.findall(r'- "([^"]+)"', listed)
    assert len(names) > len(KUBEFLOW)
    for name in names:
        Kueue.model_validate({"localQueue": "a", "frameworks": [name]})


def test_the_shipped_configuration_holds_mpi_jobs_back_but_no_pytorch_jobs(
    bench: Workbench, controllers: Programs
) -> None:
    with kueue.started(bench.cluster, controllers, kueue.shipped(controllers)):
        bench.job(PYTORCH, "pytorch")
        bench.job(MPI, "mpi")
        give_time()
        assert {name.split("-")[0] for name in bench.pods(2)} == {"pytorch"}, "outside of the queue"


def test_jobs_start_when_they_are_admitted(bench: Workbench, controllers: Programs) -> None:
    with kueue.started(bench.cluster, controllers, KUBEFLOW):
        pytorch, mpi = bench.job(PYTORCH, "pytorch"), bench.job(MPI, "mpi")
        give_time()
        bench.pods(0)
        kueue.admit(bench.cluster, bench.namespace)
        found = bench.pods(5)
        (launcher,) = [pod for name, pod in found.items() if "-launcher-" in name]
        assert [init["name"] for init in launcher["spec"]["initContainers"]] == ["wait-for-pods"]
        bench.kubelet.run(*found.values())
        bench.reaches(pytorch, "Running")
        bench.reaches(mpi, "Running")
