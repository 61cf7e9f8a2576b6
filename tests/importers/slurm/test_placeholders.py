"""Placeholders are what a user replaces; tags, usages and texts of programs are not."""

from __future__ import annotations

from gen.importers.slurm.site_template import site_template
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

NODE = ("-N 1", "--gres=gpu:1")
XML = "<configuration>\n  <property>1</property>\n</configuration>\n"


@for_each(
    ("body", "messages"),
    [
        ("python a.py --data <DATA>", ["3: bash ends the script at the placeholder `<DATA>`"]),
        ("A=<YOUR_KEY>\npython a.py $A", ["3: bash ends the script at the placeholder `<YOUR_KEY>`"]),
        ("python a.py --key {wandb_token} --name {epoch} --x=${B:-{c}}", ["3: `{wandb_token}` is a placeholder"]),
        ('python a.py "<DATA>"', ["3: `<DATA>` is a placeholder"]),
        ("bash <<E\npython a.py <DATA>\nE", ["4: bash ends the script at the placeholder `<DATA>`"]),
        ("cat > b.yaml <<E\nmodel: <MODEL>\nE\npython a.py b.yaml", ["4: `<MODEL>` is a placeholder"]),
        ("cat <<E | tee b.yaml\nmodel: <your model>\nE\npython a.py b.yaml", ["4: `<your model>` is a placeholder"]),
        (f"cat > b.xml <<E\n{XML}E\npython a.py b.xml", []),
        ("usage() {\n  less <<E\n  a [...] <suite>\nE\n}\npython a.py", []),
        ("cat <<E\nusage: a <MODEL>\nE\npython a.py", []),
        ("cat > b <<E\nFrom: <Jane.Doe@example.com>\nE\npython a.py b", []),
        ("python -c \"\nS = '<REASONING>'\nprint(S)\n\"", []),
        ("python -c \"\nload( '<YOUR_MODEL>')\n\"", ["4: `<YOUR_MODEL>` is a placeholder"]),
        ("python a.py --start '<TEXT>' --end '</TEXT>'", []),
    ],
)
def test_a_placeholder_is_reported_once(body: str, messages: list[str]) -> None:
    _, found = read(script("-N 1", body=body, interpreter=BASH).replace("\n\n", "\n"))
    named = [f"{one.place.line}: {one.message}" for one in found]
    assert [one for one in named if "placeholder" in one] == messages


@for_each(
    ("body", "file"),
    [
        (f"cat > b <<E\n{XML}E\npython a.py b", XML),
        ("cat > b <<E\nmodel: <MODEL>\nE\npython a.py b", "model: <MODEL>\n"),
    ],
)
def test_a_written_file_keeps_its_text(body: str, file: str) -> None:
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["files"] == {"/etc/job/b": file}


def test_a_template_has_the_folder_of_sbatch_if_a_mount_is_below_it() -> None:
    for mount, has in (("$PWD/r:/r", True), ("$(pwd)/r:/r", True), ("/fsx/r:/r", False)):
        text = site_template([("a.sh", script("-N 1", body=f"srun --container-mounts={mount} python a.py"))])
        assert ("PWD: <PWD>" in text) == has


def test_a_text_in_braces_is_a_placeholder_if_an_option_is_one() -> None:
    made, found = read(script("-N 1", "-t {TIME_LIMIT}", body="python a.py --name {name}"))
    assert [(one.place.line, one.message) for one in found] == [
        (3, "the time limit `{TIME_LIMIT}` is not carried: it is a placeholder"),
        (5, "`{name}` is a placeholder"),
    ]
    assert "timeout" not in made[0].fields
