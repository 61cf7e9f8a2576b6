"""Host names of nodes are those of pods, without the suffix of a network."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, read, script

HEAD = "H=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)"


@for_each(
    ("body", "command", "suffixes"),
    [
        ('srun a --host="$H"i:29', "a --host=$MASTER_ADDR:29", ["i"]),
        ("export A=tcp://${H}-ib0:1\nsrun a", "export A=tcp://$MASTER_ADDR:1\na", ["-ib0"]),
        ("srun a --log log_${H}x ${H}.d", "a --log log_${MASTER_ADDR}x $MASTER_ADDR.d", []),
    ],
)
def test_a_suffix_of_a_name_is_reported(body: str, command: str, suffixes: list[str]) -> None:
    jobs, found = read(script("-N 2", "--ntasks-per-node=1", body=f"{HEAD}\n{body}", interpreter=BASH))
    assert jobs[0].fields["command"] == command
    named = [one.message.split("`")[1] for one in found if "of the name of a node" in one.message]
    assert named == suffixes


@for_each(("options", "named"), [('-w "$H"', False), ("-w $SLURM_JOB_NODELIST", False), ("-w n1", True)])
def test_the_only_node_is_that_of_the_job(options: str, named: bool) -> None:
    _, found = read(script("-N 1", body=f"{HEAD}\nsrun {options} a", interpreter=BASH))
    assert any("`--nodelist` is not carried" in one.message for one in found) == named
