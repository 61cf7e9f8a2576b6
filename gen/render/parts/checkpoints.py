"""Checkpoints: a folder for each run on a volume, and the folder of the earlier run from which a run continues.

A run saves only below its own name, so that two runs never write to the same folder. The folder of the earlier run is
mounted once more over itself, where nothing can be written.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from gen.base.codes.jobs import INVALID_VALUE, NO_CHECKPOINTS
from gen.base.placeholders import RUN, TRIAL
from gen.job.plan import MountPlan
from gen.render.expressions import checkpoint_folder
from gen.render.parts.context import Context
from gen.render.parts.data import holding

DIRECTORY = "CHECKPOINT_DIR"
RESUMED = "RESUME_DIR"
VARIABLES = {DIRECTORY: "checkpoints", RESUMED: "resume"}
"""Variables of pods, and the field that sets each."""


class CheckpointPlan(Struct, frozen=True, kw_only=True):
    """The folders of one run, in its pods."""

    folder: str
    resumed: str
    """That of the earlier run; empty without one."""
    saved: str
    """The folder of the run on its volume, as `volume:path`; for a step, that of its pipeline."""
    continues: str
    """That of the earlier run; empty without one."""
    mounts: tuple[MountPlan, ...]
    """The earlier run, read-only."""

    @property
    def env(self) -> Mapping[str, str]:
        return {DIRECTORY: self.folder} | ({RESUMED: self.resumed} if self.resumed else {})


def plan_checkpoints(context: Context, mounts: tuple[MountPlan, ...]) -> CheckpointPlan | None:
    base, resume = context.job.checkpoints, context.job.resume
    if resume is not None and not _can_resume(context):
        return None
    if base is None:
        return None
    if context.starter.repeats and not _is_later(context):
        message = "a job with a `schedule` cannot have `checkpoints`: all its runs would have the same folder"
        hint = "remove it, and name folders after the time in the program; or use a `kind: pipeline` with one step"
        context.error(INVALID_VALUE, ("checkpoints",), message, hint, key=True)
        return None
    mount = _mount(context, base, mounts)
    if mount is None:
        return None
    run = TRIAL if _is_later(context) else f"{context.run.pipeline or context.run.name}-{RUN}"
    inner = "/".join(part for part in (mount.sub_path or "", base[len(mount.path) :].strip("/")) if part)
    step = context.run.step
    earlier: tuple[MountPlan, ...] = ()
    if resume is not None:
        sub_path = checkpoint_folder(inner, resume, step)
        path = checkpoint_folder(base, resume, step)
        earlier = (MountPlan(volume=mount.volume, path=path, sub_path=sub_path, read_only=True, route=("resume",)),)
    return CheckpointPlan(
        folder=checkpoint_folder(base, run, step),
        resumed=checkpoint_folder(base, resume, step) if resume is not None else "",
        saved=f"{mount.volume}:{checkpoint_folder(inner, run, '')}" if run != TRIAL else "",
        continues=f"{mount.volume}:{checkpoint_folder(inner, resume, '')}" if resume is not None else "",
        mounts=earlier,
    )


def _is_later(context: Context) -> bool:
    return context.run.later is not None or context.starter.named_later


def _can_resume(context: Context) -> bool:
    if _is_later(context):
        message = "`resume` names a run in Git, and the runs of this job get their names later"
        hint = "remove it; the program can look for earlier checkpoints"
        context.error(INVALID_VALUE, ("resume",), message, hint, key=True)
        return False
    if context.job.checkpoints is None:
        hint = "set `checkpoints` to the directory where the runs of this job save"
        context.error(NO_CHECKPOINTS, ("resume",), "`resume` needs `checkpoints`", hint, key=True)
        return False
    return True


def _mount(context: Context, base: str, mounts: tuple[MountPlan, ...]) -> MountPlan | None:
    """The mount with the checkpoints: a volume that outlives the pods, to which each run can write."""
    volumes = context.overlay.fields.volumes
    known = [one for one in mounts if one.volume in context.job.data and one.volume in volumes]
    if len({one.volume for one in known}) < len(context.job.data) or "data" in context.given.left_out:
        return None  # which is reported
    mount = holding(known, base)
    if mount is None:
        usable = (one for one in known if not one.read_only and volumes[one.volume].profile.outlives_pods)
        paths = ", ".join(f"`{one.path}`" for one in usable)
        message = f"`{base}` is not on a volume of the job, so checkpoints would be lost with the pod"
        hint = f"write a directory under a path of `data`: {paths}"
        hint = hint if paths else "mount a volume to which the job may write there: `data: {<volume>: <path>}`"
        context.error(NO_CHECKPOINTS, ("checkpoints",), message, hint)
        return None
    problem = None
    where = f"`{base}` is on volume `{mount.volume}`, which is"
    if not volumes[mount.volume].profile.outlives_pods:
        problem = f"{where} deleted with the pod", "use a persistent volume"
    elif mount.read_only:
        own = "use a volume to which the job may write"
        granted = not volumes[mount.volume].read_only
        problem = f"{where} mounted read-only", f"set `readOnly: false` for it, or {own}" if granted else own
    elif any(mark in text for text in (base, mount.path, mount.sub_path or "") for mark in (RUN, TRIAL)):
        problem = (
            f"`{base}` is in a directory of one run, which the next run does not have",
            "remove `{{ run.id }}`: each run gets a folder with its name below `checkpoints`",
        )
    if problem is not None:
        context.error(NO_CHECKPOINTS, ("checkpoints",), *problem)
        return None
    return mount
