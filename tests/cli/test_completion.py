"""Completion in real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.commands import COMMANDS, common

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
BIN = Path(sys.executable).parent
BASH = """
source <(gen completion bash)
COMP_LINE="{line}" COMP_POINT={length}
_gen_completion gen
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ true }}
_arguments() {{ print -rl -- "${{@[1]}}" }}
_describe() {{ : }}
words=({words}) CURRENT=$#words
[ "{last}" ] || {{ words+=(""); CURRENT=$#words; }}
source <(gen completion zsh)
_gen_completion
"""
FISH = """
gen completion fish | source
complete --do-complete "{line}"
"""


def completed(shell: str, line: str, cwd: Path) -> str:
    """Completions of a shell at the end of a line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    typed = line.split()
    last = "" if line.endswith(" ") else typed[-1]
    script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(
        words=" ".join(typed), last=last, line=line, length=len(line)
    )
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(cwd)}
    done = subprocess.run([shell, "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gen ren", ["render"]),
        ("gen render team/tr", ["team/train"]),
        ("gen render --over", ["--overlay"]),
        ("gen check --overlay ", ["dev"]),
        ("gen check --output sa", ["sarif"]),
        ("gen new py", ["pytorch"]),
        ("gen set team/train sta", ["state="]),
        ("gen set team/train state=", ["finished"]),
        ("gen set team/train state=fin", ["finished"]),
        ("gen explain overlay.vol", ["overlay.volumes"]),
        ("gen explain unknown-f", ["unknown-field"]),
    ],
)
def test_a_shell_completes(shell: str, line: str, expected: list[str], repo: Repository) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    repo.write("jobs/team/$(touch pwned).yaml", JOB)
    offered = completed(shell, line, repo.root)
    assert [word for word in expected if word not in offered] == []
    assert not (repo.root / "pwned").exists()


INTERACTIVE = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(gen completion bash)"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u; source <(gen completion zsh)"),
}


def pressed(shell: str, keys: str, expected: str, cwd: Path) -> str:
    """Output of an interactive shell for these keys, up to an expected text."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command, setup = INTERACTIVE[shell]
    own, other = pty.openpty()
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(cwd), "TERM": "dumb", "PS1": "> "}
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        try:
            os.write(own, f"{setup}; echo rea''dy\n".encode())
            _until(own, "ready\r\n")
            os.write(own, keys.encode())
            return _until(own, expected)
        finally:
            process.kill()
            os.close(own)


def _until(terminal: int, expected: str) -> str:
    received = ""
    while expected not in received:
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, received
        received += os.read(terminal, 4096).decode()
    return received


@pytest.mark.slow
@pytest.mark.parametrize("shell", INTERACTIVE)
@pytest.mark.parametrize(
    ("typed", "rest"),
    [
        ("gen set team/train state=fin", "ished"),
        ("gen set team/train stat", "e="),
        ("gen render team/tr", "ain"),
        ("gen check --overlay d", "ev"),
        ("gen valid", "ate"),
    ],
)
def test_the_tab_key_completes_a_word(shell: str, typed: str, rest: str, repo: Repository) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    assert typed + rest in pressed(shell, f"{typed}\t", typed + rest, repo.root)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "is_file"),
    [
        ("gen set team/train network=zz", False),
        ("gen check --overlay zz", False),
        ("gen list --state zz", False),
        ("gen status --phase=zz", False),
        ("gen status --kubeconfig zz", True),
        ("gen check --fix zz", True),
        ("gen validate zz", True),
    ],
)
def test_bash_completes_files_only_where_they_fit(typed: str, is_file: bool, repo: Repository) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    repo.write("zzz.txt", "")
    keys = f"{typed}\t\x05 DO''NE\x01echo RE''SULT \r"  # the line is printed, and not only echoed by the terminal
    shown = pressed("bash", keys, "DONE", repo.root).rpartition("RESULT ")[2]
    assert ("zzz.txt" in shown) is is_file


@pytest.mark.slow
def test_nothing_is_typed_between_a_field_and_its_value(repo: Repository) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    pressed("bash", "gen set team/train stat\tfin\t", "state=finished", repo.root)


def test_names_with_other_characters_are_not_offered(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    repo.write("jobs/team/$(touch pwned).yaml", JOB)
    repo.write("jobs/team/a\x1b[31m.yaml", JOB)
    monkeypatch.chdir(repo.root)
    assert common.complete_jobs("") == ["team/train"]
    assert common.complete_overlays("") == ["dev"]


def test_nothing_is_offered_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (common.complete_jobs(""), common.complete_overlays("")) == ([], [])


@pytest.mark.slow
def test_every_command_is_completed(tmp_path: Path) -> None:
    assert set(completed("bash", "gen ", tmp_path).split()) >= set(COMMANDS)
