"""Devices that pods get by claims."""

from __future__ import annotations

from typing import Any, Final

from gen.kubernetes import DEVICES_LABEL, at
from gen.regex import regex

_COUNT: Final = regex(r"[0-9]{1,6}")


def claimed_devices(pod: Any) -> int:
    """Devices that a pod gets by claims, whose number is not in its `spec`."""
    text = at(pod, "metadata", "labels", DEVICES_LABEL)
    return int(text) if isinstance(text, str) and _COUNT.fullmatch(text) and at(pod, "spec", "resourceClaims") else 0
