"""Random changes of scripts and manifests, and the results of their imports."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from gen.importers import sandbox
from scripts import mutated_imports
from scripts.mutations_of_imports import changed_object, changed_script
from tests.importers.slurm.test_slurm import BASH, script

if TYPE_CHECKING:
    from pathlib import Path

TEXT = script("-N 2", "--gres=gpu:8", "--ntasks-per-node=1", body="LR=1\nsrun torchrun a.py --lr $LR", interpreter=BASH)
SUBMISSION = "arena submit pytorch --name=a --image=a/b:1 'python a.py'\n"
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n"
    "      containers:\n        - {name: a, image: 'a/b:1', command: [a]}\n"
)
REQUEST = '{"Job": {"JobName": "a", "Tasks": [{"TaskName": "b", "Application": {"Command": "c"}}]}}'


def folder(root: Path) -> Path:
    (root / "one").mkdir()
    (root / "two").mkdir()
    (root / "one/train.sh").write_text(TEXT, "utf-8")
    (root / "one/submit.sh").write_text(SUBMISSION, "utf-8")
    (root / "two/job.yaml").write_text(JOB, "utf-8")
    (root / "two/request.json").write_text(REQUEST, "utf-8")
    (root / "two/notes.txt").write_text("nothing", "utf-8")
    return root


def test_changes_are_the_same_for_a_seed() -> None:
    changed = [[changed_script(Random(f"{seed}"), TEXT) for seed in range(200)] for _ in range(2)]  # noqa: S311 - the same for a seed
    assert changed[0] == changed[1]
    assert len({*changed[0]}) > 150
    objects = [[str(changed_object(Random(seed), [{"a": [1, "b c"]}])) for seed in range(50)] for _ in range(2)]  # noqa: S311 - the same for a seed
    assert objects[0] == objects[1]


def test_each_file_has_its_importer(tmp_path: Path) -> None:
    found = {one.path.name: one.importer for one in mutated_imports.sources([folder(tmp_path)])}
    assert found == {
        "job.yaml": "manifests",
        "request.json": "batchcompute",
        "submit.sh": "arena",
        "train.sh": "slurm",
    }


def test_a_round_counts_the_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mutated_imports.main([str(folder(tmp_path)), "--unmutated"]) == 0
    output = capsys.readouterr().out
    assert "     1 slurm: ready\n" in output
    assert "     1 batch scripts with a launcher, of which 1 are ready: 100.0 %\n" in output
    assert "     4 inputs, 0 with problems" in output
    assert "usage" not in output  # an option that an importer refuses
    assert mutated_imports.main([str(tmp_path), "--count", "12", "--seed", "3"]) == 0
    assert "    12 inputs, 0 with problems" in capsys.readouterr().out


@pytest.mark.parametrize(("chosen", "inputs"), [(("--from", "1"), 3), (("--only", "1"), 1), (("--from", "4"), 0)])
def test_a_round_of_unchanged_files_can_begin_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...], inputs: int
) -> None:
    assert mutated_imports.main([str(folder(tmp_path)), "--unmutated", *chosen]) == 0
    assert f"     {inputs} inputs, 0 with problems" in capsys.readouterr().out


def test_tracebacks_and_long_imports_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    def waits(*_: object, **__: object) -> None:
        while True:
            pass

    kept = tmp_path / "kept"
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    for program, said in ((fails, "ZeroDivisionError"), (waits, "takes too long")):
        monkeypatch.setattr(mutated_imports, "run_import", program)
        arguments = [str(tmp_path), "--unmutated", "--seconds", "1", "--keep", str(kept), "--tool", "manifests"]
        assert mutated_imports.main(arguments) == 1
        assert said in capsys.readouterr().out
    assert [one.name for one in kept.iterdir() if one.suffix == ".yaml"]


@pytest.mark.slow
@pytest.mark.skipif(sandbox.refusal() is not None, reason=str(sandbox.refusal()))
def test_a_proof_has_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(folder(tmp_path)), "--prove", "--count", "3"]
    mutated_imports.main(arguments)
    assert "proofs: " in capsys.readouterr().out
