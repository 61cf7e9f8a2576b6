"""The screens in the documentation are the output of the commands."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from tests.live.node import NODE, node
from tests.live.test_top import gpu_pod, nodes
from tests.live.world import RUNNING, World, unscheduled
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    Make = Callable[[str], World]

PAGE = PROJECT / "docs/live.md"
UPDATE = "UPDATE_SCREENS"
"""A variable: write the screens of the page instead of comparing them."""


def check(command: str, output: str) -> None:
    """Compare the output with the block of the page that starts with the command.

    The width of columns is not compared: it depends on rows of other tests, which are left out.
    """
    block = f"$ {command}\n{output}"
    text = PAGE.read_text("utf-8")
    found = re.search(rf"```\n(\$ {re.escape(command)}\n.*?)```", text, re.DOTALL)
    assert found is not None, command
    if os.environ.get(UPDATE):
        PAGE.write_text(text[: found.start(1)] + block + text[found.end(1) :], "utf-8")
    else:
        assert _words(found[1]) == _words(block)


def _words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_screens_of_live_commands(world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.setattr("gen.report.live.status.age", lambda created, _: "2h10m" if created else "")
    here = world("training")
    done, queued, resnet = (
        here.job(name, more=more)
        for name, more in (("bert", ""), ("vit", "gpus: 8\n"), ("resnet", "workers: 3\ngpus: 4\n"))
    )
    here.ends(done, "Succeeded")
    here.pod(queued, "master", 0, unscheduled("0/3 nodes are available: 3 Insufficient nvidia.com/gpu."))
    with node(here.cluster, here.cluster.client.authority) as kubelet:
        lines = [
            ("master", 0, 1, "rendezvous on port 23456"),
            ("worker", 0, 2, "rank 1 of 2"),
            ("worker", 1, 3, "rank 2 of 2"),
        ]
        for role, index, second, text in lines:
            name = here.pod(resnet, role, index, RUNNING, nodeName=NODE)["metadata"]["name"]
            kubelet.log(name, (second, text))
        kubelet.log(f"{resnet['metadata']['name']}-master-0", (4, "epoch 1: loss=2.31"))
        check("gen status", here.gen("status"))
        check("gen logs training/resnet", here.gen("logs", "training/resnet"))


def test_the_screen_of_top(world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "132")
    here = world("research")
    run = here.job("resnet", more="workers: 3\ngpus: 4\n")
    with nodes(here, **{"h100-1": 8, "h100-2": 8, "a10-1": 4}):
        assert here.cluster.client.merge("/api/v1/nodes/a10-1", {"spec": {"unschedulable": True}}).status == 200
        for index, name in enumerate(("h100-1", "h100-1", "h100-2")):
            gpu_pod(here, run, index, name, 4)
        models, machines, jobs = here.gen("top").split("\n\n")
        own = [line for line in jobs.splitlines() if line.startswith(("NAMESPACE", "research"))]
        check("gen top", "\n\n".join([models, machines, "\n".join(own) + "\n"]))
