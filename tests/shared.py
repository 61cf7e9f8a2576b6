"""Folders that one of the processes of pytest-xdist makes, and all of them read."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder with this name in this run of the tests, which `make` creates. The other processes wait for it."""
    own = factory.getbasetemp()
    there = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    there.mkdir(exist_ok=True)
    folder, complete = there / name, there / f"{name}.complete"
    with (there / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
            make(folder)
            complete.touch()
    return folder
