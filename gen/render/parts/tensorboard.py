"""TensorBoard for the logs of a job. It belongs to the job and not to a run, so that runs can be compared.

TensorBoard: a Deployment, a Service, and an Ingress where the overlay offers one.

`replicas` is not set, so that users can scale it to zero and GitOps engines do not revert that. It has neither GPUs nor
an affinity to training pods, which end before it. TensorBoard has no `/healthz`; probes use `/data/environment`.
"""

from __future__ import annotations

from msgspec.structs import replace

from gen.base import regex
from gen.base.codes.jobs import NO_INGRESS, NO_LOGDIR
from gen.base.placeholders import RUN, TRIAL
from gen.job.fields import TensorBoard
from gen.job.model import default
from gen.job.plan import IngressPlan, MountPlan, Plan, TensorBoardPlan, VolumePlan
from gen.kubernetes.objects import COMPONENT, JOB_LABEL, Body, present
from gen.render.parts import containers, grants, names
from gen.render.parts.context import Context
from gen.render.parts.data import DataPlan, holding
from gen.render.parts.metadata import BOARD, add_metadata, board_labels, job_labels, job_metadata

_RUN = regex(f"{RUN}|{TRIAL}")
"""The hash of a run, or the name of a trial."""


def plan_tensorboard(context: Context, data: DataPlan) -> TensorBoardPlan | None:
    wanted = context.job.tensorboard
    if wanted is False:
        return None
    wanted = default(TensorBoard) if wanted is True else wanted
    mount = _mount(context, data, wanted.logdir)
    if mount is None:
        return None
    defaults = context.overlay.fields.tensorboard
    shown, logdir = _all_runs(mount, wanted.logdir or mount.path)
    volume = next(volume for volume in data.volumes if volume.name == mount.volume)
    return TensorBoardPlan(
        name=context.given.name + names.TENSORBOARD,
        image=grants.granted_image(context, wanted.image, ("tensorboard", "image"), "not the run")
        if wanted.image
        else grants.of_platform(context, defaults.image, "tensorboard"),
        logdir=logdir,
        env=containers.without_devices(context),
        resources={"cpu": defaults.cpu, "memory": defaults.memory},
        mount=shown,
        volume=_read_only(volume),
        ingress=_ingress(context) if wanted.ingress else None,
    )


def _all_runs(mount: MountPlan, logdir: str) -> tuple[MountPlan, str]:
    """Its mount and log directory. A path that contains the hash is cut, so that all runs are visible."""
    path = f"/{mount.volume}" if _RUN.search(mount.path) else mount.path
    sub_path = _above_run(mount.sub_path or "")
    inner = logdir.removeprefix(mount.path) if sub_path == (mount.sub_path or "") else ""
    shown = replace(mount, path=path, sub_path=sub_path or None, read_only=True)
    return shown, path + _above_run(inner)


def _above_run(path: str) -> str:
    return _RUN.split(path, maxsplit=1)[0].rpartition("/")[0] if _RUN.search(path) else path


def _mount(context: Context, data: DataPlan, logdir: str | None) -> MountPlan | None:
    """The mount that contains the logs."""
    declared = context.overlay.fields.volumes
    readable = {name: declared[name].profile.outlives_pods for name in data.storage}
    mounts = [mount for mount in data.mounts if mount.volume in readable]
    unusable = len(readable) < len(context.job.data) or "data" in context.given.left_out  # which is reported
    persistent = [mount for mount in mounts if readable[mount.volume]]
    if logdir is None and len(persistent) == 1 and not unusable:
        return persistent[0]
    mount = holding(mounts, logdir) if logdir else None
    if unusable and mount is None:
        return None
    if logdir is None:
        hint = "write `tensorboard: {logdir: <a directory under one of the paths of data>}`"
        message = "`logdir` is required unless the job has exactly one persistent volume"
        if not persistent:
            hint = "mount a persistent volume of the overlay: `data: {<volume>: <path>}`"
            message = "TensorBoard reads logs from a persistent volume, and the job mounts none"
        context.error(NO_LOGDIR, ("tensorboard",), message, hint)
        return None
    if mount is None:
        paths = ", ".join(f"`{mount.path}`" for mount in mounts)
        hint = f"write the logs under a path of `data`: {paths}"
        if not paths:
            hint = f"mount a persistent volume of the overlay there: `data: {{<volume>: {logdir}}}`"
        message = f"`{logdir}` is not on a volume of the job, so TensorBoard cannot read it"
        context.error(NO_LOGDIR, ("tensorboard", "logdir"), message, hint)
        return None
    if not readable[mount.volume]:
        message = f"`{logdir}` is on volume `{mount.volume}`, which is deleted with the pod"
        context.error(NO_LOGDIR, ("tensorboard", "logdir"), message, "write the logs to a persistent volume")
        return None
    return mount


def _read_only(volume: VolumePlan) -> VolumePlan:
    claim = volume.source.get("persistentVolumeClaim")
    if claim is None:
        return volume
    return replace(volume, source={"persistentVolumeClaim": {**claim, "readOnly": True}})


def _ingress(context: Context) -> IngressPlan | None:
    ingress = context.overlay.fields.tensorboard.ingress
    if ingress is None:
        message = f"overlay `{context.overlay.name}` has no ingress for TensorBoard"
        hint = "remove `ingress`, or add `tensorboard.ingress` to the overlay"
        context.error(NO_INGRESS, ("tensorboard", "ingress"), message, hint)
        return None
    return IngressPlan(
        host=ingress.host,
        path=f"/tensorboard/{context.given.namespace}/{context.given.name}",
        class_name=ingress.class_name,
        tls_secret=ingress.tls_secret,
        annotations=ingress.annotations,
    )


_PORT = 6006
_NOBODY = 65534


def tensorboard(plan: Plan) -> tuple[Body, ...]:
    board = plan.tensorboard
    if board is None:
        return ()
    objects = [_deployment(plan, board), _service(plan, board)]
    if board.ingress is not None:
        objects.append(_tensorboard_ingress(plan, board, board.ingress))
    return tuple(objects)


def _selector(plan: Plan) -> dict[str, str]:
    return {COMPONENT: BOARD, JOB_LABEL: plan.job}


def _deployment(plan: Plan, board: TensorBoardPlan) -> Body:
    pod = present(
        automountServiceAccountToken=False,
        imagePullSecrets=[{"name": name} for name in plan.pull_secrets],
        securityContext={"runAsNonRoot": True, "runAsUser": _NOBODY, "seccompProfile": {"type": "RuntimeDefault"}},
        containers=[_container(board)],
        volumes=[*containers.pod_volumes([board.volume]), {"name": "tmp", "emptyDir": {}}],
    )
    labels = {**board.volume.labels, **job_labels(plan, BOARD)}
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
        "name": BOARD,
        "image": board.image,
        "command": ["tensorboard"],
        "args": [*arguments, f"--path_prefix={prefix}"] if prefix else arguments,
        "env": [{"name": "HOME", "value": "/tmp"}, *board.env],  # noqa: S108 - a volume of the pod's own
        "ports": [{"name": "http", "containerPort": _PORT, "protocol": "TCP"}],
        "resources": containers.resources(board.resources),
        "startupProbe": {"httpGet": path, "periodSeconds": 10, "failureThreshold": 60},
        "readinessProbe": {"httpGet": path, "periodSeconds": 10},
        "livenessProbe": {"tcpSocket": {"port": "http"}, "periodSeconds": 30, "failureThreshold": 5},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [*containers.volume_mounts([board.mount]), {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def _service(plan: Plan, board: TensorBoardPlan) -> Body:
    # 80 for ingresses, and TensorBoard's own port, which people usually pass to `kubectl port-forward`
    ports = {"http": 80, "tensorboard": _PORT}
    entries = [{"name": name, "port": port, "protocol": "TCP", "targetPort": "http"} for name, port in ports.items()]
    service = _object("v1", "Service", plan, board, {"ports": entries, "selector": _selector(plan)})
    add_metadata(service["metadata"], "labels", board_labels(plan))
    return service


def _tensorboard_ingress(plan: Plan, board: TensorBoardPlan, ingress: IngressPlan) -> Body:
    backend = {"service": {"name": board.name, "port": {"name": "http"}}}
    path = {"path": ingress.path, "pathType": "Prefix", "backend": backend}
    spec = present(
        ingressClassName=ingress.class_name,
        rules=[{"host": ingress.host, "http": {"paths": [path]}}],
        tls=[{"hosts": [ingress.host], "secretName": ingress.tls_secret}] if ingress.tls_secret else None,
    )
    body = _object("networking.k8s.io/v1", "Ingress", plan, board, spec)
    add_metadata(body["metadata"], "annotations", ingress.annotations)
    return body


def _object(api_version: str, kind: str, plan: Plan, board: TensorBoardPlan, spec: Body) -> Body:
    metadata = job_metadata(plan, board.name, BOARD)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
