"""The loader of pydantic's plugins, imported before the first model is built, and without the metadata of packages.

pydantic finds plugins with `importlib.metadata`, which imports parsers of mail, CSV and ZIP files, even where
`gen.__main__` has disabled plugins. Here, it is imported when plugins are looked for. gen starts 5 ms earlier.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Final

_METADATA: Final = "importlib.metadata"
_CALLED: Final = ("entry_points", "distributions")
"""Functions that the loader calls. The second one is for earlier releases of pydantic, such as 2.9."""


def _import_loader() -> None:
    if _METADATA in sys.modules:
        return
    later = ModuleType(_METADATA)
    for name in _CALLED:
        setattr(later, name, partial(_call, name))
    sys.modules[_METADATA] = later
    try:
        # if the loader is elsewhere or needs more, pydantic imports it when it builds a model
        with suppress(ImportError, AttributeError):
            import_module("pydantic.plugin._loader")
    finally:
        del sys.modules[_METADATA]


def _call(name: str, /, *values: Any, **named: Any) -> Any:
    return getattr(import_module(_METADATA), name)(*values, **named)


_import_loader()
