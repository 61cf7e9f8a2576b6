"""Finding codes for the programs that a job runs. Authors of jobs can silence the warnings, with a reason."""

from __future__ import annotations

from typing import Final

from gen.base.codes import Code, FatalCode

CUT_COMMAND = FatalCode(
    "cut-command",
    "A line of a command starts with an option, `name=value` or a script of Python, which is not a program.",
    "The shell runs the line before without it, and then fails with exit code 127: the line before does not go on.",
    "End the line before with `\\`, and nothing behind it.",
)
CANNOT_START = Code(
    "cannot-start",
    "A command starts a program by another name, script, module or option than there is.",
    "The container fails at once, after it waited for its GPUs.",
    "Write the value in the finding.",
)
UNREACHED = Code(
    "unreached",
    "A command has a program behind one that does not end, or that ends the shell.",
    "It never runs: `exec` replaces the shell, and a server such as `tensorboard` runs until it is stopped.",
    "Write it before the other one, or run the server in the background.",
)
NO_VARIABLE = Code(
    "no-variable",
    "A command sets a variable in a way that has no effect, or gives a launcher one that nothing sets.",
    "The shell fails or reads a program, such as with spaces around `=`, or does not export the variable.",
    "Write `export NAME=value`, or set the variable in `env`.",
)
NEEDS_ANSWER = Code(
    "needs-answer",
    "A program of a command asks for confirmation, or for values.",
    "Containers have no standard input, so that the program stops without doing anything.",
    "Add the option that confirms, such as `-y`, or give the values by variables.",
)
PROCESS_COUNT = Code(
    "process-count",
    "A launcher starts another number of processes than the pods have GPUs, or slots of MPI.",
    "With more processes than GPUs, some have none and fail; with fewer, GPUs stay idle.",
    "Remove the option, because launchers start one process for each GPU, or correct one of the two numbers.",
)
POD_COUNT = FatalCode(
    "pod-count",
    "A launcher waits for another number of pods than the job has.",
    "With more, it waits until the job reaches its `timeout`; with fewer, the others fail or train alone.",
    "Remove the option, or correct the number of workers.",
)
NO_RENDEZVOUS = FatalCode(
    "no-rendezvous",
    "The processes of a job with several pods do not find each other, such as with `localhost` as address.",
    "Each pod waits for the others forever, or trains alone and overwrites their files.",
    "Use the address that the kind gives its pods, or the launcher that reads it.",
)
IDLE_GPUS = Code(
    "idle-gpus",
    "A command starts one process of PyTorch on pods with several GPUs, or does not end with the training.",
    "A process usually trains on one GPU, so that the others are reserved and idle, as all are after the training.",
    "Start it with `torchrun`, reduce `gpus`, or remove the program that does not end.",
)
NO_LAUNCHER = FatalCode(
    "no-launcher",
    "A job with a launcher and workers does not start any processes on the workers.",
    "The program runs in the launcher alone, which has no GPUs, and the workers wait.",
    "Start the program with `mpirun`.",
)
IDLE_WORKERS = Code(
    "idle-workers",
    "A job with a launcher and workers starts a program in Python in the launcher.",
    "Unless the program starts `mpirun` itself, it runs alone, in a pod without GPUs, and the workers wait.",
    "Start it with `mpirun`, or silence the finding if it starts `mpirun` itself.",
)
DEVICE_MASK = Code(
    "device-mask",
    "`CUDA_VISIBLE_DEVICES` names other GPUs than the container has.",
    "The GPUs of a container have the numbers from 0, and gen requests them by `gpus`.",
    "Remove the variable, or correct `gpus`.",
)
NO_GPUS = Code(
    "no-gpus",
    "An option of a command, such as `--device cuda` or `--backend nccl`, needs a GPU, and no pod of the job has one.",
    "The program ends with an error about CUDA, or trains on CPUs.",
    "Set `gpus`, or change the option.",
)
UNUSED_CODE = Code(
    "unused-code",
    "A job has `code`, but its command runs a script of another folder.",
    "The code is in `code/<name>` of the working directory, so the script is missing, or is that of the image.",
    "Name the folder in the command, such as `torchrun code/<name>/train.py`.",
)
MISSING_PATH = FatalCode(
    "missing-path",
    "A command uses a folder below that of the code which does not exist.",
    "The repository is in `code/<name>`; `name` defaults to the last part of its URL.",
    "Use the folder in the finding, or set `code.name`.",
)
SIMILAR_PATH = Code(
    "similar-path",
    "A command uses a path that is not on a volume of the job, and that differs in one letter from one that is.",
    "If the image has no such path, the program fails, or writes files that are deleted with the pod.",
    "Write the path in the finding; if the image has the other one, silence the finding with an annotation.",
)
LOST_OUTPUT = Code(
    "lost-output",
    "An option for results names a path that is not on a volume of the job, or on one that is read-only.",
    "The files are deleted with the pod.",
    "Write to a path below a volume in `data`, or copy the path by `outputs`.",
)
CLOSED_FOLDER = Code(
    "closed-folder",
    "The working directory is one that the user of the image cannot enter.",
    "The container does not start, or does not find its code.",
    "Set `workingDir` to a folder of that user.",
)
NOT_IN_A_POD = FatalCode(
    "not-in-a-pod",
    "A command uses a program or a variable without use in pods: `srun`, `docker run`, `ray start`, `$SLURM_PROCID`.",
    "The program is missing, has nothing to control, or does what the operator has done, and the variable is empty.",
    "Remove it; the fields of the job and the variables of its kind replace it.",
)
ENDS_AT_ONCE = FatalCode(
    "ends-at-once",
    "The last program of a command runs in the background.",
    "The container ends with its shell, and stops the program at once; the run succeeds without training.",
    "Remove the `&`, or add `wait` as the last line.",
)
IGNORED_FAILURE = Code(
    "ignored-failure",
    "A command has several statements, and goes on when one fails.",
    "The exit code of the command is that of the last one, so that a failed training can count as a success.",
    "Write `set -e` as the first line, or join the statements with `&&`.",
)
BASH_SYNTAX = Code(
    "bash-syntax",
    "A command that `sh` reads has syntax of bash.",
    "In images of Debian and Ubuntu, `sh` is dash, which does not know it, or gives it another meaning.",
    "Write the command as a list, `[bash, -c, …]`, or use the syntax of POSIX.",
)
NO_HOOK = FatalCode(
    "no-hook",
    "`conda activate` runs in a shell that conda has not set up.",
    "Shells of commands read no `.bashrc`. `conda activate` fails, and the command goes on without the environment.",
    "Run the program by `conda run -n <environment>`, or load conda's hook first.",
)
RESERVED_PORT = Code(
    "reserved-port",
    "A command uses a port of the operator or of the framework in the same pod.",
    "Only one process can listen on a port.",
    "Use another port, or remove the option.",
)
UNKNOWN_MODEL = Code(
    "unknown-model",
    "`placement.gpuModel` cannot be the value of the node label in the overlay.",
    "No node has the label with this value, so the pods wait forever.",
    "Use the value of the label of a node: `kubectl get nodes -L <label>`.",
)
NO_NEEDS = Code(
    "no-needs",
    "No step of a pipeline needs another one.",
    "All steps start at the same time, so that one may read what another has not written yet.",
    "Add `needs` to the steps that wait for others.",
)
EQUAL_VALUES = Code(
    "equal-values",
    "Values of a parameter in a sweep are the same number, such as `0.1` and `1e-1`.",
    "Each value is a run of its own, with its own GPUs.",
    "Keep one of them.",
)

SILENCEABLE: Final = frozenset(one.name for one in tuple(globals().values()) if isinstance(one, Code)) | {
    "may-still-run"
}
"""Codes of warnings that an annotation of the job silences. `gen retire` writes how a run ended in that of the last."""
