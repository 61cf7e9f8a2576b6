"""Kueue with its webhooks. `installed` adds its definitions, `started` runs it with a configuration of frameworks."""

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

NAMESPACE = "kueue-system"
VERSION = "kueue.x-k8s.io/v1beta2"
_SERVICE = "kueue-webhook-service"
_SECRET = "kueue-webhook-server-cert"  # noqa: S105 - its name
_NOT_JOBS = ("pod", "deployment", "statefulset", "leaderworkerset")
"""Frameworks with webhooks that would be called for every pod of the other tests."""


def shipped(programs: Programs) -> list[str]:
    """Frameworks of the configuration that a release has, without those that are not jobs."""
    text = (programs.manifests("kueue") / "controller_manager_config.yaml").read_bytes()
    frameworks: list[str] = yaml.safe_load(text)["integrations"]["frameworks"]
    return [name for name in frameworks if not any(part in name for part in _NOT_JOBS)]


def installed(cluster: Cluster, programs: Programs) -> None:
    programs.path("kueue")
    cluster.add_namespaces([NAMESPACE])
    webhooks.add_service(cluster, NAMESPACE, _SERVICE)
    webhooks.add_secret(cluster, NAMESPACE, _SECRET)
    cluster.install(_convertible(body) for body in programs.definitions("kueue", "bases"))


def _convertible(definition: Body) -> Body:
    """The program adds its certificate to the conversion. No test reads another version than the stored one."""
    client = {"service": {"name": _SERVICE, "namespace": NAMESPACE, "path": "/convert"}}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    if len(definition["spec"]["versions"]) > 1:
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definition


@contextmanager
def started(cluster: Cluster, programs: Programs, frameworks: list[str]) -> Iterator[Controller]:
    health, metrics, hook = free_ports(3)
    configurations = _add_webhooks(cluster, programs, hook)
    folder = programs.work / f"kueue-{hook}"
    folder.mkdir()
    certificates = folder / "certificates"
    settings: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
        "webhook": {"port": hook, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": True, "webhookServiceName": _SERVICE, "webhookSecretName": _SECRET},
        "featureGates": {"VisibilityOnDemand": False},
        "integrations": {"frameworks": frameworks},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), "utf-8")

    def ready() -> bool:
        mounted = certificates.exists() or webhooks.mount(cluster, NAMESPACE, _SECRET, certificates)
        return mounted and answers(f"http://127.0.0.1:{health}/readyz")

    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster))}
    try:
        with programs.started("kueue", [f"--config={folder / 'config.yaml'}"], ready, environment) as controller:
            yield controller
    finally:
        # without the program, they would refuse every job
        for body in configurations:
            cluster.client.delete(cluster.path(body))


def add_queue(cluster: Cluster, namespace: str, cluster_queue: str) -> None:
    """The LocalQueue `research`."""
    metadata = {"name": "research", "namespace": namespace}
    cluster.apply(
        {"apiVersion": VERSION, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": cluster_queue}}
    )


def admit(cluster: Cluster, cluster_queue: str) -> None:
    """Make room for the jobs of its queues, on nodes with a label and a taint."""
    taint = {"key": "example.com/pool", "value": "all"}
    nodes = {
        "nodeLabels": {taint["key"]: taint["value"]},
        "nodeTaints": [{**taint, "effect": "NoSchedule"}],
        "tolerations": [{**taint, "operator": "Equal", "effect": "NoSchedule"}],
    }
    cluster.apply({"apiVersion": VERSION, "kind": "ResourceFlavor", "metadata": {"name": "all"}, "spec": nodes})
    quota = [{"name": "cpu", "nominalQuota": "100"}, {"name": "memory", "nominalQuota": "100Gi"}]
    flavors = [{"name": "all", "resources": quota}]
    spec = {
        "namespaceSelector": {},
        "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": flavors}],
    }
    cluster.apply({"apiVersion": VERSION, "kind": "ClusterQueue", "metadata": {"name": cluster_queue}, "spec": spec})


def _add_webhooks(cluster: Cluster, programs: Programs, port: int) -> list[Body]:
    def rename(body: Body) -> None:
        body["metadata"]["name"] = f"kueue-{body['metadata']['name']}"
        body["webhooks"] = [one for one in body["webhooks"] if not any(part in one["name"] for part in _NOT_JOBS)]

    service = {"name": _SERVICE, "namespace": NAMESPACE, "port": port}
    return webhooks.add_configurations(cluster, programs.manifests("kueue") / "manifests.yaml", service, rename)
