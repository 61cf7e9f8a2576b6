"""pydantic builds models without what it needs for plugins, which are found all the same if somebody enables them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_MODEL = """
import os, sys
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
from gen.model.base import Model
class Built(Model):
    field: str
Built(field="x")
"""
_PLUGIN = """
def new_schema_validator(*_):
    print("used")
    return None, None, None
"""


def _python(script: str, **environment: str) -> list[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "PYDANTIC_DISABLE_PLUGINS"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=inherited | environment
    )
    return done.stdout.splitlines()


def test_a_model_is_built_without_the_metadata_of_packages() -> None:
    loaded = "print('pydantic.plugin._loader' in sys.modules, 'importlib.metadata' in sys.modules)"
    assert _python(f"{_MODEL}\n{loaded}") == ["True False"]


def test_the_metadata_are_those_of_python_afterwards() -> None:
    used = "import importlib.metadata as found; print(found.version('pydantic') == __import__('pydantic').VERSION)"
    assert _python(f"{_MODEL}\n{used}") == ["True"]


@pytest.mark.parametrize("first", ["", "import importlib.metadata\n", "import pydantic.plugin._loader\n"])
def test_plugins_that_somebody_enables_are_used(first: str, tmp_path: Path) -> None:
    (tmp_path / "watching.py").write_text(_PLUGIN)
    info = tmp_path / "watching-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: watching\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pydantic]\nwatching = watching\n")
    assert _python(first + _MODEL, PYTHONPATH=str(tmp_path), PYDANTIC_DISABLE_PLUGINS="") == ["used"]
    assert _python(first + _MODEL, PYTHONPATH=str(tmp_path)) == []


@pytest.mark.parametrize("change", ["plugins._CALLED = ()", "sys.modules['pydantic.plugin._loader'] = None"])
def test_a_loader_that_needs_more_is_left_to_pydantic(change: str) -> None:
    """Simulate other releases of pydantic: the loader calls another function, or is elsewhere."""
    again = (
        "import gen.model.pydantic_plugins as plugins\n"
        f"del sys.modules['pydantic.plugin._loader']\n{change}\n"
        "plugins._import_loader()\n"
        "print(sys.modules.get('pydantic.plugin._loader'), 'importlib.metadata' in sys.modules)"
    )
    assert _python(f"import sys\n{again}") == ["None False"]
