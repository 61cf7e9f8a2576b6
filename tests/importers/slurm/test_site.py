"""A site file has the meaning of a company's names once for all scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.base import Findings
from gen.base.findings import UsageError
from gen.importers import ImportInput
from gen.importers.slurm.importer import SlurmImporter
from gen.importers.slurm.site_template import site_template
from tests.cases import for_each
from tests.commands.imports import errors
from tests.importers.slurm.test_slurm import read, script
from tests.importers.support import run_import
from tests.support import Repository, rendered

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.formats import Report

SITE = """
image: a/c:1
nodes: {gpus: 8, cpu: 96}
partitions: {gpu: main, debug: ''}
accounts: {abc@v100: abc}
constraints: {v100: {gpuModel: V100}}
images: {/images/a.sqsh: a/d:2}
paths: {/lustre: lustre, /lustre/work: work}
define: {NODES: 2, OUT: /lustre/work/out}
"""
BODY = "srun torchrun train.py --data /lustre/data --out $OUT/$NAME"


def slurm(repo: Repository, text: str, site: str = SITE, **options: Any) -> tuple[Report, int]:
    folder: Path = repo.root.parent
    (folder / "train.sh").write_text(text)
    (folder / "site.yaml").write_text(site)
    file, given = str(folder / "train.sh"), {"namespace": "team", "site": folder / "site.yaml", **options}
    return run_import(repo.root, file, importer="slurm", **given)


def test_a_script_is_ready_with_a_site_file(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    names = ("-p gpu", "-A abc@v100", "--exclusive", "--container-image=/images/a.sqsh")
    text = script("--nodes=${NODES}", "--ntasks-per-node=1", *names, body=BODY)
    report, code = slurm(repo, text, name="first", define=("NAME=a",), overlay="dev", yes=True)
    assert (errors(report), code) == ([], 0)
    assert report.summary == "imported 1 job, which is ready; run `gen render`"
    assert (repo.root / "jobs/team/first.yaml").read_text() == (
        "# Imported from the Slurm script train.\n"
        "kind: pytorch\n"
        "image: a/d:2\n"
        "command: torchrun train.py --data /lustre/data --out /lustre/work/out/a\n"
        "workers: 2\n"
        "gpus: 8\n"
        "cpu: 96\n"
        "data:\n"
        "  lustre: /lustre\n"
        "  work: /lustre/work\n"
        "queue: main\n"
        "labels:\n"
        "  account: abc\n"
    )
    assert rendered(repo.root)[1] == 0


@for_each(
    ("nodes", "body", "expected", "why"),
    [
        (1, "C=/lustre/c\ntrap 'rm -rf $C' EXIT\na $C", "trap 'rm -rf /lustre/c' EXIT\na /lustre/c", None),
        (
            1,
            "C=/lustre/c\nf() { rm -r ${C}; }\ntrap f EXIT\na $C",
            "f() { rm -r /lustre/c; }\ntrap f EXIT\na /lustre/c",
            None,
        ),
        (1, "cd /lustre/c\ntrap 'echo b; rm d' EXIT\na", "trap 'echo b; rm d' EXIT\na", None),
        (1, "C=/tmp/c\ntrap 'rm -rf $C' EXIT\na $C", "a /tmp/c", "the programs and files of a pod end with it"),
        (2, "trap 'rm /lustre/c' EXIT\nsrun a", "a", "each pod would do it, also while others use the files"),
    ],
)
def test_a_trap_changes_the_files_of_a_volume(nodes: int, body: str, expected: str, why: str | None) -> None:
    found = Findings()
    text = script(f"-N {nodes}", "--ntasks-per-node=1", body=body, interpreter="/bin/bash")
    given = ImportInput(file="train.sh", text=text, otherwise="team", image="a/b:1", site=("site.yaml", SITE.encode()))
    (made,) = SlurmImporter().read(given, found)
    said = [one.message.partition("carried: ")[2] for one in found if "trap" in one.message]
    assert (made.fields["command"], said) == (expected, [why] if why else [])


def test_without_a_site_file_the_report_names_what_is_missing(repo: Repository) -> None:
    report, code = slurm(repo, script("-N 2", "--gres=gpu:8", body=BODY), site="image: a/b:1\n")
    assert code == 1
    text = "\n".join(f"{one.message}: {one.hint}" for one in report.findings)
    assert "no pod has the folder `/lustre/data`: map it with `paths` of a site file" in text
    assert "`$OUT` has no value in a pod: the script gets it from outside: give it with `--define OUT=VALUE`" in text
    assert "renders, but cannot run" in report.summary


def test_a_variable_without_a_value_is_named_once(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    body = "A=(b c)\npython a.py ${A[$SLURM_ARRAY_TASK_ID]}\npython a.py $SLURM_X"
    report, _ = slurm(repo, script("-N 1", body=body, interpreter="/bin/bash"), site="image: a/b:1\n", overlay="dev")
    assert [(one.place.line, one.message.partition(":")[0]) for one in report.findings] == [
        (5, "`$SLURM_ARRAY_TASK_ID` has no value in a pod"),
        (6, "`$SLURM_X` has no value in a pod"),
    ]


def test_a_finding_about_the_command_has_the_line_of_its_program(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    body = "python a.py\nsudo b \\\n  --c\ndocker run d\npython e.py"
    report, _ = slurm(repo, script("-N 1", body=body), site="image: a/b:1\n", overlay="dev", yes=True)
    places = {one.message.split("`")[1]: one.place.line for one in report.findings}
    assert (places["sudo"], places["docker run"]) == (5, 7)


@for_each(
    ("site", "message"),
    [
        ("partition: {}\n", "`partition` is not a field of a site file"),
        ("paths: [a]\n", "`paths`: expected a mapping"),
        ("paths: {a: {}}\n", "`paths`: expected a mapping of texts"),
        ("constraints: {a: b}\n", "`constraints`: expected a mapping of mappings"),
        ("nodes: {gpus: many}\n", "`nodes`: expected numbers for gpus, cpu, memory"),
        ("image: [a]\n", "`image`: expected a text"),
        ("- a\n", "a site file is a mapping"),
    ],
)
def test_mistakes_in_a_site_file(repo: Repository, site: str, message: str) -> None:
    report, code = slurm(repo, script("-N 1", body="python a.py"), site=site)
    assert code == 1
    assert [(one.message, one.place.file.endswith("site.yaml")) for one in report.findings if one.is_error] == [
        (message, True)
    ]


def test_a_template_has_the_names_of_the_scripts(repo: Repository) -> None:
    folder = repo.root.parent / "scripts"
    folder.mkdir()
    for number in range(30):
        options = ("-N 1", f"-p part{number % 3}", "-A abc@v100", "-C v100")
        (folder / f"{number}.sh").write_text(script(*options, body=f"{BODY}{number} /fs{number}/a $V{number:02}"))
    (folder / "other.txt").write_text("a")
    report, code = run_import(repo.root, str(folder), importer="slurm", site_template=True)
    assert code == 0
    lines = report.summary.splitlines()
    assert len(lines) == 30
    assert lines[-1] == "  # and 51 more: V12, NAME13, V13, NAME14, V14, NAME15, V15, NAME16, V16, NAME17, …"
    assert "  # and 1 more: part2" in lines
    assert lines[:3] == ["image: <IMAGE>", "nodes:", "  gpus: 8"]
    assert {"  /lustre: lustre", "  OUT: <OUT>", "  abc@v100: ''", "  part0: ''", "  v100: {}"} <= {*lines}


@for_each(
    ("options", "body", "expected", "other"),
    [
        ((), "srun --container-mounts=/fsx/a:/data python a.py", "/fsx: fsx", ""),
        ((), "singularity exec -B /fsx/a:/data a.sif python a.py", "/fsx: fsx", ""),
        ((), "srun --container-image /images/a.sqsh b", "/images/a.sqsh: <IMAGE>", ""),
        ((), 'A=(--container-image /i/a.sqsh)\nsrun "${A[@]}" b', "/i/a.sqsh: <IMAGE>", ""),
        ((), "singularity exec /i/a.sif b", "/i/a.sif: <IMAGE>", ""),
        ((), "srun --container-image nvcr.io#a/b:1 c", "image: <IMAGE>", "images"),
        (("-p {{ partition }}",), "python a.py", "image: <IMAGE>", "partitions"),
        (("-p <PARTITION>", "-A $ACCOUNT"), "python a.py", "image: <IMAGE>", "partitions accounts"),
        ((), "python a.py --id=<YOUR_ORG>/a-b", "image: <IMAGE>", "paths"),
        (("--container-image=<image>",), "python a.py", "image: <IMAGE>", "images"),
        ((), "if [ -z $A ]; then exit 1; fi\npython a.py $B", "A: <A>", ""),
        ((), "if [ -z $A ]; then exit 1; fi\npython a.py $B", "B: <B>", ""),
        ((), ': "${A:?not set}"\npython a.py', "A: <A>", ""),
        ((), "srun --ntasks-per-node=$A --container-image=$B python a.py", "A: <A>", ""),
        ((), 'if [[ -z "${A:-}" ]]; then\necho b\nexit 1\nfi\nif [ -z ${C:-} ]; then exit 1; fi\na', "C: <C>", ""),
        ((), 'if [ "$1" = a ]; then b; elif [ "$1" = c ]; then d; fi', "'1': <ARGUMENT_1>", ""),
        ((), 'case "$MODE" in\n  a) b ;;\nesac', "MODE: <MODE>", ""),
        ((), "python -c \"\nE = '</REASONING>'\nprint(E)\n\"", "image: <IMAGE>", "paths"),
        ((), "a </data/b", "/data: data", ""),
        (
            (),
            "srun singularity exec /i/a.sif sh -c '$CONDA && a'\n# srun singularity exec b.sif sh -c '$CONDA && c'",
            "image: <IMAGE>",
            "define",
        ),
        ((), 'B=1\nif [ "$A" = 1 ]; then python c.py; fi\npython a.py $B', "image: <IMAGE>", "define"),
    ],
)
def test_a_template_has_names_of_the_site_only(
    tmp_path: Path, options: tuple[str, ...], body: str, expected: str, other: str
) -> None:
    (tmp_path / "a.sh").write_text(script("-N 1", *options, body=body))
    report, _ = run_import(tmp_path, str(tmp_path / "a.sh"), importer="slurm", site_template=True)
    lines = [one.strip() for one in report.summary.splitlines()]
    assert expected in lines
    assert not {f"{one}:" for one in other.split()} & {*lines}


def test_a_template_that_nobody_completed_is_no_site(repo: Repository) -> None:
    body = 'srun bash -c "export A=1; ${PROFILE_CMD} python train.py"'
    text = script("--nodes=$NODES", "--container-image=/images/a.sqsh", body=body)
    site = (
        "image: <IMAGE>\nimages: {/images/a.sqsh: <IMAGE>}\ndefine:\n  OTHER: <OTHER>\n  PROFILE_CMD: <PROFILE_CMD>\n"
        "  NODES: <NODES>\n"
    )
    report, code = slurm(repo, text, site)
    found = [f"{one.place.line}: {one.message}" for one in report.findings if one.place.file.endswith("site.yaml")]
    assert found == [
        f"{line}: `<{name}>` is a placeholder" for line, name in ((1, "IMAGE"), (5, "PROFILE_CMD"), (6, "NODES"))
    ]
    assert (code, "renders, but cannot run" in report.summary) == (1, True)
    assert "change-me-profile-cmd python train.py" in (repo.root / "jobs/team/train.yaml").read_text()
    report, code = slurm(repo, text, site, image="a/b:1", define=("PROFILE_CMD=nsys", "NODES=1"), name="other")
    assert [one.message for one in report.findings if one.place.file.endswith("site.yaml")] == []
    assert "which is ready" in report.summary or "needs" in report.summary


def test_a_value_of_a_site_file_is_wrong_there(repo: Repository) -> None:
    report, _ = slurm(repo, script("--nodes=$NODES", body="python a.py"), "image: a/b:1\ndefine:\n  NODES: many\n")
    assert [(one.place.file.endswith("site.yaml"), one.place.line) for one in report.findings if one.is_error] == [
        (True, 3)
    ]


@for_each(
    ("options", "message"),
    [
        ({"importer": "arena", "name": "a"}, "`--name` is not an option of `gen import arena`"),
        ({"importer": "arena", "site_template": True}, "`--site-template` is not an option of `gen import arena`"),
        ({"importer": "slurm", "define": ("a b",)}, "`--define a b`: expected NAME=VALUE"),
        ({"importer": "slurm", "site_template": True}, "no script with `#SBATCH` lines found"),
    ],
)
def test_options_that_cannot_be(repo: Repository, options: dict[str, Any], message: str) -> None:
    (repo.root.parent / "a.sh").write_text("a\n")
    with pytest.raises(UsageError, match=message):
        run_import(repo.root, str(repo.root.parent / "a.sh"), namespace="team", **options)


@for_each(
    ("body", "messages"),
    [
        ("srun python3 $*", ["3: `python3` has no script, because it is an argument of `sbatch`"]),
        ("A=-u\nsrun torchrun $A ${@}", ["4: `torchrun` has no script, because it is an argument of `sbatch`"]),
        ("mpirun --oversubscribe python $*", ["3: `python` has no script, because it is an argument of `sbatch`"]),
        ('horovodrun -np 8 python3 -u "$@"', ["3: `python3` has no script, because it is an argument of `sbatch`"]),
        ("/usr/bin/time -v python $*", ["3: `python` has no script, because it is an argument of `sbatch`"]),
        ('accelerate launch "$@"', ["3: `accelerate launch` has no script, because it is an argument of `sbatch`"]),
        ("jupyter --kernel python $*", ["3: `$*` is not carried"]),
        ('A=("$@")\nsrun python a.py "${A[@]}"', ["4: `$@` is not carried"]),
        ('f() { python a.py "$@"; }\nf', []),
        ('f() { python a.py "$@"; }\nf $*', ["3: `$@` is not carried"]),
        ("set -- b\npython a.py $*", []),
        ("L=1\nwhile getopts l: O; do L=$OPTARG; done\npython a.py $L", ["4: `$@` is not carried"]),
        ("L=1\nwhile [[ $# -gt 0 ]]; do L=$1; shift; done\npython a.py $L", ["4: `$@` is not carried"]),
        ("f() {\n  while (($#)); do shift; done\n}\nf b\npython a.py", []),
        ('f() {\n  while (($#)); do shift; done\n}\nf "$@"\npython a.py', ["6: `$@` is not carried"]),
        ("echo $*\n# $@\npython a.py ${*:-b} '$@'", []),
    ],
)  # fmt: skip
def test_arguments_that_nobody_gives(body: str, messages: list[str]) -> None:
    _, found = read(script("-N 1", body=body).replace("\n\n", "\n"))
    named = [f"{one.place.line}: {one.message}" for one in found]
    assert [one.removesuffix(": the arguments of the script are those of `sbatch`") for one in named] == messages
    text = site_template([("a.sh", script("-N 1", body=body))])
    assert ("'1': <ARGUMENT_1>" in text) == any("has no script" in one for one in messages)


def test_a_template_has_the_folder_above_a_value_from_outside() -> None:
    text = site_template([("a.sh", script("-N 1", body="srun --container-mounts=/fsx/$USER/b:/b python a.py"))])
    assert ("/fsx: fsx" in text, "USER: <USER>" in text) == (True, True)


def test_a_placeholder_for_the_first_argument_is_reported(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    report, code = slurm(
        repo, script("-N 1", body="python a.py $*"), site="image: a/b:1\ndefine: {'1': <ARGUMENT_1>}\n"
    )
    assert code == 1
    assert any(one.message == "`<ARGUMENT_1>` is a placeholder" for one in report.findings)


@for_each(
    ("option", "line", "messages"),
    [
        ("-N 1", "srun -p $P a", ["the value `$P` of `--partition` is not carried: the script gets it from outside"]),
        ("-N 1", "srun -pmix a", ["`--partition` of `srun` is not carried: a step is in the allocation of the script"]),
        ("-p gpu", "srun -p gpu python a.py", ["the partition is not carried: it becomes a queue of Kueue"]),
        ("-p $P", "python a.py", ["the partition `$P` is not carried: it is a placeholder"]),
        ("-A ${A}", "python a.py", ["the account `${A}` is not carried: it is a placeholder"]),
    ],
)  # fmt: skip
def test_the_queue_is_the_partition_of_the_script(option: str, line: str, messages: list[str]) -> None:
    made, found = read(script(option, body=line))
    assert made[0].fields.get("queue") == ("gpu" if option == "-p gpu" else None)
    assert [one.message for one in found] == messages
    assert "labels" not in made[0].fields


@for_each(
    ("option", "body", "fields"),
    [
        (
            "-J a",
            "python a.py --out $PWD/b $SLURM_SUBMIT_DIR\ncd c\npython d.py $(pwd)",
            {"command": "python a.py --out /x/y/b /x/y\ncd c\npython d.py /x/y/c", "workingDir": "/x/y"},
        ),
        ("--chdir=/z", "python a.py --out $PWD/b", {"command": "python a.py --out ./b", "workingDir": "/z"}),
        (
            "-J a",
            "srun --container-image=b:1 --container-mounts=$PWD:/w python /w/a.py",
            {"command": "python /w/a.py", "data": {"x": {"path": "/w", "subPath": "y"}}},
        ),
        ("-J a", "cd /z\npython a.py", {"command": "python a.py", "workingDir": "/z"}),
    ],
)
def test_a_user_gives_the_folder_of_the_script(option: str, body: str, fields: dict[str, object]) -> None:
    given = ImportInput(
        file="a.sh",
        text=script("-N 1", option, body=body),
        namespace="team",
        image="a:1",
        define={"PWD": "/x/y"},
        site=("site.yaml", b"paths: {/x: x}"),
    )
    (made,) = SlurmImporter().read(given, Findings())
    wanted = {"data": {"x": "/x"} if "/x" in str(fields) else None, "workingDir": None} | fields
    assert {name: made.fields.get(name) for name in wanted} == wanted


def test_a_volume_with_a_name_of_gen_has_another_one() -> None:
    text = script("-N 1", body="python a.py /tmp2/b")
    found = Findings()
    SlurmImporter().read(
        ImportInput(file="a.sh", text=text, namespace="t", image="a:1", site=("site.yaml", b"paths: {/tmp2: tmp}")),
        found,
    )
    assert [one.message.partition(": ")[2] for one in found] == [
        "gen has one of its own, so it is the volume `volume-tmp`"
    ]
