"""Numbers of GPUs and other accelerators as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def accelerators(gpus: int | None, named: Mapping[str, int]) -> str:
    """`16`, `16 h100`, or `8 a100 + 16 h100`; `?` if the number cannot be read."""
    if gpus is None:
        return "?"
    rest = gpus - sum(named.values())
    texts = [f"{count} {name}" for name, count in sorted(named.items()) if count]
    return " + ".join([*([str(rest)] if rest or not texts else []), *texts])
