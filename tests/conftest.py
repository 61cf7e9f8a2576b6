"""Fixtures, and the option to write the expected files of cases."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import HealthCheck, settings

from tests.history import History
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pins.servers import Registry

# what `yaml.safe_load` and `yaml.safe_dump` use: libyaml takes a tenth of the time
yaml.SafeLoader, yaml.SafeDumper = yaml.CSafeLoader, yaml.CSafeDumper  # type: ignore[misc,assignment] # same interface

# the programs that tests start share their compiled modules, as in an installation
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# readline, which pytest imports, gives the size of a terminal to the workers of pytest-xdist, where there is none
for _size in ("COLUMNS", "LINES"):
    os.environ.pop(_size, None)

# thousands of small repositories cost a tenth of the time on a disk
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder with a name of its own
if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
    _space = os.statvfs(_MEMORY)
    if _space.f_bavail * _space.f_frsize > 4 << 30 and not _space.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# the program disables the collector; among the objects of all tests, it takes a tenth of the time
gc.set_threshold(100_000, 50, 50)

# a slow machine is not a failure
settings.register_profile("all", deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("all"), max_examples=25)

SLOW_FOLDERS = {"browser", "controllers", "e2e", "launchers"}
"""All tests in them are slow, and importing these takes a quarter of the time of the collection."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected files of cases")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("quick" if config.option.markexpr == "not slow" else "all")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Folders without a quick test."""
    slow = collection_path.name in SLOW_FOLDERS and collection_path.parent.name == "tests"
    return True if slow and config.option.markexpr == "not slow" else None


def pytest_collection_finish() -> None:
    """The tests themselves never become garbage."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Pytest collects ten times at the end, to find errors in finalizers."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache of gen is an empty folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _temporary_files_in_memory() -> Iterator[None]:
    """Also those of gen and of the programs that it starts, such as a sandbox. Other users may enter the folder."""
    memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with (
        tempfile.TemporaryDirectory(prefix="gen-tests-", dir=memory, ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        Path(folder).chmod(0o755)
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository.at(tmp_path / "repo")


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """A real registry, for all tests of a process."""
    from tests.pins import servers

    if servers.REGISTRY is None:
        pytest.skip("needs docker-registry, a package of Debian")
    with servers.running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="session")
def _begun(tmp_path_factory: pytest.TempPathFactory) -> History:
    repository = History.at(tmp_path_factory.mktemp("begun") / "repo")
    repository.git("init", "--quiet", "--initial-branch=main", "--template=")
    repository.overlay(OVERLAY)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "begin")
    return repository


@pytest.fixture
def history(_begun: History, tmp_path: Path) -> History:
    """One overlay, and a commit with no job on `main`; the work tree is on a branch."""
    return History(shutil.copytree(_begun.root, tmp_path / "repo"))
