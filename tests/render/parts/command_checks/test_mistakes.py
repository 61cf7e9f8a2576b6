"""Mistakes in commands that were silent once, each with the case that has its text and its remedy."""

from __future__ import annotations

import re

from gen.base.codes import Code, commands
from gen.base.codes.jobs import SECRET_VALUE
from tests.error_cases import error_case, error_cases
from tests.support import HERE

SILENT = {
    "an option in the next line": ("command-cut-before-an-option", "ends without `\\`"),
    "an option in the next line of a folded text": ("command-cut-in-a-folded-text", "ends without `\\`"),
    "a blank behind the backslash": ("command-cut-by-a-blank-behind-the-backslash", "not its last character"),
    "--nproc_per_node=8 with gpus: 4": ("more-processes-than-gpus", "starts 8 processes on each pod"),
    "--nnodes=4 with workers: 2": ("more-pods-than-workers", "waits for 4 pods, and the job has 2"),
    "mpirun -np 32 on 16 slots": ("more-ranks-than-slots", "starts 32 processes, and the workers have 16 slots"),
    "mpi without mpirun": ("mpi-without-mpirun", "the workers wait"),
    "--master_addr=localhost": ("master-at-localhost", "waits for the others at its own address"),
    "--rdzv_endpoint=$(hostname)": ("rendezvous-at-its-own-name", "waits for the others at its own address"),
    "CUDA_VISIBLE_DEVICES=0,…,7 with 4 GPUs": ("more-visible-devices-than-gpus", "more GPUs than the 4"),
    "gpus: 8 and python train.py": ("one-process-for-several-gpus", "trains on one of the 8 GPUs"),
    "code that the command does not use": ("code-that-the-command-does-not-use", "does not use the code"),
    "code/mnist_pytorch for mnist-pytorch": ("code-with-another-folder", "has no `mnist_pytorch`"),
    "--output-dir /results": ("output-on-no-volume", "`/results` is not on a volume"),
    "/root/code in an image of another user": ("code-in-a-folder-of-root", "cannot enter `/root`"),
    "export WANDB_API_KEY=…": ("secret-that-the-command-exports", "`WANDB_API_KEY` is a secret"),
    "AWS_SECRET_ACCESS_KEY=… python": ("secret-before-a-program", "`AWS_SECRET_ACCESS_KEY` is a secret"),
    "--password x": ("secret-as-an-option", "`--password` is a secret"),
    "a token in code.git": ("token-in-the-url-of-code", "set `credentials` to a Secret"),
    "gpuModel: A100 where nodes are called otherwise": ("gpu-model-without-its-product", "no node is labelled"),
    "steps without needs": ("pipeline-without-an-order", "none has `needs`"),
    "0.1, 0.10 and 1e-1 in a sweep": ("sweep-of-equal-numbers", "the number `0.1` twice"),
}
"""By the mistake: the case, and a part of its output. `test_scripts` has those about signals."""
SIBLINGS = {
    "an option that the launcher does not have": ("options-that-launchers-refuse", "has no option"),
    "--nproc_per_node=gpu without GPUs": ("processes-by-gpus-without-gpus", "the pods have no GPUs"),
    "a port that the kind reserves": ("port-of-the-head", "port 6379 is that of the head"),
    "nohup … &": ("command-in-the-background", "runs in the background"),
    "sudo": ("sudo-in-a-command", "`sudo` does not work in a pod"),
    "srun": ("srun-in-a-command", "`srun` does not work in a pod"),
    "docker run": ("docker-in-a-command", "`docker run` does not work in a pod"),
    "scontrol": ("hosts-by-scontrol", "`scontrol show` does not work in a pod"),
    "$SLURM_NODEID": ("variable-of-slurm", "only Slurm sets `SLURM_NODEID`"),
    "conda activate without a hook": ("conda-without-its-hook", "does not load the hook of conda"),
    "cd into a folder that the code does not have": ("code-with-another-folder-to-enter", "has no `mnist`"),
    "a failing line of several": ("failure-that-is-ignored", "goes on when `pip` fails"),
    "a pipe that hides a failure": ("failures-that-a-pipe-hides", "the pipe ends with"),
    "a configuration of accelerate": ("configuration-of-accelerate", "`num_processes` of the configuration is 4"),
    "[crane, auth, login, -p, x]": ("passwords-in-lists-and-files", "`docker login -p` gets a literal password"),
    "cd … && srun": ("srun-behind-another-program", "`srun` does not work in a pod"),
    "a failure in a pipe before the last line": ("failures-before-a-pipe", "`[bash, -eo, pipefail, -c, …]`"),
    "a failure in a loop": ("failures-in-a-loop", "the loop goes on when `torchrun` fails"),
    "--output_dir runs beside the code": ("outputs-beside-the-code", "`runs/first` in `/root/code/project` is not on"),
    "an output behind ray job submit": ("outputs-behind-other-words", "`/results` is not on a volume"),
    "bash scripts/train.sh outside of the code": ("script-of-the-shell-outside-of-the-code", "does not use the code"),
    "bash torchrun train.py": ("launchers-that-a-shell-reads", "reads `torchrun` as a script of the shell"),
    "-nproc_per_node=4": ("option-with-one-dash", "has no option `-nproc_per_node`"),
    "$ torchrun train.py": ("commands-copied-from-a-page", "`$` is the prompt of a terminal"),
    "# torchrun train.py": ("command-of-comments", "has only comments"),
    "a value behind a blank behind the backslash": ("command-cut-before-a-value", "the command ends at this"),
    "--nnodes=$NNODES without the variable": ("variables-that-nothing-sets", "nothing sets `NNODES`"),
    "accelerate config": ("programs-that-ask-for-values", "`accelerate config` asks for values"),
    "ARGS=--lr 0.1": ("values-that-end-at-a-space", "the value of `ARGS` ends at the space"),
    "pip install torch>=2.4": ("versions-that-a-shell-reads", "so that `pip` gets no version"),
    "sleep infinity behind the training": ("gpus-kept-after-the-training", "`sleep` keeps the GPUs"),
    "an output on a read-only volume": ("output-on-a-read-only-volume", "is on a read-only volume"),
    "deepspeed --num_nodes 2": ("deepspeed-with-nodes-but-no-hosts", "each of the 2 pods trains alone"),
    "pip install -r requirements.txt": ("requirements-outside-of-the-code", "`pip` does not use the code"),
    "NCCL_SOCKET_IFNAME=ens5": ("interface-of-the-nodes", "`ens5` is an interface of nodes"),
    "mpirun -H node1:4": ("mpi-hosts-that-are-no-workers", "`node1`, which is not a worker of the run"),
    "|| echo failed": ("failure-that-echo-hides", "because `echo` ends the command"),
    "--lr = 0.1": ("option-with-spaces-around-its-equals-sign", "`--lr` gets the value `=`"),
    "--rdzv_backend=c10": ("backend-of-the-rendezvous-misspelt", "did you mean `c10d`?"),
    "wget https://…?access_token=x": ("secrets-in-urls-and-arguments-of-commands", "`access_token` is a secret"),
    "curl https://me:x@…": ("secrets-in-urls-and-arguments-of-commands", "download.yaml:6:11: error: this looks like"),
    "[--wandb_api_key, x] in args": ("secrets-in-urls-and-arguments-of-commands", "`--wandb_api_key` is a secret"),
    "many outputs on no volume": ("many-outputs-on-no-volume", "the first of 6 of this sort"),
    "/opt/tran.py for /opt/train.py": ("path-with-a-missing-letter", "has no file or volume at `/opt/tran.py`"),
    ".pgpass in files": ("passwords-in-lists-and-files", "`.pgpass` gets a literal password"),
}
"""Mistakes of the same sort. A program that buffers its output is none: training containers have the variable."""
WORKS = (
    "batch-with-ranks/rendered",
    "jobset-with-ranks/rendered",
    "patches-of-pods/rendered/dev/jobs/team/volcano",
    "declared-kind-that-never-ends/rendered",
)
"""Golden files in which `torchrun` alone trained in each pod for itself, and finds the other pods now."""
_CODES = {one.name for one in vars(commands).values() if isinstance(one, Code)} | {SECRET_VALUE.name}
_FINDING = re.compile(r"(?m)^\S+:\d+:\d+: (?:error|warning): (.*) \[([\w-]+)\]$")


def test_each_silent_mistake_has_a_case_with_its_remedy() -> None:
    table = SILENT | SIBLINGS
    cases = {mistake: error_case(name) for mistake, (name, _) in table.items()}
    assert {mistake for mistake, case in cases.items() if table[mistake][1] not in case.expected} == set()
    assert {mistake for mistake, case in cases.items() if case.remedied == case.inputs} == set()


def test_torchrun_finds_the_other_pods_of_each_kind_with_ranks() -> None:
    texts = {
        case: "".join(path.read_text("utf-8") for path in (HERE / "golden" / case).rglob("*.yaml")) for case in WORKS
    }
    assert {case for case, text in texts.items() if "PET_NNODES" not in text or "PET_MASTER_ADDR" not in text} == set()


def test_sixty_siblings_have_cases_with_remedies() -> None:
    silent = {name for name, _ in SILENT.values()}
    found = {
        (case.name, message)
        for case in error_cases()
        for message, code in _FINDING.findall(case.expected)
        if code in _CODES and case.name not in silent and case.remedy
    }
    assert len(found) >= 60
