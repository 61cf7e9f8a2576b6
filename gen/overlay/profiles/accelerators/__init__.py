"""Registry of accelerator profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.base import LazyRegistry
from gen.overlay.profiles.accelerators.base import AcceleratorProfile

ACCELERATORS: Final[LazyRegistry[AcceleratorProfile]] = LazyRegistry(
    {
        "ackShare": "gen.overlay.profiles.accelerators.alibaba:AckShare",
        "ackTopology": "gen.overlay.profiles.accelerators.alibaba:AckTopology",
        "amd": "gen.overlay.profiles.accelerators.amd:Amd",
        "ascend": "gen.overlay.profiles.accelerators.ascend:Ascend",
        "dra": "gen.overlay.profiles.accelerators.builtin:Dra",
        "extended": "gen.overlay.profiles.accelerators.builtin:Extended",
        "gaudi": "gen.overlay.profiles.accelerators.intel:Gaudi",
        "hami": "gen.overlay.profiles.accelerators.nvidia:Hami",
        "intel": "gen.overlay.profiles.accelerators.intel:Intel",
        "mig": "gen.overlay.profiles.accelerators.nvidia:Mig",
        "neuron": "gen.overlay.profiles.accelerators.aws:Neuron",
        "nvidia": "gen.overlay.profiles.accelerators.nvidia:Nvidia",
        "qgpu": "gen.overlay.profiles.accelerators.tencent:Qgpu",
        "timeSliced": "gen.overlay.profiles.accelerators.nvidia:TimeSliced",
        "tpu": "gen.overlay.profiles.accelerators.google:Tpu",
        "volcanoVgpu": "gen.overlay.profiles.accelerators.nvidia:VolcanoVgpu",
    }
)

__all__ = ["ACCELERATORS", "AcceleratorProfile"]
