"""The controller of the Kubeflow Trainer with its webhooks and the runtimes that it ships. It needs that of JobSets."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml

from tests.controllers import webhooks
from tests.controllers.programs import Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_NAMESPACE, _SERVICE = "kubeflow-system", "kubeflow-trainer-controller-manager"


def shipped_runtimes(programs: Programs) -> dict[str, str]:
    """The texts of the ClusterTrainingRuntimes of a release, by file name."""
    files = sorted((programs.manifests("trainer") / "runtimes").glob("*.yaml"))
    return {file.name: file.read_text("utf-8") for file in files if file.name != "kustomization.yaml"}


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    programs.path("trainer")
    cluster.install(programs.definitions("trainer", "crds"))
    cluster.add_namespaces([_NAMESPACE])
    webhooks.add_service(cluster, _NAMESPACE, _SERVICE)
    health, hook, status = free_ports(3)
    folder = programs.work / f"trainer-{hook}"
    authority = webhooks.self_signed(folder / "k8s-webhook-server/serving-certs", f"{_SERVICE}.{_NAMESPACE}.svc")

    def rename(body: Body) -> None:
        body["metadata"]["name"] = f"trainer-{body['metadata']['name']}"
        for one in body["webhooks"]:
            one["clientConfig"]["caBundle"] = authority

    service = {"name": _SERVICE, "namespace": _NAMESPACE, "port": hook}
    manifests = programs.manifests("trainer") / "webhook/manifests.yaml"
    added = webhooks.add_configurations(cluster, manifests, service, rename)
    settings: dict[str, Any] = {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"port": hook, "host": "127.0.0.1"},
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
        "statusServer": {"port": status},
    }
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(settings), "utf-8")
    # the folder of the webhook server's certificate depends on that of temporary files
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster)), "TMPDIR": str(folder)}

    def ready() -> bool:
        return answers(f"http://127.0.0.1:{health}/readyz")

    try:
        with programs.started("trainer", [f"--config={file}"], ready, environment) as controller:
            for text in shipped_runtimes(programs).values():
                cluster.apply(yaml.safe_load(text))
            yield controller
    finally:
        for body in added:
            cluster.client.delete(cluster.path(body))
