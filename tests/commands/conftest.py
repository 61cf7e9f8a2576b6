"""Repositories for imports, and servers for pins."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.commands.pins import World, world_of
from tests.support import Repository, initialised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.pins.servers import Registry


@pytest.fixture
def fresh(tmp_path: Path, made: Path) -> Path:
    """A copy of the repository."""
    shutil.copytree(made, tmp_path / "repo", symlinks=True)
    return tmp_path / "repo"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that `gen init` has made, with a large quota."""
    root = tmp_path_factory.mktemp("made") / "repo"
    assert initialised(root, namespace="team-a")[1] == 0
    overlay = root / "overlays/production/overlay.yaml"
    overlay.write_text(overlay.read_text().replace("gpus: 32", "gpus: 1000000"))
    return root


@pytest.fixture
def world(repo: Repository, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world_of(repo, registry, tmp_path, monkeypatch) as one:
        yield one
