"""A real Chromium, driven by Playwright. Without one of the two, these tests are skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.support import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="install the extra `browser`")
    path = os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("found no Chromium on the PATH or in CHROMIUM: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browser(chromium: Any, tmp_path: Path) -> Iterator[Browser]:
    """Opens pages, and fails at the end if a page had a console message, an error or a request."""
    opened = Browser(chromium, tmp_path)
    yield opened
    opened.close()
    assert opened.noise == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, from the file that AXE names or from the npm registry."""
    if given := os.environ.get("AXE"):
        return Path(given).read_text("utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("set AXE to a file `axe.min.js`, or install npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "pack", "--silent", "axe-core@4"], cwd=folder, capture_output=True, check=False, timeout=120
    )
    if done.returncode != 0:
        pytest.skip("npm cannot fetch axe-core; set AXE to a file `axe.min.js`")
    with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as package:
        member = package.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()
