"""Screens of a real pseudo-terminal at three widths; `␛` is the escape character, `⏎` for a carriage return.

A file of `screens` has the screens of a case, each below a line with its width.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec import Struct

from gen.commands.environment import VARIABLE
from tests.cli.test_terminal import STYLE, on_terminal
from tests.error_cases import error_case, write
from tests.history import History, branch
from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


pytestmark = pytest.mark.slow  # programs on pseudo-terminals

WIDTHS = (60, 80, 200)
SCREENS = HERE / "cli/screens"
HASH = re.compile(r"(?<=[-@ ])[0-9a-f]{8}(?:[0-9a-f]{2})?\b")
REMAINING = re.compile(r"(?<= )[-0-9]:[-0-9]{2}:[-0-9]{2}")
FOLDER = re.compile(r"file://\S+?/repo/")
ONE = ("--parallel", "1")
JOB = """\
kind: pytorch
image: registry.example.com/team/train:1.0
command: |
  python prepare.py
  python train.py
gpus: 8
timeout: 12h
"""
SWEEP = "sweep: {matrix: {lr: ['0.1', '0.2', '0.3']}}\nparams: {lr: '0.1'}\n"
SLURM = """\
#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=8 --time=02:00:00
#SBATCH --mail-type=ALL
srun ./train
"""
MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata: {name: demo}
spec:
  paralelism: 2
  template:
    spec:
      restartPolicy: Sometimes
      containers: [{name: main, image: "registry.example.com/train:1"}]
"""


class Case(Struct, frozen=True):
    """A command, and the repository that it is for."""

    prepare: Callable[[History], None]
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = {}
    plain: bool = False
    """Whether its output has no colors."""


def nothing(_: History) -> None:
    """The overlay alone."""


def job(text: str = JOB) -> Callable[[History], None]:
    def prepare(repo: History) -> None:
        repo.job(text, name="train")

    return prepare


def mistake(name: str) -> Callable[[History], None]:
    """One of the cases in `tests/errors`."""

    def prepare(repo: History) -> None:
        write(error_case(name).files, repo.root)

    return prepare


def changed(repo: History) -> None:
    repo.job(JOB, name="train")
    assert repo.render()[1] == 0
    repo.job(JOB.replace("1.0", "1.1").replace("train.py", "train.py --epochs 3"), name="train")
    repo.job(JOB, name="new")


def planned(repo: History) -> None:
    repo.job(JOB, name="train")
    repo.job(JOB, name="old")
    branch(repo)
    repo.job(JOB.replace("1.0", "1.1"), name="train")
    (repo.root / "jobs/team/old.yaml").unlink()
    repo.job(JOB.replace("prepare.py", "prepare.py --lr={{ params.lr }}") + SWEEP, name="sweep")
    repo.rendering()


def edited(repo: History) -> None:
    job()(repo)
    assert repo.render()[1] == 0
    (rendered,) = (repo.root / "rendered").rglob("pytorchjob-*.yaml")
    rendered.write_text(rendered.read_text("utf-8").replace("train:1.0", "train:2.0"), "utf-8")


def manifest(repo: History) -> None:
    repo.write("job.yaml", MANIFEST)


def script(repo: History) -> None:
    repo.write("train.sbatch", SLURM)


def many(repo: History) -> None:
    for number in range(3):
        repo.job(JOB.replace("gpus:", "gpu:").replace("timeout: 12h\n", ""), name=f"job-{number}")
    repo.job(JOB.replace("8", "eight"), name="last")


misspelled = job(JOB.replace("gpus:", "gpu:").replace("12h", "12 hours") + "volumes: {dta: /data}\n")
LINKS = {"TERM_PROGRAM": "WezTerm", VARIABLE: "https://docs.example.com/gen"}
CASES = {
    "diff": Case(changed, ("diff", *ONE)),
    "check": Case(misspelled, ("check", *ONE)),
    "edited": Case(edited, ("check", *ONE)),
    "fixes": Case(misspelled, ("check", "--fix", "--diff", *ONE)),
    "fixed": Case(misspelled, ("check", "--fix", *ONE)),
    "links": Case(misspelled, ("check", *ONE), LINKS),
    "render": Case(job(JOB.replace("timeout: 12h\n", "")), ("render", *ONE)),
    "related": Case(mistake("two-jobs-of-one-name"), ("check", *ONE)),
    "patch": Case(mistake("policy-denies-a-patch"), ("check", *ONE)),
    "sweep": Case(mistake("sweep-with-one-bad-value"), ("check", *ONE)),
    "counts": Case(many, ("check", *ONE)),
    "yaml": Case(job(JOB.replace("gpus: 8", "gpus:8\n  memory: 64Gi")), ("check", *ONE)),
    "secret": Case(job(JOB + "env: {HF_TOKEN: 'hf_abcdefghijklmnopqrstuvwxyz01234567'}\n"), ("check", *ONE)),
    "set-value": Case(job(), ("set", "team/train", "gpus=eight")),
    "set-field": Case(job(), ("set", "team/train", "memroy=64Gi", "timeout=12 hours")),
    "set": Case(job(), ("set", "team/train", "gpus=4"), plain=False),
    "pin": Case(job("kind: pytorch\nimage: {{ params.a }}\n"), ("pin", "--check")),
    "import": Case(
        script,
        ("import", "slurm", "train.sbatch", "--namespace", "team", "--image", "registry.example.com/team/train:1.0"),
    ),
    "validate": Case(manifest, ("validate", "job.yaml", *ONE)),
    "site": Case(misspelled, ("site", "pages")),
    "plan": Case(planned, ("plan",)),
    "list": Case(changed, ("list",)),
    "explain": Case(nothing, ("explain", "over-quota"), plain=True),
    "explain-field": Case(nothing, ("explain", "job.timeout"), plain=True),
    "help": Case(nothing, ("--help",), plain=True),
    "help-of-check": Case(nothing, ("check", "--help"), plain=True),
    "unknown-command": Case(nothing, ("rendr",), plain=True),
    "unknown-option": Case(nothing, ("check", "--fixx"), plain=True),
    "unknown-job": Case(job(), ("render", "team/tran"), plain=True),
}


def screen(text: str) -> str:
    shown = HASH.sub(lambda found: "0" * len(found[0]), text)
    shown = REMAINING.sub("0:00:00", FOLDER.sub("file://host/repo/", shown))
    return shown.replace("\x1b", "␛").replace("\r", "⏎")


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_a_terminal_shows_this_screen(name: str, columns: int, history: History, update_golden: bool) -> None:
    case = CASES[name]
    case.prepare(history)
    shown = on_terminal(*case.arguments, cwd=history.root, columns=columns, **case.environment)
    compare(shown, name, columns, update_golden)


def compare(shown: str, name: str, columns: int, update_golden: bool) -> None:
    if update_golden:
        screens = expected(name) | {columns: screen(shown)}
        texts = [f"=== {width} columns\n{screens[width]}\n" for width in sorted(screens)]
        (SCREENS / f"{name}.txt").write_text("".join(texts), "utf-8")
    assert screen(shown) == expected(name)[columns]


def expected(name: str) -> dict[int, str]:
    """The screens of a case by their width."""
    path = SCREENS / f"{name}.txt"
    parts = re.split(r"(?m)^=== (\d+) columns\n", path.read_text("utf-8") if path.exists() else "")
    return {int(width): text.removesuffix("\n") for width, text in zip(parts[1::2], parts[2::2], strict=True)}


OTHERS = {"watch", "watch-mended", "progress", "interrupted"}
"""Screens of other tests, which compare them, too."""


def test_each_screen_is_that_of_a_case() -> None:
    assert {path.stem for path in SCREENS.iterdir()} == CASES.keys() | OTHERS
    assert {tuple(expected(name)) for name in CASES.keys() | OTHERS} == {WIDTHS}


def test_findings_are_colored() -> None:
    for name, case in CASES.items():
        for columns in WIDTHS:
            text = expected(name)[columns].replace("␛", "\x1b")
            assert bool(STYLE.search(text)) is not case.plain, name


@pytest.mark.parametrize("columns", WIDTHS)
def test_lines_fit_except_those_that_are_not_for_people_alone(columns: int) -> None:
    """Diffs, tables, YAML and paths of files are not wrapped, so that they can be copied."""
    unwrapped = {"diff", "edited", "fixes", "fixed", "plan", "list", "render", "import", "unknown-job"}
    for name in CASES.keys() - unwrapped:
        text = expected(name)[columns]
        plain = re.sub(r"␛\[[0-9;]*m|␛\]8;;.*?␛\\", "", text)
        assert [line for line in plain.splitlines() if len(line) > columns and " " in line.strip()] == [], name
