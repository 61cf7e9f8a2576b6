"""A job has the limits of its script, and not those of one `srun`."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.importers.slurm.test_slurm import read, script

ALL = ("--time=10:00:00", "--mem=200G", "--cpus-per-task=32")


@for_each(
    ("options", "body", "fields", "lost"),
    [
        (
            ALL,
            "srun -t 30 --mem=10G -c 4 a\nsrun b\nsrun -t 10 --mem=10G -c 4 c",
            {"timeout": "10h", "memory": "200Gi", "cpu": 32},
            ["`--cpus-per-task`", "`--mem`", "`--time`"],
        ),
        (ALL, "srun -t 600 --mem=200G -c 32 a\nb", {"timeout": "10h", "memory": "200Gi", "cpu": 32}, []),
        (
            ALL,
            "mkdir -p o\nsrun -t 10 --mem=5G -c 4 a",
            {"timeout": "10m", "memory": "200Gi", "cpu": 4},
            ["`--mem`"],
        ),
        (("-N 1",), "srun -t 5 --mem=5G a\nb", {"timeout": None, "memory": None}, ["`--mem`", "`--time`"]),
        (("-N 1",), "srun -t 5 --mem=5G a", {"timeout": "5m", "memory": "5Gi"}, []),
        (("--time=60",), "srun -t 10:00:00 a", {"timeout": "1h"}, ["`--time`"]),
    ],
)
def test_the_limits_of_a_step(options: tuple[str, ...], body: str, fields: dict[str, Any], lost: list[str]) -> None:
    (made,), found = read(script(*options, body=body))
    assert {name: made.fields.get(name) for name in fields} == fields
    assert sorted(one.message.partition(" of ")[0] for one in found) == lost
