"""Argo Workflows' own validator and libraries, built from their Go modules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Ask = Callable[[Iterable[dict[str, Any]]], list[dict[str, Any]]]


def built(folder: Path) -> Ask:
    """A function that sends requests to the program. Skips the test without Go, and without its modules."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    target = folder / "workflowref"
    command: list[str | Path] = ["go", "build", "-o", target, "."]
    # in the cache of the user, because it takes minutes without one
    own = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    done = subprocess.run(command, cwd=HERE / "workflowref", env=own, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot build the validator: {done.stderr.strip()[-200:]}")

    def ask(requests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        lines = "".join(f"{json.dumps(one)}\n" for one in requests)
        answered = subprocess.run([target], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in answered.stdout.split("\n") if line]

    return ask
