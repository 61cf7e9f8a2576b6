"""Flux over one cluster and one Git server, and a repository for each test."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import pytest

from tests.controllers.flux import flux
from tests.controllers.flux.world import World
from tests.controllers.git_server import GitServer, git_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def flux_cluster(
    cluster: Cluster, controllers: Programs, controller_manager: Controller, training_operator: Controller
) -> Iterator[Cluster]:
    """A cluster with Flux, with the controllers of Jobs and volumes and the training operator."""
    del controller_manager, training_operator
    with flux.started(cluster, controllers):
        yield cluster


@pytest.fixture(scope="session")
def git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    with git_server(tmp_path_factory.mktemp("git")) as server:
        yield server


@pytest.fixture(scope="session")
def lone_flux(
    served: Callable[..., AbstractContextManager[Cluster]],
    controllers: Programs,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    """Flux in a cluster where no other controller acts."""
    controllers.path("training-operator")
    with served(tmp_path_factory.mktemp("lone")) as cluster, flux.started(cluster, controllers):
        cluster.install(controllers.definitions("training-operator", "crds"))
        yield cluster


@pytest.fixture
def lone_world(lone_flux: Cluster, git: GitServer, tmp_path: Path, request: pytest.FixtureRequest) -> World:
    return _world(lone_flux, git, tmp_path, request)


@pytest.fixture
def world(flux_cluster: Cluster, git: GitServer, tmp_path: Path, request: pytest.FixtureRequest) -> World:
    """A new repository. Its overlay and namespace are named after the test."""
    return _world(flux_cluster, git, tmp_path, request)


def _world(cluster: Cluster, git: GitServer, tmp_path: Path, request: pytest.FixtureRequest) -> World:
    words = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())
    return World.at(tmp_path / "repo", cluster, git, f"{words[:16].strip('-')}-{next(_numbers)}")
