"""Shells of processes of MPI: with files that they read with `source`, and in folders of their ranks."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

OF_IMAGE = "srun --container-image=a/b:1 bash -c"


@for_each(
    ("options", "body", "command"),
    [
        (
            ("-N 2", "--ntasks-per-node=2"),
            f"{OF_IMAGE} 'source /a.sh && b && c'\n{OF_IMAGE} 'd'",
            "mpirun bash -c 'source /a.sh && b && c'\nmpirun d",
        ),
        (
            ("-N 2", "--ntasks-per-node=2"),
            f"{OF_IMAGE} '\n  source /a.sh\n  b $SLURM_PROCID\n' || exit 1\nc",
            "mpirun bash -c 'source /a.sh; b $OMPI_COMM_WORLD_RANK' || exit 1\nc",
        ),
        (
            ("-N 2", "--ntasks-per-node=2"),
            f"{OF_IMAGE} 'set -e; source /a.sh; b; c'\nd",
            "mpirun bash -c 'set -e; source /a.sh; b; c'\nd",
        ),
        (("-N 1",), f"{OF_IMAGE} 'source /a.sh && b'\nc", ["bash", "-c", "(source /a.sh && b)\nc"]),
        (("-N 1",), "apptainer exec x.sif bash -c '. /a.sh; b'", ["bash", "-c", "source /a.sh\nb"]),
        (("-N 1",), "bash -c 'source /a.sh; b'", "b"),
    ],
)
def test_a_task_reads_a_file_of_its_image(options: tuple[str, ...], body: str, command: object) -> None:
    made = job(script(*options, body=body, interpreter=BASH))
    assert made.fields["command"] == command


def test_mpirun_cannot_start_a_shell_with_values_of_another_one() -> None:
    body = f"A=$(ask)\nexport A\n{OF_IMAGE} 'source /a.sh && b $A'"
    jobs, found = read(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH))
    assert len(jobs) == 1
    assert any("`mpirun` starts programs only" in one.message for one in found), [one.message for one in found]


def test_a_file_that_a_task_reads_can_ask_for_its_rank() -> None:
    _, found = read(script("-N 1", body=f"{OF_IMAGE} 'source a.sh && b'", interpreter=BASH))
    assert [one.message for one in found if "the rank of `a.sh` in `$SLURM_PROCID`" in one.message]


OF_RANK = "$OMPI_COMM_WORLD_RANK"


@for_each(
    ("task", "command"),
    [
        ("cd /d/$SLURM_PROCID && a", f"mpirun sh -c 'cd /d/{OF_RANK} && a'"),
        (
            "cd /d/$SLURM_PROCID || exit 3; export X=$((SLURM_LOCALID + 1)); a",
            f"mpirun sh -c 'cd /d/{OF_RANK} || exit 3; X=$(($OMPI_COMM_WORLD_LOCAL_RANK + 1)) a'",
        ),
        ("cd /d/n_$SLURM_NODEID; a", "mpirun sh -c 'cd \"/d/n_$((OMPI_COMM_WORLD_RANK / 2))\"; a'"),
        (
            "mkdir -p /d/$SLURM_PROCID; cd /d/$SLURM_PROCID; a",
            f"mpirun sh -c 'mkdir -p /d/{OF_RANK}; cd /d/{OF_RANK}; a'",
        ),
    ],
)
def test_a_process_goes_to_the_folder_of_its_rank(task: str, command: str) -> None:
    made = job(script("-N 2", "--ntasks-per-node=2", body=f"srun bash -c '{task}'\nb", interpreter=BASH))
    assert made.fields["command"] == f"{command}\nb"


def test_a_part_of_a_shell_in_the_folder_of_a_rank_cannot_run() -> None:
    body = "srun bash -c 'cd /d/$SLURM_PROCID; for i in $(ls); do a $i; done'"
    _, found = read(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH))
    assert any(one.message.startswith("only a process of MPI knows the folder") for one in found)
