"""The time that devices may be in use, by accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping


class DeviceTime(Struct, frozen=True):
    """Upper bounds by accelerator. The name is empty for devices without one."""

    seconds: Mapping[str, int] = field(default_factory=dict)
    """Devices times the limit of the run time, of all parts with a limit."""
    unlimited: Mapping[str, int] = field(default_factory=dict)
    """Devices of parts without a limit."""

    def __add__(self, other: DeviceTime) -> DeviceTime:
        return DeviceTime(_sum(self.seconds, other.seconds), _sum(self.unlimited, other.unlimited))

    def times(self, number: int) -> DeviceTime:
        """The time of several equal parts."""
        seconds = {name: number * value for name, value in self.seconds.items()}
        return DeviceTime(seconds, {name: number * value for name, value in self.unlimited.items()})


def device_time(devices: Mapping[str, int], seconds: int | None) -> DeviceTime:
    """The time of devices that are all in use until the limit, which is None for unlimited."""
    if seconds is None:
        return DeviceTime(unlimited=devices)
    return DeviceTime({name: count * seconds for name, count in devices.items()})


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}
