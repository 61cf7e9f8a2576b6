"""Images and folders of containers are those of the pod."""

from __future__ import annotations

from typing import Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from gen.importers.slurm.importer import read_script
from gen.importers.slurm.site_template import site_template
from tests.cases import for_each
from tests.importers.slurm.test_slurm import script

LUSTRE = "paths: {/lustre: lustre}\n"
A = "srun --container-image=a/b:1"
OUTSIDE = "the script gets `$A` from outside"
LINE = 4
UNKNOWN = "its folder is known only on the machines"


def read(body: str, *options: str, site: str = LUSTRE, image: str = "a/c:9") -> tuple[ImportedJob, list[str]]:
    found = Findings()
    text = script(*(options or ("-N 1",)), body=body)
    given = ImportInput(file="train.sh", text=text, otherwise="team", image=image, site=("site.yaml", site.encode()))
    (job,) = IMPORTERS["slurm"]().read(given, found)
    return job, [f"{one.place.file}:{one.place.line}: {one.message}" for one in found]


@for_each(
    ("mounts", "data", "volumes"),
    [
        ("/lustre/a:/data", {"lustre": {"path": "/data", "subPath": "a"}}, ["lustre"]),
        ("/lustre:/data", {"lustre": "/data"}, ["lustre"]),
        ("/lustre:/lustre/", {"lustre": "/lustre"}, ["lustre"]),
        ("/lustre/:/data:ro", {"lustre": {"path": "/data", "readOnly": True}}, ["lustre"]),
        ("/lustre/a/b:/data:ro+x", {"lustre": {"path": "/data", "subPath": "a/b", "readOnly": True}}, ["lustre"]),
        ("/lustre/a:/lustre/a,/lustre/b", {"lustre": "/lustre"}, ["lustre"]),
        ("/lustre/a,/lustre/a", {"lustre": "/lustre"}, ["lustre"]),
        (
            "/lustre/a:/data,/lustre/b:/ckpt:ro,/lustre/c:/c-kpt,/lustre/d:/c/kpt",
            {
                "lustre": {"path": "/data", "subPath": "a"},
                "lustre-ckpt": {"path": "/ckpt", "subPath": "b", "readOnly": True},
                "lustre-c-kpt": {"path": "/c-kpt", "subPath": "c"},
                "lustre-2": {"path": "/c/kpt", "subPath": "d"},
            },
            ["lustre", "lustre-ckpt", "lustre-c-kpt", "lustre-2"],
        ),
    ],
)
def test_mounts_of_folders_of_the_site(mounts: str, data: dict[str, Any], volumes: list[str]) -> None:
    job, found = read(f"{A} --container-mounts={mounts} python train.py --data /data")
    assert job.fields["data"] == data
    assert job.overlay["volumes"] == {name: {"claim": "lustre"} for name in volumes}
    named = [one.rpartition("it is the volume ")[2] for one in found if "mounts a volume once" in one]
    assert sorted(named) == sorted(f"`{one}`" for one in volumes[1:])


@for_each(
    ("mounts", "reads", "why"),
    [
        ("$PWD/a:/lustre", "/lustre/b", UNKNOWN),
        ("$A:/lustre/c", "/lustre/c/d /lustre/c/e", OUTSIDE),
        ("/lustre:/lustre,$A:/lustre/c", "/lustre/c/d", OUTSIDE),
        ("a.sqsh:/lustre", "/lustre/b", UNKNOWN),
        ("/data/$SLURM_JOB_ID:/lustre", "/lustre/b", "no volume has its folder"),
        ("$PWD:/workspace/a", "/workspace/a/b /workspace/c", UNKNOWN),
        ("$PWD:/opt/a", "/opt/a/b", UNKNOWN),
    ],
)  # fmt: skip
def test_a_folder_of_the_container_is_not_that_of_the_site(mounts: str, reads: str, why: str) -> None:
    job, found = read(f"{A} --container-mounts={mounts} python train.py --data {reads}")
    assert job.fields.get("data", {}) == ({"lustre": "/lustre"} if mounts.startswith("/lustre:") else {})
    messages = [
        f"the mount `{mounts.rpartition(',')[2].replace('$PWD', '.')}` is not carried: {why}",
        f"no pod has the folder `{mounts.rpartition(':')[2]}`",
    ]
    assert sorted(one.partition(": ")[2] for one in found) == sorted(messages)
    assert len(job.obstacles) == 1


def test_an_image_has_the_folders_of_any_system() -> None:
    job, _ = read(f"{A} --container-mounts=$PWD/a:/tmp/a,$PWD/b:/var/b python train.py --data /tmp/a /var/b")
    assert not job.obstacles


def test_a_template_asks_for_the_values_of_mounts() -> None:
    text = script("-N 1", body=f"{A} --container-mounts=$DATA/a:/a,${{WORK}}:/b,$PWD:/c python train.py")
    assert "define:\n  DATA: <DATA>\n  WORK: <WORK>\n" in site_template([("a.sh", text)])


@for_each(
    ("mount", "data"),
    [
        ("/lustre/a/$SLURM_JOB_ID:/out", {"path": "/out", "subPath": "a/{{ run.id }}"}),
        ("/lustre/a/$SLURM_JOB_ID", "/lustre"),
    ],
)
def test_a_mount_can_be_a_folder_of_the_run(mount: str, data: object) -> None:
    job, found = read(f"{A} --container-mounts={mount} python train.py")
    assert (job.fields["data"], found) == ({"lustre": data}, [])


def test_a_pod_has_the_mounts_of_all_programs() -> None:
    first = f"{A} --container-mounts=/lustre/a:/a,/lustre/b:/b python prepare.py"
    job, found = read(f"{first}\n{A} --container-mounts=/lustre/b:/b,/lustre/c:/a python train.py")
    assert job.fields["data"] == {
        "lustre": {"path": "/b", "subPath": "b"},
        "lustre-a": {"path": "/a", "subPath": "c"},
    }
    assert "train.sh:4: the mount `/lustre/a:/a` is not carried: the training has another folder there" in found
    job, _ = read(f"{first}\n{A} python train.py")
    assert [*job.fields["data"]] == ["lustre", "lustre-b"]


@for_each("part", ["/lustre/a.squashfs:/data:image-src=/", "/lustre/a.img:/data"])
def test_a_mount_of_a_file_system_in_a_file_is_named(part: str) -> None:
    job, found = read(f"apptainer exec -B {part} docker://a/b:1 python train.py")
    assert "data" not in job.fields
    assert found == [f"train.sh:4: the mount `{part}` is not carried: it is a file system in a file, and not a folder"]


def test_a_folder_of_slurm_belongs_to_the_machines() -> None:
    job, found = read(f"{A} --container-mounts=/lustre:/lustre,/opt/slurm/bin python train.py")
    assert job.fields["data"] == {"lustre": "/lustre"}
    assert found == ["train.sh:4: the mount `/opt/slurm/bin` is not carried: it belongs to the machines"]


def test_a_folder_of_the_machine_stays_read_only() -> None:
    job, _ = read(f"{A} --container-mounts=/scratch/a:/data:ro python train.py", site="{}")
    assert job.fields["data"] == {"host-data": {"path": "/data", "readOnly": True}}


def test_a_folder_of_the_site_without_a_mount_is_one_of_the_image() -> None:
    job, found = read(f"{A} --container-mounts=/lustre/a:/data python train.py --log /lustre/log")
    assert job.fields["data"] == {"lustre": {"path": "/data", "subPath": "a"}}
    what = "the folder `/lustre` is not carried: no mount of the container has it, so the image has to"
    assert f"train.sh:{LINE}: {what}" in found
    job, _ = read(f"{A} --container-mounts=/a:/a --container-mount-home python train.py --log /lustre/log")
    assert job.fields["data"] == {"host-a": "/a", "lustre": "/lustre"}
    job, _ = read(f"{A} --container-mounts=/lustre/a:/lustre/b python train.py --data /lustre/b/x")
    assert job.fields["data"] == {"lustre": {"path": "/lustre/b", "subPath": "a"}}


NAMED = "srun --container-image=a/b:1 --container-name=x{} true\nsrun --container-name=x{} torchrun train.py"
WITHOUT = (
    "mpirun hostname\nsrun --container-image=a/b:1 --ntasks=1 -N 1 --container-mounts=/lustre/a:/a python train.py"
)
OTHER = "srun --container-image=a/b:1 python prepare.py\nsrun --container-image=a/b:2 torchrun train.py"


@for_each(
    ("body", "image", "message"),
    [
        (NAMED.format("", ""), "a/b:1", ""),
        (NAMED.format(":create", ":exec"), "a/b:1", ""),
        (NAMED.format("", "y"), "a/c:9", ""),
        (
            NAMED.format("", "").replace("srun --container-name", "for i in $(a); do\nsrun --container-name")
            + "\ndone",
            "a/b:1",
            "",
        ),
        (WITHOUT, "a/b:1", ""),
        (OTHER, "a/b:2", "4: the image `a/b:1` is not carried: a pod has one image, here `a/b:2`"),
        (
            "srun --container-image=a/b:1 python prepare.py\nsrun torchrun train.py",
            "a/c:9",
            "4: the image `a/b:1` is not carried: a pod has one image, and the training starts without it",
        ),
        (
            "apptainer exec docker://a/b:1 python prepare.py\napptainer exec docker://a/b:2 python train.py",
            "a/b:2",
            "4: the image `a/b:1` is not carried: a pod has one image, here `a/b:2`",
        ),
    ],
)
def test_the_image_is_that_of_the_training(body: str, image: str, message: str) -> None:
    job, found = read(body)
    assert job.fields["image"] == image
    assert [one for one in found if "`a/b:1`" in one] == ([f"train.sh:{message}"] if message else [])
    assert "true" not in job.fields["command"]


@for_each("image", ["docker:a/b:1", "docker://a/b:1", "a/b:1", "docker://a#b:1"])
@for_each("option", ["#SBATCH --image={}", "srun --container-image={}", "shifter --image={}"])
def test_an_image_of_a_registry(option: str, image: str) -> None:
    text = option.format(image)
    line = text if not text.startswith("#") else "srun"
    options = (text.removeprefix("#SBATCH "), "-N 1") if text.startswith("#") else ("-N 1",)
    job, found = read(f"{line} python train.py", *options)
    assert (job.fields["image"], found) == ("a/b:1", [])


@for_each(
    "body",
    [
        "srun --container-image=<your image> python train.py",
        "IMAGE=<image>\nsrun --container-image=$IMAGE python train.py",
        "apptainer exec <image> python train.py",
    ],
)
def test_an_image_to_complete(body: str) -> None:
    job, found = read(body)
    assert (job.fields["image"], job.obstacles, found) == ("a/c:9", (), [])
    job, found = read(body, image="")
    assert job.fields["image"].startswith("change-me-")
    assert any("is a placeholder" in one.message for one in job.obstacles), found


def test_the_image_of_the_user_is_in_the_place_of_a_file() -> None:
    body = "apptainer exec /apps/a.sif python train.py"
    assert read(body)[1] == []
    assert "the image of the command is not carried" in read(body, image="")[1][0]


PARTS = """
export SIF=/appl/torch.sif TORCHRUN=torchrun TRAIN=train.py CACHE=/fsx/cache BINDS=/fsx/a:/a,/fsx/b:/b DATA=/fsx/data
export PROJECT=bert
srun singularity exec -B $CACHE:/root/.cache -B $BINDS -B $DATA:$DATA $SIF $TORCHRUN $TRAIN --project $PROJECT
"""


def test_a_variable_of_the_script_alone_is_not_in_the_job() -> None:
    job, found = read(PARTS, site="{}")
    assert job.fields["env"] == {"DATA": "/fsx/data", "PROJECT": "bert"}
    dropped = {one.split("`")[1] for one in found if "the command has its value" in one}
    assert dropped == {"SIF", "TORCHRUN", "TRAIN", "CACHE", "BINDS"}


def test_a_program_has_a_variable_that_the_script_makes_a_folder_of() -> None:
    body = "export A=/lustre/$SLURM_JOB_ID/a B=/lustre/b\nmkdir -p $A $B\nsrun a"
    job, found = read(body, "-N 2", "--ntasks-per-node=4")
    assert job.fields["env"] == {"A": "/lustre/{{ run.id }}/a", "B": "/lustre/b"}
    assert [one for one in found if "is not carried" in one] == []


IN_IMAGE = "the folder `/foundry` is not carried: no mount of the container has it, so the image has to"
MOUNTED = f"{A} --container-mounts=/lustre:/lustre,x:/x"


@for_each(
    ("body", "messages"),
    [
        (f"{MOUNTED} python /foundry/a.py --data /lustre/b", [IN_IMAGE]),
        (f"{MOUNTED} python /x/a.py", ["no pod has the folder `/x`"]),
        (f"{A} python /foundry/a.py", ["no pod has the file `/foundry/a.py`"]),
        (f"cp /foundry/b /tmp\n{MOUNTED} python /foundry/a.py", ["no pod has the folder `/foundry/b`"]),
        (f"{A} bash -c 'mkdir -p /foundry/b; CACHE=/foundry/b python a.py'", []),
        ("apptainer exec -B /x:/x docker://a/b:1 python /foundry/a.py", ["no pod has the file `/foundry/a.py`"]),
    ],
)  # fmt: skip
def test_a_folder_that_no_mount_has_is_in_the_image(body: str, messages: list[str]) -> None:
    job, found = read(body)
    assert [one.split(": ", 1)[1] for one in found if "the mount" not in one] == messages
    assert len(job.obstacles) == sum(one.startswith("no pod") for one in messages)
    given = ImportInput(file="a.sh", text=script("-N 1", body=body), otherwise="team", image="a/b:1")
    _, lacking = read_script(given, Findings())
    assert ("/foundry" in lacking.folders) == any("`/foundry/" in one for one in messages if one.startswith("no pod"))


def test_an_image_with_a_digest_as_enroot_writes_it() -> None:
    digest = f"sha256:{'0a' * 32}"
    job, _ = read(f"srun --container-image=ghcr.io#a/b:{digest} python train.py")
    assert job.fields["image"] == f"ghcr.io/a/b@{digest}"


COPY = "enroot import --output /home/$USER/a/b.sqsh -- docker://a/b:1"


@for_each(
    ("before", "made"),
    [
        ("chmod +x code/run.sh", "chmod +x /code/run.sh\n"),
        ("chmod -R u+rwx,go-w ./code", "chmod -R u+rwx,go-w /code\n"),
        ("chmod 755 code/run.sh\nbash code/run.sh", "chmod 755 code/run.sh\nbash code/run.sh\n"),
        (f"mkdir -p /home/$USER/a\n{COPY}", ""),
        (f"mkdir -p /home/a /tmp/c\n{COPY.replace('$USER/', '')}", "mkdir -p /tmp/c\n"),
    ],
)
def test_a_file_that_is_changed_for_a_container_is_there(before: str, made: str) -> None:
    job, _ = read(f"{before}\n{A} --container-mounts=$PWD/code:/code python /code/a.py")
    assert job.fields["command"] == f"{made}python /code/a.py"


@for_each(
    ("imported", "started", "image"),
    [
        ("--output $PWD/b/c.sqsh -- docker://nvcr.io#a/b:1", "$PWD/b/c.sqsh", "nvcr.io/a/b:1"),
        ("-o b.sqsh docker://a/b:1", "./b.sqsh", "a/b:1"),
        ("'docker://$oauthtoken@nvcr.io#a/b:1'", "a+b+1.sqsh", "nvcr.io/a/b:1"),
        ("-o $HOME/b.sqsh docker://a/b:1\nsbcast $HOME/b.sqsh /c/b.sqsh", "/c/b.sqsh", "a/b:1"),
        ("-o b.sqsh dockerd://a/b:1", "b.sqsh", "x/y:2"),
        ("-o b.sqsh docker://$IMAGE", "b.sqsh", "x/y:2"),
        ("-o c.sqsh docker://a/b:1", "b.sqsh", "x/y:2"),
    ],
)
def test_a_copy_of_an_image_is_this_image(imported: str, started: str, image: str) -> None:
    job, _ = read(
        f"mkdir -p $PWD/b\nenroot import {imported}\nsrun --container-image={started} python a.py", image="x/y:2"
    )
    assert job.fields["image"] == image
    assert job.fields["command"].endswith("python a.py")


def test_a_folder_that_the_job_makes_needs_no_mount() -> None:
    job, found = read(f"mkdir -p $PWD/b/c\n{A} --container-mounts=$PWD/b:/b python a.py")
    assert job.fields["command"] == "mkdir -p /b/c\npython a.py"
    assert [one.partition(": ")[2] for one in found] == [
        "the mount `./b:/b` is not carried: its folder is known only on the machines"
    ]
    assert not job.obstacles


NO_COPY = "no node needs a copy for a pod"


@for_each(
    ("before", "program", "made", "why"),
    [
        ("", "python a.py", "python a.py", NO_COPY),
        ("mkdir -p /home/jane/c\n", "python a.py\nrm -f /tmp/b.sqsh", "python a.py", NO_COPY),
        (
            "",
            "python a.py /tmp/b.sqsh",
            "cp /home/jane/c/b.sqsh /tmp/b.sqsh\npython a.py /tmp/b.sqsh",
            "each pod copies",
        ),
    ],
)
def test_an_image_is_not_copied_for_a_pod(before: str, program: str, made: str, why: str) -> None:
    copy = "enroot import -o /home/jane/c/b.sqsh docker://a/b:1\nsbcast -f /home/jane/c/b.sqsh /tmp/b.sqsh"
    job, found = read(f"{before}{copy}\nsrun --container-image=/tmp/b.sqsh {program}")
    assert job.fields["command"] == made
    assert [why in one for one in found if "`sbcast" in one] == [True]


@for_each(
    ("before", "named"),
    [
        ("wget -P code a.org/b", "`wget`"),
        ("D=$(pwd)/code\ncp -r b $D/", "`cp`"),
        ("cd code\ngit clone a.org/b", ""),
        ("git clone https://a.org/code", ""),
        ("srun cp a code", ""),
        ("chmod +x code/a.sh", ""),
        ("cp a /lustre/a", ""),
    ],
)
def test_a_file_that_the_script_brings_into_a_mount_is_named(before: str, named: str) -> None:
    mounts = "$PWD/code:/code,/lustre/a:/data,$PWD:/e"
    _, found = read(f"{before}\n{A} --container-mounts={mounts} python /code/a.py")
    about = [one.partition(": ")[2] for one in found if "the file of" in one]
    assert about == (
        [f"the file of {named} in `/code` is not carried: the folder `./code` is another one here"] * bool(named)
    )


@for_each(
    ("line", "expected"),
    [
        ("singularity exec --env A=b,C=d a.sif e", {"command": "A=b C=d e"}),
        ("apptainer exec --pwd /opt/a a.sif e", {"workingDir": "/opt/a"}),
        ("shifter --image=a/b:1 -w /opt/a -e A=b e", {"workingDir": "/opt/a", "command": "A=b e"}),
        ("export SINGULARITYENV_A=b\nsingularity exec a.sif e", {"command": "A=b e"}),
        ("APPTAINERENV_A=b apptainer exec a.sif e", {"command": "A=b e"}),
        ("export APPTAINER_BIND=/a:/c\napptainer exec a.sif e /c/f", {"data": {"host-c": "/c"}}),
        ("apptainer exec --mount type=bind,src=/a,dst=/c a.sif e /c/f", {"data": {"host-c": "/c"}}),
    ],
)
def test_variables_folders_and_mounts_of_a_container_are_those_of_the_pod(line: str, expected: dict[str, Any]) -> None:
    job, found = read(line)
    assert {name: job.fields.get(name) for name in expected} == expected
    assert not [one for one in found if "belongs to the machines" in one]


@for_each(
    ("options", "message"),
    [
        ("exec --cleanenv", "`--cleanenv` of the container is not carried: the program has the variables of the job"),
        ("exec --env-file f", "`--env-file` of the container is not carried: the job has no file of variables"),
        ("exec --net", "`--net` of the container is not carried: gen does not know this option"),
        ("exec -H /h", "`-H` of the container is not carried: a container has no home of the user"),
        ("run", "the runscript of the image is not carried: the job starts the program itself"),
    ],
)
def test_options_of_a_container_that_a_job_lacks_are_named(options: str, message: str) -> None:
    _, found = read(f"singularity {options} a.sif b")
    assert message in [one.rpartition(f":{LINE}: ")[2] for one in found]


@for_each("line", ["singularity run a.sif", "apptainer run a.sif --lr 1"])
def test_the_runscript_of_an_image_is_a_program_that_only_the_image_knows(line: str) -> None:
    _, found = read(line)
    assert f"train.sh:{LINE}: only the image knows the program of its runscript" in found


@for_each(
    ("body", "folder"),
    [
        ('V=/opt/v\npython -m venv $V\nsingularity run a.sif $V "b c"', "/opt/v"),
        ('V=/opt/v\nsrun apptainer run a.sif ${V} "b c"\n[ -d "$V" ] && b', "/opt/v"),
        ("mkdir -p d/\nsingularity run a.sif d b", "d"),
        ("mkdir -p d\nsingularity run a.sif b d", ""),
        ("mkdir -p d\nsingularity exec a.sif d b", ""),
    ],
)
def test_a_folder_behind_an_image_is_an_argument_of_its_runscript(body: str, folder: str) -> None:
    _, found = read(body)
    named = [one.split("`")[1] for one in found if "which the runscript of the image gets" in one]
    assert named == ([folder] if folder else [])


@for_each(
    ("line", "option"),
    [
        ("srun singularity exec a.sif -B data:/data b -c", "-B"),
        ("apptainer exec -B c:/c a.sif --nv b -c", "--nv"),
        ("apptainer exec --nv a.sif b -c", ""),
    ],
)
def test_an_option_behind_the_image_of_exec_is_its_program(line: str, option: str) -> None:
    made, found = read(line)
    message = f"train.sh:{LINE}: the container takes `{option}` behind the image for its program"
    assert made.fields["command"] == "b -c"
    assert (message in found) == bool(option)


@for_each(("images", "named"), [("", True), ("images: {/a/b.sqsh: a/b:1}\n", False)])
def test_an_image_that_the_site_file_replaces_is_named(images: str, named: bool) -> None:
    _, found = read("srun --container-image=/a/b.sqsh c", site=f"image: a/nodes:1\n{images}", image="")
    what = "the image `/a/b.sqsh` is not carried: the job has the `image` of the site file"
    assert (f"train.sh:{LINE}: {what}" in found) == named


def test_a_container_without_a_program_is_a_program() -> None:
    assert read("shifter")[0].fields["command"] == "shifter"


@for_each("mount", ["./b:/c", "$PWD/b:/c"])
def test_a_mount_below_the_folder_of_sbatch_is_one_of_its_volume(mount: str) -> None:
    body = f"srun --container-image=a/b:1 --container-mounts={mount} d"
    given = ImportInput(
        file="a.sh",
        text=script("-N 1", body=body, interpreter="/bin/bash"),
        otherwise="team",
        define={"PWD": "/lustre/x"},
        site=("site.yaml", LUSTRE.encode()),
    )
    (made,) = IMPORTERS["slurm"]().read(given, found := Findings())
    assert made.fields["data"] == {"lustre": {"path": "/c", "subPath": "x/b"}}
    assert [one.message for one in found] == []


@for_each(
    ("start", "command"),
    [
        ("apptainer exec --nv -B /lustre/a:/mnt/data b.sif bash", "python a.py 1\npython b.py $HOME"),
        ("srun apptainer exec -B /lustre/a:/mnt/data b.sif sh -s", "python a.py 1\npython b.py $HOME"),
    ],
)
def test_a_container_has_the_commands_of_its_here_document(start: str, command: str) -> None:
    body = f"A=1\n{start} <<E\ncd /mnt/data\npython a.py $A\npython b.py \\$HOME\nE"
    made, found = read(body)
    assert made.fields["command"] == command
    assert made.fields["workingDir"] == "/mnt/data"
    assert made.fields["data"] == {"lustre": {"path": "/mnt/data", "subPath": "a"}}
    assert not any("no pod has the folder" in one for one in found), found


def test_a_program_of_a_container_has_its_here_document() -> None:
    made, _ = read("apptainer exec b.sif python - <<'E'\nprint(1)\nE")
    assert made.fields["command"] == "python - <<E\nprint(1)\nE"


@for_each(
    ("body", "program"),
    [
        ('f() { singularity exec a.sif "$@"; }\nf python a || f python b', "singularity"),
        ("for i in $(ls /lustre); do apptainer exec a.sif python a $i; done", "apptainer"),
        ("for i in $(ls /lustre); do timeout 9 python a $i; done", ""),
    ],
)
def test_a_container_that_only_a_shell_starts_cannot_run(body: str, program: str) -> None:
    _, said = read(body)
    found = [one.partition("`")[2].partition("`")[0] for one in said if "does not work in a pod" in one]
    assert found == ([program] if program else [])


@for_each(
    ("body", "said"),
    [
        (
            "cat > a.sh <<'EOF'\n# /old\npython a --data /lustre/a --out /scratch/b\nEOF\nsrun bash a.sh",
            "no pod has the folder `/scratch/b`",
        ),
        (
            "cat > a.txt <<'EOF'\npython a --data /lustre/a /scratch/b\nEOF\nbash a.txt",
            "no pod has the folder `/scratch/b`",
        ),
        ("cat > a.yaml <<EOF\nroot: /lustre/a\nold: /scratch/b\nEOF\npython a --cfg a.yaml", ""),
    ],
)
def test_a_written_file_needs_the_folders_in_it(body: str, said: str) -> None:
    job, found = read(body)
    assert job.fields["data"] == {"lustre": "/lustre"}
    assert [one.partition(": ")[2] for one in found if "no pod has" in one] == ([said] if said else [])
