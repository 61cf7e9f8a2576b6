"""Registry of accelerator profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.accelerators.ack_share import AckShare
from gen.accelerators.ack_topology import AckTopology
from gen.accelerators.amd import Amd
from gen.accelerators.ascend import Ascend
from gen.accelerators.base import AcceleratorProfile
from gen.accelerators.extended import Extended
from gen.accelerators.gaudi import Gaudi
from gen.accelerators.hami import Hami
from gen.accelerators.intel import Intel
from gen.accelerators.mig import Mig
from gen.accelerators.neuron import Neuron
from gen.accelerators.nvidia import Nvidia
from gen.accelerators.qgpu import Qgpu
from gen.accelerators.time_sliced import TimeSliced
from gen.accelerators.tpu import Tpu
from gen.accelerators.volcano_vgpu import VolcanoVgpu

ACCELERATORS: Final[dict[str, type[AcceleratorProfile]]] = {
    "ackShare": AckShare,
    "ackTopology": AckTopology,
    "amd": Amd,
    "ascend": Ascend,
    "extended": Extended,
    "gaudi": Gaudi,
    "hami": Hami,
    "intel": Intel,
    "mig": Mig,
    "neuron": Neuron,
    "nvidia": Nvidia,
    "qgpu": Qgpu,
    "timeSliced": TimeSliced,
    "tpu": Tpu,
    "volcanoVgpu": VolcanoVgpu,
}

__all__ = ["ACCELERATORS", "AcceleratorProfile"]
