"""Programs of a job have the variables that the script, its options and its files give them."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

ARRAY = ("-N 1", "--array=0-2")
MPI = ("-N 2", "--ntasks-per-node=4")
GPUS = ("-N 1", "--gres=gpu:4")
IMAGE = "--container-image=a/b:1"
ACTIVATE = "source e/bin/activate"
BEHIND_ENVIRONMENT = f"virtualenv e\n{ACTIVATE}\nmpirun -x PATH -x VIRTUAL_ENV b\nmpirun -x PATH -x VIRTUAL_ENV c"


@for_each(
    ("options", "body", "expected"),
    [
        (("-N 1", "--export=ALL,A=3"), "b ${A:-0} c$A", {"command": "b 3 c3", "env": {"A": "3"}}),
        (
            ("-N 1", "--array=1-3"),
            "export A=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\nb",
            {"command": 'export A="{{ run.id }}_$((JOB_COMPLETION_INDEX + 1))"\nb', "workers": 3},
        ),
        (
            ARRAY,
            "A=(0 42 7)\nexport B=${A[$SLURM_ARRAY_TASK_ID]}\nc",
            {"command": ["bash", "-c", "A=(0 42 7)\nexport B=${A[$JOB_COMPLETION_INDEX]}\nc"], "array": True},
        ),
        (MPI, "PYTHONPATH=a:$PYTHONPATH srun b", {"command": "mpirun -x PYTHONPATH=a:$PYTHONPATH b"}),
        (MPI, f"virtualenv e\n{ACTIVATE}\nsrun b\nmpirun c", {"command": ["bash", "-c", BEHIND_ENVIRONMENT]}),
        (GPUS, "export CUDA_VISIBLE_DEVICES=3,2\na", {"env": {"CUDA_VISIBLE_DEVICES": "3,2"}}),
        (GPUS, "export CUDA_VISIBLE_DEVICES=4,5\na", {"env": None}),
        (
            GPUS,
            "export CUDA_VISIBLE_DEVICES=0\na &\nexport CUDA_VISIBLE_DEVICES=1,2\nb &\nwait",
            {"command": "CUDA_VISIBLE_DEVICES=0 a &\nb &\nwait", "env": {"CUDA_VISIBLE_DEVICES": "1,2"}},
        ),
        (MPI, f"srun {IMAGE} --export=ALL,LD_PRELOAD=/usr/a.so b", {"command": "mpirun -x LD_PRELOAD=/usr/a.so b"}),
        (("-N 1",), "apptainer exec --env LD_PRELOAD=/usr/a.so x.sif b", {"command": "LD_PRELOAD=/usr/a.so b"}),
        (MPI, "srun --export=ALL,LD_PRELOAD=/usr/a.so b", {"command": "mpirun b"}),
        (("-N 1",), "export GLOO_TIMEOUT_SECONDS=9\na", {"env": {"GLOO_TIMEOUT_SECONDS": "9"}}),
        (MPI, "mpirun sh -c 'a $OMPI_COMM_WORLD_SIZE'", {"command": "mpirun sh -c 'a $OMPI_COMM_WORLD_SIZE'"}),
        (
            ("-N 1",),
            "export WANDB_API_KEY=$(cat ~/.key)\na",
            {"command": "a", "env": {"WANDB_API_KEY": {"secret": "train-env", "key": "WANDB_API_KEY"}}},
        ),
        (MPI, 'srun --export "A=1,B=two" b', {"command": "mpirun b", "env": {"A": "1", "B": "two"}}),
        (
            MPI,
            "srun --export=ALL,A=1 b\nsrun --export=ALL,B=two c",
            {"command": "mpirun -x A=1 b\nmpirun c", "env": {"B": "two"}},
        ),
        (("-N 1",), 'a $(basename "$0" .sh)', {"command": "a slurm_script"}),
    ],
)
def test_values_are_those_that_the_script_gives(options: tuple[str, ...], body: str, expected: dict[str, Any]) -> None:
    made, found = read(script(*options, body=body))
    assert {name: made[0].fields.get(name) for name in expected} == expected
    assert not [one for one in found if "has no value in a pod" in one.message]


def test_a_program_in_a_variable_may_read_its_rank() -> None:
    body = 'A=(python b.py)\nif [ -n "$(ls c)" ]; then A+=(--d); fi\nsrun ${A[@]}'
    _, found = read(script(*MPI, body=body))
    assert "the rank in `$SLURM_PROCID`" in " ".join(one.message for one in found)


def test_a_number_in_a_file_is_not_a_secret() -> None:
    assert job(script("-N 1", body="NUM_TOKENS=$(cat ~/n)\na $NUM_TOKENS")).fields["command"] == "a $(cat ~/n)"


@for_each(("value", "command"), [("2", "python a.py"), ("$SLURM_NNODES", "python a.py"), ("3", "NNODES=3 python a.py")])
def test_a_number_of_pods_is_in_front_of_a_program_if_the_pods_have_another_one(value: str, command: str) -> None:
    made, found = read(script("-N 2", "--ntasks-per-node=1", body=f"export NNODES={value}\nmkdir b\nsrun python a.py"))
    assert made[0].fields["command"] == f"mkdir b\n{command}"
    assert not any("of `NNODES` is not carried" in one.message for one in found)


def test_the_numbers_of_one_pod_are_not_in_front_of_its_program() -> None:
    made, _ = read(script("-N 1", body="export NNODES=1 WORLD_SIZE=4\nsrun python a.py"))
    assert made[0].fields["command"] == "WORLD_SIZE=4 python a.py"


def test_the_numbers_of_nodes_are_for_programs_of_torchrun_too() -> None:
    body = (
        "export NNODES=$SLURM_NNODES NODE_RANK=$SLURM_NODEID\nsrun torchrun --nnodes 2 --rdzv_endpoint $(hostname) a.py"
    )
    made, found = read(script("-N 2", "--ntasks-per-node=1", "--gpus-per-node=8", body=body))
    assert made[0].fields["env"] == {"NNODES": "2"}
    assert [one.message for one in found] == [
        "the variable `NODE_RANK` is not carried: a pod has its number in `$RANK`",
    ]


@for_each(
    ("options", "body", "expected"),
    [
        ("-N 4", 'srun bash -c "WORLD_SIZE=8 bash a.sh"', "WORLD_SIZE=8 bash a.sh"),
        ("-N 4", "srun env WORLD_SIZE=8 NNODES=4 python a.py", "WORLD_SIZE=8 python a.py"),
        ("-N 4", "WORLD_SIZE=4 srun python a.py", "python a.py"),
        ("-N 4", "srun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python a.py'", "LOCAL_RANK=0 python a.py"),
        ("-N 4", "srun bash -c 'RANK=$((SLURM_PROCID * 2)) python a.py'", "RANK=$(($RANK * 2)) python a.py"),
        ("-N 4", "srun bash -c 'MASTER_ADDR=localhost MASTER_PORT=1 python a.py'", "MASTER_ADDR=localhost python a.py"),
        ("-N 4", "RANK=3 srun torchrun --nnodes 4 a.py", "torchrun a.py"),
        ("-N 1", "RANK=3 python a.py", "RANK=3 python a.py"),
    ],
)
def test_a_number_in_front_of_a_program_stays_if_its_pod_has_another_one(
    options: str, body: str, expected: str
) -> None:
    assert read(script(options, body=body, interpreter=BASH))[0][0].fields["command"] == expected


@for_each(
    ("options", "body", "command", "message"),
    [
        (
            MPI,
            "T=$(mktemp -d)\nexport A=$T/a B=$T/b\nsrun c",
            "T=$(mktemp -d)\nexport A=$T/a\nexport B=$T/b\nmpirun -x B -x A c",
            "the folder of `mktemp` on the workers is not carried",
        ),
        (
            ("-N 2", "--gres=gpu:1"),
            "T=$(mktemp -d)\nexport A=$T/a B=$T/b\nsrun torchrun c",
            "T=$(mktemp -d)\nexport A=$T/a\nexport B=$T/b\ntorchrun c",
            "the single start of `$(mktemp -d)` is not carried",
        ),
    ],
)
def test_a_folder_of_mktemp_is_in_the_variables_of_its_program(
    options: tuple[str, ...], body: str, command: str, message: str
) -> None:
    made, found = read(script(*options, body=body, interpreter=BASH))
    assert made[0].fields["command"] == command
    hints = [one.hint for one in found if one.message.startswith(message)]
    assert [hint.startswith("use a folder of a volume instead") for hint in hints] == [True]
