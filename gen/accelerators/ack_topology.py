"""GPUs on ACK that are scheduled by their topology: `aliyun.com/gpu` on nodes with the label
`ack.node.gpu.schedule: topology` (ACK documentation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.whole import WholeGpus
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from collections.abc import Mapping


class AckTopology(WholeGpus):
    """GPUs on ACK nodes with topology-aware GPU scheduling."""

    resource: ClassVar[str] = "aliyun.com/gpu"
    models: ClassVar[str | None] = "aliyun.accelerator/nvidia_name"
    nodes: ClassVar[Mapping[str, str]] = {"ack.node.gpu.schedule": "topology"}

    model: LabelValue | None = None
    """Model, as ACK labels its nodes (`aliyun.accelerator/nvidia_name`): `Tesla-V100-SXM2-16GB`. If omitted, any."""
