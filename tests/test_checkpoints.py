"""A run that is stopped, edited and resumed continues from its checkpoint: a real training, with the rendered pods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.commands import rerun, set, stop  # noqa: A004 - a command of gen
from gen.report.findings.text import text
from gen.review.runs import RunAction
from tests.cases import for_each
from tests.support import opened

if TYPE_CHECKING:
    from pathlib import Path

    from tests.history import History
    from tests.support import Repository

OVERLAY = """\
kubernetes: "1.34"
namespaces: {"*": {gpus: 64, sweepRuns: 10}}
volumes:
  nas: {size: 10Gi, nas: {server: nas.example.com, path: /x}}
  other: {size: 10Gi, nas: {server: nas.example.com, path: /y}}
  scratch: {emptyDir: {}}
pipelines: {argo: {serviceAccount: gen-pipeline}}
"""
JOB = "kind: pytorch\nimage: a:1\ncommand: python train.py\ndata: {nas: /data}\ncheckpoints: /data/ckpt\n"
TRAIN = '''\
"""Fit y = 3x + 1 by gradient descent, one step each 10 ms, with a checkpoint after each."""

import json, os, pathlib, time

own = pathlib.Path(os.environ["CHECKPOINT_DIR"])
earlier = os.environ.get("RESUME_DIR")
rate, steps = float(os.environ["LR"]), 120


def load():
    for folder in (own, pathlib.Path(earlier) if earlier else None):
        if folder is not None and (folder / "last.json").exists():  # its own first: the pod may have restarted
            return json.loads((folder / "last.json").read_text())
    return {"step": 0, "a": 0.0, "b": 0.0}


def save(state):
    own.mkdir(parents=True, exist_ok=True)
    (own / "next.json").write_text(json.dumps(state))
    (own / "next.json").replace(own / "last.json")


state = load()
print("start", state["step"], flush=True)
while state["step"] < steps:
    x = (state["step"] * 7 % 11) / 11
    error = state["a"] * x + state["b"] - (3 * x + 1)
    state = {"step": state["step"] + 1, "a": state["a"] - rate * error * x, "b": state["b"] - rate * error}
    save(state)
    print("step", state["step"], flush=True)
    time.sleep(0.01)
print("end", state["step"], flush=True)
'''


def pod(history: History) -> tuple[list[str], dict[str, str]]:
    """Command and environment of the training container, as rendered."""
    body: Any = yaml.safe_load(history.file("job-").read_text("utf-8"))
    (container,) = body["spec"]["template"]["spec"]["containers"]
    return container["command"], {one["name"]: one["value"] for one in container["env"] if "value" in one}


def started(history: History) -> subprocess.Popen[str]:
    command, env = pod(history)
    return subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.slow
def test_a_training_continues_after_it_was_stopped_and_edited(history: History, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    volume = tmp_path / "volume"
    history.overlay(OVERLAY)
    history.job(
        f"kind: batch\nimage: a:1\ncommand: {sys.executable} {tmp_path}/train.py\nenv: {{LR: 0.1}}\n"
        f"data: {{nas: {volume}}}\ncheckpoints: {volume}/ckpt\n"
    )
    history.commit()
    first = pod(history)[1]["CHECKPOINT_DIR"]
    training = started(history)
    assert training.stdout is not None
    assert training.stdout.readline() == "start 0\n"
    while training.stdout.readline() != "step 5\n":
        pass
    os.killpg(training.pid, signal.SIGTERM)  # as in pods of an object that an engine deletes after `gen stop`
    assert "end" not in training.communicate()[0]

    assert opened(stop.run(stop.Request(jobs=("demo",), root=history.root)))[1] == 0
    history.commit()
    request = set.Request(jobs="demo", assignments=("env.LR=0.2",), root=history.root)
    assert opened(set.run(request))[1] == 0
    report, code = opened(rerun.run(rerun.Request(jobs=("demo",), resume=True, root=history.root)))
    assert code == 0, text(report)
    plan = history.report()
    (run,) = plan["runs"]
    assert (run["action"], f"{volume}/ckpt/{run['continuesFrom']}") == ("started", first)
    assert f"it continues from `{run['continuesFrom']}`" in plan["changes"][0]["sentence"]
    assert history.codes() == []
    history.commit()

    command, env = pod(history)
    assert env["RESUME_DIR"] == first
    assert env["CHECKPOINT_DIR"] != first
    first_line, *steps, last = started(history).communicate()[0].splitlines()
    begin = int(first_line.removeprefix("start "))
    assert begin >= 5
    assert [*steps, last] == [*(f"step {step}" for step in range(begin + 1, 121)), "end 120"]
    assert command[-1].endswith("train.py")


def container(repo: Repository, name: str = "pytorchjob-demo") -> tuple[dict[str, str], list[dict[str, Any]]]:
    (file,) = (repo.root / "rendered").rglob(f"{name}.yaml")
    body: Any = yaml.safe_load(file.read_text("utf-8"))
    (one,) = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    return {entry["name"]: entry["value"] for entry in one["env"]}, one["volumeMounts"]


def test_the_folders_are_in_variables_expressions_and_a_mount_without_writing(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    command = "python train.py --to {{ run.checkpoints }} --from '{{ run.resume }}'"
    job = JOB.replace("python train.py", command).replace("nas: /data", "nas: {path: /data, subPath: team}")
    repo.job(job)
    assert repo.codes() == []
    env, _ = container(repo)
    name = env["CHECKPOINT_DIR"].removeprefix("/data/ckpt/")
    assert name.startswith("demo-")
    assert "RESUME_DIR" not in env
    repo.job(job + f"resume: {name}\n")
    assert repo.codes() == []
    env, mounts = container(repo)
    assert env["RESUME_DIR"] == f"/data/ckpt/{name}"
    assert env["CHECKPOINT_DIR"] != env["RESUME_DIR"]
    earlier = {"name": "nas", "mountPath": f"/data/ckpt/{name}", "subPath": f"team/ckpt/{name}", "readOnly": True}
    assert earlier in mounts


@for_each(
    ("more", "code"),
    [
        ("checkpoints: /elsewhere\n", "no-checkpoints"),
        ("checkpoints: /scratch/ckpt\n", "no-checkpoints"),
        ("checkpoints: /data/{{ run.id }}\n", "no-checkpoints"),
        ("checkpoints: /read/ckpt\n", "no-checkpoints"),
        ("checkpoints: /own/ckpt\n", "no-checkpoints"),
        ("resume: demo-12345678\n", "no-checkpoints"),
        ("checkpoints: /data/ckpt\nenv: {CHECKPOINT_DIR: /x}\n", "reserved-env"),
        ("checkpoints: /data/ckpt\nresume: demo-12345678\nschedule: 0 3 * * *\n", "invalid-value"),
        ("env: {A: '{{ run.checkpoints }}'}\n", "invalid-expression"),
    ],
)
def test_folders_that_cannot_work(repo: Repository, more: str, code: str) -> None:
    repo.overlay(
        OVERLAY.replace("  scratch", "  own: {size: 1Gi, nas: {server: nas.example.com, path: /z}}\n  scratch")
    )
    data = "{nas: /data, scratch: /scratch, other: {path: /read, readOnly: true}"
    own = ", own: {path: /own, subPath: '{{ run.id }}'}}" if "/own" in more else "}"
    repo.job(f"kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\ndata: {data}{own}\n{more}")
    assert repo.codes() == [code]


@for_each(
    ("base", "hint"),
    [
        ("/elsewhere", "write a directory under a path of `data`: `/data`"),
        ("/read/ckpt", "set `readOnly: false` for it, or use a volume to which the job may write"),
        ("/granted/ckpt", "use a volume to which the job may write"),
    ],
)
def test_a_remedy_names_no_volume_that_cannot_be_written(repo: Repository, base: str, hint: str) -> None:
    more = "  granted: {size: 1Gi, readOnly: true, nas: {server: nas.example.com, path: /z}}\n"
    repo.overlay(OVERLAY.replace("  scratch", f"{more}  scratch"))
    data = "{nas: /data, scratch: /scratch, granted: /granted, other: {path: /read, readOnly: true}}"
    repo.job(f"kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\ndata: {data}\ncheckpoints: {base}\n")
    assert [one.hint for one in repo.check()[0].findings] == [hint]


def test_a_run_that_the_job_never_had_is_refused(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(JOB)
    history.commit()
    name = container(history)[0]["CHECKPOINT_DIR"].removeprefix("/data/ckpt/")
    history.job(JOB + "resume: demo-12345678\n")
    history.rendering()
    (finding,) = history.check()[0].findings
    assert (finding.code, str(finding.place)) == ("unknown-run", "jobs/team/demo.yaml:6:9")
    assert name in str(finding.hint)
    assert ("unknown-run", "error") in history.codes()
    history.job(JOB + f"resume: {name}\n")
    history.rendering()
    assert history.check()[0].findings == ()
    history.job(JOB.replace("nas:", "other:") + f"resume: {name}\n")
    history.rendering()
    finding = history.check()[0].findings[0]
    assert "saved its checkpoints in `nas:ckpt/demo-" in finding.message


def test_a_run_that_starts_from_zero_is_named(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(JOB)
    history.commit()
    history.job(JOB + "env: {LR: 2}\n")
    plan = history.report()
    assert [run["startsFromZero"] for run in plan["runs"]] == [True]
    assert "it starts from zero, although an earlier run has checkpoints" in plan["changes"][0]["sentence"]
    assert "from zero, although an earlier run has checkpoints" in history.report("markdown")


def test_each_run_of_a_sweep_continues_from_its_own(history: History) -> None:
    history.overlay(OVERLAY)
    path = history.job(JOB.replace("train.py", "train.py {{ params.lr }}") + "sweep:\n  matrix: {lr: [0.1, 0.2]}\n")
    history.commit()
    rerun.run(rerun.Request(jobs=("demo",), resume=True, root=history.root))
    entries = yaml.safe_load(path.read_text("utf-8"))["sweep"]["overrides"]
    assert [entry["resume"].rpartition("-")[0] for entry in entries] == ["demo-lr-0p1", "demo-lr-0p2"]
    plan = history.report()
    assert {run["continuesFrom"] for run in plan["runs"]} == {entry["resume"] for entry in entries}
    assert [run.action for run in history.plan().runs] == [RunAction.REPLACED] * 2
    assert history.check()[1] == 0


def test_the_steps_of_a_pipeline_have_folders_of_their_own(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    step = "{kind: batch, command: 'python {{ run.checkpoints }} {{ run.resume }}'}"
    data = "data: {nas: /data}\ncheckpoints: /data/ckpt\nresume: demo-12345678\n"
    after = step.replace("{kind", "{needs: [a], kind", 1)
    repo.job(f"kind: pipeline\nimage: a:1\n{data}steps:\n  a: {step}\n  b: {after}\n")
    assert repo.codes() == []
    (file,) = (repo.root / "rendered").rglob("workflow-demo.yaml")
    rendered = file.read_text("utf-8")
    for name in "ab":
        assert f"/data/ckpt/demo-12345678/{name}" in rendered
    assert "gen/resume: nas:ckpt/demo-12345678" in rendered


def test_a_job_without_checkpoints_cannot_be_resumed(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(JOB.replace("checkpoints: /data/ckpt\n", ""))
    history.commit()
    report, code = opened(rerun.run(rerun.Request(jobs=("demo",), resume=True, root=history.root)))
    assert (code, [one.code for one in report.findings]) == (1, ["cannot-edit"])
    assert "set `checkpoints`" in str(report.findings[0].hint)
