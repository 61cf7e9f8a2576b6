"""The program from outside: commands, formats and exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gen import __version__
from gen.commands import COMMANDS
from gen.kinds import KINDS
from tests.processes import gen, gen_process
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from pathlib import Path

MAX_MODULES, MAX_OWN_MODULES = 200, 5
"""Modules that `gen --help` may import: all, including those of Python itself, and those of gen."""
JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


def test_a_clean_run_exits_with_0_from_any_folder_below(repo: Repository) -> None:
    repo.job(JOB)
    done = gen_process("render", cwd=repo.root / "jobs/team")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "1 job in 1 overlay: wrote 1, removed 0, 0 unchanged"
    assert gen_process("check", cwd=repo.root).returncode == 0


def test_violations_and_differences_exit_with_1(repo: Repository) -> None:
    repo.job(JOB)
    assert gen_process("check", cwd=repo.root).returncode == 1
    repo.job(JOB + "gpu: 1\n")
    done = gen_process("render", cwd=repo.root)
    assert done.returncode == 1
    assert done.stdout.startswith("jobs/team/demo.yaml:4:1: error: unknown field `gpu` [unknown-field]\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["render", "--overlay", "dve"],
        ["render", "team/dmeo"],
        ["render", "--kubernetes-version", "1.2"],
        ["render", "--unknown"],
        ["render", "--root", "/nowhere"],
        ["new", "pytroch", "x"],
        ["new", "pytorch", "Bad_Name"],
        ["new", "pytorch", "demo"],
        ["new", "pytorch", "2nd"],
        ["new", "pytorch", "x" * 46],
        ["new", "batch", "../x"],
        ["new", "pytorch", "x", "--namespace", "Team"],
        ["new", "pytorch", "x", "--namespace", "../.."],
        ["new", "pytorch", "x", "--namespace", "n" * 64],
        ["render", "--root", "jobs"],
        ["schema", "jobs"],
        ["set", "team/demo"],
        ["set", "team/demo", "attempt"],
        ["init", "jobs/team/demo.yaml"],
    ],
)
def test_a_wrong_command_line_exits_with_2_and_says_why(repo: Repository, arguments: list[str]) -> None:
    repo.job(JOB)
    done = gen(*arguments, cwd=repo.root)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert not (repo.root / "rendered").exists()


def test_outside_of_a_repository_nothing_can_be_done(tmp_path: Path) -> None:
    done = gen_process("render", cwd=tmp_path)
    assert done.returncode == 2
    assert "no jobs/ and overlays/ in" in done.stderr


def test_a_bug_exits_with_3_and_blames_no_user(repo: Repository) -> None:
    repo.job(JOB)
    broken = (
        "import gen.render.build.metadata as m; m.job_labels = lambda plan, part: {'a': 1}; import gen.render.build.pod"
    )
    script = f"{broken}; from gen.__main__ import main; import sys; sys.argv = ['gen', 'render']; main()"
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "this is a bug of gen" in done.stderr
    assert not (repo.root / "rendered").exists()


def test_json_and_github_say_the_same_as_the_text(repo: Repository) -> None:
    repo.job(JOB + "gpu: 1\n")
    document = json.loads(gen("render", "--output", "json", cwd=repo.root).stdout)
    assert document["version"] == 1
    (finding,) = document["findings"]
    place = (finding["file"], finding["line"], finding["column"])
    assert (finding["code"], finding["severity"], *place) == ("unknown-field", "error", "jobs/team/demo.yaml", 4, 1)
    lines = gen("render", "--output", "github", cwd=repo.root).stdout.splitlines()
    assert lines[0] == (
        "::error file=jobs/team/demo.yaml,line=4,col=1,title=unknown-field::unknown field `gpu`%0Adid you mean `gpus`?"
        "%0A`gen check --fix` corrects it"
    )


def test_a_job_cannot_give_commands_to_the_terminal_or_the_workflow(repo: Repository) -> None:
    repo.job(JOB + 'network: "x\\n::warning::\\e[31m"\n')
    text = gen("render", cwd=repo.root).stdout
    assert "\x1b" not in text
    github = gen("render", "--output", "github", cwd=repo.root).stdout
    assert [line for line in github.splitlines() if line.startswith("::warning")] == []


def test_a_narrowed_check_looks_at_the_named_jobs_alone(repo: Repository) -> None:
    repo.job(JOB)
    repo.job(JOB, name="other")
    assert gen("render", "jobs/team/demo.yaml", cwd=repo.root).returncode == 0
    assert gen("check", "team/demo", cwd=repo.root).returncode == 0
    assert gen("check", "team/*", cwd=repo.root).returncode == 1


def test_a_narrowed_overlay_leaves_the_others_alone(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n', name="prod")
    repo.job(JOB)
    gen("render", "--overlay", "prod", cwd=repo.root)
    assert {path.split("/")[0] for path in repo.rendered()} == {"prod"}


@pytest.mark.parametrize("kind", list(KINDS))
def test_new_writes_a_job_that_renders(repo: Repository, kind: str) -> None:
    assert gen("new", kind, "first", "--namespace", "team", cwd=repo.root).returncode == 0
    assert gen("new", kind, "second", cwd=repo.root).returncode == 0, "the only namespace"
    assert gen("render", cwd=repo.root).returncode == 0


def test_a_repository_that_cannot_be_used_is_said_without_a_traceback(repo: Repository) -> None:
    repo.job(JOB)
    script = (
        "import os, sys\nfrom gen.__main__ import main\nimport gen.commands.compared\n"
        "def refuse(*_, **__): raise OSError(5, 'Input/output error', 'some/file')\n"
        "gen.commands.compared.compare = refuse\nsys.argv = ['gen', 'render']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith("gen: some/file: Input/output error; ")) == (2, True)


def test_set_changes_a_file_and_says_what_is_next(repo: Repository) -> None:
    path = repo.job(JOB)
    done = gen("set", "team/demo", "attempt=2", "--unset", "retries", cwd=repo.root)
    assert (done.returncode, path.read_text("utf-8")) == (0, JOB + "attempt: 2\n")
    assert "run `gen render`" in done.stdout
    refused = gen("set", "team/demo", "atempt=3", "--output", "github", cwd=repo.root)
    assert refused.returncode == 1
    assert refused.stdout.startswith("::error file=jobs/team/demo.yaml,line=1,col=1,title=unknown-field::")


@pytest.mark.slow
def test_init_makes_a_repository_that_is_clean(tmp_path: Path) -> None:
    assert gen("init", "new", "--namespace", "vision", cwd=tmp_path).returncode == 0
    assert gen("check", cwd=tmp_path / "new").returncode == 0
    assert gen("new", "mpi", "second", cwd=tmp_path / "new").returncode == 0
    assert gen("render", cwd=tmp_path / "new").returncode == 0


def test_schema_prints_what_is_committed() -> None:
    for name in ("job", "overlay"):
        assert gen("schema", name, cwd=PROJECT).stdout == (PROJECT / f"schemas/{name}.schema.json").read_text("utf-8")


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS)], ids=lambda command: "-".join(command) or "gen"
)
def test_help_fits_into_a_narrow_terminal(command: list[str]) -> None:
    done = gen(*command, "--help", cwd=PROJECT, COLUMNS="80")
    assert done.returncode == 0
    assert not re.search(r"…(?!\S)", done.stdout), "a word that is cut off"
    assert "..." not in done.stdout.partition("\n")[2]
    assert max(map(len, done.stdout.splitlines())) <= 80


TYPE = re.compile(r"<[^<>]+>|\[(?:bool|int|float|str|list|tuple|Path)\b|\b(?:TEXT|INTEGER|FLOAT|BOOLEAN|STR|INT)\b")
"""What typer shows of types, in any of its releases."""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_types_of_python(command: str) -> None:
    shown = gen(command, "--help", cwd=PROJECT).stdout
    assert TYPE.findall(shown) == []
    assert max(map(len, shown.splitlines())) <= 120
    assert re.search(r"^  -h, --help +Show this message", shown, re.MULTILINE)


def test_types_of_python_are_found() -> None:
    shown = ["JOB <list[str]>", "--root <path>", "--tail <int range>", "--root PATH TEXT", "--n [int]", "-n INTEGER"]
    assert [text for text in shown if not TYPE.search(text)] == []


def test_help_imports_few_modules() -> None:
    """Start-up time is nearly all imports; `bench/` measures it."""
    heavy = ["pydantic", "yaml", "jinja2", "jsonschema_rs", "gen.render.pipeline"]
    script = (
        "import sys; from gen.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy} if name in sys.modules])\n"
        "print(len(sys.modules), sum(name.partition('.')[0] == 'gen' for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *_, imported, counts = done.stdout.splitlines()
    total, own = map(int, counts.split())
    assert imported == "[]"
    assert (total <= MAX_MODULES, own <= MAX_OWN_MODULES) == (True, True), counts


def test_version() -> None:
    assert gen("--version", cwd=PROJECT).stdout == f"gen {__version__}\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_nobody_needs_to_listen(repo: Repository, closed: str) -> None:
    command = f"{sys.executable} -m gen completion bash {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=repo.root, stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("position", [0, 1, 2, 450, 599])
def test_standard_input_is_looked_at_wherever_it_is_named(tmp_path: Path, position: int) -> None:
    good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
    names = [f"{number}.yaml" for number in range(599)]
    for name in names:
        (tmp_path / name).write_text(good % f"a{name}", "utf-8")
    names.insert(position, "-")
    command = [sys.executable, "-m", "gen", "validate", "--parallel", "3", *names]
    done = subprocess.run(command, cwd=tmp_path, input=good % "BAD", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "600 objects in 600 files: 1 error, 0 warnings")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rendr"], "unknown command `rendr`: did you mean `render`?"),
        (["frobnicate"], "unknown command `frobnicate`; `gen --help` lists the commands"),
        (["check", "--fixx"], "unknown option `--fixx`: did you mean `--fix`?"),
        (["--frobnicate"], "unknown option `--frobnicate`; `gen --help` lists the arguments"),
        (["check", "--output", "jsn"], "invalid value for `--output`: `jsn`; did you mean `json`?"),
        (["schema", "jobs"], "invalid value for `job|overlay`: `jobs`; did you mean `job`?"),
        (["new"], "missing argument `KIND`; `gen new --help` lists the arguments"),
        (["explain", "a", "b\x1b"], "got unexpected extra argument"),
    ],
)
def test_a_mistake_of_the_command_line_is_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = gen(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gen: {said}")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("value", ["x", "-1", "1e9"])
def test_an_invalid_number_is_named(value: str, tmp_path: Path) -> None:
    """The words depend on the release of typer."""
    done = gen("check", "--parallel", value, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gen: invalid value for `--parallel`: ")
    assert done.stderr.count("\n") == 1


def test_unusable_paths_are_named_with_what_to_do(repo: Repository, tmp_path: Path) -> None:
    said = {
        ("render", "--root", "nowhere"): "nowhere is not a folder; name the repository with --root\n",
        ("validate", "nowhere"): "`nowhere` does not exist; name a file, a folder, or `-` for standard input\n",
        ("list",): f"no jobs/ and overlays/ in {tmp_path} or any parent folder; name the repository with --root, "
        "or create one with `gen init DIR`\n",
    }
    for arguments, expected in said.items():
        done = gen(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, f"gen: {expected}")
    repo.job(JOB)
    done = gen("validate", "jobs", cwd=repo.root)
    assert done.returncode == 1
    assert done.stdout.endswith("\n`gen check` checks jobs and overlays, which are not manifests\n")


@pytest.mark.parametrize("command", ["status", "logs", "tensorboard", "retire"])
def test_a_misspelled_job_is_reported_before_clusters(repo: Repository, command: str) -> None:
    repo.job(JOB)
    done = gen(command, "team/dmeo", cwd=repo.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gen: no job matches `team/dmeo`: did you mean `team/demo`?\n"


@pytest.mark.parametrize("pattern", ["team/d*", "d*", "team/demo", "demo", "demo.yaml"])
def test_a_job_is_named_from_its_folder_or_from_the_top(repo: Repository, pattern: str) -> None:
    repo.job(JOB)
    repo.job(JOB, name="other")
    done = gen("render", pattern, cwd=repo.root / "jobs/team")
    assert done.stdout.endswith("1 job in 1 overlay: wrote 1, removed 0, 0 unchanged\n")
