"""Katib's controller with its webhooks, which set defaults of experiments and refuse others."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from gen.base.routes import at
from tests.controllers import webhooks
from tests.controllers.programs import Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_GROUP = "kubeflow.org"
_NAMESPACE, _SERVICE = "kubeflow", "katib-controller"
_CERTIFICATES = Path("/tmp/cert")  # noqa: S108 - `consts.CertDir` has no other
TRIALS: Final = (
    *("TrainJob.v1alpha1.trainer.kubeflow.org", "Job.v1.batch", "TFJob.v1.kubeflow.org", "JAXJob.v1.kubeflow.org"),
    *("PyTorchJob.v1.kubeflow.org", "MPIJob.v2beta1.kubeflow.org", "XGBoostJob.v1.kubeflow.org"),
    *("PaddleJob.v1.kubeflow.org", "JobSet.v1alpha2.jobset.x-k8s.io", "Job.v1alpha1.batch.volcano.sh"),
)


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    programs.path("katib")
    cluster.install(programs.definitions("katib", "crd"))
    cluster.add_namespaces([_NAMESPACE])
    # the validator asks for the images of algorithms and collectors
    shipped = (programs.manifests("katib") / "katib-config.yaml").read_text("utf-8")
    metadata = {"name": "katib-config", "namespace": _NAMESPACE}
    cluster.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"katib-config.yaml": shipped}}
    )
    health, metrics, hook = free_ports(3)
    added = _add_webhooks(cluster, programs, hook)
    controller = {
        "webhookPort": hook,
        "metricsAddr": f"127.0.0.1:{metrics}",
        "healthzAddr": f"127.0.0.1:{health}",
        "enableLeaderElection": False,
        "trialResources": list(TRIALS),
    }
    settings = {
        "apiVersion": "config.kubeflow.org/v1beta1",
        "kind": "KatibConfig",
        "init": {"certGenerator": {"enable": False}, "controller": controller},
    }
    file = programs.work / "katib-config.yaml"
    file.write_text(yaml.safe_dump(settings), "utf-8")
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster)), "KATIB_CORE_NAMESPACE": _NAMESPACE}

    def ready() -> bool:
        return answers(f"http://127.0.0.1:{health}/readyz")

    try:
        with programs.started("katib", [f"--katib-config={file}"], ready, environment) as running:
            yield running
    finally:
        for body in added:
            cluster.client.delete(cluster.path(body))


def conclude(cluster: Cluster, namespace: str) -> None:
    """What the services of suggestions and of metrics do: choose values, and let trials that run succeed."""
    for body in cluster.live(_GROUP, "Suggestion", namespace):
        number, values = body["spec"]["requests"], [{"name": "LR", "value": "0.2"}]
        found = [
            {"name": f"{body['metadata']['name']}-{one:08x}", "parameterAssignments": values} for one in range(number)
        ]
        if len(at(body, "status", "suggestions") or ()) < number:
            _report(cluster, body, {"suggestionCount": number, "suggestions": found})
    for body in cluster.live(_GROUP, "Trial", namespace):
        known = {one["type"] for one in at(body, "status", "conditions") or ()}
        if "Running" in known and "Succeeded" not in known:
            metric = dict.fromkeys(("latest", "min", "max"), "0.9") | {"name": "accuracy"}
            ended = {"type": "Succeeded", "status": "True", "reason": "TrialSucceeded", "message": ""}
            _report(cluster, body, {"conditions": [ended], "observation": {"metrics": [metric]}})


def _report(cluster: Cluster, body: Body, status: Body) -> None:
    cluster.client.merge(f"{cluster.path(body)}/status", {"status": status})


def _add_webhooks(cluster: Cluster, programs: Programs, port: int) -> list[Body]:
    webhooks.add_service(cluster, _NAMESPACE, _SERVICE)
    authority = webhooks.self_signed(_CERTIFICATES, f"{_SERVICE}.{_NAMESPACE}.svc")

    def rename(body: Body) -> None:
        # that of pods waits for a namespace label, which no test sets
        body["webhooks"] = [one for one in body["webhooks"] if "experiment" in one["name"]]
        for one in body["webhooks"]:
            one["clientConfig"]["caBundle"] = authority

    service = {"name": _SERVICE, "namespace": _NAMESPACE, "port": port}
    return webhooks.add_configurations(cluster, programs.manifests("katib") / "webhook/webhooks.yaml", service, rename)
