"""Values that come from several files: which file set what, and how the files are laid over each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.load.text import Data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Location, Route
    from gen.load.source import Source


@dataclass(frozen=True, slots=True)
class Layer:
    """The part of `source` below `prefix`."""

    source: Source
    prefix: Route = ()

    def find(self, route: Route) -> tuple[int, Location, Location]:
        steps, key, value = self.source.find(self.prefix + route)
        return steps - len(self.prefix), key, value


@dataclass(frozen=True, slots=True)
class Layers:
    """Files laid over each other, the one that wins first."""

    layers: tuple[Layer, ...]

    def place(self, route: Route, *, key: bool = False) -> Location:
        """The place in the file that set the value at `route`; for a missing one, in the file that came nearest."""
        best = max((layer.find(route) for layer in self.layers), key=lambda found: found[0])
        return best[1] if key else best[2]


_ENTRYWISE = {"roles": 3, "placement": 2, "kinds": 5}
"""How many levels of mappings are merged key by key below a field; one below all others."""


def lay_over(base: Mapping[str, Data], top: Mapping[str, Data]) -> dict[str, Data]:
    """`top` over `base`: mappings of a field merge by key, an entry and a list are replaced as a whole.

    An entry is not merged any deeper, so that `X: {secret: …}` over `X: {configMap: …}` is not both.
    """
    merged = dict(base)
    for name, value in top.items():
        merged[name] = _merged(base.get(name), value, _ENTRYWISE.get(name, 1))
    return merged


def _merged(base: Data | None, top: Data, levels: int) -> Data:
    if levels == 0 or not isinstance(base, dict) or not isinstance(top, dict):
        return top
    merged = dict(base)
    for key, value in top.items():
        merged[key] = _merged(base.get(key), value, levels - 1)
    return merged
