"""`mpirun` behind other programs and in texts of the shell reaches the pods of the job."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

NODES = ("-N 2", "--ntasks-per-node=4")


@for_each(
    ("body", "expected"),
    [
        ("timeout 1h mpirun -np 8 ./a", "timeout 1h mpirun ./a"),
        ("timeout -k 5 -s INT 1h mpirun -np 8 ./a", "timeout -k 5 -s INT 1h mpirun ./a"),
        ("numactl -N 0 mpirun -np 2 ./a", "numactl -N 0 mpirun -np 2 ./a"),
        ("nice -n 10 mpirun ./a", "nice -n 10 mpirun ./a"),
        ("taskset -c 0-3 mpirun ./a", "taskset -c 0-3 mpirun ./a"),
        ("mpirun -np 8 ./a < /in", "mpirun -np 8 ./a < /in"),
        ("mpirun -np 8 ./a | grep x > /tmp/l\n./c /tmp/l", "mpirun -np 8 ./a | grep x > /tmp/l\n./c /tmp/l"),
        (
            "for F in $(ls /tmp/*.in); do mpirun --hostfile /tmp/h -np 16 --mca btl_tcp_if_include ib0 ./a $F; done",
            "for F in $(ls /tmp/*.in); do mpirun --oversubscribe -np 16 ./a $F; done",
        ),
        ("mpirun -np 8 ./a || timeout 10 mpirun -np 4 ./b", "mpirun -np 8 ./a || timeout 10 mpirun -np 4 ./b"),
    ],
)
def test_mpirun_reaches_all_pods(body: str, expected: str) -> None:
    fields = job(script(*NODES, body=body, interpreter=BASH)).fields
    assert (fields["kind"], fields["workers"], fields["slotsPerWorker"]) == ("mpi", 2, 4)
    assert fields["command"] == expected


def test_a_network_of_machines_is_left_out_of_a_text() -> None:
    body = "mpirun -np 8 --mca btl_tcp_if_include ib0 ./a < in"
    _, found = read(script(*NODES, body=body))
    said = ["`--mca btl_tcp_if_include ib0` is not carried: it belongs to the machines of the site"]
    assert [one.message for one in found] == said
