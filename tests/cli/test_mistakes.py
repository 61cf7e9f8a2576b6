"""Mistakes of the command line have one line that names the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.cli.command import meant
from gen.commands import COMMANDS
from tests.cases import for_each
from tests.cli.jobs import JOB
from tests.processes import gen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository


@for_each(
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
def test_a_wrong_command_line_exits_with_2_and_a_reason(repo: Repository, arguments: list[str]) -> None:
    repo.job(JOB)
    done = gen(*arguments, cwd=repo.root)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert not (repo.root / "rendered").exists()


@for_each(
    ("arguments", "said"),
    [
        (["rendr"], "unknown command `rendr`: did you mean `render`?"),
        (["frobnicate"], "unknown command `frobnicate`; `gen --help` lists the commands"),
        (["compare", "a", "b"], "unknown command `compare`: `gen tensorboard` shows the curves of runs side by side"),
        (["rollout", "restart"], "unknown command `rollout`: `git log -p jobs/` shows the edits of jobs"),
        (["new", "-n", "team"], "unknown option `-n`: did you mean `--namespace`?"),
        (["list", "-o", "json"], "unknown option `-o`: did you mean `--output`?"),
        (
            ["stop", "-n", "team", "a"],
            "unknown option `-n`: write the namespace before the job, such as `team/demo`, or",
        ),
        (["logs", "-n", "team", "a"], "unknown option `-n`: write the namespace before the job, such as `team/demo`;"),
        (["status", "-A"], "unknown option `-A`: without a job, all namespaces are included;"),
        (["render", "--dry-run"], "unknown option `--dry-run`: `gen check` compares without writing"),
        (["check", "--fixx"], "unknown option `--fixx`: did you mean `--fix`?"),
        (["--frobnicate"], "unknown option `--frobnicate`; `gen --help` lists the arguments"),
        (["check", "--output", "jsn"], "invalid value for `--output`: `jsn`; did you mean `json`?"),
        (
            ["schema", "jobs"],
            "invalid value for `job|overlay`: `jobs` is not one of `job`, `overlay`; `gen schema --help`",
        ),
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


@for_each(
    ("arguments", "expected"),
    [
        (["check", "--parallel", "x"], "an integer"),
        (["check", "--parallel", "-1"], "at least 0"),
        (["check", "--parallel", "1e9"], "an integer"),
        (["status", "--request-timeout", "nan"], "at most 600"),
        (["status", "--request-timeout", "0.01"], "at least 0.1"),
        (["status", "--request-timeout", "1000"], "at most 600"),
        (["status", "--request-timeout", "x"], "a number"),
    ],
)
def test_an_invalid_number_is_named(arguments: list[str], expected: str, tmp_path: Path) -> None:
    done = gen(*arguments, cwd=tmp_path)
    command, option, value = arguments
    assert (done.returncode, done.stdout) == (2, "")
    name = "`--parallel` / `-n`" if option == "--parallel" else f"`{option}`"
    said = f"invalid value for {name}: expected {expected}, got `{value}`"
    assert done.stderr == f"gen: {said}; `gen {command} --help` lists the arguments\n"


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


@pytest.mark.parametrize("command", ["delete", "apply", "add", "cancel", "submit", "kill", "retry"])
def test_commands_of_other_tools_get_the_command_of_gen(command: str) -> None:
    assert "gen " in meant(command)
    assert command not in COMMANDS
