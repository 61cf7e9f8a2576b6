"""`gen check --fix` and `--diff`."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from gen.edit.fixes import find_fixes, write_fixes
from tests.cases import for_each
from tests.commands.mistakes import JOB, MISTAKES, PRINTED, UNCERTAIN
from tests.error_cases import ErrorCase, error_cases
from tests.processes import gen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository


def broken_jobs() -> list[str]:
    """A hundred jobs with one to three mistakes."""
    sets = [some for count in (1, 2, 3) for some in combinations(MISTAKES, count)]
    apart = [some for some in sets if len({right for right, _ in some}) == len(some)]
    texts = []
    for some in apart[:: len(apart) // 100 or 1] + [(one,) for one in MISTAKES]:
        text = JOB
        for right, wrong in some:
            assert text.count(right) == 1
            text = text.replace(right, wrong)
        texts.append(text)
    assert len(texts) >= 100
    return texts


@pytest.mark.slow
def test_a_hundred_broken_jobs_become_what_they_were(repo: Repository) -> None:
    """Comments and layout stay, a second run changes nothing, and the result renders."""
    paths = [repo.job(text, name=f"job-{number}") for number, text in enumerate(broken_jobs())]
    assert repo.check()[1] == 1
    fixes = find_fixes(repo.root, ())
    assert fixes.findings >= len(paths)
    write_fixes(repo.root, fixes)
    assert {path.read_text("utf-8") for path in paths} == {JOB}
    assert find_fixes(repo.root, ()).edits == ()
    assert repo.render()[1] == 0


@for_each(("right", "wrong"), MISTAKES)
def test_each_mistake_is_fixed(repo: Repository, right: str, wrong: str) -> None:
    path = repo.job(JOB.replace(right, wrong))
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert path.read_text("utf-8") == JOB


@for_each("seed", range(6))
def test_fixes_that_share_renders_are_those_that_are_kept_alone(repo: Repository, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - cases of a test
    text = JOB
    for right, wrong in chance.sample([*MISTAKES[:3], *MISTAKES[3:8], *MISTAKES[10:15], *UNCERTAIN], 6):
        text = text.replace(right, wrong)
    path = repo.job(text)
    (together,) = (edit.new for edit in find_fixes(repo.root, ()).edits)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("gen.edit.fixes.MAX_AGAIN", 0)
        while edits := find_fixes(repo.root, ()).edits:
            write_fixes(repo.root, find_fixes(repo.root, ()))
            assert len(edits) == 1
    assert together == path.read_text("utf-8") != text


def test_each_file_is_fixed_and_few_are_rendered_often(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A render for each mistake in each of many files would take hours. YAML is read up to the first mistake."""
    broken = JOB.replace('"@home"', "@home").replace('"{{ params.lr }}"', "{{ params.lr }}").replace("s: 2", "s:2")
    jobs = [repo.job(broken, name) for name in "abc"]
    monkeypatch.setattr("gen.edit.fixes.MAX_AGAIN", 3 * len(broken))
    fixes = find_fixes(repo.root, ())
    assert fixes.findings == 3 + 2 + 1
    assert fixes.summary(done=True) == "fixed 6 findings in 3 files, and tries more if it runs again"
    for _ in range(2):
        write_fixes(repo.root, find_fixes(repo.root, ()))
    assert {path.read_text("utf-8") for path in jobs} == {JOB}
    assert find_fixes(repo.root, ()).complete


@for_each(("right", "wrong"), UNCERTAIN)
def test_a_value_with_several_meanings_is_left_to_the_author(repo: Repository, right: str, wrong: str) -> None:
    assert right in JOB
    repo.job(JOB.replace(right, wrong).replace("{lr: 1e-3}", "{lr: 1e-3, t: 12 hours}"))
    assert repo.check()[1] == 1
    assert find_fixes(repo.root, ()).edits == ()


@for_each(("right", "wrong"), PRINTED)
def test_the_correction_that_is_printed_is_the_one_that_is_made(repo: Repository, right: str, wrong: str) -> None:
    path = repo.job(JOB.replace(right, wrong))
    (finding,) = [one for one in repo.check()[0].findings if one.hint.startswith("did you mean")]
    write_fixes(repo.root, find_fixes(repo.root, ()))
    (line,) = set(path.read_text("utf-8").splitlines()) - set(JOB.replace(right, wrong).splitlines())
    assert finding.hint.removeprefix("did you mean `").removesuffix("`?") in line


SHOWS_ANOTHER = {
    "patch-with-unknown-operation": "its path is wrong, too",
    "overlay-exclude-of-nothing": "the excluded job is in no overlay",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", error_cases(), ids=lambda case: case.name)
def test_fixes_of_known_mistakes_are_stable_and_leave_fewer_findings(case: ErrorCase, tmp_path: Path) -> None:
    repo = case.copy(tmp_path / "repo")
    fixes = find_fixes(repo.root, ())
    if not fixes.edits:
        return
    before = counts(repo)
    write_fixes(repo.root, fixes)
    assert counts(repo) < before or case.name in SHOWS_ANOTHER
    assert find_fixes(repo.root, ()).edits == ()


def counts(repo: Repository) -> tuple[int, int]:
    """Errors, and all findings."""
    findings = repo.check()[0].findings
    return sum(finding.is_error for finding in findings), len(findings)


def test_a_moved_field_is_moved_with_its_value(repo: Repository) -> None:
    path = repo.job(JOB.replace("tensorboard: {logdir: /data/logs}\n", "logdir: /data/logs # here\n"))
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert "tensorboard:\n  logdir: /data/logs # here\n" in path.read_text("utf-8")
    assert repo.render()[1] == 0


def test_overlays_are_fixed_unless_jobs_are_named(repo: Repository) -> None:
    repo.job(JOB)
    overlay = repo.root / "overlays/dev/overlay.yaml"
    good = overlay.read_text("utf-8")
    repo.overlay(good.replace("volumes:", "volums:"))
    assert find_fixes(repo.root, ("team/demo",)).edits == ()
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert overlay.read_text("utf-8") == good


def test_the_command_fixes_and_checks(repo: Repository) -> None:
    path = repo.job(JOB.replace("gpus: 8", "gpu: 8").replace("12h", "12 hours"))
    refused = gen("check", cwd=repo.root)
    assert refused.stdout.splitlines()[-1] == "2 errors; nothing was written; `gen check --fix` may correct 2 findings"
    shown = gen("check", "--fix", "--diff", cwd=repo.root)
    assert (shown.returncode, path.read_text("utf-8") == JOB) == (1, False)
    assert "-gpu: 8\n+gpus: 8\n" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "would fix 2 findings in 1 file; `gen check --fix` does it"
    done = gen("check", "--fix", cwd=repo.root)
    assert path.read_text("utf-8") == JOB
    assert "fixed 2 findings in 1 file\n1 job in 1 overlay: would write" in done.stdout
    assert gen("render", cwd=repo.root).returncode == 0
    again = gen("check", "--fix", cwd=repo.root)
    assert (again.returncode, again.stdout.splitlines()[-2]) == (0, "no finding has a certain fix")
    path.write_text(JOB + "gpu: 8\n", "utf-8")  # which cannot be `gpus`, too
    left = gen("check", "--fix", cwd=repo.root).stdout.splitlines()
    assert left[-2:] == ["no finding has a certain fix", "1 error; nothing was written"]
    assert gen("check", "--fix", "--diff", cwd=repo.root).returncode == 0


def test_staged_files_are_not_fixed(repo: Repository) -> None:
    repo.job(JOB)
    assert gen("check", "--staged", "--fix", cwd=repo.root).returncode == 2


def test_a_diff_shows_no_secret_that_is_near(repo: Repository) -> None:
    repo.job(JOB.replace("gpus: 8", "gpu: 8").replace("workers: 2", "args: [--password, hunter2]\nworkers: 2"))
    shown = gen("check", "--fix", "--diff", cwd=repo.root).stdout
    assert "+gpus: 8" in shown
    assert "hunter2" not in shown


def test_links_and_other_bytes_are_left_alone(repo: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text(JOB.replace("gpus: 8", "gpu: 8"), "utf-8")
    repo.job(JOB)
    (repo.root / "jobs/team/link.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    repo.write("jobs/team/latin.yaml", JOB.replace("gpus: 8", "gpu: 8").encode() + b"# \xff\n")
    assert find_fixes(repo.root, ()).edits == ()


def test_a_byte_order_mark_and_line_ends_stay(repo: Repository) -> None:
    wrong = ("\ufeff" + JOB.replace("gpus: 8", "gpu: 8")).replace("\n", "\r\n")
    path = repo.write("jobs/team/demo.yaml", wrong.encode())
    write_fixes(repo.root, find_fixes(repo.root, ()))
    assert path.read_bytes() == ("\ufeff" + JOB).replace("\n", "\r\n").encode()


def test_json_names_fixable_findings_and_edited_files(repo: Repository) -> None:
    repo.job(JOB.replace("gpus: 8", "gpu: 8"))
    (finding,) = json.loads(gen("check", "--output", "json", cwd=repo.root).stdout)["findings"]
    assert finding["fixable"] is True
    done = json.loads(gen("check", "--fix", "--output", "json", cwd=repo.root).stdout)
    assert done["edits"] == ["jobs/team/demo.yaml"]
    repo.job(JOB.replace("gpus: 8", "gpus: [8]"))  # its hint prints the correction
    found = json.loads(gen("check", "--output", "json", cwd=repo.root).stdout)
    assert "may correct 1 finding" in found["summary"]
    assert [one["fixable"] for one in found["findings"]] == [True]
