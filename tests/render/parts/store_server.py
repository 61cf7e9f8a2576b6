"""An object store on this machine: rclone serves a folder with the interface of S3."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RCLONE = os.environ.get("RCLONE") or shutil.which("rclone")
KEY, SECRET = "accesskey", "secretkey"


@dataclass(frozen=True)
class StoreServer:
    """A running server. Each folder in `root` is a bucket."""

    root: Path
    port: int

    @property
    def settings(self) -> dict[str, str]:
        """Variables for the remote `S0`."""
        values = {
            "TYPE": "s3",
            "PROVIDER": "Other",
            "ENDPOINT": f"http://127.0.0.1:{self.port}",
            "ACCESS_KEY_ID": KEY,
            "SECRET_ACCESS_KEY": SECRET,
            "NO_CHECK_BUCKET": "true",
        }
        return {f"RCLONE_CONFIG_S0_{name}": value for name, value in values.items()}


@contextmanager
def served(root: Path, port: int | None = None) -> Iterator[StoreServer]:
    root.mkdir(exist_ok=True)
    server = StoreServer(root, port or _free_port())
    command = [
        *(str(RCLONE), "serve", "s3", "--config", "", "--auth-key", f"{KEY},{SECRET}"),
        *("--addr", f"127.0.0.1:{server.port}", "--dir-cache-time", "0s", str(root)),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: _answers(server.port))
            yield server
        finally:
            process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not happen")


pause = time.sleep
