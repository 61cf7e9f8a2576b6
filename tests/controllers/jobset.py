"""The JobSet controller with its webhooks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml

from tests.controllers import webhooks
from tests.controllers.programs import ROTATED, Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

NAMESPACE = "jobset-system"
_SERVICE = "jobset-webhook-service"
_SECRET = "jobset-webhook-server-cert"  # noqa: S105 - its name


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    programs.path("jobset")
    cluster.install(programs.definitions("jobset", "bases"))
    cluster.add_namespaces([NAMESPACE])
    webhooks.add_service(cluster, NAMESPACE, _SERVICE)
    webhooks.add_secret(cluster, NAMESPACE, _SECRET)
    health, hook = free_ports(2)
    service = {"name": _SERVICE, "namespace": NAMESPACE, "port": hook}
    webhooks.add_configurations(cluster, programs.manifests("jobset") / "manifests.yaml", service, _rename)
    folder = programs.work / f"jobset-{hook}"
    folder.mkdir()
    settings: dict[str, Any] = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "webhook": {"port": hook},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": _SERVICE,
            "webhookSecretName": _SECRET,
        },
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    certificate = folder / "k8s-webhook-server/serving-certs"
    arguments = (
        f"--config={folder / 'config.yaml'}",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{health}",
    )

    def ready() -> bool:
        if not certificate.exists() and webhooks.mount(cluster, NAMESPACE, _SECRET, certificate):
            (ROTATED / "tls.crt").touch()
        return certificate.exists() and answers(f"http://127.0.0.1:{health}/readyz")

    # the folder of the webhook server's certificate depends on that of temporary files
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster)), "TMPDIR": str(folder)}
    ROTATED.mkdir(parents=True, exist_ok=True)
    (ROTATED / "tls.crt").unlink(missing_ok=True)
    with programs.started("jobset", arguments, ready, environment) as controller:
        yield controller


def _rename(body: Body) -> None:
    # the rotator writes the certificate into configurations of these names
    body["metadata"]["name"] = f"jobset-{body['metadata']['name']}"
    # pods of other kinds do not wait for it
    body["webhooks"] = [one for one in body["webhooks"] if "pod" not in one["name"]]
