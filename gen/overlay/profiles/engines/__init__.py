"""GitOps engines: one file each, listed with their facts in `gen.base.engines.ENGINES`.

`docs/gitops-reference.md` describes the objects that are rendered for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.base import LazyRegistry, engines

if TYPE_CHECKING:
    from gen.overlay.profiles.engines.base import Engine

ENGINES: Final[LazyRegistry[Engine]] = LazyRegistry({name: f"{__name__}.{name}:ENGINE" for name in engines.ENGINES})
"""The class of each engine, from the module of its name."""

__all__ = ["ENGINES"]
