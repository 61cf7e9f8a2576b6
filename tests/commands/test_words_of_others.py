"""`gen explain` knows the words of other tools, and the shell completes values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.cli import command_line
from gen.commands import COMPLETION
from gen.commands.explain import Request, run
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository


@for_each(
    ("word", "expected"),
    [
        ("volumeMounts", "mount volumes of the overlay with `data: {<volume>: <path>}`"),
        ("limits", "set `gpus`, `cpu` and `memory` instead"),
        ("backoffLimit", "`backoffLimit` is `retries` in a job file:\n\njob.retries"),
        ("walltime", "`walltime` is `timeout` in a job file:\n\njob.timeout"),
        ("nodeSelector", "job.placement.nodeSelector"),
        ("ntasks", "set `workers`, the number of pods"),
        ("gpu", "`gpu` is `gpus` in a job file:\n\njob.gpus"),
        ("nvidia.com/gpu", "`nvidia.com/gpu` is `gpus` in a job file:\n\njob.gpus"),
        ("resources.limits", "set `gpus`, `cpu` and `memory` instead"),
        ("--gpus", "`--gpus` is `gpus` in a job file:\n\njob.gpus"),
        ("--working-dir", "`--working-dir` is `workingDir` in a job file:\n\njob.workingDir"),
        ("cpus-per-task", "`cpus-per-task` is `cpu` in a job file"),
        ("--time", "`--time` is `timeout` in a job file"),
        ("affinity", "set `placement` instead"),
        ("overlay.gpu", "overlay.gpu <GPU>"),
    ],
)
def test_a_word_of_another_tool_is_explained(word: str, expected: str) -> None:
    assert expected in run(Request(name=word)).output


def offered(line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What a shell gets for a line of the command line."""
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv(COMPLETION, "complete_bash")
    with pytest.raises(SystemExit):
        command_line()(prog_name="gen")
    return capfd.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gen set team/demo network=", ["network=eni", "network=host"]),
        ("gen set team/demo network=h", ["network=host"]),
        ("gen set team/demo data.", ["data.data=", "data.nas=", "data.scratch="]),
        ("gen set team/demo clusters=", ["clusters=dev"]),
        ("gen set team/demo queue=", ["queue=research"]),
        ("gen set team/demo roles.", ["roles.master.", "roles.worker."]),
        ("gen set team/demo array", []),
        ("gen set team/tasks array=", ["array=true", "array=false"]),
        ("gen set team/demo --unset sweep.", ["sweep.matrix", "sweep.matrix.lr"]),
        ("gen stop team/demo --when ", ["lr=0.1", "lr=0.2"]),
        ("gen list --state su", ["suspended"]),
        ("gen list --namespace ", ["team", "vision"]),
        ("gen new batch x --namespace v", ["vision"]),
        ("gen status --phase su", ["suspended", "succeeded"]),
        ("gen status --wait r", ["running"]),
        ("gen import k", ["kfp"]),
        ("gen explain gpu", ["gpus"]),
    ],
)
def test_values_are_completed(
    line: str,
    expected: list[str],
    repo: Repository,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(repo.root)
    repo.write("jobs/team/demo.yaml", "kind: pytorch\nimage: a:1\ncommand: a\nsweep: {matrix: {lr: ['0.1', '0.2']}}\n")
    repo.write("jobs/team/tasks.yaml", "kind: batch\nimage: a:1\ncommand: a\n")
    repo.write("jobs/vision/other.yaml", "kind: batch\nimage: a:1\ncommand: a\n")
    assert offered(line, monkeypatch, capfd) == expected
