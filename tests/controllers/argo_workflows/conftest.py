"""Argo Workflows over one cluster, and a repository for each test."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.controllers.argo_workflows import argo
from tests.controllers.argo_workflows.node import Node
from tests.controllers.argo_workflows.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.controllers.programs import Controller, Programs
    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster


@pytest.fixture(scope="session")
def node(
    cluster: Cluster,
    controllers: Programs,
    controller_manager: Controller,
    training_operator: Controller,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Node]:
    """Argo Workflows, with the controllers of Jobs and garbage and the training operator."""
    del controller_manager, training_operator
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("containers as processes need root and `unshare`")
    one = Node(cluster, controllers.path("argoexec"), tmp_path_factory.mktemp("pods"))
    with argo.started(cluster, controllers):
        one.start()
        yield one
        one.stop()


@pytest.fixture
def world(node: Node, workbench: Callable[..., Workbench]) -> Iterator[World]:
    one = World.at(workbench(node.cluster), node)
    yield one
    one.remove_all()
