"""TensorBoard: a Deployment, a Service, and an Ingress where the overlay offers one.

`replicas` is not set, so that users can scale it to zero and GitOps engines do not revert that. It has neither GPUs nor
an affinity to training pods, which end before it. TensorBoard has no `/healthz`; probes use `/data/environment`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import COMPONENT, JOB_LABEL, Body, present
from gen.render.build.arena import board_labels
from gen.render.build.metadata import job_labels, job_metadata
from gen.render.build.parts import pod_volumes, resources, volume_mounts
from gen.render.plan.tensorboard import COMPONENT as _COMPONENT

if TYPE_CHECKING:
    from gen.kinds.plan import IngressPlan, Plan, TensorBoardPlan

_PORT = 6006
_NOBODY = 65534


def tensorboard(plan: Plan) -> tuple[Body, ...]:
    board = plan.tensorboard
    if board is None:
        return ()
    objects = [_deployment(plan, board), _service(plan, board)]
    if board.ingress is not None:
        objects.append(_ingress(plan, board, board.ingress))
    return tuple(objects)


def _selector(plan: Plan) -> dict[str, str]:
    return {COMPONENT: _COMPONENT, JOB_LABEL: plan.job}


def _deployment(plan: Plan, board: TensorBoardPlan) -> Body:
    pod = present(
        automountServiceAccountToken=False,
        imagePullSecrets=[{"name": name} for name in plan.pull_secrets],
        securityContext={
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        containers=[_container(board)],
        volumes=[*pod_volumes([board.volume]), {"name": "tmp", "emptyDir": {}}],
    )
    labels = {**board.volume.labels, **job_labels(plan, _COMPONENT)}
    metadata = present(labels=dict(sorted(labels.items())), annotations=dict(sorted(board.volume.annotations.items())))
    spec = {
        "selector": {"matchLabels": _selector(plan)},
        "strategy": {"type": "Recreate"},  # a volume may admit one node at a time
        "template": {"metadata": metadata, "spec": pod},
    }
    return _object("apps/v1", "Deployment", plan, board, spec)


def _container(board: TensorBoardPlan) -> Body:
    prefix = board.ingress.path if board.ingress else ""
    path = {"path": f"{prefix}/data/environment", "port": "http"}
    arguments = [f"--logdir={board.logdir}", "--bind_all", f"--port={_PORT}", "--reload_multifile=true"]
    return {
        "name": _COMPONENT,
        "image": board.image,
        "command": ["tensorboard"],
        "args": [*arguments, f"--path_prefix={prefix}"] if prefix else arguments,
        "env": [{"name": "HOME", "value": "/tmp"}, *board.env],  # noqa: S108 - a volume of the pod's own
        "ports": [{"name": "http", "containerPort": _PORT, "protocol": "TCP"}],
        "resources": resources(board.resources),
        "startupProbe": {"httpGet": path, "periodSeconds": 10, "failureThreshold": 60},
        "readinessProbe": {"httpGet": path, "periodSeconds": 10},
        "livenessProbe": {"tcpSocket": {"port": "http"}, "periodSeconds": 30, "failureThreshold": 5},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [*volume_mounts([board.mount]), {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def _service(plan: Plan, board: TensorBoardPlan) -> Body:
    # 80 for ingresses, and TensorBoard's own port, which `kubectl port-forward` is usually told
    ports = {"http": 80, "tensorboard": _PORT}
    entries = [{"name": name, "port": port, "protocol": "TCP", "targetPort": "http"} for name, port in ports.items()]
    service = _object("v1", "Service", plan, board, {"ports": entries, "selector": _selector(plan)})
    labels = {**service["metadata"]["labels"], **board_labels(plan)}
    service["metadata"]["labels"] = dict(sorted(labels.items()))
    return service


def _ingress(plan: Plan, board: TensorBoardPlan, ingress: IngressPlan) -> Body:
    backend = {"service": {"name": board.name, "port": {"name": "http"}}}
    path = {"path": ingress.path, "pathType": "Prefix", "backend": backend}
    spec = present(
        ingressClassName=ingress.class_name,
        rules=[{"host": ingress.host, "http": {"paths": [path]}}],
        tls=[{"hosts": [ingress.host], "secretName": ingress.tls_secret}] if ingress.tls_secret else None,
    )
    body = _object("networking.k8s.io/v1", "Ingress", plan, board, spec)
    annotations = {**body["metadata"].get("annotations", {}), **ingress.annotations}
    body["metadata"] |= present(annotations=dict(sorted(annotations.items())))
    return body


def _object(api_version: str, kind: str, plan: Plan, board: TensorBoardPlan, spec: Body) -> Body:
    metadata = job_metadata(plan, board.name, _COMPONENT)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
