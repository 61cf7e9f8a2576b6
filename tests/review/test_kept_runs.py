"""A run that is behind the platform is accepted only as it is at the base."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings, UsageError
from gen.base.yaml.source import source_of
from gen.commands import check
from gen.render.emit import HEADER, digest_of, header, run_record
from tests.history import History
from tests.support import OVERLAY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/a:1\ncommand: x\nworkers: 2\ngpus: 1\nqueue: research\ntimeout: 1h\n"
FILES = "files: {/etc/a: b}\n"
CODE = f"code: {{git: https://git.example.com/a.git, ref: {'c' * 40}}}\n"
RUN = "rendered/dev/jobs/team/demo/job-demo.yaml"
CONFIG = "rendered/dev/jobs/team/demo/configmap-demo-files.yaml"
BUMP = "codeSync: {gitImage: registry.example.com/git-sync:v5}\n"
OTHER = "rendered/dev/jobs/team/other/job-other.yaml"


@pytest.fixture
def behind(history: History) -> History:
    """A work tree like `fall_behind`, on a branch."""
    history.git("switch", "--quiet", "main")
    fall_behind(history)
    history.git("switch", "--quiet", "--force-create", "topic")
    assert history.check()[1] == 0
    assert len(history.plan(check=True).behind) == 1
    return history


def fall_behind(repo: History) -> None:
    """Commit two runs, and a new platform for the second."""
    repo.overlay(OVERLAY)
    repo.job(JOB + FILES + CODE)
    repo.commit("a job")
    repo.overlay(OVERLAY + BUMP)
    repo.job(JOB, name="other")
    repo.commit("a new platform")


def edit(repo: History, path: str, old: str, new: str, record: str | None = None) -> None:
    """Change a rendered file and compute a valid first line for it."""
    file = repo.root / path
    first, _, text = file.read_text("utf-8").partition("\n")
    match = HEADER.match(first + "\n")
    assert match is not None
    assert old in text
    changed = text.replace(old, new)
    known = match["record"] or "" if record is None else record
    file.write_text(header(match["source"], digest_of(changed), known) + changed, "utf-8")


def record_of(text: str, run: str = "demo") -> str:
    source = source_of(text.encode(), "jobs/team/demo.yaml", Findings())
    assert source is not None
    return str(run_record(run, source.data, None))


def run_of(repo: History, path: str = RUN) -> str:
    found = re.search(r'gen/run: "?([0-9a-f]{8})', (repo.root / path).read_text("utf-8"))
    assert found is not None
    return found[1]


def body_edited_by_hand(repo: History) -> None:
    file = repo.root / RUN
    file.write_text(file.read_text("utf-8").replace("a:1", "evil:1"), "utf-8")


def body_with_valid_digest(repo: History) -> None:
    edit(repo, RUN, "registry.example.com/a:1", "registry.example.com/evil:1")


def body_with_another_name(repo: History) -> None:
    old = run_of(repo)
    for path in (RUN, CONFIG):
        edit(repo, path, old, "deadbeef")
    edit(repo, RUN, "registry.example.com/a:1", "registry.example.com/evil:1")


def job_edited_and_record_forged(repo: History) -> None:
    repo.job(JOB.replace("a:1", "evil:1") + FILES + CODE)
    edit(
        repo,
        RUN,
        "registry.example.com/a:1",
        "registry.example.com/evil:1",
        record_of(JOB.replace("a:1", "evil:1") + FILES + CODE),
    )


def job_that_claims_an_earlier_run(repo: History) -> None:
    """The job differs from the kept run."""
    text = JOB.replace("timeout: 1h", "timeout: 2h") + FILES + CODE
    repo.job(text)
    edit(repo, RUN, "kind: Job", "kind: Job", record_of(text))


def new_job_with_a_forged_run(repo: History) -> None:
    repo.job(JOB + FILES + CODE, name="new")
    folder = repo.root / "rendered/dev/jobs/team/new"
    shutil.copytree((repo.root / RUN).parent, folder)
    for file in list(folder.iterdir()):
        text = file.read_text("utf-8").replace("demo", "new").partition("\n")[2]
        record = record_of(JOB + FILES + CODE, "new") if "job-" in file.name else ""
        file.unlink()
        name = file.name.replace("demo", "new")
        (folder / name).write_text(header("jobs/team/new.yaml", digest_of(text), record) + text, "utf-8")


def older_version_of_the_run(repo: History) -> None:
    """Authentic, but different from the base."""
    repo.git("switch", "--quiet", "main")
    old = (repo.root / RUN).read_text("utf-8"), (repo.root / CONFIG).read_text("utf-8")
    repo.commit("restart", restart=True)
    repo.git("switch", "--quiet", "--force-create", "topic")
    assert repo.check()[1] == 0
    for path, text in zip((RUN, CONFIG), old, strict=True):
        (repo.root / path).write_text(text, "utf-8")


def removed_config_map(repo: History) -> None:
    (repo.root / CONFIG).unlink()


def added_object(repo: History) -> None:
    text = (repo.root / CONFIG).read_text("utf-8").partition("\n")[2]
    text = text.replace("demo-", "demo-more-", 1).replace("b\n", "evil\n")
    added = header("jobs/team/demo.yaml", digest_of(text)) + text
    (repo.root / CONFIG).with_name("configmap-demo-more-files.yaml").write_text(added, "utf-8")


def escape_from_the_queue(repo: History) -> None:
    edit(repo, RUN, "    kueue.x-k8s.io/queue-name: research\n", "")


def metadata_for_the_engine(repo: History) -> None:
    edit(repo, RUN, "metadata:\n  name:", "metadata:\n  finalizers:\n  - example.com/a\n  name:")


def second_document(repo: History) -> None:
    text = (repo.root / RUN).read_text("utf-8").partition("\n")[2]
    text += "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"
    (repo.root / RUN).write_text(header("jobs/team/demo.yaml", digest_of(text), record_of(JOB + FILES + CODE)) + text)


def run_of_another_job(repo: History) -> None:
    """The run of a job that is up to date, replaced by one that is not at the base."""
    edit(repo, OTHER, run_of(repo, OTHER), "deadbeef")
    edit(repo, OTHER, "registry.example.com/a:1", "registry.example.com/evil:1")


def restart_marker(repo: History) -> None:
    """The overlay takes all runs along, and the run claims that it was."""
    repo.overlay(OVERLAY + BUMP + "runs: {restartedFor: CVE-2026-1234}\n")
    given = source_of((JOB + FILES + CODE).encode(), "jobs/team/demo.yaml", Findings())
    assert given is not None
    kept = (repo.root / RUN).read_text("utf-8"), (repo.root / CONFIG).read_text("utf-8")
    repo.rendering()
    for path, text in zip((RUN, CONFIG), kept, strict=True):
        (repo.root / path).write_text(text, "utf-8")
    edit(repo, RUN, "kind: Job", "kind: Job", str(run_record("demo", given.data, "CVE-2026-1234")))


FORGERIES: dict[str, Callable[[History], None]] = {
    forge.__name__: forge
    for forge in (
        body_edited_by_hand,
        body_with_valid_digest,
        body_with_another_name,
        job_edited_and_record_forged,
        job_that_claims_an_earlier_run,
        new_job_with_a_forged_run,
        older_version_of_the_run,
        added_object,
        escape_from_the_queue,
        metadata_for_the_engine,
        second_document,
        run_of_another_job,
        restart_marker,
    )
}


@pytest.mark.slow  # commits for each forgery
@pytest.mark.parametrize("forgery", list(FORGERIES))
def test_a_forged_run_is_refused(behind: History, forgery: str) -> None:
    FORGERIES[forgery](behind)
    behind.git("add", "--all")
    behind.git("commit", "--quiet", "--allow-empty", "--message", "forged")
    assert behind.check()[1] == 1, "check"
    assert behind.plan().refused, "plan"


@pytest.mark.slow  # commits for each forgery
@pytest.mark.parametrize(
    "forgery", [name for name in FORGERIES if name not in ("body_edited_by_hand", "second_document")]
)
def test_a_render_does_not_make_a_forged_run_acceptable(behind: History, forgery: str) -> None:
    """Unless it replaces the run by the one that the job and the overlay give."""
    FORGERIES[forgery](behind)
    behind.rendering()
    texts = "".join(behind.rendered().values())
    accepted = behind.check()[1] == 0 and not behind.plan().refused
    assert not accepted or "evil" not in texts


def test_what_the_base_has_is_accepted_with_new_metadata_and_suspension(behind: History) -> None:
    before = behind.rendered()
    behind.job(JOB + FILES + CODE + "state: finished\nlabels: {a: b}\n")
    behind.rendering()
    assert behind.rendered() != before
    assert behind.check()[1] == 0
    assert not behind.plan().refused


def test_a_removed_file_is_restored_from_the_commit_of_the_job(behind: History) -> None:
    before = behind.rendered()
    removed_config_map(behind)
    assert behind.check()[1] == 1
    assert "not-rendered" in {one.code for one in behind.plan().findings}
    behind.rendering()
    assert behind.rendered() == before


def test_a_removed_file_that_cannot_be_restored_is_reported_at_a_file_that_exists(behind: History) -> None:
    removed_config_map(behind)
    behind.job(JOB + FILES + CODE + "labels: {a: b}\n")
    behind.rendering()
    (finding,) = (one for one in behind.check()[0].findings if one.code == "kept-run-differs")
    assert finding.place.file == RUN
    assert f"`{CONFIG}`, which the base has, is missing" in finding.message
    assert f"-- {CONFIG}" in finding.hint


def test_two_branches_that_add_jobs_merge_cleanly(behind: History) -> None:
    for name in ("left", "right"):
        behind.git("switch", "--quiet", "--create", name, "main")
        behind.job(JOB.replace("timeout: 1h", f"timeout: 3h\nenv: {{NAME: {name}}}"), name=name)
        behind.commit(name)
    behind.git("merge", "--quiet", "--no-edit", "left")
    assert behind.check()[1] == 0
    review = behind.plan()
    assert (len(review.starting), len(review.stopping), review.behind) == (2, 0, ())
    assert len(behind.plan(check=True).behind) == 1, "the base has it, too"


def test_without_git_a_kept_run_is_a_warning(behind: History, tmp_path: Path) -> None:
    copy = History(tmp_path / "copy")
    shutil.copytree(behind.root, copy.root, ignore=shutil.ignore_patterns(".git"))
    report, code = copy.check()
    assert code == 0
    assert [item.code for item in report.findings] == ["kept-run-unverified"]
    before = copy.rendered()
    copy.rendering()
    assert copy.rendered() == before == behind.rendered()


def test_a_shallow_clone_renders_the_same_and_asks_for_the_base(behind: History, tmp_path: Path) -> None:
    behind.git("commit", "--quiet", "--allow-empty", "--message", "more")
    clone = tmp_path / "clone"
    behind.git("clone", "--quiet", "--depth", "1", "--branch", "topic", f"file://{behind.root}", str(clone))
    shallow = History(clone)
    shallow.rendering()
    assert shallow.rendered() == behind.rendered()
    shallow.git("remote", "remove", "origin")
    report, code = shallow.check()
    assert code == 1
    assert "kept-run-unverified" in [item.code for item in report.findings]
    assert shallow.check(base="HEAD")[1] == 0


@pytest.mark.parametrize("options", [{}, {"fix": True}, {"staged": True}])
def test_a_base_that_does_not_exist_is_refused_without_kept_runs(history: History, options: dict[str, Any]) -> None:
    history.job(JOB.replace("timeout", "time_out"))
    before = history.git("diff")
    with pytest.raises(UsageError, match=r"^unknown Git ref `NOPE`; "):
        check.run(check.Request(root=history.root, base="NOPE", no_cache=True, parallel=1, **options))
    assert history.git("diff") == before


def test_staged_files_are_compared_with_the_base_of_the_repository(behind: History) -> None:
    """They are in a temporary folder without commits."""
    request = check.Request(root=behind.root, staged=True, no_cache=True, parallel=1)
    behind.write("rendered/dev/jobs/team/draft/a.yaml", "not staged\n")
    assert check.run(request).exit_code == 0
    removed_config_map(behind)
    assert check.run(request).exit_code == 0
    behind.git("add", "--update")
    result = check.run(request)
    assert result.exit_code == 1
    assert [item.code for item in result.output.findings] == ["kept-run-differs"]
