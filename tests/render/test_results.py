"""Results of steps: from the log of a pod to the command of a later step."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from gen.job.metric import KnownMetric
from gen.render.parts.containers import source
from gen.render.parts.steps import expression
from tests.cases import for_each

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository

PIPELINE = """\
kind: pipeline
image: a:1
command: x
steps:
  train: {kind: pytorch, workers: 2, metrics: [val/loss], results: {best: checkpoint, loss: val/loss}}
  evaluate:
    kind: batch
    needs: [train]
    env: {LOSS: "{{ steps.train.results.loss }}"}
    command: python evaluate.py --from {{ steps.train.results.best }} --run {{ run.id }}
  last: {kind: batch, needs: [train, evaluate], when: failed}
"""


def templates(repo: Repository) -> dict[str, Any]:
    return {one["name"]: one for one in repo.one("Workflow")["spec"]["templates"]}


def test_a_result_is_a_parameter_of_the_step_that_uses_it(repo: Repository) -> None:
    repo.job(PIPELINE)
    known = templates(repo)
    tasks = {task["name"]: task for task in known["main"]["dag"]["tasks"]}
    assert known["main"]["dag"]["target"].split() == ["train-results", "evaluate-wait", "last-wait"]
    assert tasks["train-results"]["depends"] == "train-wait.Succeeded"
    assert tasks["evaluate"]["depends"] == "train-results.Succeeded"
    assert "train-results.Failed" in tasks["last"]["depends"]
    given = {one["name"]: one["value"] for one in tasks["evaluate"]["arguments"]["parameters"]}
    assert given == {
        "train_best": "{{tasks.train-results.outputs.parameters.best}}",
        "train_loss": "{{tasks.train-results.outputs.parameters.loss}}",
    }
    assert [one["name"] for one in known["evaluate"]["inputs"]["parameters"]] == sorted(given)
    manifest = known["evaluate"]["resource"]["manifest"]
    assert sorted(re.findall(r"\{\{.*?\}\}", manifest)) == [
        "{{inputs.parameters.train_best}}",
        "{{inputs.parameters.train_loss}}",
    ]
    assert json.loads(manifest)["kind"] == "Job"


def test_the_reader_selects_the_pod_with_rank_0(repo: Repository) -> None:
    repo.job(PIPELINE)
    reader = templates(repo)["train-results"]
    run = repo.one("Workflow")["metadata"]["labels"]["gen/run"]
    namespace, labels, container, folder, *_ = reader["container"]["args"]
    assert (namespace, container) == ("team", "pytorch")
    assert labels == f"app.kubernetes.io/component=master,gen/run={run},gen/step=train"
    assert reader["container"]["image"] == "registry.example.com/tools:1"
    files = {one["name"]: one["valueFrom"]["path"] for one in reader["outputs"]["parameters"]}
    assert files == {"best": f"{folder}/best", "loss": f"{folder}/loss"}


def test_metrics_of_steps_are_in_the_annotation(repo: Repository) -> None:
    repo.job(PIPELINE.replace("command: x", "command: x\nmetrics: [loss]"))
    listed = json.loads(repo.one("Workflow")["metadata"]["annotations"]["gen/metrics"])
    assert [(one.get("step"), one["name"]) for one in listed] == [(None, "loss"), ("train", "val/loss")]


def test_a_text_about_results_in_other_places_stays_a_text(repo: Repository) -> None:
    """Only an expression of gen becomes a variable of Argo Workflows, and only in commands, arguments and variables."""
    literal = "{{ '{{' }}inputs.parameters.train_best}}{{ '{{' }}tasks.train-results.outputs.parameters.best}}"
    repo.job(PIPELINE.replace("--run", f"'{literal}' --run"))
    manifest = templates(repo)["evaluate"]["resource"]["manifest"]
    assert manifest.count("{{inputs.parameters.train_best}}") == 1
    assert "{{tasks" not in manifest
    assert "{{inputs.parameters.train_best}}{{tasks" in json.dumps(json.loads(manifest))


LINES = [
    ("checkpoint=/data/run-1/ckpt-3.pt", None, "/data/run-1/ckpt-3.pt"),
    ("12:00 INFO checkpoint: /data/a=b/c", None, "/data/a=b/c"),
    ('{"step": 3, "checkpoint": "s3://b/c", "x": 1}', None, "s3://b/c"),
    ("checkpoint=a checkpoint=b", None, "b"),
    ("checkpoint=/data/$(id)", None, ""),
    ("checkpoint=a{{workflow.name}}", None, ""),
    ("checkpoint=--privileged", None, ""),
    ('checkpoint=a","x":"b', None, ""),
    ("checkpoint = 'a' ", None, "a"),
    ("{'checkpoint': 'a', 'x': 'b c'}", None, "a"),
    ('{"checkpoint":3,"x":"b c"}', None, "3"),
    ('{"x": [{"checkpoint": "a"}]}', None, "a"),
    ("checkpoint=I'm awake", None, ""),
    ("checkpoint=dev, this is it", None, ""),
    ("checkpoint=dev (this)", None, ""),
    ('checkpoint="two words"', None, ""),
    ('checkpoint="a', None, ""),
    ("checkpoint=\"a'", None, ""),
    ('checkpoint="a" b', None, ""),
    ('{"checkpoint": "two words"}', None, ""),
    ('{"checkpoint": "a, b"}', None, ""),
    ("my-checkpoint=a", None, ""),
    ("checkpoint=", None, ""),
    ("loss=0.25", "", "0.25"),
    ("loss: -1.5e-3 (best)", "", "-1.5e-3"),
    ("val/loss=1", "", ""),
    ("loss=nan", "", ""),
    ("step 3 loss is 12.5 now", "{name} is {value}", "12.5"),
    ("310.5 loss/s", "{value} {name}/s", "310.5"),
    ("at   310.5   it's (x)", "{value} it's (x)", "310.5"),
    ("a^b 7", "a^b {value}", "7"),
    ("a[b]\\n* 7", "a[b]\\n* {value}", "7"),
    ("größe=7", "größe={value}", "7"),
    ("grxße=7", "größe={value}", ""),
]


@for_each(("line", "pattern", "value"), LINES)
@for_each("program", [["sed"], *([["busybox", "sed"]] if shutil.which("busybox") else [])])
def test_the_value_in_a_line(line: str, pattern: str | None, value: str, program: list[str]) -> None:
    metric = KnownMetric(name="loss", format="raw", pattern=pattern or None) if pattern is not None else None
    text = expression("loss" if metric is not None else "checkpoint", metric)
    env = {**os.environ, "LC_ALL": "C"}
    command = [*program, "-nE", text]
    done = subprocess.run(command, input=f"{line}\n", env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == value


KUBECTL = """\
#!/bin/sh
case "$*" in
  *"get pods -l a=b "*) printf 'pod/old\\npod/new\\n' ;;
  *"get pods"*) ;;
  *"logs pod/new -c trainer"*) cat "$LOG" ;;
  *) exit 9 ;;
esac
"""


def read(folder: Path, shell: list[str], log: str, labels: str = "a=b") -> tuple[int, str, dict[str, str]]:
    (folder / "bin").mkdir()
    (folder / "bin/kubectl").write_text(KUBECTL, "utf-8")
    (folder / "bin/kubectl").chmod(0o755)
    (folder / "text").write_text(log, "utf-8")
    values = folder / "values"
    pairs = ["best", expression("best", None), "loss", expression("loss", KnownMetric(name="loss", format="raw"))]
    command = [*shell, "-c", source("read_results.sh"), "results", "team", labels, "trainer", str(values), *pairs]
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LOG": str(folder / "text")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    files = values.glob("*") if values.exists() else ()
    known = {path.name: path.read_text("utf-8") for path in files if path.name != "log"}
    return done.returncode, done.stderr, known


def test_the_last_values_in_the_log_of_the_latest_pod(tmp_path: Path, shell: list[str]) -> None:
    code, _, values = read(tmp_path, shell, "best=a\nloss=2\nloss: 1.5 best=/b/c\nün\xff\n")
    assert (code, values) == (0, {"best": "/b/c", "loss": "1.5"})


@pytest.mark.parametrize(
    ("log", "labels", "code", "said"),
    [
        ("loss=1\n", "a=b", 4, "no value for the result best"),
        (f"best={'x' * 1025}\nloss=1\n", "a=b", 5, "more than 1024"),
        ("best=a\nloss=1\n", "a=c", 3, "no pod with the labels a=c has succeeded"),
    ],
)
def test_a_step_without_its_result_fails(
    tmp_path: Path, shell: list[str], log: str, labels: str, code: int, said: str
) -> None:
    found, err, _ = read(tmp_path, shell, log, labels)
    assert found == code
    assert said in err
