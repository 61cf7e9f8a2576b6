"""A week of experiments in a new repository: all edits are verbs, and each day is rendered, committed and merged."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gen.cli import app
from tests.history import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

VOLUME = "volumes:\n  nas: {size: 1Ti, nas: {server: nas.example.com, path: /team}}\n"
URL = "https://git.example.com/ml/training.git"
ENGINES = {
    "argocd": f"gitops: {{argocd: {{repoURL: {URL}}}}}\n",
    "flux": f"gitops: {{flux: {{repoURL: {URL}, serviceAccount: training}}}}\n",
}
COMMAND = "command=python train.py --lr {{ params.lr }}"
DAYS = (
    (("set", "net", COMMAND, "params.lr=0.1", "gpus=1", "data.nas=/data", "checkpoints=/data/saved"),),
    (("set", "net", "sweep.matrix.lr=[0.1, 0.01, 0.001]"),),
    (("stop", "net", "--when", "lr=0.1"), ("rerun", "net", "--when", "lr=0.001", "--resume")),
    (("suspend", "net"), ("list", "net")),
    (("resume", "net"), ("set", "net", "env.NCCL_DEBUG=WARN")),
    (("finish", "net", "--when", "lr=0.01"),),
    (("stop", "net"), ("list", "net", "--state", "stopped")),
)
STARTED = (1, 3, 1, 0, 2, 0, 0)
"""Runs that each day starts: the stopped one never again."""


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *SETTINGS, "-C", root, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pytorch", "ray", "jobset"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_week_needs_no_edit_by_hand(kind: str, engine: str, tmp_path: Path) -> None:
    root = tmp_path / "ml"

    def gen(*arguments: str, inside: bool = True) -> str:
        done = CliRunner().invoke(app, [*arguments, *(["--root", str(root)] if inside else [])], catch_exceptions=False)
        assert done.exit_code == 0, f"{arguments}\n{done.output}"
        return done.output

    gen("init", str(root), "--overlay", "prod", inside=False)
    overlay = root / "overlays/prod/overlay.yaml"
    overlay.write_text(overlay.read_text("utf-8") + VOLUME + ENGINES[engine], "utf-8")
    git(root, "init", "--quiet", "--initial-branch", "main")
    gen("render")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Start")
    git(root, "switch", "--quiet", "--create", "week")
    gen("new", kind, "net")
    unset = [name for name in ("code", "workers") if f"\n{name}:" in (root / "jobs/team-a/net.yaml").read_text("utf-8")]
    started = []
    for number, commands in enumerate(DAYS):
        for command in commands:
            gen(*command, *(part for name in unset for part in ("--unset", name) if not number))
        gen("render")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", f"Day {number}")
        first = gen("plan", "--base", "main").splitlines()[0]
        assert first.startswith("no errors: ")
        words = first.removeprefix("no errors: ").split()
        started.append(int(words[0]) if words[0] != "no" else 0)
        gen("check")
        git(root, "switch", "--quiet", "main")
        git(root, "merge", "--quiet", "--ff-only", "week")
        git(root, "switch", "--quiet", "week")
    assert tuple(started) == STARTED
