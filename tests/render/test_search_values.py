"""Values that Katib inserts into the text of a trial: their places and limits."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.render.searches import JOB, containers, job, trial
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("podLabels: {a: '{{ params.lr }}'}\n", "invalid-search"),
        ("podAnnotations: {a: '{{ run.id }}'}\n", "invalid-search"),
        ("labels: {a: '{{ run.id }}'}\n", "invalid-search"),
        ("annotations: {'${trialParameters.lr}': a}\n", "invalid-label"),
        ("files: {/a: '{{ params.lr }}'}\n", "invalid-search"),
        ("files: {'/a/${trialParameters.lr}': b}\n", "invalid-search"),
        ("data: {nas: {path: /a, subPath: '${trialParameters.lr}'}}\n", "invalid-search"),
        ("data: {nas: '/a/{{ params.lr }}'}\n", "invalid-search"),
        ("env: {A: '${trialSpec.Name}'}\n", "invalid-search"),
        ("env: {A: {secret: '{{ params.lr }}', key: a}}\n", "invalid-value"),
        ("env: {A: '{{ params.lr | upper }}'}\n", "invalid-expression"),
        ("image: 'a:{{ params.lr }}'\n", "invalid-value"),
        ("serviceAccount: '{{ params.lr }}'\n", "invalid-value"),
        ("workingDir: '/a/{{ params.lr }}'\n", "invalid-search"),
        ("code: {git: 'https://a.example/b.git', ref: '{{ params.lr }}'}\n", "invalid-search"),
        ("params: {lr: 1}\n", "no-effect"),
        ("state: suspended\n", "invalid-value"),
        ("outputs: {/out: {volume: nas, path: a}}\n", "invalid-search"),
        ("logs: {volume: nas, path: a}\n", "invalid-search"),
        ("inputs: {/in: {volume: nas, path: '{{ params.lr }}'}}\n", "invalid-search"),
    ],
)
def test_placeholders_only_land_where_any_text_can_be(team: Repository, more: str, code: str) -> None:
    text = JOB.format(kind="pytorch", more=more, space="[0.1, 0.2]")
    if more.startswith("image"):
        text = text.replace("image: registry.example.com/train:1\n", "")
    team.job(text)
    assert code in team.codes()


@pytest.mark.parametrize(
    "value",
    [
        '\'a", "hostNetwork": true, "b": "\'',
        "'a\\b'",
        '"a\\nb"',
        "'${trialParameters.x}'",
        "'$(HOME)'",
        "'`id`'",
        '"it\'s"',
        "'{{ params.lr }}'",
        "''",
        "[1]",
        "{a: b}",
    ],
)
def test_a_value_cannot_end_the_text_around_it(team: Repository, value: str) -> None:
    for space in (f"[a, {value}]", f"[{value}]"):
        job(team, space=space)
        assert team.codes() == ["invalid-value"]


def test_a_value_between_the_words_of_a_command_stays_one_word(team: Repository, tmp_path: Path) -> None:
    """What Katib makes of the command: the placeholders replaced, and a redirection behind the last word."""
    command = 'command: [printf, "%s\\\\n", "a  b", "{{ params.lr }}", "it\'s; exit 3"]\n'
    text = JOB.format(kind="batch", more="", space="[x y, '1;2']")
    team.job(text.replace("command: python train.py --lr {{ params.lr }}\n", command))
    (container,) = containers(trial(team))
    (shell, option, script) = container["command"]
    for value in ("x y", "1;2"):
        assert wrapped(shell, option, script.replace("${trialParameters.lr}", value), tmp_path) == (
            0,
            f"a  b\n{value}\nit's; exit 3\n",
            True,
        )


def wrapped(shell: str, option: str, script: str, folder: Path) -> tuple[int, str, bool]:
    """Exit code, log, and whether Katib sees the end (`wrapWorkerContainer` of kubeflow/katib 0.19)."""
    log, mark = folder / "metrics.log", folder / "completed"
    mark.unlink(missing_ok=True)
    line = " ".join([script, f"1>{log} 2>&1", "&&", f"echo completed > {mark}"])
    code = subprocess.run([shell, option, line], check=False).returncode
    return code, log.read_text("utf-8"), mark.exists()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a\necho b >&2", (0, "a\nb\n", True)),
        ("echo a; exit 0", (0, "a\n", True)),
        ("exec echo a", (0, "a\n", True)),
        ("echo a\nexit 3", (3, "a\n", False)),
        ("echo a # loss", (0, "a\n", True)),
        ("cat <<X\na\nX\n", (0, "a\n", True)),
    ],
)
def test_all_output_of_a_command_reaches_katib(
    team: Repository, tmp_path: Path, command: str, expected: tuple[int, str, bool]
) -> None:
    document = yaml.safe_load(JOB.format(kind="batch", more="env: {LR: '{{ params.lr }}'}", space="[1, 2]"))
    team.job(yaml.safe_dump({**document, "command": command}, sort_keys=False))
    (container,) = containers(trial(team))
    (shell, option, script) = container["command"]
    assert wrapped(shell, option, script, tmp_path) == expected
