"""The site file: names of a company's Slurm with their meaning in an overlay, once for all its scripts.

image: registry.example.com/train:1    # the software of the nodes
nodes: {gpus: 8, cpu: 96}              # a whole node, of --exclusive and of scripts without --gres
partitions: {gpu: main, debug: ""}     # the queue; none for an empty text
accounts: {abc@v100: abc}              # the label `account`; none for an empty text
constraints: {v100-32g: {gpuModel: V100}}    # fields of `placement`
images: {/images/train.sqsh: registry.example.com/train:1}
paths: {/fsx: fsx}                     # the volume of the overlay
define: {USER: jane}                   # variables from outside
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from gen.base import Findings, Location, did_you_mean, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.base.yaml.source import source_of

_TEXTS: Final = ("image",)
_MAPPINGS: Final = ("nodes", "partitions", "accounts", "constraints", "images", "paths", "define")
_OF_NODES: Final = ("gpus", "cpu", "memory")
_OWN: Final = frozenset(
    {"usr", "opt", "bin", "sbin", "lib", "lib64", "etc", "dev", "proc", "sys", "tmp", "var", "run", "root"}
    | {"workspace", "app", "job"}
)
"""Folders at the top of an image."""
PATH: Final = regex(r"(?<![\w.$}~/:-])(/[A-Za-z0-9_][\w.-]*)(?:/[\w.@+-]+)*")


class Site(Struct, frozen=True, kw_only=True):
    """The meanings of names. All are empty without a site file."""

    image: str = ""
    nodes: Mapping[str, str] = {}
    partitions: Mapping[str, str] = {}
    accounts: Mapping[str, str] = {}
    constraints: Mapping[str, Mapping[str, Any]] = {}
    images: Mapping[str, str] = {}
    paths: Mapping[str, str] = {}
    define: Mapping[str, str] = {}

    def volume_of(self, path: str) -> tuple[str, str] | None:
        """The longest folder of the file that has a path, and its volume."""
        known = [one for one in self.paths if path == one or path.startswith(f"{one.rstrip('/')}/")]
        folder = max(known, key=len, default=None)
        return (folder, self.paths[folder]) if folder is not None else None


def read_site(raw: bytes, file: str, found: Findings) -> Site:
    """The site of a file; without a value that is not valid, which is a finding."""
    source = source_of(raw, file, found)
    data = source.data if source is not None else {}
    if source is None or not isinstance(data, dict):
        found.error(INVALID_COMMAND_LINE, Location(file), "a site file is a mapping", "`--site-template` writes one")
        return Site()
    values: dict[str, Any] = {}
    for name, value in data.items():
        place = source.place((name,))
        if name not in (*_TEXTS, *_MAPPINGS):
            hint = did_you_mean(str(name), (*_TEXTS, *_MAPPINGS))
            found.error(INVALID_COMMAND_LINE, place, f"`{name}` is not a field of a site file", hint)
        elif (expected := _expected(name, value)) is not None:
            found.error(INVALID_COMMAND_LINE, place, f"`{name}`: expected {expected}", "`--site-template` writes one")
        else:
            values[name] = _plain(value)
    return Site(**values)


def _plain(value: object) -> Any:
    """A value of the reader as plain mappings and texts."""
    return {str(key): _plain(one) for key, one in value.items()} if isinstance(value, dict) else str(value)


def _expected(name: str, value: object) -> str | None:
    """The expected form of a field; None if it has it."""
    if name in _TEXTS:
        return None if isinstance(value, str) else "a text"
    if not isinstance(value, dict):
        return "a mapping"
    inner = dict if name == "constraints" else str
    if not all(isinstance(one, inner) for one in value.values()):
        return "a mapping of mappings" if inner is dict else "a mapping of texts"
    if name == "nodes" and (set(value) - {*_OF_NODES} or not str(value.get("gpus", "0")).isdecimal()):
        return f"numbers for {', '.join(_OF_NODES)}"
    return None


def roots_of(text: str) -> Iterable[str]:
    """The folders at the top of a machine that a text names, without those of an image."""
    return (match[1] for match in PATH.finditer(text) if match[1][1:] not in _OWN)
