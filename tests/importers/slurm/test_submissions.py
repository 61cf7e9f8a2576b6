"""Other jobs that a script starts, and the checks of their ids."""

from __future__ import annotations

from gen.base.findings import Findings, Severity
from gen.importers import ImportInput
from gen.importers.slurm.importer import SlurmImporter
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

ONLY = "the script only starts other jobs: `a.sh`"


@for_each(
    ("body", "message"),
    [
        ('J=$(sbatch --parsable a.sh)\n[[ -z "$J" ]] && exit 1\necho $J', ONLY),
        ('J=$(sbatch --parsable a.sh)\nif [ -z "$J" ]; then echo b; exit 1; fi\nsbatch -d $J b.sh', f"{ONLY}, `b.sh`"),
        ('J=$(sbatch a.sh)\nJ=${J##* }\nif [ -z "$J" ]; then exit 1; fi', ONLY),
        ('J=$(sbatch a.sh)\nI=$(echo $J | cut -d" " -f4)\nif [[ ! $I =~ ^[0-9]+$ ]]; then exit 1; fi', ONLY),
        ("if sbatch a.sh; then echo b; else exit 1; fi", ONLY),
    ],
)
def test_a_script_that_checks_the_jobs_that_it_starts_has_no_program(body: str, message: str) -> None:
    _, found = read(script("-N 1", body=body, interpreter=BASH))
    assert [one.message for one in found if one.severity is Severity.ERROR] == [message]


def test_a_check_of_another_job_is_left_out_with_it() -> None:
    text = script("-N 1", body='a\nJ=$(sbatch b.sh)\n[[ "$J" =~ ^[0-9]+$ ]] || exit 1\nc', interpreter=BASH)
    assert job(text).fields["command"] == "a\nc"
    assert [one.message for one in read(text)[1]] == ["`sbatch b.sh` is not carried: it starts another job"]


@for_each(
    "body",
    [
        "for i in $(ls /); do J=$(sbatch b.sh); a $J; done",
        'b() { sbatch --parsable $1; }\nJ=$(b c.sh)\nif [ -z "$J" ]; then exit 1; fi\na $J',
    ],
)
def test_a_pod_cannot_start_another_job(body: str) -> None:
    _, found = read(script("-N 1", body=body, interpreter=BASH))
    assert [one.message for one in found if one.code == "cannot-run"][:1] == [
        "`sbatch` has no answer in a pod, and only a shell decides this part"
    ]


def test_the_name_of_the_user_is_that_of_the_variable() -> None:
    text = script("-N 1", body="A=${B:-$(whoami)}\na $A $(id -un) $(id -u)")
    given = ImportInput(file="a.sh", text=text, namespace="team", image="a:1", define={"USER": "jane"})
    (made,) = SlurmImporter().read(given, Findings())
    assert made.fields["command"] == "a jane jane $(id -u)"
