"""Fixes of findings in SARIF: each by itself, as far as limits and secrets permit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gen.edit.fixes import MAX_JUDGED, find_fixes
from tests.cases import for_each
from tests.commands.mistakes import JOB, MISTAKES, UNCERTAIN
from tests.processes import gen
from tests.report.sarif import results, with_fix

if TYPE_CHECKING:
    from tests.support import Repository


@for_each(("right", "wrong"), MISTAKES)
def test_sarif_offers_each_fix(repo: Repository, right: str, wrong: str) -> None:
    path = repo.job(JOB.replace(right, wrong))
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    (fix,) = (fix for result in found for fix in result.get("fixes", ()))
    assert fix["artifactChanges"][0]["artifactLocation"]["uri"] == "jobs/team/demo.yaml"
    assert with_fix(path.read_text("utf-8"), fix) == JOB


def test_fixes_of_one_file_are_offered_alone(repo: Repository) -> None:
    broken = JOB.replace("gpus: 8", "gpu: 8").replace("timeout: 12h", "time_out: 12h")
    path = repo.job(broken)
    repo.job(JOB.replace("image:", "Image:"), name="other")
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    fixes = [fix for result in found for fix in result.get("fixes", ())]
    files = [fix["artifactChanges"][0]["artifactLocation"]["uri"] for fix in fixes]
    assert sorted(files) == sorted(["jobs/team/demo.yaml"] * 2 + ["jobs/team/other.yaml"])
    fixed = {with_fix(path.read_text("utf-8"), fix) for fix in fixes if "demo" in json.dumps(fix)}
    assert fixed == {broken.replace("\ngpu:", "\ngpus:"), broken.replace("time_out:", "timeout:")}


@for_each(("right", "wrong"), UNCERTAIN)
def test_sarif_offers_nothing_else(repo: Repository, right: str, wrong: str) -> None:
    repo.job(JOB.replace(right, wrong).replace("{lr: 1e-3}", "{lr: 1e-3, t: 12 hours}"))
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    assert found
    assert [result for result in found if "fixes" in result] == []


def test_a_fix_that_shows_a_secret_is_not_offered(repo: Repository) -> None:
    """Code scanning keeps its input."""
    for name, offered in (("GREETING", 1), ("API_PASSWORD", 0)):
        repo.job(JOB.replace('HOME_DIR: "@home"', f"{name}: @sesame"))
        assert len(find_fixes(repo.root, ()).edits) == 1
        said = gen("check", "--output", "sarif", cwd=repo.root).stdout
        assert len([result for result in results(said) if "fixes" in result]) == said.count("sesame") == offered


def test_few_of_many_fixes_are_tried_alone(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen.edit.fixes.MAX_ALONE", 3)
    for name in ("a", "b", "c"):
        repo.job(JOB.replace("\ngpus:", "\ngpu:").replace("timeout:", "time_out:"), name=name)
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    assert (len(found), len([result for result in found if "fixes" in result])) == (6, 3)


@pytest.mark.slow
def test_fixes_of_long_files_are_offered_up_to_a_limit(repo: Repository) -> None:
    """Each is judged with the whole file, so that a few pull requests of large files could occupy a check for hours."""
    comment = f"# {'x' * (MAX_JUDGED // 8)}\n"
    broken = JOB.replace("gpus: 8", "gpu: 8").replace("timeout: 12h", "time_out: 12h")
    jobs = [repo.job(broken + comment, name) for name in "abcdef"]
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    assert len(found) >= 2 * len(jobs)
    assert len([result for result in found if "fixes" in result]) == 7  # the text is a little longer than an eighth


def test_sarif_offers_fixes_of_overlays(repo: Repository) -> None:
    repo.job(JOB)
    text = (repo.root / "overlays/dev/overlay.yaml").read_text("utf-8")
    path = repo.overlay(text.replace("kubernetes:", "kubernets:"))
    found = results(gen("check", "--output", "sarif", cwd=repo.root).stdout)
    (fix,) = (fix for result in found for fix in result.get("fixes", ()))
    assert with_fix(path.read_text("utf-8"), fix) == text
