"""Mistakes in texts that YAML accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "kind: pytorch\nimage: registry.example.com/team/train:1.0\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository.at(tmp_path / "repo")


def codes(repo: Repository, text: str) -> list[tuple[int, int, str]]:
    repo.job(HEAD + text)
    return [(one.place.line, one.place.column, one.code) for one in repo.render()[0].findings]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("command: python train.py --tag a #3 --lr 1\n", 34),
        ("command: bash -c 'echo a # b'\n", 26),
        ("command: [a, b]\nargs: [c] \nenv:\n  A: x #1\n", 8),
        ("command: a\nparams: {}\nroles: {worker: {}}\nlabels:\n  team: a #b\n", 11),
    ],
)
def test_a_comment_that_cuts_a_text(repo: Repository, text: str, column: int) -> None:
    lines = HEAD + text
    line = next(number for number, one in enumerate(lines.splitlines(), 1) if " #" in one)
    assert codes(repo, text) == [(line, column, "cut-value")]


@for_each(
    "text",
    [
        "command: python train.py # train\n",
        "command: python train.py\nworkers: 2 #two\n",  # no integer continues like this
        'command: "python train.py #3"\n',
        "command: 'a' #b\n",
        "command: |\n  python train.py #3\n",
        "command: python train.py ## train\n",
        "command: python train.py\n# 'a comment\n",
    ],
)
def test_comments(repo: Repository, text: str) -> None:
    assert codes(repo, text) == []


@for_each(
    "text",
    [
        "command: python train.py \\\n  --lr 1\n",
        "command: >\n  python train.py \\\n  --lr 1\n",
        "command:\n  python a.py\n  python b.py\n",
        "command: >-\n  cd /data\n  export A=1\n  python a.py\n",
        "roles:\n  worker:\n    command:\n      python a.py\n      pip install b\ncommand: a\nworkers: 2\n",
    ],
)
def test_lines_that_are_joined(repo: Repository, text: str) -> None:
    assert [code for _, _, code in codes(repo, text)] == ["joined-lines"]


@for_each(
    "text",
    [
        "command: |\n  set -e\n  python a.py \\\n    --lr 1\n  python b.py\n",
        "command:\n  python train.py\n  --lr 1\n",
        "command: >\n  cd /data &&\n  python a.py\n",
        "command: >\n  cp a\\ b /data\n",
        "command: mpirun -np 2\n  python train.py\n",
        'command: "python \\\n  train.py"\n',
    ],
)
def test_lines_that_may_be_joined(repo: Repository, text: str) -> None:
    assert codes(repo, text) == []


@pytest.mark.parametrize(
    ("command", "column"),
    [("python a.py “b c”", 22), ("python a.py \u2013lr 1", 22), ("python\u00a0a.py", 16)],
)
def test_characters_that_the_shell_does_not_know(repo: Repository, command: str, column: int) -> None:
    assert codes(repo, f"command: {command}\n") == [(3, column, "lookalike")]


@pytest.mark.parametrize("command", ["python a.py “你好”", "echo 你好　世界", "echo a \u2013 b"])
def test_characters_of_texts(repo: Repository, command: str) -> None:
    assert codes(repo, f"command: {command}\n") == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("command: python a.py {% if b %}c{% endif %}\n", 22),
        ("command: python a.py${{ params.b }}\nparams: {b: c}\n", 21),
        ("command: 'python a.py {# b #}'\n", 23),
    ],
)
def test_syntax_of_other_templates(repo: Repository, text: str, column: int) -> None:
    assert codes(repo, text) == [(3, column, "invalid-expression")]


@pytest.mark.parametrize(
    "text",
    [
        "command: \"python a.py {{ '{%' }} if b %}\"\n",
        "command: \"echo {{ '$' }}{{ params.b }}\"\nparams: {b: c}\n",
        "command: echo ${#list[@]} {%h}\n",
        "command: a\nfiles:\n  /a/chat.jinja: |\n    {% for m in messages %}{# all #}{% endfor %}\n",
    ],
)
def test_the_shell_and_files_may_contain_it(repo: Repository, text: str) -> None:
    assert codes(repo, text) == []
