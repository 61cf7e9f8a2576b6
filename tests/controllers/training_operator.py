"""The training operator with its webhooks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers import webhooks
from tests.controllers.programs import ROTATED, Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

NAMESPACE = "kubeflow"
_SERVICE = "training-operator"
_SECRET = "training-operator-webhook-cert"  # noqa: S105 - its name
_CONFIGURATION = "validator.training-operator.kubeflow.org"
_SCHEMES = ("tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob")
_MPI = "mpijob"


@contextmanager
def started(cluster: Cluster, programs: Programs, *, mpi: bool, gang: str = "") -> Iterator[Controller]:
    """With `mpi`, the operator also serves its MPIJob; a cluster has that of one operator. `gang` makes its groups."""
    programs.path("training-operator")
    schemes = (*_SCHEMES, _MPI) if mpi else _SCHEMES
    served = {f"{scheme}s.kubeflow.org" for scheme in schemes}
    definitions = programs.definitions("training-operator", "crds")
    cluster.install(body for body in definitions if body["metadata"]["name"] in served)
    health, hook = free_ports(2)
    _add_webhooks(cluster, programs, hook)
    folder = programs.work / f"training-operator-{hook}"
    folder.mkdir()
    arguments = (
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--webhook-server-port={hook}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        # by default the operator watches all of its kinds, and exits when a CRD is missing
        *(f"--enable-scheme={scheme}" for scheme in schemes),
        *([f"--gang-scheduler-name={gang}"] if gang else ()),
    )
    # the folder of the webhook server's certificate depends on that of temporary files
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster)), "TMPDIR": str(folder)}

    def ready() -> bool:
        certificate = folder / "k8s-webhook-server/serving-certs"
        if not certificate.exists() and webhooks.mount(cluster, NAMESPACE, _SECRET, certificate):
            (ROTATED / "tls.crt").touch()
        return certificate.exists() and answers(f"http://127.0.0.1:{health}/readyz")

    # the webhook server exits if it starts before its certificate is there
    ROTATED.mkdir(parents=True, exist_ok=True)
    (ROTATED / "tls.crt").unlink(missing_ok=True)
    with programs.started("training-operator", arguments, ready, environment) as controller:
        yield controller


def _add_webhooks(cluster: Cluster, programs: Programs, port: int) -> None:
    cluster.add_namespaces([NAMESPACE])
    webhooks.add_service(cluster, NAMESPACE, _SERVICE)
    webhooks.add_secret(cluster, NAMESPACE, _SECRET)

    def rename(body: Body) -> None:
        body["metadata"]["name"] = _CONFIGURATION

    service = {"name": _SERVICE, "namespace": NAMESPACE, "port": port}
    manifests = programs.manifests("training-operator") / "webhook/manifests.yaml"
    webhooks.add_configurations(cluster, manifests, service, rename)
