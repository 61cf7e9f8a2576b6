"""TensorBoard for the logs of a job. It belongs to the job and not to a run, so that runs can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.findings.jobs import NO_INGRESS, NO_LOGDIR
from gen.kinds.mounts import VolumePlan
from gen.kinds.plan import IngressPlan, TensorBoardPlan
from gen.kubernetes import RUN, TRIAL
from gen.model.base import default
from gen.model.job import TensorBoard
from gen.regex import regex
from gen.render.plan.environment import without_devices
from gen.render.plan.images import granted, of_platform
from gen.render.plan.names import TENSORBOARD

if TYPE_CHECKING:
    from gen.kinds.mounts import MountPlan
    from gen.render.plan.context import Context
    from gen.render.plan.data import DataPlan

_RUN = regex(f"{RUN}|{TRIAL}")
"""The hash of a run, or the name of a trial."""
COMPONENT = "tensorboard"
"""Component of its objects, by which its Service selects the pods."""


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
        name=context.given.name + TENSORBOARD,
        image=granted(context, wanted.image, ("tensorboard", "image"), "not the run")
        if wanted.image
        else of_platform(context, defaults.image, "tensorboard"),
        logdir=logdir,
        env=without_devices(context),
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
    holding = [m for m in mounts if f"{logdir.rstrip('/')}/".startswith(f"{m.path.rstrip('/')}/")] if logdir else []
    if unusable and not holding:
        return None
    if logdir is None:
        hint = "write `tensorboard: {logdir: <a directory under one of the paths of data>}`"
        message = "`logdir` is required unless the job has exactly one persistent volume"
        if not persistent:
            hint = "mount a persistent volume of the overlay: `data: {<volume>: <path>}`"
            message = "TensorBoard reads logs from a persistent volume, and the job mounts none"
        context.error(NO_LOGDIR, ("tensorboard",), message, hint)
        return None
    if not holding:
        paths = ", ".join(f"`{mount.path}`" for mount in mounts)
        hint = f"write the logs under a path of `data`: {paths}"
        if not paths:
            hint = f"mount a persistent volume of the overlay there: `data: {{<volume>: {logdir}}}`"
        context.error(
            NO_LOGDIR,
            ("tensorboard", "logdir"),
            f"`{logdir}` is not on a volume of the job, so TensorBoard cannot read it",
            hint,
        )
        return None
    mount = max(holding, key=lambda mount: len(mount.path))
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
        context.error(
            NO_INGRESS,
            ("tensorboard", "ingress"),
            message,
            "remove `ingress`, or add `tensorboard.ingress` to the overlay",
        )
        return None
    return IngressPlan(
        host=ingress.host,
        path=f"/tensorboard/{context.given.namespace}/{context.given.name}",
        class_name=ingress.class_name,
        tls_secret=ingress.tls_secret,
        annotations=ingress.annotations,
    )
