"""The containers and the script that copy files of a job.

An init container with rclone copies the inputs, and rclone itself into a volume. The training container runs the
command below a script, which copies the outputs when it ends: a sidecar that fails would not fail the pod
(documentation of Kubernetes, "Sidecar Containers").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kinds.transfer_plan import OWN_FOLDER
from gen.kubernetes import Body, present
from gen.render.build.parts import resources, volume_mounts
from gen.render.build.scripts import script
from gen.render.plan.places import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kinds.plan import PodPlan
    from gen.kinds.transfer_plan import TransferPlan

NAME = "copy"
_SHELL = ("sh", "-c")


def copy_container(transfer: TransferPlan) -> Body:
    tool = f"{OWN_FOLDER}/bin/rclone" if transfer.wraps else ""
    pairs = (part for step in transfer.inputs for part in (step.source, literal(step.path)))
    return present(
        name=NAME,
        image=transfer.image,
        command=[*_SHELL, script("copy_in.sh"), NAME, tool, *pairs],
        env=[dict(entry) for entry in transfer.input_env],
        resources=resources(transfer.resources),
        securityContext={"allowPrivilegeEscalation": False},
        volumeMounts=volume_mounts(transfer.input_mounts),
    )


def started(pod: PodPlan) -> Body:
    """`command` and `args` of the training container."""
    if pod.transfer is None or not pod.transfer.wraps:
        return {"command": list(pod.command), "args": list(pod.args)}
    return {"command": [*_SHELL, script("run.sh"), "run", *_options(pod.transfer), "--", *pod.command, *pod.args]}


def _options(transfer: TransferPlan) -> Iterator[str]:
    if transfer.log is not None:
        yield from ("--log", transfer.log.folder, transfer.log.target)
    for output in transfer.outputs:
        yield from ("--output", output.pod, literal(output.path), output.target)
