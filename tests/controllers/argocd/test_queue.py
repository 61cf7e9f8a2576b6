"""Runs that Kueue suspends, changes and resumes, while Argo CD keeps them in sync."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers import kueue
from tests.controllers.argocd.applications import errors
from tests.controllers.argocd.delivery import Delivery, quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.controllers.argocd.argo_cd import ArgoCD
    from tests.controllers.programs import Programs

QUEUED = (
    "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py\n"
    "gpus: 1\ncpu: 1\nmemory: 1Gi\nqueue: research\n"
)
OTHERS = {
    kind: f"roles: {{{role}: {{cpu: 1, memory: 1Gi}}}}\n" for kind, role in (("mpi", "launcher"), ("ray", "head"))
}
"""Kueue assigns no flavour to pods without requests."""
FRAMEWORKS = {
    "batch": "batch/job",
    "mpi": "kubeflow.org/mpijob",
    "pytorch": "kubeflow.org/pytorchjob",
    "ray": "ray.io/rayjob",
    "tensorflow": "kubeflow.org/tfjob",
}
TOLERATED = {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
VERSION = "kueue.x-k8s.io/v1beta2"
RESOURCES = {"cpu": "100", "memory": "100Gi", "nvidia.com/gpu": "100"}


@pytest.fixture(scope="module")
def with_kueue(argo_cd: ArgoCD, controllers: Programs) -> Iterator[None]:
    """Kueue with a flavour that adds a toleration and a node label."""
    kueue.installed(argo_cd.cluster, controllers)
    with kueue.started(argo_cd.cluster, controllers, list(FRAMEWORKS.values())):
        spec = {"nodeLabels": {"pool": "spot"}, "tolerations": [TOLERATED]}
        argo_cd.cluster.apply(
            {"apiVersion": VERSION, "kind": "ResourceFlavor", "metadata": {"name": "spot"}, "spec": spec}
        )
        yield


def add_queue(delivery: Delivery) -> None:
    """The queue of the namespace, which admits nothing yet."""
    metadata = {"name": "research", "namespace": delivery.name}
    spec = {"clusterQueue": delivery.name}
    delivery.argo.cluster.apply({"apiVersion": VERSION, "kind": "LocalQueue", "metadata": metadata, "spec": spec})


def admit(delivery: Delivery) -> None:
    quota = [{"name": name, "nominalQuota": amount} for name, amount in RESOURCES.items()]
    group = {"coveredResources": list(RESOURCES), "flavors": [{"name": "spot", "resources": quota}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    metadata = {"name": delivery.name}
    delivery.argo.cluster.apply({"apiVersion": VERSION, "kind": "ClusterQueue", "metadata": metadata, "spec": spec})


def suspended(body: Body) -> bool:
    spec = body["spec"]
    return bool(spec.get("suspend", False) or spec.get("runPolicy", {}).get("suspend", False))


@pytest.mark.usefixtures("with_kueue")
@pytest.mark.parametrize("kind", list(FRAMEWORKS))
def test_queue(delivery: Delivery, kind: str) -> None:
    """Kueue adds the tolerations of its flavour to those of gen. Both belong to the same atomic list."""
    job = QUEUED.format(kind=kind) + OTHERS.get(kind, "")
    delivery.grant(delivery.name, "{queues: [research]}")
    add_queue(delivery)
    delivery.job(job)
    delivery.commit()
    delivery.install()
    delivery.follow()
    run = delivery.wait_for_run()
    assert suspended(run), "by the webhook of Kueue"
    delivery.rests()

    admit(delivery)
    delivery.wait(lambda: not suspended(delivery.wait_for_run()), "admitted run")
    delivery.follow()
    assert_admitted(delivery, run)
    delivery.rests()

    delivery.job(job + "labels: {cost-center: a}\n")
    delivery.commit()
    delivery.wait(lambda: delivery.wait_for_run()["metadata"]["labels"].get("cost-center") == "a", "label")
    delivery.follow()
    quiet()
    assert_admitted(delivery, run)
    delivery.rests()
    (message,) = errors(delivery.application() or {})
    assert message.startswith("successfully synced")


def assert_admitted(delivery: Delivery, run: Body) -> None:
    """The same run continues, with the additions of the flavour."""
    live = delivery.wait_for_run()
    assert live["metadata"]["uid"] == run["metadata"]["uid"]
    assert not suspended(live)
    specs = pod_specs(live)
    assert specs
    for spec in specs:
        assert TOLERATED in spec["tolerations"]
        assert spec["nodeSelector"]["pool"] == "spot"
    assert any(len(spec["tolerations"]) > 1 for spec in specs), "gen's for GPUs, which a launcher does not have"


def pod_specs(body: Any) -> list[Body]:
    """Specs of all pod templates, at any depth."""
    if isinstance(body, list):
        return [found for item in body for found in pod_specs(item)]
    if not isinstance(body, dict):
        return []
    here = [body["spec"]] if "containers" in body.get("spec", {}) else []
    return here or [found for value in body.values() for found in pod_specs(value)]
