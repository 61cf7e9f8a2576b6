"""Registry of accelerator profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.accelerators.base import AcceleratorProfile
from gen.model.registry import LazyRegistry

ACCELERATORS: Final[LazyRegistry[AcceleratorProfile]] = LazyRegistry(
    {
        "ackShare": "gen.accelerators.ack_share:AckShare",
        "ackTopology": "gen.accelerators.ack_topology:AckTopology",
        "amd": "gen.accelerators.amd:Amd",
        "ascend": "gen.accelerators.ascend:Ascend",
        "dra": "gen.accelerators.dra:Dra",
        "extended": "gen.accelerators.extended:Extended",
        "gaudi": "gen.accelerators.gaudi:Gaudi",
        "hami": "gen.accelerators.hami:Hami",
        "intel": "gen.accelerators.intel:Intel",
        "mig": "gen.accelerators.mig:Mig",
        "neuron": "gen.accelerators.neuron:Neuron",
        "nvidia": "gen.accelerators.nvidia:Nvidia",
        "qgpu": "gen.accelerators.qgpu:Qgpu",
        "timeSliced": "gen.accelerators.time_sliced:TimeSliced",
        "tpu": "gen.accelerators.tpu:Tpu",
        "volcanoVgpu": "gen.accelerators.volcano_vgpu:VolcanoVgpu",
    }
)

__all__ = ["ACCELERATORS", "AcceleratorProfile"]
