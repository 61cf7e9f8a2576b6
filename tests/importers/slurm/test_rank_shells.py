"""Files that tasks read with `source` in their containers."""

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
