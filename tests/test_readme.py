"""The commands of the README work one after the other, and its outputs and tables are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gen.base.codes.commands import SILENCEABLE
from gen.commands import COMMANDS
from gen.commands.new import job_text
from gen.job.launchers import launches
from gen.job.script import read_script
from gen.report.findings.text import text
from gen.report.formats import REPORTERS
from tests.support import PROJECT, Repository, first_job

README = (PROJECT / "README.md").read_text("utf-8")


def block(marker: str) -> str:
    """The commands below a marker."""
    (found,) = re.findall(rf"(?s)<!-- command: {marker} -->\n```sh\n(.*?)```", README)
    return str(found)


def output(text: str) -> str:
    """The block without a language that contains the text."""
    blocks = re.findall(r"(?sm)^```(\w*)\n(.*?)^```$", README)
    (found,) = [block for language, block in blocks if not language and text in block]
    return str(found)


def test_the_first_job_trains_on_all_of_its_gpus(repo: Repository) -> None:
    """`tests/launchers` runs its command in its pods."""
    repo.overlay('kubernetes: "1.34"\nvolumes: {nas: {claim: nas}}\n')
    repo.job(first_job(), "mnist")
    findings = {one.code for one in repo.render()[0].findings}
    assert not findings & SILENCEABLE
    spec = repo.one("PyTorchJob")["spec"]
    assert sum(role["replicas"] for role in spec["pytorchReplicaSpecs"].values()) == 3
    assert spec.get("nprocPerNode", "auto") == "auto"  # `torchrun` counts the GPUs of each pod
    (launch,) = launches(read_script("torchrun code/mnist/train.py").programs[0].words)
    assert first_job().splitlines()[2] == "command: torchrun code/mnist/train.py"
    assert launch.options == {}


@pytest.mark.slow
def test_a_repository_is_started_and_gets_a_job(tmp_path: Path) -> None:
    script = "\n".join(block(marker) for marker in ("start", "add", "set"))
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "EDITOR": "test -f",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    command = ["bash", "-euo", "pipefail", "-c", f"{script}\ngen render\ngit log --format=%s"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("attempt set to 2", "state set to finished", "changed 2 of 2 job files", "Add my-job\nStart\n"):
        assert line in done.stdout
    (folder,) = re.findall(r"# writes (\S+)", block("add"))
    assert list((tmp_path / "my-jobs" / folder).iterdir())


def test_the_finding_is_that_of_gen(repo: Repository) -> None:
    shown = output("[unknown-volume]")
    (place, overlay) = re.findall(r"^(\S+\.yaml):11:8: .* overlay `(\w+)`", shown)[0]
    repo.write(place, job_text("pytorch", with_schema=True).partition("\n\n")[0] + "\ndata: {trainnig-data: /data}\n")
    (repo.root / "overlays/dev").rename(repo.root / f"overlays/{overlay}")
    repo.overlay('kubernetes: "1.34"\nvolumes: {training-data: {claim: a}}\n', name=overlay)
    assert shown in text(repo.render()[0])


def test_the_plan_is_an_excerpt_of_the_example() -> None:
    shown = output("$ gen plan\n").removeprefix("$ gen plan\n")
    whole = (PROJECT / "docs/plan.md").read_text("utf-8").splitlines()
    assert [line for line in shown.splitlines() if line != "…" and line not in whole] == []


def test_the_tables_and_lists_are_complete() -> None:
    assert sorted(re.findall(r"^\| `gen (\w+)", README, re.MULTILINE)) == sorted(COMMANDS)
    (formats,) = re.findall(r"`--output (\w+(?:\|\w+)+)`", README)
    assert ["text", *formats.split("|")] == list(REPORTERS)
