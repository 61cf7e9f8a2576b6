"""Volcano. `installed` adds its definitions, `started` runs scheduler and controllers, `created` what makes pods."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import yaml

from gen.base.routes import at
from tests.controllers import webhooks
from tests.controllers.programs import Programs, answers, answers_over_tls
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

PROGRAM = "volcano-scheduler"
GANG = "volcano"
"""Its name in the options of operators."""
NAMESPACE = "volcano-system"
_SERVICE = "volcano-admission-service"
_GROUPS = "scheduling.volcano.sh/v1beta1"


def installed(cluster: Cluster, programs: Programs) -> None:
    programs.path("volcano-controller-manager")
    cluster.add_namespaces([NAMESPACE])
    bodies = _shipped(programs)
    cluster.install(body for body in bodies if body["kind"] == "CustomResourceDefinition")


def _shipped(programs: Programs) -> list[Body]:
    """The objects of an installation."""
    text = (programs.manifests("volcano") / "volcano-development.yaml").read_bytes()
    return [body for body in yaml.load_all(text, yaml.CSafeLoader) if body]


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[None]:
    """With the configuration that a release ships."""
    configurations = [body for body in _shipped(programs) if body["metadata"]["name"] == "volcano-scheduler-configmap"]
    settings = programs.work / "volcano-scheduler.conf"
    settings.write_text(configurations[0]["data"]["volcano-scheduler.conf"], "utf-8")
    with (
        _running(cluster, programs, "volcano-controller-manager"),
        _running(cluster, programs, PROGRAM, f"--scheduler-conf={settings}", "--schedule-period=500ms"),
    ):
        queue = {"apiVersion": _GROUPS, "kind": "Queue", "metadata": {"name": "research"}}
        cluster.apply({**queue, "spec": {"weight": 1}})
        yield


@contextmanager
def created(cluster: Cluster, programs: Programs) -> Iterator[None]:
    """Its webhooks and controllers, without a scheduler: `let_in` lets jobs have pods."""
    installed(cluster, programs)
    port, health = free_ports(2)
    folder = programs.work / f"volcano-{port}"
    authority = webhooks.self_signed(folder, f"{_SERVICE}.{NAMESPACE}.svc")
    webhooks.add_service(cluster, NAMESPACE, _SERVICE)
    hooks = [body for body in _shipped(programs) if "service-jobs-" in body["metadata"]["name"] and "webhooks" in body]
    for body in hooks:
        for one in body["webhooks"]:
            one["clientConfig"]["caBundle"] = authority
            one["clientConfig"]["service"]["port"] = port
        cluster.apply(body)
    options = (
        f"--port={port}",
        f"--tls-cert-file={folder / 'tls.crt'}",
        f"--tls-private-key-file={folder / 'tls.key'}",
        f"--ca-cert-file={folder / 'tls.crt'}",
        f"--webhook-namespace={NAMESPACE}",
        f"--webhook-service-name={_SERVICE}",
        "--enabled-admission=/jobs/mutate,/jobs/validate",
    )
    with ExitStack() as stack:
        for body in hooks:
            stack.callback(cluster.client.delete, cluster.path(body))
        stack.enter_context(_running(cluster, programs, "volcano-controller-manager"))
        answer = partial(answers_over_tls, health)
        stack.enter_context(_program(cluster, programs, "volcano-webhook-manager", health, answer, *options))
        for name in ("default", "research"):
            queue = {"apiVersion": _GROUPS, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}}
            cluster.apply(queue)
            cluster.client.merge(f"{cluster.path(queue)}/status", {"status": {"state": "Open"}})
        yield


def let_in(cluster: Cluster, namespace: str) -> None:
    """What the scheduler does with a group for which there is room."""
    for group in cluster.live("scheduling.volcano.sh", "PodGroup", namespace):
        if at(group, "status", "phase") in (None, "Pending"):
            cluster.client.merge(f"{cluster.path(group)}", {"status": {"phase": "Inqueue"}})


@contextmanager
def _running(cluster: Cluster, programs: Programs, name: str, *more: str) -> Iterator[None]:
    health, metrics = free_ports(2)
    arguments = ("--leader-elect=false", f"--listen-address=127.0.0.1:{metrics}", *more)
    ready = f"http://127.0.0.1:{health}/healthz"
    with _program(cluster, programs, name, health, lambda: answers(ready), *arguments):
        yield


@contextmanager
def _program(
    cluster: Cluster, programs: Programs, name: str, health: int, ready: Callable[[], bool], *more: str
) -> Iterator[None]:
    arguments = (
        f"--kubeconfig={programs.kubeconfig(cluster)}",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{health}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "--logtostderr",
        *more,
    )
    environment = {"DEBUG_SOCKET_DIR": str(programs.work / f"{name}-sockets")}
    with programs.started(name, arguments, ready, environment):
        yield
