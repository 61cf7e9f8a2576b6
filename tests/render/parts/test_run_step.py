"""The script of a step of Kubeflow Pipelines, in a shell: the results of a step, without a cluster."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from gen.job.kinds.pipeline import FOLDER
from tests.kfp import Step, defining, steps_of
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from pathlib import Path


JOB = """\
kind: pipeline
kfp: {}
image: a:1
command: x
steps:
  train: {kind: pytorch, metrics: [loss], results: {best: checkpoint, loss: loss}}
"""
KUBECTL = """\
#!/bin/sh
echo "$*" >>"$0.log"
case "$*" in
  *"get workflows.argoproj.io"*) printf 3f2a ;;
  *" create "*) cat >"$0.object" ;;
  *" get pods "*) echo pod/demo-abcde-train-master-0 ;;
  *" logs "*) printf 'step 1\\ncheckpoint=/data/1\\nloss: 0.5\\ncheckpoint=/data/2\\n' ;;
  *" get pytorchjob."*) cat "$0.state" ;;
esac
"""


@pytest.fixture
def step(repo: Repository) -> Step:
    repo.overlay(defining(OVERLAY))
    repo.job(JOB)
    (step,) = steps_of(repo.one("PipelineVersion")).values()
    return step


def run(step: Step, folder: Path, state: str) -> tuple[int, str, str]:
    """Exit code, output of the script, and its calls of kubectl."""
    program = folder / "kubectl"
    program.write_text(KUBECTL, "utf-8")
    program.chmod(0o755)
    (folder / "kubectl.state").write_text(state, "utf-8")
    command = step.command({"run": "demo-abcde"}, {name: str(folder / "out" / name / "data") for name in step.results})
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "GEN_SECONDS": "0"}
    command = [word.replace(FOLDER, str(folder / "results")) for word in command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr, (folder / "kubectl.log").read_text("utf-8")


def test_results_are_in_the_files_of_the_outputs(step: Step, tmp_path: Path) -> None:
    code, said, asked = run(step, tmp_path, "True//")
    assert code == 0, said
    assert {path.parent.name: path.read_text("utf-8") for path in tmp_path.glob("out/*/data")} == {
        "best": "/data/2",
        "loss": "0.5",
    }
    assert "gen/workflow=demo-abcde" in asked
    assert "<run>" not in asked


@pytest.mark.parametrize("state", ["/True/", "True/True/"])
def test_a_step_that_failed_has_no_results(state: str, step: Step, tmp_path: Path) -> None:
    code, said, asked = run(step, tmp_path, state)
    assert (code, "failed" in said, " logs " in asked) == (1, True, False)


def test_an_object_that_disappears_fails_the_step(step: Step, tmp_path: Path) -> None:
    code, said, _ = run(step, tmp_path, "")
    assert (code, "does not exist any more" in said) == (1, True)
