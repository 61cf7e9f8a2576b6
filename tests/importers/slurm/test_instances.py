"""Instances of Apptainer are containers with their images."""

from __future__ import annotations

from typing import Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, script

START = "singularity instance start"
SITE = b"images: {x.sif: a/b:1}\npaths: {/data: data}\n"


def read(body: str) -> tuple[dict[str, Any], list[str]]:
    found = Findings()
    text = script("-N 1", body=body, interpreter=BASH)
    given = ImportInput(file="train.sh", text=text, otherwise="team", site=("site.yaml", SITE))
    (job,) = IMPORTERS["slurm"]().read(given, found)
    return job.fields, [one.message for one in found]


@for_each(
    ("body", "expected"),
    [
        (f"{START} x.sif n\nsingularity run instance://n a\nsingularity instance stop n", {"command": "a"}),
        (f"N=n\n{START} --nv -B /data:/d x.sif $N\nsingularity exec instance://$N a", {"data": {"data": "/d"}}),
        (
            f"{START} --env A=1 x.sif n\nsrun apptainer exec instance://n a\napptainer instance stop -a",
            {"command": "A=1 a"},
        ),
        (f"{START} --pwd /w x.sif n\nsingularity exec instance://n a", {"command": "a", "workingDir": "/w"}),
    ],
)
def test_a_program_of_an_instance_has_its_container(body: str, expected: dict[str, Any]) -> None:
    fields, found = read(body)
    assert fields["image"] == "a/b:1"
    assert {name: fields.get(name) for name in expected} == expected
    assert any(one.startswith("the startscript of the image is not carried") for one in found), found


@for_each("body", [f"{START} x.sif n\na", f"{START} x.sif n b c\nsingularity exec instance://n a"])
def test_a_program_of_the_image_alone_is_not_known(body: str) -> None:
    _, found = read(body)
    assert any("only the image knows the program of the startscript" in one for one in found), found
