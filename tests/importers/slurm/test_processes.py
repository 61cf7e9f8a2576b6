"""Programs have the pods, processes and ranks that the script gives them, also as processes of MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings, Severity
from gen.importers import IMPORTERS, ImportInput, sandbox
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script
from tests.importers.slurm.test_task_comparison import compared

if TYPE_CHECKING:
    from pathlib import Path

TASKS = ("-N 2", "--ntasks-per-node=4", "--gres=gpu:4")
HOSTS = "--hostfile /etc/mpi/hostfile"
RANKS = "RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK"
OF_NODE = "/opt/$((OMPI_COMM_WORLD_RANK / 4))"
LONG = " ".join(f"--number-{number} {number}" for number in range(9))
RAY = """
srun -N 1 -n 1 -w a ray start --head --block &
srun -N 1 -n 1 -w b ray start --address a:6379 --block &
python train.py
"""
OF_RAY = ("`ray start` on several nodes makes a cluster", "1 of 2 nodes is not carried")
REFUSAL = sandbox.refusal()


PATH = "export PYTHONPATH=/opt/a:$PYTHONPATH"


@for_each(
    ("body", "expected"),
    [
        (f"{PATH}\nsrun python -m a", f"{PATH}\nmpirun -x PYTHONPATH python -m a"),
        (f"b\n{PATH}\nmpirun -np 8 python -m a", f"b\n{PATH}\nmpirun -x PYTHONPATH python -m a"),
        (f"{PATH}\nmpirun -x PYTHONPATH a", f"{PATH}\nmpirun -x PYTHONPATH a"),
        ("export A=$(hostname):$A\nsrun a", "mpirun a"),
        ("export A=$B:$A\nsrun a", "mpirun a"),
    ],
)
def test_processes_have_the_variables_that_add_to_those_of_the_image(body: str, expected: str) -> None:
    assert job(script(*TASKS, body=body)).fields["command"] == expected


@for_each(
    ("body", "expected"),
    [
        ("N=$(wc -l < /d/b)\nmpirun -np $N a", "mpirun -np $(wc -l < /d/b) a"),
        ("b\nN=$(wc -l < c)\nd\nmpirun -np $N a\ne $N", "b\nN=$(wc -l < c)\nd\nmpirun -np $N a\ne $N"),
        ("mpirun -npernode $(b) a", "mpirun -npernode $(b) a"),
        ("N=$((SLURM_NNODES * 4))\nmpirun -np $N a", "mpirun a"),
    ],
)
def test_mpirun_has_numbers_that_only_a_shell_computes(body: str, expected: str) -> None:
    assert job(script(*TASKS, body=body)).fields["command"] == expected


@for_each(
    ("options", "body", "line"),
    [
        (TASKS, "N=$(wc -l < /d/b)\nsrun -n $N a", 7),
        (TASKS, "b\nN=$(wc -l < c)\nd\nsrun -n $N a", 9),
        (("-N 2",), "srun -N $(c) a", 4),
    ],
)
def test_a_number_of_srun_that_only_a_shell_computes_is_reported(
    options: tuple[str, ...], body: str, line: int
) -> None:
    _, found = read(script(*options, body=body))
    lines = [one.place.line for one in found if "only a shell computes it, and the job has its own" in one.message]
    assert lines == [line]


@for_each(
    ("body", "expected", "env"),
    [
        ("export WORLD_SIZE=$SLURM_NTASKS\nsrun python a.py", "mpirun python a.py", {"WORLD_SIZE": "8"}),
        (
            "export WORLD_SIZE=8\nsrun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python a.py'",
            f"mpirun sh -c '{RANKS} python a.py'",
            {"WORLD_SIZE": "8"},
        ),
        (
            "srun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; mkdir -p b; python a.py'",
            f"mpirun sh -c 'mkdir -p b; {RANKS} python a.py'",
            {},
        ),
        (
            f"srun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python a.py {LONG}'",
            f"mpirun sh -c '{RANKS} exec \"$@\"' sh python a.py \\\n  " + LONG.replace(" --", " \\\n  --"),
            {},
        ),
        (
            f"srun bash -c 'python a.py {LONG} --rank=$SLURM_PROCID -x 1'",
            "mpirun sh -c 'exec \"$@\" --rank=$OMPI_COMM_WORLD_RANK -x 1' sh python a.py \\\n  "
            + LONG.replace(" --", " \\\n  --"),
            {},
        ),
        (
            f"srun bash -c 'python a.py --rank=$SLURM_PROCID {LONG}'",
            f"mpirun sh -c 'python a.py --rank=$OMPI_COMM_WORLD_RANK {LONG}'",
            {},
        ),
        (
            f"srun python a.py --id $SLURM_JOB_ID {LONG}",
            "mpirun python a.py \\\n  --id {{ run.id }} \\\n  " + LONG.replace(" --", " \\\n  --"),
            {},
        ),
        (
            "srun bash -c 'CUDA_VISIBLE_DEVICES=$SLURM_LOCALID python a.py'",
            "mpirun sh -c 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK python a.py'",
            {},
        ),
        (
            "srun bash -c 'export CACHE=/tmp/$SLURM_LOCALID; python a.py'",
            "mpirun sh -c 'CACHE=/tmp/$OMPI_COMM_WORLD_LOCAL_RANK python a.py'",
            {},
        ),
        (
            "srun -N 2 -n 2 bash -c 'RANK=$SLURM_PROCID b --node $SLURM_NODEID'\nsrun python a.py",
            "mpirun -npernode 1 sh -c 'RANK=$OMPI_COMM_WORLD_RANK b --node $OMPI_COMM_WORLD_RANK'\nmpirun python a.py",
            {},
        ),
        (
            "srun -n 1 bash -c 'a $SLURM_NTASKS $SLURM_NNODES'\nsrun bash -c 'b $SLURM_NTASKS $SLURM_NNODES'",
            "mpirun -np 1 a 1 1\nmpirun b 8 2",
            {},
        ),
        (
            "srun bash -c 'WORLD_SIZE=8 python a.py' &\npython b.py\nwait",
            "mpirun -x WORLD_SIZE=8 python a.py &\npython b.py\nwait",
            {},
        ),
        (
            "srun bash -c 'export A=/opt/$SLURM_NODEID\nmkdir -p $A\npython a.py'",
            f"mpirun sh -c 'mkdir -p \"{OF_NODE}\"'\nmpirun sh -c 'A=\"{OF_NODE}\" python a.py'",
            {},
        ),
        (
            "srun -N2 --ntasks-per-node=1 bash -c 'python a.py --node $SLURM_NODEID'\nmpirun b",
            "mpirun -npernode 1 sh -c 'python a.py --node $OMPI_COMM_WORLD_RANK'\nmpirun b",
            {},
        ),
        (
            f"numactl --membind=0-3 python a.py {LONG}",
            "numactl --membind=0-3 python a.py \\\n  " + LONG.replace(" --", " \\\n  --"),
            {},
        ),
        ("srun nvidia-smi dmon &\nM=$!\nsrun python a.py\nkill $M", "mpirun python a.py", {}),
        ("srun python a.py --rank $SLURM_PROCID", "mpirun python a.py --rank 0", {}),
    ],
)
def test_processes_have_the_ranks_that_the_script_gives_them(body: str, expected: str, env: dict[str, str]) -> None:
    fields = job(script(*TASKS, body=body, interpreter=BASH)).fields
    assert fields["command"] == expected
    assert fields.get("env", {}) == env


@pytest.mark.slow
@pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
@for_each(
    ("changed", "same"), [(None, True), ({"command": "mpirun python a.py", "env": {}}, False)], ids=["same", "without"]
)
def test_the_proof_compares_ranks(tmp_path: Path, changed: dict[str, object] | None, *, same: bool) -> None:
    body = "export WORLD_SIZE=8\nsrun bash -c 'RANK=$SLURM_PROCID python a.py'"
    _, is_same, found = compared(tmp_path, script(*TASKS, body=body, interpreter=BASH), changed)
    assert (is_same, found == []) == (same, same)


@for_each(
    ("body", "messages"),
    [
        (
            "srun -N 1 -n 1 python a.py",
            ["1 of 2 nodes is not carried: no `srun` starts a program on all nodes"],
        ),
        ("srun -N 1 -n 1 hostname\nsrun python a.py", []),
        ("srun python a.py &\nsrun -N 1 -n 1 python b.py", []),
        *(
            (RAY.replace("ray start", f"{one} start"), [*OF_RAY])
            for one in ("ray", "/opt/b/ray", "$A/ray", "uv run ray")
        ),
        (RAY.replace("python", "srun -N 2 -n 2 python"), [*OF_RAY[:1]]),
    ],
)
def test_nodes_that_a_job_lacks_are_named(body: str, messages: list[str]) -> None:
    _, found = read(script("-N 2", "--ntasks-per-node=1", "--gres=gpu:8", body=body, interpreter=BASH))
    about = [one.message for one in found if "nodes" in one.message and "--node" not in one.message]
    assert [any(one.startswith(message) for one in about) for message in messages] == [True] * len(about)


def test_a_folder_that_the_script_uses_itself_is_made() -> None:
    body = "mkdir -p out\ncp a.yaml out\nsrun --container-mounts=$PWD/out:/out python a.py"
    command = job(script("-N 1", body=body, interpreter=BASH)).fields["command"]
    assert command == "mkdir -p out\ncp a.yaml out\npython a.py"


@for_each(
    ("line", "fields"),
    [
        ("deepspeed --hostfile hosts a.py", {"workers": 2, "gpus": 8, "command": f"deepspeed {HOSTS} a.py"}),
        ("deepspeed --num_nodes 2 --num_gpus 8 a.py", {"workers": 2, "gpus": 8, "command": f"deepspeed {HOSTS} a.py"}),
    ],
)
def test_deepspeed_starts_a_process_for_each_gpu(line: str, fields: dict[str, object]) -> None:
    made = job(script("-N 2", "--gpus-per-node=8", "--ntasks-per-node=1", body=line)).fields
    assert {name: made[name] for name in (*fields, "kind")} == {**fields, "kind": "mpi"}
    assert "slotsPerWorker" not in made  # the default is one for each GPU


@for_each(
    ("loop", "expected"),
    [
        (
            "for i in 0 1; do srun -N1 -n1 -w ${H[$i]} a --rank=$i --at ${H[0]} &\ndone\nwait",
            "a --rank=$RANK --at $MASTER_ADDR",
        ),
        ("i=0\nfor h in ${H[@]}; do srun -n1 -w $h torchrun --node_rank $i b & ((i++)); done\nwait", "torchrun b"),
        (
            (
                "for i in $(seq 1 1); do srun -n1 -w ${H[$i]} torchrun --nnodes 2 --node_rank $i b & done\n"
                "srun -n1 -w ${H[0]} torchrun --nnodes 2 --node_rank 0 b\nwait"
            ),
            "torchrun b",
        ),
        (
            (
                "run() { srun -w $N -n1 a --rank $R --port 600$R --log b$R.log; }\n"
                "for ((R=1; R<2; R++)); do\nN=${H[$R]}\nrun &\ndone\nR=0\nN=${H[0]}\nrun\nwait"
            ),
            "a --rank $RANK --port 600$RANK --log b$RANK.log",
        ),
        ("for i in 0 1; do\nexport R=$i\nsrun -n1 -w ${H[$i]} a &\ndone\nwait", "export R=$RANK\na"),
        ("R=1 srun -n1 -w ${H[1]} a &\nR=0 srun -n1 -w ${H[0]} a\nwait", "R=$RANK a"),
    ],
)
def test_a_loop_over_the_nodes_is_a_program_on_all_of_them(loop: str, expected: str) -> None:
    body = f"H=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n{loop}"
    made = job(script("-N 2", "--gpus-per-node=8", "--ntasks-per-node=1", body=body, interpreter=BASH)).fields
    assert (made["command"], made["workers"]) == (expected, 2)


@for_each(
    "loop",
    [
        "srun -N1 -n1 -w ${H[1]} a -r 1 -d 0 &\nsrun -N1 -n1 -w ${H[0]} a -r 0 -d 1\nwait",
        "A=b srun -N1 -n1 -w ${H[0]} a &\nA=c srun -N1 -n1 -w ${H[1]} a\nwait",
        "srun -N1 -n1 -w ${H[0]} a > b &\nsrun -N1 -n1 -w ${H[1]} a > c\nwait",
    ],
)
def test_programs_that_differ_in_more_than_their_node_have_one_pod(loop: str) -> None:
    body = f"H=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n{loop}"
    made, found = read(script("-N 2", "--gpus-per-node=8", "--ntasks-per-node=1", body=body, interpreter=BASH))
    assert "workers" not in made[0].fields
    assert "1 of 2 nodes is not carried: no `srun` starts a program on all nodes" in [one.message for one in found]


def test_a_launcher_on_several_nodes_cannot_run_in_one_pod() -> None:
    body = "srun -n1 -w a torchrun --nnodes 2 b.py &\nsrun -n1 -w b torchrun --nnodes=2 b.py --eval\nwait"
    _, found = read(script("-N 2", "--gpus-per-node=8", body=body, interpreter=BASH))
    message = "`torchrun` has other arguments on each node, and one pod has all of its starts"
    assert [one.code for one in found if one.message == message] == ["cannot-run"]


def test_the_launcher_on_most_nodes_decides_their_number() -> None:
    body = "srun torchrun a.py\nsrun -N 1 -n 1 torchrun --standalone b.py"
    made, found = read(script("-N 2", "--gpus-per-node=8", "--ntasks-per-node=1", body=body))
    assert made[0].fields["workers"] == 2
    assert any(one.message.startswith("the single start of `torchrun`") for one in found)


OF_POD = "--machine_rank $RANK --main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT"
ACCELERATE = "srun accelerate launch --num_processes 8 --num_machines 2 --machine_rank 0 --main_process_port 1234"


@for_each(
    ("options", "line", "expected", "gpus"),
    [
        (("-N 1", "--gres=gpu:8"), "deepspeed --num_gpus 4 a.py", "deepspeed --num_gpus=4 a.py", 8),
        (("-N 1", "--gres=gpu:8"), "accelerate launch --num_processes 1 a", "accelerate launch --num_processes=1 a", 8),
        (("-N 2", "--gres=gpu:8"), f"{ACCELERATE} a.py", "accelerate launch --num_processes=4 a.py", 8),
        (("-N 2", "--gres=gpu:4"), f"{ACCELERATE} a.py", "accelerate launch a.py", 4),
        (("-N 2", "--exclusive"), f"{ACCELERATE} a.py", "accelerate launch a.py", 4),
        (("-N 2", "--gres=gpu:4"), "srun accelerate launch --num_processes 8 a.py", "accelerate launch a.py", 4),
        (
            ("-N 2", "--gres=gpu:4"),
            "srun torchrun --rdzv_backend=c10d --rdzv_conf timeout=9,join_timeout=9 --rdzv_conf=is_host=1 a.py",
            "torchrun --rdzv_conf timeout=9,join_timeout=9 a.py",
            4,
        ),
        (
            ("-N 2", "--gres=gpu:4"),
            "srun accelerate launch --rdzv_conf rdzv_backend=c10d,rdzv_endpoint=$MASTER_ADDR:6000 a.py",
            "accelerate launch a.py",
            4,
        ),
        (
            ("-N 2", "--gres=gpu:4"),
            f"{ACCELERATE} --config_file a.yaml a.py",
            f"accelerate launch --num_processes 8 --num_machines 2 {OF_POD} --config_file a.yaml a.py",
            4,
        ),
        (
            ("-N 1", "--gres=gpu:8"),
            "accelerate launch --config_file a.yaml --num_processes 8 --main_process_port 1234 a.py",
            "accelerate launch --config_file a.yaml --num_processes 8 a.py",
            8,
        ),
        (
            ("-N 1", "--gres=gpu:8"),
            "f() { shuf -i 1-9 -n 1; }\nP=$(f)\naccelerate launch --config_file a.yaml --main_process_port $P a.py",
            "accelerate launch --config_file a.yaml a.py",
            8,
        ),
        (
            ("-N 1", "--gres=gpu:8"),
            "accelerate launch --num_processes 8 a.py --config_file a.yaml",
            "accelerate launch a.py --config_file a.yaml",
            8,
        ),
        (
            ("-N 2", "--gres=gpu:4"),
            f"{ACCELERATE} --rdzv_backend=c10d --max_restarts 3 a.py",
            f"accelerate launch --num_processes 8 --num_machines 2 {OF_POD} --rdzv_backend c10d --max_restarts 3 a.py",
            4,
        ),
        (("-N 2", "--gres=gpu:4"), f"{ACCELERATE} --rdzv_backend static a.py", "accelerate launch a.py", 4),
        (
            ("-N 2", "--gres=gpu:4"),
            f"{ACCELERATE} --config_file b --rdzv_backend static a.py",
            f"accelerate launch --num_processes 8 --num_machines 2 {OF_POD} --rdzv_backend static --config_file b a.py",
            4,
        ),
        (
            ("-N 1", "--gres=gpu:8"),
            "accelerate launch --num_processes 8 --rdzv_backend c10d a.py",
            "accelerate launch --rdzv_backend c10d a.py",
            8,
        ),
    ],
)  # fmt: skip
def test_a_launcher_keeps_numbers_that_the_pods_do_not_have(
    options: tuple[str, ...], line: str, expected: str, gpus: int
) -> None:
    fields = job(script(*options, "--ntasks-per-node=1", body=line)).fields
    assert " ".join(str(fields["command"]).replace("\\\n", "").split()) == expected
    assert fields["gpus"] == gpus


EIGHT_TASKS = ("--ntasks=8", "--gpus-per-task=1")


@for_each(
    ("options", "values", "fields", "said"),
    [
        (("-n 32", "--gpus-per-task=1"), {}, {"workers": 4, "gpus": 8}, "32 tasks: 4"),
        (("--gpus=32", "--gpus-per-task=1"), {}, {"workers": 4, "gpus": 8}, "32 tasks: 4"),
        (("--gpus=32", "--gpus-per-task=4", "--gpus-per-node=4"), {}, {"workers": 8, "gpus": 4}, ""),
        (("-n 384", "--gpus-per-node=8"), {}, {"workers": 3, "gpus": 8}, "384 tasks: 3"),
        (("-n 16", "--gres=gpu:4"), {}, {"gpus": 4}, "16 tasks: 1"),
        (("-n 16", "--gres=gpu:4"), {"SLURM_NNODES": "4"}, {"workers": 4, "gpus": 4}, ""),
        (("-n 8", "--gres=gpu:8", "-c 24"), {}, {"gpus": 8}, ""),
        (EIGHT_TASKS, {}, {"gpus": 8}, ""),
        (("-n 64",), {}, {}, ""),
        (("-n 64", "-N 4", "--gres=gpu:4"), {}, {"workers": 4, "gpus": 4}, ""),
    ],
)  # fmt: skip
def test_nodes_that_slurm_chooses(
    options: tuple[str, ...], values: dict[str, str], fields: dict[str, int], said: str
) -> None:
    found = Findings()
    text = script(*options, body="srun train --nodes $SLURM_NNODES")
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", define=values)
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert {name: made.fields[name] for name in ("workers", "gpus") if name in made.fields} == fields
    command = str(made.fields["command"]).rstrip("'")  # of the shell that selects the GPU of each process
    assert command.endswith(f"train --nodes {fields.get('workers', 1)}")
    named = [one.message.replace(" is not carried: Slurm chooses it, and the job has", ":") for one in found]
    assert named == ([f"the number of nodes for {said}"] if said else [])


@for_each(
    ("option", "nodes", "memory", "said"),
    [
        ("--mem=0", "{memory: 500G}", "500G", False),
        ("--mem=0 --gres=gpu:1", "{memory: 500G}", "500G", False),
        ("--mem=0", "{gpus: 8}", None, True),
        ("--mem=8G", "{memory: 500G}", "8Gi", False),
    ],
)
def test_all_memory_is_that_of_a_node(option: str, nodes: str, memory: str | None, said: bool) -> None:
    found = Findings()
    site = ("site.yaml", f"nodes: {nodes}".encode())
    text = script(*option.split(), body="python a.py")
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert made.fields.get("memory") == memory
    assert any("--mem=0" in one.message for one in found) == said


@for_each(
    ("options", "body", "gpus"),
    [
        (("-c 40", "--mem=0"), "python a.py", None),
        (("--ntasks-per-node=40", "--mem=0"), "srun ./a # on GPUs", None),
        (("--mem=0", "-J gpu", "-o gpu.log"), "srun ./a", None),
        (("--mem=0",), "singularity exec /b/rocm.sif python a.py", None),
        (("--mem=0", "-p gpu"), "python a.py", 8),
        (("--mem=0",), "export NCCL_DEBUG=INFO\npython a.py", 8),
        (("--mem=0",), "torchrun a.py", 8),
        (("--exclusive",), "python a.py", 8),
    ],
)
def test_the_memory_of_a_node_is_not_its_gpus(options: tuple[str, ...], body: str, gpus: int | None) -> None:
    site = ("site.yaml", b"nodes: {gpus: 8}")
    text = script("-N 2", *options, body=body)
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, Findings())
    assert made.fields.get("gpus") == gpus


@for_each(
    ("options", "body", "cpu"),
    [
        (("--ntasks-per-node=40", "--mem-per-cpu=2G"), "srun ./a", 40),
        (("--ntasks=40",), "mpirun -np 40 ./a", 40),
        (("--ntasks=40",), "srun -n 1 ./a &\nsrun -n 1 ./b &\nwait", 40),
        (("--ntasks-per-node=4", "-c 5"), "srun ./a", 20),
        (("--ntasks-per-node=4", "--exclusive"), "srun ./a", "96"),
        (("--ntasks-per-node=4", "--gres=gpu:4"), "srun ./a", None),
        (("--ntasks-per-node=4", "-C gpu"), "srun ./a", None),
        (("--ntasks-per-node=4",), "srun torchrun a.py", None),
        (("--ntasks=1",), "./a", None),
    ],
)
def test_each_task_has_a_cpu(options: tuple[str, ...], body: str, cpu: int | str | None) -> None:
    site = ("site.yaml", b"nodes: {cpu: 96}")
    text = script("-N 1", *options, body=body)
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, Findings())
    assert made.fields.get("cpu") == cpu


@for_each(
    ("options", "body", "cpu", "reason"),
    [
        (("--gpus-per-node=8", "--exclusive"), "srun a", "96", "pods without GPUs can share its node"),
        (("--gpus-per-node=4", "--exclusive"), "srun a", None, "a pod shares its node"),
        (("--gpus-per-node=8", "-c 5", "--exclusive"), "srun a", 5, "pods without GPUs can share its node"),
        (("--exclusive",), "srun -c $C torchrun --nproc_per_node=8 a.py", "96", "pods without GPUs"),
        (("--gpus-per-node=8", "--exclusive", "--mem=2T"), "srun a", "96", ""),
        (("--gpus-per-node=8",), "srun -c $C a", None, ""),
    ],
)
def test_a_whole_node_has_its_cpus(options: tuple[str, ...], body: str, cpu: int | str | None, reason: str) -> None:
    found = Findings()
    site = ("site.yaml", b"nodes: {gpus: 8, cpu: 96, memory: 2Ti}")
    site = site if "--mem=2T" in options else ("site.yaml", b"nodes: {gpus: 8, cpu: 96}")
    given = ImportInput(file="a.sh", text=script(*options, body=body), otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert made.fields.get("cpu") == cpu
    said = [one.message for one in found if "`--exclusive`" in one.message]
    assert [reason in one for one in said] == [True] * bool(reason)


@for_each(
    ("options", "start", "command", "slots"),
    [
        (("-N 4",), "srun -n 5 a", "mpirun -np 5 a", 2),
        (("-N 4", "-n 14"), "srun a", "mpirun -np 14 a", 4),
        (("-N 4",), "srun -n 12 --ntasks-per-node=8 a", "mpirun a", 3),
        (("-N 4", "-n 12", "--ntasks-per-node=2"), "srun a", "mpirun a", 3),
        (("-N 4", "-n 8"), "srun --ntasks-per-node=4 a", "mpirun a", 4),
        (("--ntasks-per-node=4", "-n 7"), "srun a", "mpirun -np 7 a", 4),
    ],
)
def test_the_number_of_tasks_is_kept(options: tuple[str, ...], start: str, command: str, slots: int) -> None:
    made = job(script(*options, "--gpus-per-node=8", body=start)).fields
    assert (made["command"], made["slotsPerWorker"]) == (command, slots)


BY_GPU = ("--exclusive", "--cpus-per-gpu=6", "--mem-per-gpu=4G")


@for_each(
    ("options", "body", "nodes", "sizes"),
    [
        (BY_GPU, "srun a", "{gpus: 8, cpu: 96}", [8, 48, "32Gi"]),
        (BY_GPU[1:], "torchrun --nproc_per_node=4 a.py", "{}", [4, 24, "16Gi"]),
        (BY_GPU[:1], "srun --cpus-per-gpu=6 --mem-per-gpu=4G a", "{gpus: 2}", [2, 12, "8Gi"]),
        (("-c 5", "--exclusive", "--mem-per-gpu=1G"), "srun a", "{gpus: 8}", [8, 5, "8Gi"]),
        (BY_GPU, "srun a", "{}", []),
    ],
)  # fmt: skip
def test_sizes_for_each_gpu_are_those_of_all(
    options: tuple[str, ...], body: str, nodes: str, sizes: list[object]
) -> None:
    found = Findings()
    site = ("site.yaml", f"nodes: {nodes}".encode())
    given = ImportInput(file="a.sh", text=script(*options, body=body), otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert [made.fields[name] for name in ("gpus", "cpu", "memory") if name in made.fields] == sizes
    named = [one.message for one in found if "no number of GPUs" in one.message]
    lost = [f"`--{name}-per-gpu` is not carried: the script has no number of GPUs" for name in ("cpus", "mem")]
    assert named == ([] if sizes else lost)


@for_each(
    ("before", "options", "gpus"),
    [
        ("", "--nproc_per_node=75", None),
        ("", "--nproc_per_node=4", 4),
        ("export NVIDIA_VISIBLE_DEVICES=void", "--nproc_per_node=4", None),
    ],
)
def test_processes_of_cpus_are_no_gpus(before: str, options: str, gpus: int | None) -> None:
    made = job(script("-N 1", body=f"{before}\ntorchrun {options} a.py")).fields
    assert made.get("gpus") == gpus
    assert made["command"] == ("torchrun a.py" if gpus else f"torchrun {options} a.py")


@for_each(
    ("before", "names"),
    [
        ("tar -xf /fsx/a.tar -C /tmp/a", ["tar"]),
        ("tar -xf /fsx/a.tar -C /fsx/a", []),
        ("cd /fsx\ncp a/b c/d", []),
        ("cp /fsx/a /tmp\npip install -e .", ["cp", "pip"]),
        ("mkdir -p /tmp/a", ["mkdir"]),
        ("mkdir -p /tmp/b logs\nrm -rf /tmp/b", []),
        ("python /fsx/prepare.py", ["python"]),
        ("srun --ntasks-per-node=1 pip install -e .", []),
        ("mpirun -n 2 /fsx/a", []),
        ("grep b c > /tmp/a", ["grep"]),
        ("sed s/a/b/ c > /tmp/b", []),
        ("cp /fsx/a a.txt\nsrun python b.py a.txt", ["cp"]),
        ("cp /fsx/a a.txt\nsrun python b.py b.txt", []),
    ],
)
def test_programs_that_the_workers_do_not_start(before: str, names: list[str]) -> None:
    text = script("-N 1", "--ntasks-per-node=4", "--gres=gpu:4", body=f"{before}\nsrun python /fsx/a.py --data /tmp/a")
    found = Findings()
    site = ("site.yaml", b"paths: {/fsx: fsx}\n")
    list(
        IMPORTERS["slurm"]().read(ImportInput(file="a.sh", text=text, otherwise="team", image="a/b", site=site), found)
    )
    named = [one.message.split("`")[1] for one in found if "only the pod of the launcher" in one.message]
    assert named == names


@for_each(
    ("body", "sizes"),
    [
        ("srun -N 1 -n 1 a &\nsrun -n 8 b &\nwait", (5, 5, "mpirun -npernode 4 b &")),
        ("srun -n 8 -c 1 b &\nsrun -N 1 -n 1 a", (5, 5, "mpirun -npernode 4 b &")),
        ("srun -N 1 -n 1 a &\nwait\nsrun -n 8 b", (4, 4, "mpirun b")),
        ("srun -N 1 -n 1 a\nsrun -n 8 b", (4, 4, "mpirun b")),
    ],
)
def test_programs_at_the_same_time_share_the_sizes_of_the_script(body: str, sizes: tuple[int, int, str]) -> None:
    made = job(script("-N 2", "-n 10", "-c 1", body=body)).fields
    cpu, slots, line = sizes
    assert (made["cpu"], made["slotsPerWorker"]) == (cpu, slots)
    assert line in made["command"].split("\n")


@for_each(
    ("body", "lacking"),
    [
        ("tar -xf a-1.tar.gz\nsrun a-1/bin/b", "a-1/bin/b"),
        ("git clone https://example.com/c/a.git\ncd a\nsrun python b.py", "a/b.py"),
        ("git clone https://example.com/c/a.git b\nsrun bash b/run.sh", "b/run.sh"),
        ("cd a\nmake\ncd ..\nsrun env B=c a/bin/b", "a/bin/b"),
        ("make\nmpirun -np 2 -x A ./b", "b"),
        ("mpicc -o b b.c\nsrun ./b", "b"),
        ("make\nsrun python ./b.py", ""),
        ("make\nsrun b", ""),
        ("mpicc -o b b.c\nsrun ./c", ""),
        ("tar -xf data.tar\nsrun a/bin/b --data data/c", ""),
        ("srun --ntasks-per-node=1 make\nsrun ./b", ""),
        ("cd /fsx/a\nmake\nsrun ./b", ""),
    ],
)
def test_programs_that_only_the_launcher_makes_cannot_run(body: str, lacking: str) -> None:
    found = Findings()
    site = ("site.yaml", b"paths: {/fsx: fsx}\n")
    text = script("-N 2", "--ntasks-per-node=4", body=body)
    list(
        IMPORTERS["slurm"]().read(ImportInput(file="a.sh", text=text, otherwise="team", image="a/b", site=site), found)
    )
    named = [one.message.split("`")[1] for one in found if "only the pod of the launcher makes" in one.message]
    assert named == ([lacking] if lacking else [])


@for_each(
    ("body", "expected"),
    [
        ("mpirun -n 1 a\ncp b c", ("batch", "mpirun -n 1 a\ncp b c")),
        ("mpirun -np 1 -H localhost env A=1 a", ("batch", "mpirun -np 1 -H localhost env A=1 a")),
        ("mpirun -n $SLURM_NTASKS a\nsrun b $SLURM_PROCID", ("batch", "mpirun -n 1 a\nb 0")),
        ("mpirun -n 1 a\nmpirun -n 2 b", ("mpi", "mpirun a\nmpirun -np 2 --oversubscribe b")),
    ],
)
def test_one_process_on_one_node_needs_no_other_pod(body: str, expected: tuple[str, str]) -> None:
    made = job(script("-N 1", "-n 1", body=body)).fields
    assert (made["kind"], made["command"]) == expected


def test_the_sizes_are_those_of_the_last_program_with_several_tasks() -> None:
    body = "srun --ntasks-per-node=1 mkdir -p /tmp/a\nsrun python a.py\nsrun --ntasks-per-node=1 rm -rf /tmp/a"
    made = job(script("-N 2", "--ntasks-per-node=4", "--gres=gpu:4", "-c 8", body=body)).fields
    assert (made["cpu"], "slotsPerWorker" in made) == (32, False)
    assert made["command"] == "mpirun -npernode 1 mkdir -p /tmp/a\nmpirun python a.py\nmpirun -npernode 1 rm -rf /tmp/a"


FOUR = ("--ntasks=4", "--cpus-per-task=8", "--gres=gpu:4", "--mem=64G")


@for_each(
    ("body", "expected"),
    [
        (
            "srun --exact -n1 --gres=gpu:1 a &\nsrun --exact -n1 --gres=gpu:a100:2 --mem=8G b &\nwait",
            "CUDA_VISIBLE_DEVICES=0 a &\nCUDA_VISIBLE_DEVICES=1,2 b &\nwait",
        ),
        (
            "srun -n1 --gpus=1 a &\nsrun -n1 --gpus=1 b\nwait",
            "CUDA_VISIBLE_DEVICES=0 a &\nCUDA_VISIBLE_DEVICES=1 b\nwait",
        ),
        (
            "for i in 1 2; do\nsrun -n1 -G 1 a $i &\nsrun -n1 -G 1 b $i &\nwait\ndone",
            "".join(f"CUDA_VISIBLE_DEVICES=0 a {i} &\nCUDA_VISIBLE_DEVICES=1 b {i} &\nwait\n" for i in (1, 2)).strip(),
        ),
        ("CUDA_VISIBLE_DEVICES=3 srun -n1 -G 1 a &\nsrun -n1 -G 4 b\nwait", "CUDA_VISIBLE_DEVICES=3 a &\nb\nwait"),
        ("srun -n1 a &\nsrun -n1 --gres=nic:1 b &\nwait", "a &\nb &\nwait"),
    ],
)
def test_programs_that_run_at_the_same_time_have_gpus_of_their_own(body: str, expected: str) -> None:
    made = job(script(*FOUR, body=body)).fields
    assert made["command"] == expected
    assert {name: made[name] for name in ("gpus", "cpu", "memory")} == {"gpus": 4, "cpu": 32, "memory": "64Gi"}


def test_a_program_has_as_many_gpus_as_its_srun_gives_it() -> None:
    made = job(script(*FOUR, body="srun -n1 a\nsrun -n1 --gres=gpu:2 b")).fields
    assert (made["command"], made["gpus"]) == ("a\nCUDA_VISIBLE_DEVICES=0,1 b", 4)
    assert job(script(*FOUR, body="srun -n1 --gres=gpu:2 b")).fields["gpus"] == 2


@for_each(("options", "is_named"), [("--num_processes $(cat b)", True), ("", True), ("--num_processes 8", False)])
def test_a_rendezvous_of_accelerate_without_a_known_number_of_processes_is_named(
    options: str, *, is_named: bool
) -> None:
    _, found = read(script("-N 2", "--gres=gpu:4", body=f"srun accelerate launch {options} --rdzv_backend c10d a.py"))
    assert any(one.message.startswith("`--rdzv_backend=c10d` is not carried: it needs") for one in found) is is_named


HOROVOD = (
    "H=$(scontrol show hostname $SLURM_JOB_NODELIST | sed -z 's/\\n/:2,/g')\nhorovodrun -np 4 --hosts ${H%?} a -H b"
)


@for_each(
    ("options", "body", "fields"),
    [
        (
            ("-N 2", "--ntasks-per-node=2"),
            HOROVOD,
            {"kind": "mpi", "workers": 2, "command": f"horovodrun {HOSTS} -np 4 a -H b", "slotsPerWorker": 2},
        ),
        (("-N 2", "--gres=gpu:2"), HOROVOD, {"kind": "mpi", "gpus": 2, "command": f"horovodrun {HOSTS} -np 4 a -H b"}),
        (("-N 1", "--gres=gpu:4"), HOROVOD, {"kind": "batch", "gpus": 4, "command": "horovodrun -np 4 a -H b"}),
        (("-N 1",), "horovodrun -np 4 a -H b", {"kind": "batch", "command": "horovodrun -np 4 a -H b"}),
    ],
)
def test_horovodrun_has_the_hosts_of_the_job(options: tuple[str, ...], body: str, fields: dict[str, object]) -> None:
    made = job(script(*options, body=body, interpreter=BASH))
    assert made.fields | fields == made.fields
    assert made.obstacles == ()


PORTS = "port() { comm -23 <(seq 9) <(ss -Htan) | head -n 1; }\nP=$(port)"


@for_each(
    ("options", "line", "stays"),
    [
        ("-N 2", "srun torchrun --master_port $P a.py", False),
        ("-N 2", 'srun bash -c "torchrun --nnodes 2 --master_addr $A --master_port $P a.py"', False),
        ("-N 2", "srun torchrun --master_port $P a.py --port $P", True),
        ("-N 1", "torchrun --master_port $P a.py &\ntorchrun b.py\nwait", True),
        ("-N 1", "accelerate launch --config_file a.yaml --num_processes $P a.py", True),
        ("-N 1", "accelerate launch --num_processes $P a.py", False),
    ],
)
def test_a_function_for_options_that_gen_sets_is_not_in_the_job(options: str, line: str, *, stays: bool) -> None:
    made = job(script(options, "--gres=gpu:8", body=f"{PORTS}\n{line}", interpreter=BASH)).fields
    assert ("port()" in str(made["command"])) == stays


@for_each(
    ("body", "expected", "why"),
    [
        (
            "for i in 0 1 2; do srun -N1 -n1 --gpus=2 a $i &\ndone\nwait",
            "".join(f"CUDA_VISIBLE_DEVICES={one} a {i} &\n" for i, one in enumerate(("0,1", "2,3", "0,1"))) + "wait",
            "one pod has all programs that run at the same time",
        ),
        ("srun -N1 -n1 a &\nsrun -N1 -n1 b &\nwait", "a &\nb &\nwait", "one pod has all programs that run at the"),
        ("srun -N1 -n1 --gpus=1 a", "a", "no `srun` starts a program on all nodes"),
        ("srun -N1 -n1 --gpus=1 a &\nsrun -N2 b\nwait", "a &\nb\nwait", ""),
    ],
)
def test_programs_of_one_node_each_are_in_one_pod(body: str, expected: str, why: str) -> None:
    (made,), found = read(script("-N 2", "--ntasks-per-node=1", "--gres=gpu:4", "-c 8", body=body))
    assert (made.fields["command"], made.fields["gpus"], made.fields["cpu"]) == (expected, 4, 8)
    lost = [one for one in found if one.message.startswith(f"1 of 2 nodes is not carried: {why}")]
    assert len(lost) == (why != "")
    assert not any("free GPU" in one.message or ("one pod" in why and "set `workers`" in one.hint) for one in found)


def test_programs_that_wait_for_a_free_gpu_are_named() -> None:
    body = "".join(f"srun -n1 --gpus=2 {program} &\n" for program in "abc") + "wait"
    (made,), found = read(script(*FOUR, body=body))
    devices = ("0,1", "2,3", "0,1")
    started = "".join(f"CUDA_VISIBLE_DEVICES={one} {name} &\n" for one, name in zip(devices, "abc", strict=True))
    assert made.fields["command"] == f"{started}wait"
    assert [one.place.line for one in found if one.message.startswith("the wait for 2 free GPUs is not carried")] == [9]


@for_each(
    ("tasks", "body", "expected"),
    [
        (4, "srun python train.py", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (1, "srun ./train.sh", "a pod has it in `$RANK`"),
        (4, "srun --mpi=pmix python train.py", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (4, "# not mpi4py\nsrun --mpi=pmix bash -c 'python a.py'", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (4, "srun numactl --membind=0 python train.py", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (1, "srun numactl -m 0 ./train.sh", "a pod has it in `$RANK`"),
        (1, "srun nsys profile -o a python train.py", "a pod has it in `$RANK`"),
        (4, "srun python a.py --local $SLURM_LOCALID", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (4, "module load horovod\nsrun --mpi=pmix python train.py", None),  # a program of MPI
        (4, "srun --mpi=pmix python -m mpi4py train.py", None),
        (4, "srun --mpi=pmix ./cfd a.py", None),
        (4, "srun ./all_reduce_perf -b 8", None),
        (4, "srun /fsx/team/profiled torchrun_of_team", "a process has it in `$OMPI_COMM_WORLD_RANK`"),
        (4, "srun /opt/tests/all_reduce_perf -b 8", None),
        (1, "srun torchrun --nproc-per-node=4 train.py", None),
        (1, "srun -N1 -n1 python train.py", None),
        (4, "srun bash -c 'RANK=$SLURM_PROCID python train.py'", None),
        (1, "srun bash -c 'python train.py --rank $SLURM_PROCID'", None),
        (1, "srun bash -c 'python train.py --node_rank=\"$SLURM_PROCID\"'", None),
        (1, "srun bash -c 'python train.py $SLURM_PROCID'", None),
        (1, "srun bash -c 'python train.py --id $SLURM_PROCID --lora-rank=8'", "a pod has it in `$RANK`"),
        (
            4,
            "srun bash -c 'nsys profile -o p_$SLURM_PROCID python a.py'",
            "a process has it in `$OMPI_COMM_WORLD_RANK`",
        ),
    ],
)
def test_the_rank_of_slurm_that_a_program_may_read_is_named(tasks: int, body: str, expected: str | None) -> None:
    _, found = read(script("-N 2", f"--ntasks-per-node={tasks}", "--gres=gpu:4", body=body))
    told = [one.message for one in found if one.message.startswith("the rank in `$SLURM_PROCID`")]
    assert told == ([f"the rank in `$SLURM_PROCID` is not carried: {expected}"] if expected else [])


@for_each(
    ("body", "expected", "computed"),
    [
        ("S=$(python split.py)\nsrun python a.py --split $S", "mpirun python a.py --split $(python split.py)", 0),
        ("srun bash -c 'a --split $(b)'", "mpirun sh -c 'a --split $(b)'", 0),
        (
            'T=$(xxd -p /dev/urandom)\nsrun bash -c "RANK=\\$SLURM_PROCID python a.py --tag $T"',
            "mpirun sh -c 'RANK=$OMPI_COMM_WORLD_RANK exec \"$@\"' sh python a.py --tag $(xxd -p /dev/urandom)",
            0,
        ),
        (
            'T=$(xxd -p /dev/urandom)\nsrun bash -c "python a.py --tag $T --rank \\$SLURM_PROCID"',
            "mpirun sh -c 'exec \"$@\" --rank $OMPI_COMM_WORLD_RANK' sh python a.py --tag $(xxd -p /dev/urandom)",
            0,
        ),
        (
            'T=$(xxd -p /dev/urandom)\nsrun bash -c "python a.py --rank \\$SLURM_PROCID --tag $T"',
            "mpirun sh -c 'python a.py --rank $OMPI_COMM_WORLD_RANK --tag $(xxd -p /dev/urandom)'",
            1,
        ),
        (
            "export MASTER_ADDR=$(scontrol show hostnames | head -1)\nsrun python a.py --to $MASTER_ADDR",
            "mpirun -x MASTER_ADDR python a.py --to $MASTER_ADDR",
            0,
        ),
    ],
)  # fmt: skip
def test_outputs_of_the_batch_part_are_computed_once_for_all_processes(body: str, expected: str, computed: int) -> None:
    (made,), found = read(script(*TASKS, body=body, interpreter=BASH))
    assert " ".join(made.fields["command"].replace("\\\n", "").split("\n")[-1].split()) == expected
    named = [one for one in found if one.message.endswith("is not carried: each process computes it")]
    assert len(named) == computed


def test_tasks_of_mpi_have_the_port_of_the_script() -> None:
    made = job(script("-N 2", "--gpus-per-node=4", body="export MASTER_PORT=12802\nsrun -n 8 python a.py")).fields
    assert "MASTER_PORT=12802\nmpirun -x MASTER_ADDR -x MASTER_PORT python a.py" in made["command"]


@for_each(
    ("body", "messages"),
    [
        ("cat <<E > b.sh\n#SBATCH -N 2\nc\nE\nbash b.sh", []),
        ("accelerate launch --config_file b --num_processes $(cat c) a.py", []),
        (
            'srun --container-image a/b:1 --container-mounts "$B,/c:/d,$E" a',
            [f"the mount `${one}` is not carried: the script gets `${one}` from outside" for one in "BE"],
        ),
    ],
)
def test_what_is_carried_is_not_named(body: str, messages: list[str]) -> None:
    _, found = read(script("-N 1", "--gpus-per-node=8", body=body, interpreter=BASH))
    assert [one.message for one in found if one.severity is not Severity.ERROR] == messages


@for_each(
    ("body", "expected"),
    [
        ("srun sh -c 'mkdir -p b; chmod 777 b'\nsrun a", "mpirun sh -c 'mkdir -p b; chmod 777 b'\nmpirun a"),
        ("srun sh -c 'b && c d'", "mpirun sh -c 'b && c d'"),
        ("srun bash -ec 'b; c d' > e\ncat e | f", "mpirun sh -c 'b && c d' > e\ncat e | f"),
        (
            "set -e\nsrun sh -c 'mkdir -p b; chmod 777 b'\nsrun a",
            "set -e\nmpirun sh -c 'mkdir -p b; chmod 777 b'\nmpirun a",
        ),
        ("srun b\nsrun c", "mpirun b\nmpirun c"),
        ("srun sh -c 'b > e; c e'", "mpirun sh -c 'b > e; c e'"),
        (
            f"srun sh -c 'mkdir -p b; python a.py {LONG}'",
            "mpirun mkdir -p b\nmpirun python a.py \\\n  " + LONG.replace(" --", " \\\n  --"),
        ),
    ],
)
def test_short_programs_of_one_task_have_one_start(body: str, expected: str) -> None:
    assert job(script("-N 2", "--ntasks-per-node=4", body=body)).fields["command"] == expected


OWN_GPU = "mpirun sh -c 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK a'"


@for_each(
    ("options", "body", "command", "is_named"),
    [
        (("--gpus-per-task=1",), "srun a", OWN_GPU, False),
        (("--gpus-per-task=a100:1",), "srun mkdir /b\nsrun a", f"mpirun mkdir /b\n{OWN_GPU}", False),
        (("--gpus-per-task=1",), "srun --gpu-bind=none a", "mpirun a", False),
        (("--gres=gpu:4",), "srun --gpus-per-task=1 a", OWN_GPU, False),
        (("--gres=gpu:4",), "srun a", "mpirun a", False),
        (("--gpus-per-task=2",), "srun a", "mpirun a", True),
    ],
)
def test_a_process_has_the_gpu_that_slurm_binds_to_its_task(
    options: tuple[str, ...], body: str, command: str, *, is_named: bool
) -> None:
    (made,), found = read(script("--ntasks-per-node=4", "-N 1", *options, body=body))
    assert made.fields["command"] == command
    assert any("a process sees all GPUs of its pod" in one.message for one in found) is is_named


def test_processes_of_mpi_on_cpus_have_no_gpus() -> None:
    text, site = script("-N 1", "--ntasks=2", body="mpiexec -n 2 python a.py"), ("site.yaml", b"nodes: {gpus: 8}\n")
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", site=site)
    (made,) = IMPORTERS["slurm"]().read(given, Findings())
    assert ("gpus" in made.fields, made.fields["cpu"], made.fields["slotsPerWorker"]) == (False, 2, 2)
