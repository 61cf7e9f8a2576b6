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
        "accelerate launch --num_machines 2 --machine_rank $R --main_process_ip $M --num_processes 8 train.py",
        "accelerate launch --num_machines 2 --config_file a.yaml --num_processes 8 train.py",
        "torchrun --nnodes=2 --node_rank=0 --rdzv_backend=c10d --rdzv_endpoint=$PET_MASTER_ADDR:29400 train.py",
        "torchrun --no_python bash run.sh",
        "accelerate launch --num_machines 2 --machine_rank $R --main_process_ip $M --rdzv_backend c10d train.py",
        'if [ -n "$SLURM_SUBMIT_DIR" ]; then cd $SLURM_SUBMIT_DIR; fi; torchrun train.py',
        'if [ -n "${SLURM_LOCALID-}" ] && [ "${SLURM_NTASKS}" -gt 1 ]; then exit 1; fi; torchrun train.py',
        ': "${LOCAL_RANK:=${SLURM_LOCALID}}"; torchrun train.py',
        "DS_CONFIG=a.json; torchrun train.py",
        "ldconfig; torchrun train.py",
        "horovodrun -H $HOSTS python train.py",
        "python /usr/local/bin/torchrun train.py",
        "uv run torchrun train.py",
        "echo 'To repeat it:\n  ```\n  $ python train.py\n  ```\n  ' > /tmp/README.md; torchrun train.py",
        "wget -q 'https://example.com/a?b=1&c=2' && torchrun train.py",
        "set -e; NCCL_DEBUG=INFO; export NCCL_DEBUG; torchrun train.py",
        "set -e; export NCCL_DEBUG=INFO; torchrun train.py",
        "set -e; OMP_NUM_THREADS=4; torchrun train.py --threads $OMP_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES=0,1 python a.py --gpu 0 & CUDA_VISIBLE_DEVICES=2,3 python b.py --gpu 1 & wait",
        "set -e; ls | tee /tmp/files; torchrun train.py",
        "exec > /tmp/log; torchrun train.py",
        "set -e; cd /work; exec torchrun train.py",
        "apt-get install -qq vim && torchrun train.py",
        "yes | apt-get install vim && torchrun train.py",
        "conda create -n x python=3.12 -y && torchrun train.py",
        "if [ -d /a ]; then echo a; fi; torchrun train.py",
        "ipython train.py --parallel",
        "torchtune train --parallel",
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
        "export API_KEY=sk-xxxxxxxxxxxx; torchrun train.py",
        "command -v srun && srun torchrun train.py",
        "which -s srun && cd /work && srun torchrun train.py",
        "[ -x /usr/bin/srun ] && srun torchrun train.py",
        "srun torchrun train.py || torchrun train.py",
        "cd /work && srun torchrun train.py || torchrun train.py",
        "cd /work && if [ -x /a ]; then srun true; fi && torchrun train.py",
        "nodes=$(which srun) && srun torchrun train.py",
        ': "${SLURM_JOB_ID:=0}"; torchrun train.py --id $SLURM_JOB_ID',
        "torchrun train.py --resume /a/last.pt --load-dir /b --init_checkpoint /c --checkpoint_path /d.pt",
        "torchrun evaluate.py --checkpoint_dir /models/a --output_dir /tmp/out",
        "python prepare.py; trap 'touch /tmp/failed' ERR; torchrun train.py",
        "NNODES=$(cat /etc/nodes); torchrun --nnodes=$NNODES --node_rank=$RANK train.py",
        "accelerate config default && accelerate launch train.py",
        "pip install 'numpy<2' \"torch>=2.4\" > /tmp/log 2>&1 && torchrun train.py",
        "LR=0.1 torchrun train.py",
        "set -e; torchrun train.py & tensorboard --logdir /tmp/logs",
        "deepspeed --no_ssh --num_nodes=2 --node_rank=$R --master_addr=$M train.py",
        "cp -r /opt/base /tmp/out && torchrun train.py --output_dir out && cp -r out /tmp/out",
        "wandb login $WANDB_API_KEY && torchrun train.py",
        "wandb login || true; torchrun train.py",
        "huggingface-cli login --token $HF_TOKEN && torchrun train.py",
        "for i in 1 2 3; do torchrun train.py && break; done",
        "for i in 1 2 3; do torchrun train.py || exit 1; done",
        "set -e; for i in 1 2 3; do torchrun train.py --seed $i; done",
        "until torchrun train.py; do sleep 1; done",
        "torchrun train.py --output_dir out && cp -r out /tmp/out",
        "torchrun evaluate.py --results_dir=out",
        "torchrun train.py --output_dir s3://bucket/out --log_dir none",
        "bash -x run.sh --lr 0.1",
        "torchrun train.py --pattern 'a \\ b' --name x\\ y",
        "torchrun train.py --price '$ 3'",
    ],
)  # fmt: skip
def test_a_command_that_may_be_right_has_no_finding(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, f"command: |\n  {command}\n") == []


def test_a_script_in_the_arguments_of_a_shell_is_read(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path)
    repo.overlay(OVERLAY)
    repo.job(f"{JOB}command: [bash, -c]\nargs:\n- |\n  set -ex\n  torchrun train.py\n")
    assert list(repo.render()[0].findings) == []
    repo.job(f"{JOB}command: [bash, -c]\nargs:\n- |\n  set -ex\n  srun torchrun train.py\n")
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.place.line, finding.place.column) == ("not-in-a-pod", 10, 3)
    repo.job(f"{JOB}command: [bash, -c]\nargs: [torchrun, train.py]\n")
    columns = {finding.place.column: finding.code for finding in repo.render()[0].findings}
    assert columns == {8: "cannot-start", 18: "cannot-start"}


def test_options_between_c_and_the_script_are_not_the_script(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path)
    repo.overlay(OVERLAY)
    for options in ("-c, --", "-c, -e", "-c, -e, --"):
        repo.job(f"{JOB}command: [bash, {options}]\nargs: [torchrun train.py]\n")
        assert list(repo.render()[0].findings) == []
        repo.job(f"{JOB}command: [bash, {options}, srun torchrun train.py]\n")
        assert [finding.code for finding in repo.render()[0].findings] == ["not-in-a-pod"]
