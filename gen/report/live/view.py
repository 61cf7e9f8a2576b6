"""What live commands show, with the terminal that it is shown in."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeVar

from msgspec import Struct

from gen import quantity
from gen.report.terminal import Terminal

Data_co = TypeVar("Data_co", covariant=True)


class View(Struct, Generic[Data_co], frozen=True, kw_only=True):
    """An answer, and where it is shown."""

    data: Data_co
    terminal: Terminal = Terminal()


def age(created: str, now: str) -> str:
    """`3d4h`, from two times as Kubernetes writes them; empty without a time."""
    seconds = _seconds(now) - _seconds(created) if created and now else -1
    if seconds < 0:
        return ""
    days, hours, minutes = seconds // 86400, seconds // 3600, seconds // 60
    if days:
        return quantity.duration(days * 86400 + (hours % 24) * 3600)
    return quantity.duration(hours * 3600 + (minutes % 60) * 60 if hours else minutes * 60 or seconds)


def _seconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return 0
