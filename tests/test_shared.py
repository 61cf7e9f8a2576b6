"""A shared folder is made once, and again if this failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.shared import made_once

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def name(tmp_path: Path) -> str:
    """A name of this test and process alone."""
    return "-".join(tmp_path.parts[-3:])


def test_a_folder_is_made_once(tmp_path_factory: pytest.TempPathFactory, name: str, tmp_path: Path) -> None:
    def make(folder: Path) -> None:
        folder.mkdir()
        with (tmp_path / "made").open("a") as made:
            made.write("x")

    with ThreadPoolExecutor(3) as threads:
        folders = {*threads.map(lambda _: made_once(tmp_path_factory, name, make), range(3))}
    assert [one.is_dir() for one in folders] == [True]
    assert (tmp_path / "made").read_text() == "x"


def test_a_folder_that_failed_is_made_again(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").mkdir(parents=True)
        raise ValueError("half made")

    with pytest.raises(ValueError, match="half made"):
        made_once(tmp_path_factory, name, fail)
    folder = made_once(tmp_path_factory, name, lambda folder: folder.mkdir())
    assert not any(folder.iterdir())
