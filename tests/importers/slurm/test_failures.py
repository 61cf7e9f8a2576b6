"""`gen import slurm --prove` runs the script and its job once more, with a program that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.importers import sandbox
from gen.importers.sandbox import Process, recorded, without_ends
from gen.importers.slurm import task_comparison
from tests.cases import for_each
from tests.importers.slurm.test_slurm import script
from tests.importers.slurm.test_task_comparison import REFUSAL, compared

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))]
NODES = ("-N 2", "--ntasks-per-node=1")
WITH_MPI = ("-N 2", "--ntasks-per-node=2")


@for_each(
    ("options", "body"),
    [
        (("-N 1",), "python a || exit 3\npython b"),
        (("-N 1",), "set -euo pipefail\npython a | tee log\npython b"),
        (("-N 1",), "python a &\nP=$!\npython b\nwait $P || exit 1\npython c"),
        (("-N 1",), "if python a; then python b; else python c; fi"),
        (("-N 1",), "python a\nif [ $? -ne 0 ]; then exit 1; fi\npython b"),
        (("-N 1",), "for i in 1 2; do python a $i && break; done\npython b"),
        (("-N 1",), "trap 'python b' EXIT\nset -e\npython a\npython c"),
        (("-N 1",), "set -e\nsrun bash -c 'python a; python b'\npython c"),
        (NODES, "srun python a || exit 1\nsrun python b"),
        (WITH_MPI, "srun python a || exit 1\nsrun python b"),
        (WITH_MPI, 'if ask; then N=1; else N=2; fi\nsrun bash -c "python a $N \\$SLURM_PROCID"'),
        (NODES, "set -e\nmkdir a\nwget b\nsrun python c"),
        (("-N 1", "--array=0-3"), "python a $SLURM_ARRAY_TASK_ID || exit 1\npython b"),
    ],
)
def test_the_job_does_the_same_after_an_error(tmp_path: Path, options: list[str], body: str) -> None:
    line, same, found = compared(tmp_path, script(*options, body=body, interpreter="/bin/bash"))
    assert ([one.message for one in found], same) == ([], True), line


@for_each(
    ("options", "body", "command", "message"),
    [
        (("-N 1",), "python a || exit 3\npython b", "python a\npython b", "the job starts `python b`, and the script"),
        (("-N 1",), "set -e\npython a\npython b", "python a\npython b", "the job starts `python b`, and the script"),
        (("-N 1",), "python a\npython b", "set -e\npython a\npython b", "the script starts `python b`, and the job"),
        (NODES, "srun python a || exit\nsrun python b", "python a\npython b", "the job starts `python b`, and the"),
        (
            WITH_MPI,
            "srun python a || exit\nsrun python b",
            "mpirun python a\nmpirun python b",
            "the job starts `python b`, and the",
        ),
        (
            ("-N 1",),
            "set -o pipefail\npython a | tee log",
            "python a | tee log",
            "the script ends with an error, and the job does not",
        ),
        (("-N 1",), "python a || true", "python a", "the job ends with an error, and the script does not"),
        (("-N 1",), "python a || python c", "python a && true", "the script starts `python c`, and the job does not"),
    ],
)
def test_a_difference_after_an_error_has_the_line_of_its_program(
    tmp_path: Path, options: list[str], body: str, command: str, message: str
) -> None:
    line, same, found = compared(tmp_path, script(*options, body=body, interpreter="/bin/bash"), {"command": command})
    assert not same
    assert message in found[0].message
    assert found[0].message.startswith("if `python a` fails, ")
    assert "it does something else after an error" in line


def test_a_script_has_the_options_of_its_first_line(tmp_path: Path) -> None:
    text = script("-N 1", body="python a\npython b", interpreter="/bin/bash -eu")
    line, same, found = compared(tmp_path, text)
    assert (same, found) == (True, []), line
    _, same, found = compared(tmp_path, text, {"command": "python a\npython b"})
    assert (same, len(found)) == (False, 1)


def test_a_script_that_only_shows_something_at_its_end_may_hide_an_error(tmp_path: Path) -> None:
    body = "[ -d a ] && echo a\npython a\necho finished"
    line, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, []), line


def test_a_script_without_a_test_of_a_status_runs_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(task_comparison, "_failed", failed)
    line, same, _ = compared(tmp_path, script("-N 1", body="python a\npython b", interpreter="/bin/bash"))
    assert same, line


def test_only_the_first_start_of_a_task_fails() -> None:
    process = Process(words=("bash", "/script"), env={})
    text = "a 1 || b\na 1 || c\na 2 || d\ne && exit 7"
    done = recorded([process], files={"/script": text}, fails=["-1 a 1"])
    assert [one.words[0] for one in done.records] == ["a", "b", "a", "a", "e"]
    assert (done.failed, done.statuses) == (True, {sandbox.BATCH: 7})


@for_each(
    ("text", "kept"),
    [
        ("set -eu", "set -e"),
        ("set -euo pipefail", "set -eo pipefail"),
        ("set -u", "true"),
        ("set -u -o pipefail; a", "set -o pipefail; a"),
        ("kill $!", "true"),
    ],
)
def test_an_error_ends_a_script_and_a_missing_value_does_not(text: str, kept: str) -> None:
    assert without_ends(text, with_errors=True) == kept
