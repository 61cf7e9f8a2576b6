"""Edits of files that findings carry."""

from __future__ import annotations

import pytest

from gen.diagnostics import Diagnostic, Fix, Location, Move, Put, Rename, Respell, only_near
from gen.edit.change import EditError
from gen.edit.fix import MAX_FIXES, applied, fixed

TEXT = """\
# a comment
gpu: 8   # eight
roles:
  worker: {cpus: 4, memory: 1Gi}
list:
  - nme: a
logdir: /logs
"""


@pytest.mark.parametrize(
    ("fix", "old", "new"),
    [
        (Rename(("gpu",), "gpus"), "gpu: 8", "gpus: 8"),
        (Rename(("roles", "worker", "cpus"), "cpu"), "cpus: 4", "cpu: 4"),
        (Rename(("list", 0, "nme"), "name"), "nme: a", "name: a"),
        (Put(("gpu",), "8", "9"), "gpu: 8 ", "gpu: 9 "),
        (Put(("roles", "worker", "memory"), "1Gi", "2Gi"), "1Gi", "2Gi"),
        (Move(("logdir",), ("tensorboard", "logdir")), "logdir: /logs\n", "tensorboard:\n  logdir: /logs\n"),
        (Respell(2, 1, "gpu:", "gpus:"), "gpu:", "gpus:"),
    ],
)
def test_a_fix_changes_nothing_else(fix: Fix, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert applied(TEXT, fix) == TEXT.replace(old, new)


@pytest.mark.parametrize(
    "fix",
    [
        Rename(("absent",), "gpus"),
        Rename(("gpu",), "logdir"),
        Rename(("list", 0), "name"),
        Rename(("list", 7, "nme"), "name"),
        Put(("gpu",), "7", "9"),
        Put(("roles", "worker"), "", "9"),
        Move(("logdir",), ("gpu",)),
        Move(("roles",), ("other",)),
        Move(("logdir",), ("gpu", "inner")),
        Respell(2, 1, "cpu:", "gpus:"),
        Respell(99, 1, "gpu:", "gpus:"),
    ],
)
def test_a_fix_of_another_file_than_expected_is_refused(fix: Fix) -> None:
    with pytest.raises(EditError):
        applied(TEXT, fix)


def finding(message: str, *fixes: Fix, line: int = 1) -> Diagnostic:
    return Diagnostic(Location("a.yaml", line), "code", message, fixes=fixes)


def test_a_fix_that_leaves_as_many_errors_is_not_kept() -> None:
    text = "gpu: 8\n"
    result = fixed(text, lambda _: [finding("an error", Rename(("gpu",), "gpus"))])
    assert (result.text, result.findings) == (text, ())


def test_fixes_that_are_not_kept_are_tried_up_to_a_limit() -> None:
    judged: list[str] = []

    def judge(text: str) -> list[Diagnostic]:
        judged.append(text)
        return [finding(f"error {index}", Rename(("gpu",), "gpus")) for index in range(3 * MAX_FIXES)]

    result = fixed("gpu: 8\n", judge)
    assert (result.findings, result.tried, result.complete) == ((), MAX_FIXES, False)
    assert len(judged) == 1 + MAX_FIXES


@pytest.mark.slow
def test_a_fix_that_a_judge_finds_again_and_again_ends() -> None:
    def judge(text: str) -> list[Diagnostic]:
        number = int(text.partition(": ")[2])
        errors = [finding(f"error {index}") for index in range(10_000 - number)]
        return [*errors, finding(f"at {number}", Put(("a",), str(number), str(number + 1)), line=number)]

    assert len(fixed("a: 0\n", judge).findings) == MAX_FIXES


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("imge", ["image", "command"], "image"),
        ("suceeded", ["succeeded", "failed"], "succeeded"),
        ("gpu", ["gpus", "cpu"], ""),
        ("worke", ["worker", "workers"], ""),
        ("x", ["y"], ""),
        ("completely", ["other"], ""),
        ("aaaaaaaaaaaa", ["aaaaaaaaabbb"], ""),
        ("a" * 5000, ["a" * 5001], ""),
    ],
)
def test_a_name_is_certain_if_it_is_the_only_one_nearby(word: str, known: list[str], meant: str) -> None:
    assert only_near(word, known) == meant
