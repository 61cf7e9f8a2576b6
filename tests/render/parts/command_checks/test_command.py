"""Warnings about commands can be silenced with a reason, and unknown values have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gen.base.findings import Severity
from tests.cases import for_each
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
        "python run_benchmark.py --tp_size 1 2",
        "python run_benchmark.py --backend vllm",
        "python tools/run_distributed_engines.py config=a",
        "python submitit_pretrain.py --nodes 8",
        "python train.py /tmp/data --arch transformer --criterion cross_entropy",
        "python train.py --gin_file=base.gin",
        "python train.py --help",
        "python setup.py bdist_wheel",
        "python scripts/merge_lora_weights.py --model_path a",
        "torchrun train.py --separator = --lr 0.1",
        "torchrun train.py || { echo failed; exit 1; }",
        "torchrun train.py || echo failed && exit 1",
        "torchrun --rdzv_backend=own --rdzv_endpoint=$PET_MASTER_ADDR train.py",
        "wget 'https://example.com/a?max_tokens=123456789&pad_token=a1b2c3d4e5f6a1b2c3' && torchrun train.py",
        'wget "https://example.com/a?access_token=$TOKEN" && torchrun train.py',
        "export NCCL_SOCKET_IFNAME=eth0; torchrun train.py",
        "export NCCL_SOCKET_IFNAME=^lo,docker; torchrun train.py",
        "export NCCL_SOCKET_IFNAME=ens5,eth0; torchrun train.py",
    ],
)  # fmt: skip
def test_a_command_that_may_be_right_has_no_finding(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, f"command: |\n  {command}\n") == []


def test_a_path_that_an_image_may_have_is_not_a_misspelt_one(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path)
    repo.overlay(f"{OVERLAY}\nvolumes: {{nas: {{claim: nas}}, other: {{claim: other}}}}\n")
    commands = (
        "python /opt/trains.py --data /data2 --model /model --old /dat --own /usr/lib",
        "mkdir -p /dta && python /opt/train.py --data /dta",
        "python /opt/train.py --data $ROOT/dta --url https://dta --x a/dta",
    )
    mounts = "data: {nas: /data, other: /models}\nfiles: {/opt/train.py: a, /user/lib/x: a}\ngpus: 1\nworkers: 1\n"
    for number, command in enumerate(commands):
        repo.job(f"kind: batch\nimage: a:1\ntimeout: 1h\n{mounts}command: {command}\n", f"demo-{number}")
    repo.job(f"kind: batch\nimage: a:1\ntimeout: 1h\n{mounts}command: [python, --data=/dta]\n", "listed")
    found = [(str(one.place), one.hint) for one in repo.render()[0].findings if one.code == "similar-path"]
    assert found == [("jobs/team/listed.yaml:8:19", "did you mean `/data`?")]


@pytest.mark.parametrize(
    "command",
    [
        "mpirun -n 4 python a.py : -n 4 python b.py",
        "mpirun -np 8 -H demo-worker-0:4,demo-worker-1:4 python train.py",
        "mpirun -np 8 -H node1.example.com:4,10.0.0.2:4 python train.py",
        "mpirun -np 8 -H $HOSTS python train.py",
    ],
)
def test_a_command_of_mpi_that_may_be_right_has_no_finding(tmp_path: Path, command: str) -> None:
    repo = Repository.at(tmp_path)
    repo.job(f"{JOB.replace('pytorch', 'mpi')}roles: {{launcher: {{cpu: 1, memory: 1Gi}}}}\ncommand: |\n  {command}\n")
    assert repo.codes() == []


@for_each(
    ("fields", "found"),
    [
        ("command: fleetrum train.py\n", "cannot-start"),
        ("command: pip install x\n  fleetrun train.py\n", "joined-lines"),
        (
            "kind: mpi\nroles: {launcher: {cpu: 1, memory: 1Gi}}\ncommand: python -m paddle.distributed.launch a.py\n",
            "no-launcher",
        ),
    ],
)
def test_every_launcher_of_the_registry_is_known(tmp_path: Path, fields: str, found: str) -> None:
    repo = Repository.at(tmp_path)
    repo.job((JOB.replace("kind: pytorch\n", "") if "kind" in fields else JOB) + fields)
    assert found in repo.codes()


@pytest.mark.parametrize(
    "settings",
    ["", "network: host\n", "annotations: {k8s.v1.cni.cncf.io/networks: rdma}\n"],
)
def test_an_interface_of_nodes_is_one_of_pods_with_another_network(tmp_path: Path, settings: str) -> None:
    found = codes(tmp_path, f"command: torchrun train.py\nenv: {{NCCL_SOCKET_IFNAME: ens5}}\n{settings}")
    assert ("no-rendezvous" in [code for code, _ in found]) == (not settings)


def test_many_findings_of_one_code_are_one(tmp_path: Path) -> None:
    lines = [f"torchrun train.py --output_dir /results/{number}" for number in range(6)]
    repo = Repository.at(tmp_path)
    for count, first in ((5, ""), (6, " (the first of 6 of this sort)")):
        repo.job(f"{JOB}command: |\n  set -e\n" + "".join(f"  {line}\n" for line in lines[:count]))
        messages = [finding.message for finding in repo.render()[0].findings]
        assert len(messages) == (1 if first else count)
        assert all(message.endswith(f"deleted with the pod{first}") for message in messages)


def test_every_error_is_reported_at_its_place(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path)
    lines = "".join(f"  torchrun --nproc-per-node=0 train{number}.py\n" for number in range(7))
    repo.job(f"{JOB}command: |\n  set -e\n{lines}")
    errors = [finding for finding in repo.render()[0].findings if finding.is_error]
    assert [finding.place.line for finding in errors] == [*range(errors[0].place.line, errors[0].place.line + 7)]


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
