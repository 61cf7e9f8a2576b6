"""A container with the script of training pods, run by a shell of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

from gen.render.parts.containers import source
from tests.render.parts.store_server import RCLONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ODD = "a b $(touch pwned) `id` 'q' \"d\" ;& ünï 数据 *"


def _hear_interrupts() -> None:
    """Like a runtime of containers. Programs in the background of a shell, and their children, ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Pod:
    """A container with the script `run.sh`, with a temporary folder as `/gen`."""

    def __init__(self, folder: Path, shell: Sequence[str], env: dict[str, str] | None = None) -> None:
        self.folder, self.shell = folder, shell
        self.home = folder / "gen"
        self.out = folder / "out"
        (self.home / "bin").mkdir(parents=True)
        self.out.mkdir()
        if RCLONE is not None:
            (self.home / "bin/rclone").symlink_to(RCLONE)
        self.env = {**os.environ, **(env or {})}

    def start(self, options: Sequence[str], *command: str) -> subprocess.Popen[str]:
        text = source("run.sh").replace("home=/gen", f"home={self.home}")
        return subprocess.Popen(
            [*self.shell, "-c", text, "run", *options, "--", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            cwd=self.folder,
            preexec_fn=_hear_interrupts,  # noqa: PLW1509 - no other thread here
        )

    def run(self, options: Sequence[str], *command: str) -> tuple[int, str, str]:
        process = self.start(options, *command)
        out, err = process.communicate(timeout=100)
        return process.returncode, out, err

    def logs(self, folder: Path, stream: str) -> str:
        return "".join(path.read_text("utf-8") for path in sorted(folder.glob(f"{stream}-*.log")))
