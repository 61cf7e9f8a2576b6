"""Programs with libraries of servers and operators, built from the Go module proxy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def go_program(name: str, folder: Path) -> Path:
    """The program of `tests/<name>`, in a folder. Skips the test without Go, and without the program's modules."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    target = folder / name
    command: list[str | Path] = ["go", "build", "-o", target, "."]
    # in the cache of the user, because it takes minutes without one
    own = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    built = subprocess.run(command, cwd=HERE / name, env=own, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        pytest.skip(f"cannot build {name}: {built.stderr.strip()[-200:]}")
    return target


def answers(program: Path, requests: Iterable[Any]) -> list[Any]:
    """The answer to each request, a line of JSON."""
    lines = "".join(f"{json.dumps(one)}\n" for one in requests)
    answered = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in answered.stdout.split("\n") if line]
