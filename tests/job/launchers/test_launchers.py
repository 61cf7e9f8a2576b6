"""The processes of a command, as its launcher and its shell read it."""

from __future__ import annotations

import pytest

from gen.job.launchers import LAUNCHERS, launches
from gen.job.launchers.base import PODS, PROCESSES
from gen.job.script import read_script


def started(command: str) -> list[tuple[str, dict[str, str | None], list[str]]]:
    """The launchers of the first program, with their options and programs."""
    words = read_script(command).programs[0].words
    return [
        (
            one.launcher.name,
            {name: setting.value for name, setting in one.options.items()},
            [w.text for w in one.program],
        )
        for one in launches(words)
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("torchrun --nproc-per-node=8 a.py --lr 1", [("torchrun", {"nproc_per_node": "8"}, ["a.py", "--lr", "1"])]),
        ("torchrun --nproc 8 -m pkg.train", [("torchrun", {"nproc_per_node": "8", "module": ""}, ["pkg.train"])]),
        ("torchrun --nnodes=$N --standalone a.py", [("torchrun", {"nnodes": None, "standalone": ""}, ["a.py"])]),
        ("python3.12 -u -m torch.distributed.run --nnodes 2 a.py", [("torchrun", {"nnodes": "2"}, ["a.py"])]),
        ("exec env A=1 nice -n 5 torchrun a.py", [("torchrun", {}, ["a.py"])]),
        (
            "mpirun -np 4 -x A=b --mca pml ob1 -bind-to none python -u a.py",
            [
                ("mpirun", {"np": "4", "x": "A=b", "bind_to": "none"}, ["python", "-u", "a.py"]),
                ("python", {}, ["a.py"]),
            ],
        ),
        ("horovodrun -np 4 ./a", [("horovodrun", {"num_proc": "4"}, ["./a"])]),
        ("accelerate launch --multi_gpu a.py", [("accelerate launch", {"multi_gpu": ""}, ["a.py"])]),
        ("accelerate config", []),
        ("deepspeed --num_gpus=8 a.py", [("deepspeed", {"num_gpus": "8"}, ["a.py"])]),
        ("colossalai run --nproc_per_node 8 a.py", [("colossalai run", {"nproc_per_node": "8"}, ["a.py"])]),
        ("torchrun $FLAGS a.py", [("torchrun", {}, [])]),
        ("torchrun --unknown 1 a.py", [("torchrun", {}, [])]),
    ],
)  # fmt: skip
def test_launchers_are_read(command: str, expected: list[object]) -> None:
    assert started(command) == expected


def test_the_options_of_a_launcher_have_one_meaning() -> None:
    for one in LAUNCHERS:
        assert not one.values & one.flags
        assert not (one.values | one.flags) & one.pairs
        for name in (*one.short.values(), *(name for names in one.roles.values() for name in names)):
            assert name in one.values | one.flags | one.pairs, f"{one.name}: {name}"


def test_unknown_values_have_no_number() -> None:
    (launch,) = launches(read_script("torchrun --nproc_per_node=$N --nnodes=1:4 a.py").programs[0].words)
    processes, pods = launch.get(PROCESSES), launch.get(PODS)
    assert processes is not None
    assert processes.number is None
    assert pods is not None
    assert (pods.value, pods.number) == ("1:4", None)
