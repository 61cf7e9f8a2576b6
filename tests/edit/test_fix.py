"""Edits of files that findings carry."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from gen.base.codes.files import TOO_MANY
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.corrections import fixes_of
from gen.base.findings import (
    Diagnostic,
    Fix,
    Location,
    Move,
    Put,
    Rename,
    Respell,
    UsageError,
    did_you_mean,
    only_near,
)
from gen.edit.change import EditError
from gen.edit.fixes import MAX_FIXES, applied, find_fixes, fixed, write_fixes
from tests.cases import for_each
from tests.error_cases import error_cases

TEXT = """\
# a comment
gpu: 8   # eight
roles:
  worker: {cpus: 4, memory: 1Gi}
list:
  - nme: a
logdir: /logs
"""


@for_each(
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


def test_a_moved_value_has_its_comment() -> None:
    moved = TEXT.replace("gpu: 8   # eight\n", "") + "other: 8   # eight\n"
    assert applied(TEXT, Move(("gpu",), ("other",))) == moved


@for_each(
    "fix",
    [
        Rename(("absent",), "gpus"),
        Rename(("gpu",), "logdir"),
        Rename(("list", 0), "name"),
        Rename(("list", 7, "nme"), "name"),
        Put(("gpu",), "7", "9"),
        Put(("roles", "worker"), "", "9"),
        Move(("logdir",), ("gpu",)),
        Move(("gpu",), ("roles", "worker", "gpus")),  # no place for its comment
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
    assert (result.findings, result.renders, result.complete) == ((), MAX_FIXES, False)
    assert len(judged) == 1 + MAX_FIXES


class Judged:
    """Errors about fields that begin with `wrong_`, each in a line of its own, and about names in `also`."""

    def __init__(self, also: dict[str, str] | None = None, most: int = 1000) -> None:
        self.texts: list[str] = []
        self.also, self.most = also or {}, most

    def __call__(self, text: str) -> list[Diagnostic]:
        self.texts.append(text)
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            name = line.partition(":")[0]
            if name.startswith("wrong_"):
                rename = Rename((name,), name.removeprefix("wrong_"))
                found.append(finding(f"unknown `{name}`", rename, line=number))
            elif name in self.also:
                found.append(finding(self.also[name], line=number))
        rest = [Diagnostic(Location("a.yaml", 1), TOO_MANY.name, "more")] if len(found) > self.most else []
        return [*found[: self.most], *rest]


def mistakes(count: int) -> str:
    return "".join(f"wrong_{index:03}: x  # {index}\n" for index in range(count))


@pytest.mark.parametrize("count", [1, 2, 30, MAX_FIXES])
def test_fixes_of_different_lines_share_a_render(count: int) -> None:
    judge = Judged()
    result = fixed(mistakes(count), judge)
    assert result.text == mistakes(count).replace("wrong_", "")
    assert (len(result.findings), result.renders, result.complete) == (count, 1, True)


def test_a_fix_that_is_wrong_is_found_among_the_others() -> None:
    judge = Judged({"017": "a name that is not valid either"})
    result = fixed(mistakes(64), judge)
    assert result.text == mistakes(64).replace("wrong_", "").replace("017:", "wrong_017:")
    assert len(result.findings) == 63
    assert result.renders == len(judge.texts) - 1 < 20


def test_a_fix_does_not_hide_what_another_does() -> None:
    """Field 1 is wrong as 1, too, which nothing reports as long as an error at field 5 stops the check."""

    def judge(text: str) -> list[Diagnostic]:
        stop = [finding("stop", line=99)] if "\n005" in text else []
        return [*Judged({} if stop else {"001": "as wrong as before"})(text), *stop]

    assert fixed(mistakes(8), judge).text == mistakes(8).replace("wrong_", "").replace("001:", "wrong_001:")


def test_fixes_of_one_line_have_renders_of_their_own() -> None:
    def judge(text: str) -> list[Diagnostic]:
        return [finding(name, Rename((name,), name[1:])) for name in ("xa", "xb", "xc") if name in text]

    result = fixed("{xa: 1, xb: 2, xc: 3}\n", judge)
    assert (result.text, result.renders) == ("{a: 1, b: 2, c: 3}\n", 3)


@for_each(("most", "kept"), [(0, 0), (1, 1), (2, 3), (3, 7), (6, 40)])
def test_the_renders_that_are_left_suffice_for_one_fix(most: int, kept: int) -> None:
    """With one render, there is one fix: a group that is not kept would leave none for its parts."""
    result = fixed(mistakes(40), Judged(), most)
    assert (len(result.findings), result.complete) == (kept, kept == 40)
    assert result.renders <= most
    wrong = fixed(mistakes(40), Judged({f"{index:03}": "wrong" for index in range(1, 40)}), 6)
    assert [item.message for item in wrong.findings] == ["unknown `wrong_000`"]


def test_errors_that_were_too_many_to_report_do_not_prevent_a_shared_render() -> None:
    judge = Judged({"044": "wrong, too"}, most=20)
    result = fixed(mistakes(50), judge)
    assert result.text == mistakes(50).replace("wrong_", "").replace("044:", "wrong_044:")
    assert result.renders < 12


@pytest.mark.slow
def test_a_fix_that_a_judge_finds_again_and_again_ends() -> None:
    def judge(text: str) -> list[Diagnostic]:
        number = int(text.partition(": ")[2])
        errors = [finding(f"error {index}") for index in range(10_000 - number)]
        return [*errors, finding(f"at {number}", Put(("a",), str(number), str(number + 1)), line=number)]

    assert len(fixed("a: 0\n", judge).findings) == MAX_FIXES


@for_each(
    ("word", "known", "meant"),
    [
        ("imge", ["image", "command"], "image"),
        ("suceeded", ["succeeded", "failed"], "succeeded"),
        ("gpu", ["gpus", "cpu"], ""),
        ("worke", ["worker", "workers"], ""),
        ("x", ["y"], ""),
        ("completely", ["other"], ""),
        ("aaaaaaaaaaaa", ["aaaaaaaaabbb"], ""),
        ("iamge", ["image", "command"], "image"),
        ("suspend", ["suspended", "suspends"], ""),
        ("a" * 5000, ["a" * 5001], ""),
    ],
)
def test_a_name_is_certain_if_it_is_the_only_one_nearby(word: str, known: list[str], meant: str) -> None:
    assert only_near(word, known) == meant


PRINTED = """\
kind: batch
command: python main.py {{ params.lr }}
clusters: [onpren]
data: {dtaa: /data}
data2:
  /data: nas   # exchanged
env:
  - name: A
replica: 4
"""


@for_each(
    ("place", "message", "hint", "old", "new"),
    [
        ((9, 1), "unknown field `replica`", "did you mean `replicas`?", "replica:", "replicas:"),
        ((4, 8), "no volume `dtaa`", "did you mean `data`?", "dtaa", "data"),
        ((3, 12), "no overlay is called `onpren`", "did you mean `onprem`?", "onpren", "onprem"),
        ((2, 24), "`command` has no parameter `lr`", "did you mean `rate`?", "params.lr", "params.rate"),
        ((6, 3), "`data2./data`: got `nas`", "write `nas: /data`", "/data: nas ", "nas: /data "),
        ((7, 1), "`env`: got a list", "write `env: {A: x}`", "env:\n  - name: A", "env: {A: x}"),
        ((9, 10), "`replica`: got `4`", "write `[4]`", "replica: 4", "replica: [4]"),
    ],
)
def test_the_only_correction_that_a_hint_prints_is_a_fix(
    place: tuple[int, int], message: str, hint: str, old: str, new: str
) -> None:
    item = Diagnostic(Location("a.yaml", *place), INVALID_VALUE.name, message, hint)
    (fix,) = fixes_of(item)
    assert applied(PRINTED, fix) == PRINTED.replace(old, new)


@for_each(
    ("code", "message", "hint"),
    [
        (INVALID_VALUE.name, "got `2`", "did you mean `a` or `b`?"),
        (INVALID_VALUE.name, "got `2`", "did you mean `a`?; or render the job only elsewhere: `clusters: [b]`"),
        (INVALID_VALUE.name, "got `2`", "write `code: {git: …}`"),
        ("cut-command", "`train.py` is not a program", "write `python train.py`"),  # without its arguments
        ("not-granted", "namespace `team` may not use `a`", "did you mean `b`?"),
    ],
)
def test_other_hints_are_not_fixes(code: str, message: str, hint: str) -> None:
    assert fixes_of(Diagnostic(Location("a.yaml", 1, 1), code, message, hint)) == ()


def test_a_correction_is_of_the_value_that_the_message_names() -> None:
    item = Diagnostic(Location("a.yaml", 9, 10), INVALID_VALUE.name, "got `5`", "did you mean `6`?")
    with pytest.raises(EditError):
        applied(PRINTED, *fixes_of(item))


@pytest.mark.slow
def test_each_correction_that_is_printed_as_the_only_one_is_applied(tmp_path: Path) -> None:
    """In all cases with a finding of this form in a job or an overlay."""
    left, mended = set(), 0
    for case in error_cases():
        if "did you mean" not in case.expected and "write `" not in case.expected:
            continue
        repository = case.copy(tmp_path / case.name)
        with suppress(UsageError):
            found = [item for item in repository.check(no_cache=True)[0].findings if fixes_of(item)]
            if not any(item.place.file.endswith((f"/{case.name}.yaml", "overlay.yaml")) for item in found):
                continue
            write_fixes(repository.root, find_fixes(repository.root, ()))
            after = {(item.code, item.message) for item in repository.check(no_cache=True)[0].findings}
            left |= {case.name} if any((item.code, item.message) in after for item in found) else set()
            mended += 1
    assert mended > 100
    assert left == set()


def test_names_that_are_equally_similar_are_all_printed() -> None:
    assert did_you_mean("data-3", ["data-1", "data-2", "nas"]) in {
        "did you mean `data-1` or `data-2`?",
        "did you mean `data-2` or `data-1`?",
    }
    assert did_you_mean("dtaa", ["data", "nas"]) == "did you mean `data`?"
    assert did_you_mean("DATA", ["data", "data2"]) == "did you mean `data`?"
