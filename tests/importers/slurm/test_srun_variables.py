"""Variables that `srun` reads are its options."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, read, script

ORDER = "the ranks of a job have the order of its pods"
NO_FIELD = "Kubernetes has no field for it"


@for_each(
    ("body", "line", "message"),
    [
        ("export SLURM_HOSTFILE=/a/b\nsrun c", 5, f"the variable `SLURM_HOSTFILE` is not carried: {ORDER}"),
        ("a > b\nexport SLURM_HOSTFILE=b\nsrun c", 5, f"the redirection of the output is not carried: {ORDER}"),
        ("srun a | sort > /b\nexport SLURM_HOSTFILE=/b\nsrun c", 5, f"the pipe to `sort` is not carried: {ORDER}"),
        ("srun a\nexport SLURM_CPU_BIND=none\nsrun c", 6, f"the variable `SLURM_CPU_BIND` is not carried: {NO_FIELD}"),
        ("SLURM_CPU_BIND=none srun c", 5, f"the variable `SLURM_CPU_BIND` is not carried: {NO_FIELD}"),
        ("export SRUN_CPUS_PER_TASK=9\nsrun c", 5, "the variable `SRUN_CPUS_PER_TASK` is not carried: the job has the"),
        ("SLURM_MPI_TYPE=pmix srun c", 5, "the variable `SLURM_MPI_TYPE` is not carried: it concerns the client"),
    ],
)
def test_options_in_variables_are_named(body: str, line: int, message: str) -> None:
    _, found = read(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH))
    named = [(getattr(one.place, "line", 0), one.message) for one in found]
    assert any(place == line and text.startswith(message) for place, text in named), named
    assert len([text for _, text in named if text.startswith(message)]) == 1, named


def test_the_number_of_cpus_of_the_script_is_that_of_the_job() -> None:
    body = "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\nsrun c"
    jobs, found = read(script("-N 1", "-c 4", body=body, interpreter=BASH))
    assert jobs[0].fields["cpu"] == 4
    assert not any("SRUN" in one.message for one in found)
