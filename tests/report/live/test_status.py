"""The formats of `gen status`."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from gen.base.findings import Diagnostic, Location
from gen.live.model import ClusterStatus, Phase, RunStatus
from gen.report.formats import STATUS_REPORTERS
from gen.report.live.status import age
from gen.report.terminal import Terminal, View
from tests.cases import for_each

RUN = RunStatus(
    overlay="prod",
    context="admin@prod",
    namespace="training",
    job="resnet",
    file="jobs/training/resnet.yaml",
    rendered="rendered/prod/jobs/training/resnet/pytorchjob-resnet.yaml",
    kind="PyTorchJob",
    name="resnet-1a2b3c4d",
    values="",
    desired="active",
    phase=Phase.RUNNING,
    reason="ImagePullBackOff",
    message="Back-off pulling image registry.example.com/train:1.4, which is a long message " * 2,
    running=3,
    pods=4,
    restarts=2,
    created="2026-01-01T00:00:00Z",
    gpus=32,
    accelerators={"h100": 32},
)
STATUS = ClusterStatus(
    runs=(
        RUN,
        replace(RUN, name="bert-large-uncased-whole-word-1a2b3c4d", phase=Phase.QUEUED, queue="research", position=3),
        replace(RUN, name="old-1a2b3c4d", desired=None, phase=Phase.FAILED, reason="OOMKilled", drift=("spec.a",)),
    ),
    findings=(Diagnostic(Location("overlays/b/overlay.yaml"), "cluster-timeout", "no answer " * 20, "again"),),
    time="2026-01-04T04:00:00Z",
)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_text_fits_the_terminal(width: int) -> None:
    text = STATUS_REPORTERS["text"](View(data=STATUS, terminal=Terminal(width=width)))
    assert max(map(len, text.splitlines())) <= width
    for run in STATUS.runs:
        assert run.name[:9] in text
        assert run.phase in text
    assert "3 runs: 1 queued, 1 running, 1 failed; 1 differs from Git, 1 not in Git" in text.replace("\n    ", " ")
    assert ("no room for" in text) == (width < 200)


def test_nothing_is_cut_in_a_pipe() -> None:
    text = STATUS_REPORTERS["text"](View(data=STATUS))
    assert "bert-large-uncased-whole-word-1a2b3c4d" in text
    assert "3. in research" in text
    assert "3d4h" in text
    assert "\x1b" not in text


def test_json_has_everything() -> None:
    document = json.loads(STATUS_REPORTERS["json"](View(data=STATUS)))
    assert set(RunStatus.__struct_fields__) - {
        "name",
        "desired",
        "running",
        "rendered",
        "scheduled",  # like `git`
        "dispensable",
    } <= document["runs"][0].keys() | {"run", "git"}
    assert document["runs"][1]["position"] == 3
    assert document["findings"][0]["code"] == "cluster-timeout"


def test_edited_values() -> None:
    broken = replace(RUN, values="{")
    document = json.loads(STATUS_REPORTERS["json"](View(data=replace(STATUS, runs=(broken,)))))
    assert document["runs"][0]["values"] is None


@for_each(
    ("created", "text"),
    [
        ("2026-01-01T00:00:00Z", "3d4h"),
        ("2026-01-04T03:59:30Z", "30s"),
        ("2026-01-04T01:30:00Z", "2h30m"),
        ("2026-01-04T05:00:00Z", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_ages(created: str, text: str) -> None:
    assert age(created, STATUS.time) == text or created == "yesterday"
