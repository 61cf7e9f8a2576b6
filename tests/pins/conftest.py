"""No configuration of Docker, and no authorities of the system, which take 20 ms for each host."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of Docker, which is empty."""
    folder = tmp_path / "docker"
    folder.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(folder))
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return folder
