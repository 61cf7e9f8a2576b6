"""Warnings about commands can be silenced with a reason, and unknown values have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gen.base.findings import Severity
from tests.support import OVERLAY, Repository

JOB = """\
kind: pytorch
image: registry.example.com/train:1
timeout: 1h
workers: 2
gpus: 4
"""


def codes(tmp_path: Path, text: str) -> list[tuple[str, Severity]]:
    repo = Repository.at(tmp_path)
    repo.overlay(OVERLAY)
    repo.job(f"{JOB}{text}")
    return [(finding.code, finding.severity) for finding in repo.render()[0].findings]


def test_an_annotation_with_a_reason_silences_a_warning(tmp_path: Path) -> None:
    command = "command: python train.py\n"
    assert codes(tmp_path / "a", command) == [("idle-gpus", Severity.WARNING)]
    silence = 'annotations: {gen/ignore-idle-gpus: "it starts its own processes"}\n'
    assert codes(tmp_path / "b", command + silence) == [("idle-gpus", Severity.NOTE)]
    unexplained = codes(tmp_path / "c", command + 'annotations: {gen/ignore-idle-gpus: ""}\n')
    assert ("invalid-label", Severity.ERROR) in unexplained


@pytest.mark.parametrize(
    "command",
    [
        "torchrun --nproc_per_node=$N --nnodes=$M train.py",
        "torchrun --nproc_per_node=${N:-8} train.py",
        "torchrun --nnodes=$(cat nodes) train.py",
        "torchrun $OPTIONS train.py",
        "python train.py --multiprocessing-distributed",
        "bash run.sh --lr 0.1",
        "set -e; pip install x; torchrun train.py",
        "pip install x && torchrun train.py",
        "cd src || exit 1; torchrun train.py",
        "tensorboard --logdir /tmp & torchrun train.py",
        "torchrun train.py & wait",
        "if [ -d /x ]; then sudo true; fi; torchrun train.py",
        'eval "$(conda shell.posix hook)"; conda activate a && torchrun train.py',
        "torchrun train.py --output_dir /tmp/out",
        "torchrun train.py --output_dir $OUT",
        "torchrun train.py --rank ${SLURM_PROCID:-0}",
        "if broken (",
        "accelerate launch --num_machines 2 --num_processes 8 train.py",
        "torchrun --nproc_per_node=gpu train.py",
        "torchrun --nnodes=1:4 train.py",
        "bash -c 'torchrun --nproc_per_node=$N train.py'",
        'bash -lc "torchrun --nproc_per_node=4 train.py"',
        "torchrun train.py  # as with $SLURM_PROCID",
        ". /opt/conda/bin/activate && conda activate a && torchrun train.py",
        "if [ -e /a ]; then export CUDA_VISIBLE_DEVICES=0,1; fi; torchrun train.py",
        "f() { date; }; f; torchrun train.py",
        "set -e; python prepare.py; torchrun train.py",
        "torchrun train.py --initializer_token=toy --placeholder_token='<cat-toy>'",
        "torchrun train.py --secret HF_TOKEN=team_HF_TOKEN",
        "export HF_TOKEN='<Your Token>'; torchrun train.py",
    ],
)  # fmt: skip
def test_a_command_that_may_be_right_has_no_finding(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, f"command: |\n  {command}\n") == []
