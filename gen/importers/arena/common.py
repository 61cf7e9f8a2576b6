"""Fields that the training types share."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from gen import quantity
from gen.findings.imports import INVALID_COMMAND_LINE
from gen.importers.arena.pods import code, containers, data, shared_memory, tensorboard
from gen.importers.arena.scheduling import devices, metadata, network, queue
from gen.regex import regex

if TYPE_CHECKING:
    from gen.importers.arena.draft import Draft

_DURATION: Final = regex(r"(?:[0-9]+(?:\.[0-9]*)?(?:h|ms|us|µs|ns|m|s))+|0")
_UNITS: Final = {"h": "3600", "m": "60", "s": "1", "ms": "0.001", "us": "0.000001", "µs": "0.000001", "ns": "1e-9"}
FINISHED: Final = "remove it; set `state: finished` in the job after its end. gen never deletes runs by time"
OPERATOR: Final = "remove it; the operator chooses it"


def common(draft: Draft) -> None:
    """What all training types share, except resources and nodes."""
    containers(draft)
    code(draft)
    data(draft)
    tensorboard(draft)
    network(draft)
    queue(draft)
    metadata(draft)
    hint = "register the model after the training, such as with the client of MLflow"
    for flag in ("model-name", "model-source"):
        draft.lose(flag, "gen registers no models", hint)


def duration(draft: Draft, flag: str, *route: str) -> None:
    """A duration of Go (`time.ParseDuration`). Zero means none."""
    value = draft.given.last(flag)
    if value is None:
        return
    if _DURATION.fullmatch(value.text) is None:
        hint = "use a form like `2h30m` or `90s`"
        draft.found.error(INVALID_COMMAND_LINE, value.place, f"`--{flag}`: expected a duration", hint)
        return
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?)(h|ms|us|µs|ns|m|s)", value.text)
    seconds = int(sum((Decimal(number) * Decimal(_UNITS[unit]) for number, unit in parts), Decimal(0)))
    if seconds:
        draft.set(quantity.duration(seconds), *route, place=value.place)


def gpus(draft: Draft) -> None:
    if draft.given.text("gpus") not in ("", "0"):
        draft.carry("gpus", "gpus")
    devices(draft)


def simple(draft: Draft, *, shared: str | None = None) -> None:
    """Types with one set of resources."""
    common(draft)
    draft.carry("image", "image")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("cpu", "cpu")
    draft.carry("memory", "memory")
    if draft.given.text("retry") != "0":
        draft.carry("retry", "retries")
    shared_memory(draft, shared, [draft.given.text("memory")])
