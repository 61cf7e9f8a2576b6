"""Completion in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.commands import COMMANDS, words

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
BIN = Path(sys.executable).parent
BASH = """
source <(gen completion bash)
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
[ "{last}" ] || {{ COMP_WORDS+=(""); COMP_CWORD=$((COMP_CWORD + 1)); }}
_gen_completion gen
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ true }}
_arguments() {{ print -rl -- "${{@[1]}}" }}
_describe() {{ : }}
words=({words}) CURRENT=$#words
[ "{last}" ] || {{ words+=(""); CURRENT=$#words; }}
env _TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" _GEN_COMPLETE=complete_zsh gen
"""
FISH = """
gen completion fish | source
complete --do-complete "{line}"
"""


def completed(shell: str, line: str, cwd: Path) -> str:
    """What a shell offers at the end of a line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    typed = line.split()
    last = "" if line.endswith(" ") else typed[-1]
    script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(words=" ".join(typed), last=last, line=line)
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
        ("gen set team/train state=", ["state=finished"]),
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


def test_names_with_other_characters_are_not_offered(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("jobs/team/train.yaml", JOB)
    repo.write("jobs/team/$(touch pwned).yaml", JOB)
    repo.write("jobs/team/a\x1b[31m.yaml", JOB)
    monkeypatch.chdir(repo.root)
    assert words.jobs("") == ["team/train"]
    assert words.overlays("") == ["dev"]


def test_nothing_is_offered_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (words.jobs(""), words.overlays("")) == ([], [])


@pytest.mark.slow
def test_every_command_is_completed(tmp_path: Path) -> None:
    assert set(completed("bash", "gen ", tmp_path).split()) >= set(COMMANDS)
