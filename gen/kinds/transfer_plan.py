"""Decisions about files that are copied into the pods of a role and out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.mounts import MountPlan, VolumePlan
    from gen.kubernetes import Body

OWN_FOLDER: Final = "/gen"
"""Folder of a container for copies."""


class InputPlan(Struct, frozen=True, kw_only=True):
    """Files to copy before the command starts."""

    source: str
    """As rclone names it."""
    path: str


class OutputPlan(Struct, frozen=True, kw_only=True):
    """Files to copy when the command ends."""

    path: str
    target: str
    """As rclone names it."""
    pod: str
    """Indices of the pod, which are zeros in the pods to copy from."""


class LogPlan(Struct, frozen=True, kw_only=True):
    """Files for the output of the command."""

    folder: str
    target: str
    """Where to copy the folder; empty if it is on a volume."""


class TransferPlan(Struct, frozen=True, kw_only=True):
    """Copies of the pods of one role. Names of rclone and folders can refer to variables, as `$(NAME)`."""

    image: str
    resources: Mapping[str, str]
    inputs: tuple[InputPlan, ...]
    input_env: tuple[Body, ...]
    """Settings of rclone in the init container."""
    input_mounts: tuple[MountPlan, ...]
    outputs: tuple[OutputPlan, ...]
    log: LogPlan | None
    env: tuple[Body, ...]
    """Settings of rclone, and the indices of the pod, in the training container."""
    mounts: tuple[MountPlan, ...]
    """In the training container."""
    volumes: tuple[VolumePlan, ...]
    grace: int
    """Seconds for the copies after the pod was stopped."""

    @property
    def wraps(self) -> bool:
        """Whether the command runs below the script that copies when it ends."""
        return bool(self.outputs) or self.log is not None
