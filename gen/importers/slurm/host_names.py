"""Host names of nodes with the suffix of one of their networks, such as `${HOST}i`. A pod has one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.importers.slurm.expansion import CLOSE, OPEN, Value
from gen.importers.slurm.programs import AnyStep, DroppedPart
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.srun import set_at

_NAME: Final = regex(
    rf"(?:(?<=[=@/,\s])|^)({OPEN}\"?\$\{{?MASTER_ADDR\}}?\"?{CLOSE})"
    r"(i|-?(?:ib|hsn|opa|eth)\d{0,3})(?=[:/,\s]|$)"
)


def without_suffixes(script: BatchScript, runs: Sequence[AnyStep]) -> list[AnyStep]:
    """The programs and their variables with plain host names. Names each suffix."""
    made: list[AnyStep] = []
    for run in runs:
        texts = [*run.words, *(value for _, value in run.assigned)]
        _name(script, _suffixes(texts), run.place)
        for name, value in run.exported.items():
            if found := _suffixes([value] if isinstance(value, str) else value):
                _name(script, found, set_at(script, name, run.place))
        words = tuple(map(_plain, run.words))
        assigned = tuple((name, _plain(value)) for name, value in run.assigned)
        exported = {name: _plain_value(value) for name, value in run.exported.items()}
        made.append(replace(run, words=words, assigned=assigned, exported=exported))
    return made


def _suffixes(texts: Sequence[str]) -> list[str]:
    return [match[2] for match in map(_NAME.search, texts) if match is not None]


def _name(script: BatchScript, suffixes: Sequence[str], place: Location) -> None:
    for suffix in suffixes:
        what = f"the suffix `{suffix}` of the name of a node"
        hint = "set `network` of the job, if the program needs another network"
        script.left.append(DroppedPart(place, what, "a pod has one name", hint))


def _plain(text: str) -> str:
    return _NAME.sub(r"\1", text)


def _plain_value(value: Value) -> Value:
    return _plain(value) if isinstance(value, str) else tuple(map(_plain, value))
