"""Generate a repository of any size: jobs of all kinds with typical settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.job.kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "1.34"
NAMESPACES = 20
FIRST_JOB = "jobs/team-0/job-0.yaml"

OVERLAY = f"""\
kubernetes: "{VERSION}"
defaults: {{sharedMemory: 8Gi, kinds: {{mpi: {{roles: {{launcher: {{cpu: 1, memory: 2Gi}}}}}}}}}}
params: {{lr: 3e-4}}
runtimes: {{torch-distributed: {{}}}}
volumes:
  nas: {{size: 10Gi, nas: {{server: nas.example.com, path: /training}}}}
  training-data: {{claim: training-data}}
networks:
  eni: {{terway: {{version: "1.0.10"}}}}
patches:
  - target: {{kind: MPIJob}}
    patch:
      spec:
        mpiReplicaSpecs:
          Worker:
            template:
              spec:
                containers: [{{name: mpi, env: [{{name: HOROVOD_FUSION_THRESHOLD, value: "67108864"}}]}}]
"""

JOB = """\
kind: {kind}
image: registry.example.com/team/train:1.{index}
command: |
  {launcher} code/project/train.py --lr {{{{ params.lr }}}} --epochs 10 \\
    --data /data --out /logs/{{{{ run.id }}}}
env:
  NCCL_DEBUG: INFO
  SEED: 010
  TOKEN: {{secret: wandb, key: token}}
workers: {workers}
gpus: 8
cpu: 32
memory: 256Gi
code: {{git: "https://example.com/team/project.git", ref: 6c3e1f0a9d2b4c5e8f7a6b1c0d9e8f7a6b5c4d3e}}
data:
  training-data: {{path: /data, readOnly: true}}
  nas: /logs
files:
  /etc/train/config.yaml: |
    model: resnet101
    batch: {index}
tensorboard: {{logdir: /logs}}
network: {network}
"""


_PYTHON = frozenset({"jax", "tensorflow", "xgboost", "ray"})
"""Kinds without a launcher of processes."""


def _launcher(kind: str) -> str:
    if kind == "mpi":
        return "mpirun --bind-to none python"
    if kind == "paddle":
        return "python -m paddle.distributed.launch"
    return "python" if kind in _PYTHON else "torchrun --nproc_per_node=8"


def make_repository(root: Path, size: int) -> str:
    """Write the inputs, and return the file of one job."""
    overlay = root / "overlays/cluster/overlay.yaml"
    overlay.parent.mkdir(parents=True)
    overlay.write_text(OVERLAY, "utf-8")
    kinds = sorted(name for name, model in KINDS.items() if "steps" not in model.model_fields)  # these consist of jobs
    for index in range(size):
        path = root / f"jobs/team-{index % NAMESPACES}/job-{index}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        network = "eni" if index % 3 == 0 else "pod"
        kind = kinds[index % len(kinds)]
        text = JOB.format(kind=kind, index=index, workers=2 + index % 4, network=network, launcher=_launcher(kind))
        path.write_text(_supported(text, kind), "utf-8")
    return FIRST_JOB


def _supported(job: str, kind: str) -> str:
    """The job without fields that its kind does not have; each of these is one line."""
    left_out = tuple(f"{field}:" for field in KINDS[kind].unsupported_fields())
    return "".join(line for line in job.splitlines(keepends=True) if not line.startswith(left_out))
