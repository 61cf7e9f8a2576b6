"""A plan renders the jobs that differ from the base, and all if that is not enough; `gen check` renders all."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from gen.commands import plan as command
from gen.render import run
from gen.render.run import render
from tests.history import JOB, History, branch
from tests.render.write.test_foreign import forged
from tests.support import OVERLAY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.review.result import Review

RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
ALL: list[str] = []


@pytest.fixture
def merged(history: History) -> History:
    history.job(JOB + "data: {nas: /data}\n")
    history.job(JOB + "tensorboard: {logdir: /data}\ndata: {nas: /data}\n", name="other")
    branch(history)
    return history


def replace(repo: History, path: str, old: str, new: str, source: str = "jobs/team/demo.yaml") -> None:
    """Edit a rendered file and give it a valid first line."""
    text = (repo.root / path).read_text("utf-8").partition("\n")[2]
    assert old in text
    repo.write(path, forged(text.replace(old, new), source))


def added(repo: History) -> None:
    repo.job(JOB + "data: {nas: /data}\n", name="more")
    repo.rendering()


def added_with_a_volume_of_its_own(repo: History) -> None:
    repo.job(JOB + "data: {scratch: /data}\n", name="more", namespace="second")
    repo.rendering()


def added_but_not_rendered(repo: History) -> None:
    repo.job(JOB, name="more")


def edited(repo: History) -> None:
    repo.job(JOB + "env: {A: b}\ndata: {nas: /data}\n")
    repo.rendering()


def removed(repo: History) -> None:
    (repo.root / "jobs/team/demo.yaml").unlink()
    repo.rendering()


def removed_but_not_rendered(repo: History) -> None:
    (repo.root / "jobs/team/demo.yaml").unlink()


def forged_run(repo: History) -> None:
    replace(repo, RUN, "train:1", "evil:1")


def removed_object(repo: History) -> None:
    (repo.root / RUN).unlink()


def removed_record(repo: History) -> None:
    repo.job(JOB + "state: stopped\ndata: {nas: /data}\n")
    repo.commit("stop it")
    (repo.root / RUN).unlink()


def forged_run_of_another_source(repo: History) -> None:
    replace(repo, RUN, "train:1", "evil:1", "jobs/team/other.yaml")


def forged_storage(repo: History) -> None:
    added(repo)
    replace(repo, "rendered/dev/storage/team/persistentvolumeclaim-nas.yaml", "10Gi", "20Gi", "overlays/dev/x.yaml")


def file_in_another_folder(repo: History) -> None:
    added(repo)
    repo.write("rendered/dev/jobs/team/zz/job-zz.yaml", (repo.root / RUN).read_bytes())


def job_with_the_name_of_another(repo: History) -> None:
    text = JOB + "data: {nas: /data}\nname: demo\n"
    (repo.root / "jobs/team/demo.yaml").rename(kept := repo.root / "demo.yaml")
    repo.job(text, name="second")
    repo.rendering()
    kept.rename(repo.root / "jobs/team/demo.yaml")


def job_that_would_have_the_files_of_another(repo: History) -> None:
    repo.job(JOB.replace("train:1", "train:2") + "name: demo\n", name="second")


def job_that_left_its_files(repo: History) -> None:
    repo.job(JOB + "name: renamed\ndata: {nas: /data}\n")
    before = repo.rendered()
    repo.rendering()
    for path, text in before.items():
        repo.write(f"rendered/{path}", text)


def lock_without_a_job(repo: History) -> None:
    added(repo)
    repo.write("jobs/team/none.lock", "{}\n")


def removed_without_its_lock(repo: History) -> None:
    repo.write("jobs/team/demo.lock", "{}\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "lock")
    repo.git("branch", "--quiet", "--force", "main")
    (repo.root / "jobs/team/demo.yaml").unlink()
    shutil.rmtree((repo.root / RUN).parent)


def misplaced(repo: History) -> None:
    repo.write("jobs/demo.yaml", JOB)


def invalid(repo: History) -> None:
    repo.job(JOB + "unknown: 1\n", name="more")


def other_version(repo: History) -> None:
    repo.write("gen.yaml", "requires: '>=0'\n")
    added(repo)


def other_overlay(repo: History) -> None:
    repo.overlay(OVERLAY + "defaults: {env: {A: b}}\n")
    added(repo)


CHANGES: dict[Callable[[History], None], list[list[str]]] = {
    added: [["jobs/team/more.yaml"]],
    added_with_a_volume_of_its_own: [["jobs/second/more.yaml"]],
    edited: [["jobs/team/demo.yaml"]],
    removed: [],
    added_but_not_rendered: [["jobs/team/more.yaml"], ALL],
    removed_but_not_rendered: [ALL],
    forged_run: [["jobs/team/demo.yaml"], ALL],
    removed_object: [["jobs/team/demo.yaml"], ALL],
    removed_record: [["jobs/team/demo.yaml"], ALL],
    forged_run_of_another_source: [["jobs/team/demo.yaml", "jobs/team/other.yaml"], ALL],
    forged_storage: [["jobs/team/more.yaml"], ALL],
    file_in_another_folder: [["jobs/team/demo.yaml", "jobs/team/more.yaml"], ALL],
    job_with_the_name_of_another: [["jobs/team/demo.yaml", "jobs/team/second.yaml"], ALL],
    job_that_would_have_the_files_of_another: [["jobs/team/second.yaml"], ALL],
    job_that_left_its_files: [["jobs/team/demo.yaml"], ALL],
    lock_without_a_job: [ALL],
    removed_without_its_lock: [ALL],
    misplaced: [ALL],
    invalid: [["jobs/team/more.yaml"], ALL],
    other_version: [ALL],
    other_overlay: [ALL],
}
"""Patterns of the renders for each change."""


def found(review: Review) -> set[tuple[object, ...]]:
    return {(one.code, one.severity, str(one.place), one.message, one.hint) for one in review.findings}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_plan_of_some_jobs_is_that_of_all(
    merged: History, change: Callable[[History], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(merged)
    renders = Mock(wraps=render)
    monkeypatch.setattr(run, "render", renders)
    some = merged.plan()
    assert [[*call.args[2]] for call in renders.call_args_list] == CHANGES[change]
    whole = merged.plan(check=True)
    assert found(some) == found(whole)
    assert (some.run_actions, some.usage, some.unrendered) == (whole.run_actions, whole.usage, whole.unrendered)
    assert (some.incomplete, some.refused) == (whole.incomplete, whole.refused)


def test_nothing_is_rendered_without_a_change(merged: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "render", Mock(side_effect=AssertionError))
    assert merged.plan().findings == ()


def test_a_run_that_was_forged_at_the_base_is_found_by_the_check(merged: History) -> None:
    """Whoever can push to the base without a check: a plan has the effects of a change, and trusts the base."""
    forged_run(merged)
    merged.git("commit", "--quiet", "--all", "--message", "forged")
    merged.job(JOB, name="more")
    merged.git("add", "--all")
    assert not merged.plan(base="HEAD").refused
    report, code = merged.check(base="HEAD")
    assert code == 1
    assert RUN in {change.path for change in report.changes}
    request = command.Request(root=merged.root, base="HEAD", check=True)
    assert command.run(request).exit_code == 1


def test_an_error_in_another_job_counts_with_a_cache_as_without(
    merged: History, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A render with a cache has all jobs, one without those that differ. The base has the error already."""
    other = merged.root / "jobs/team/other.yaml"
    merged.render(cache=tmp_path / "gen")
    other.write_text(other.read_text("utf-8") + "wrokers: 1\n", "utf-8")
    merged.git("commit", "--quiet", "--all", "--message", "an error")
    merged.git("branch", "--force", "main")
    merged.job(JOB + "env: {A: b}\ndata: {nas: /data}\n")
    assert merged.render("team/demo")[1] == 0
    without = merged.plan()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [*(tmp_path / "gen").iterdir()]
    cached = merged.plan()
    assert (found(cached), cached.incomplete, cached.refused) == (found(without), without.incomplete, without.refused)
