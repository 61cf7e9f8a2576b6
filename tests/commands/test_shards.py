"""The examples of docs/ci.md for checks on several machines: their shell runs in a clone for each machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.history import JOB, History

PARTS = 4
GEN = Path(sys.executable).with_name("gen")
CI = Path("gen/templates/init/ci").resolve()
SETUP = f'mkdir -p "$1/bin" && ln -s {GEN} "$1/bin/gen"\n'
"""Instead of an installation from an index."""
BROKEN = JOB + "gpu: 8\n"

pytestmark = pytest.mark.slow


def example(marker: str) -> Any:
    """The example in the page that contains a text."""
    page = Path("docs/ci.md").read_text("utf-8")
    blocks = (block.partition("\n```")[0] for block in page.split("```yaml\n")[1:])
    # the anchor is in the file of GitLab, which the example extends
    return yaml.safe_load(next(block for block in blocks if marker in block).replace("- *base", "- base"))


BOTH = pytest.mark.parametrize("history", ["valid", "broken"], indirect=True)


@pytest.fixture
def history(request: pytest.FixtureRequest, tmp_path: Path) -> History:
    history = History.at(tmp_path / "repo")
    history.git("init", "--quiet", "--initial-branch", "main")
    for index in range(9):
        history.job(JOB, name=f"job-{index}")
    assert history.render()[1] == 0
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "base")
    history.git("checkout", "--quiet", "-b", "change")
    history.job(BROKEN if getattr(request, "param", "valid") == "broken" else JOB, name="added")
    history.render()
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "change")
    return history


def machine(history: History, name: str) -> Path:
    """A new clone of the change."""
    clone = history.root.parent / name
    history.git("clone", "--quiet", str(history.root), str(clone))
    return clone


def run(shell: list[str], clone: Path, **variables: str | Path) -> subprocess.CompletedProcess[str]:
    path = f"{GEN.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(shell, cwd=clone, env=environment, capture_output=True, text=True, check=False)


def judged(history: History, done: subprocess.CompletedProcess[str]) -> None:
    """All parts were found, and the error of one of them is the result."""
    broken = "gpu: 8" in (history.root / "jobs/team/added.yaml").read_text("utf-8")
    assert done.returncode == int(broken), done.stdout + done.stderr
    assert ("jobs/team/added.yaml:7:1" in done.stdout) == broken


@BOTH
def test_the_example_for_github(history: History) -> None:
    job = example("matrix: {part:")["shard"]
    assert job["strategy"]["matrix"]["part"] == [*range(1, PARTS + 1)]
    script, upload = job["steps"][0]["run"], job["steps"][1]["with"]["path"]
    shards = history.root.parent / "shards"
    shards.mkdir()
    for part in range(1, PARTS + 1):
        clone, temporary = machine(history, f"part-{part}"), history.root.parent / f"runner-{part}"
        (temporary / "base/ci").mkdir(parents=True)
        (temporary / "base/ci/setup.sh").write_text(SETUP)
        own = script.replace("${{ matrix.part }}", str(part))
        done = run(["bash", "-eo", "pipefail", "-c", own], clone, RUNNER_TEMP=temporary)
        assert done.returncode == 0, done.stderr
        file = upload.replace("${{ matrix.part }}", str(part)).replace("${{ runner.temp }}", str(temporary))
        shutil.copy(file, shards)
    whole = machine(history, "whole")
    judged(history, run(["bash", str(CI / "check.sh"), "origin/main"], whole, GEN=GEN, SHARDS=shards))


def test_the_example_for_gitlab(history: History) -> None:
    job = example("CI_NODE_INDEX")["shard"]
    environment, whole = history.root.parent / "environment", machine(history, "whole")
    (history.root.parent / "setup.sh").write_text(SETUP)
    run(["sh", str(history.root.parent / "setup.sh"), str(environment)], whole)
    script = "".join(f"\n{line}" for line in job["script"]).replace("\n/tmp/environment", f"\n{environment}")
    for part in range(1, job["parallel"] + 1):
        clone = machine(history, f"part-{part}")
        numbers = {"CI_NODE_INDEX": str(part), "CI_NODE_TOTAL": str(job["parallel"])}
        done = run(["bash", "-eo", "pipefail", "-c", script], clone, **numbers)
        assert done.returncode == 0, done.stderr
        for folder in job["artifacts"]["paths"]:
            shutil.copytree(clone / folder, whole / folder, dirs_exist_ok=True)
    judged(history, run(["bash", str(CI / "check.sh"), "origin/main"], whole, GEN=GEN, SHARDS="gen-report"))


def test_the_example_for_argo_workflows(history: History) -> None:
    templates = {one["name"]: one for one in example("generateName: gen-check-")["spec"]["templates"]}
    sequence = templates["check"]["steps"][0][0]["withSequence"]
    shards, part = history.root.parent / "shards", templates["part"]
    shards.mkdir()
    for number in range(int(sequence["start"]), int(sequence["end"]) + 1):
        clone, file = machine(history, f"part-{number}"), history.root.parent / f"{number}.json"
        command = [
            one.replace("{{inputs.parameters.part}}", str(number)).replace(" /tmp/part.json", f" {file}")
            for one in part["container"]["command"]
        ]
        assert run(command, clone).returncode == 0
        key = part["outputs"]["artifacts"][0]["s3"]["key"].replace("{{inputs.parameters.part}}", str(number))
        shutil.copy(file, shards / Path(key).name)
    command = [one.replace("/shards", str(shards)) for one in templates["whole"]["container"]["command"]]
    judged(history, run(command, machine(history, "whole")))
