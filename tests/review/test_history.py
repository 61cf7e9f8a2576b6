"""The history of runs, from real commits."""

from __future__ import annotations

from gen.review.history import run_history
from tests.history import JOB, History
from tests.kfp import defining
from tests.support import OVERLAY, Repository


def test_events_of_a_job(history: History) -> None:
    history.job(JOB)
    history.job(JOB, name="other")
    history.commit("first")
    first = history.file("pytorchjob-demo").read_text().split("name: ")[1].split("\n")[0]
    history.job(JOB + "attempt: 2\n")
    history.commit("second")
    history.job(JOB + "attempt: 2\nstate: finished\n")
    history.commit("third")
    (history.root / "jobs/team/demo.yaml").unlink()
    history.commit("last")
    events = run_history(history.root)["jobs/team/demo.yaml"]
    assert [event.what for event in events] == ["removed", "finished", "added", "added"]
    assert events[-1].run == first
    assert (events[0].commit, events[0].overlay, events[0].author) == (history.git("rev-parse", "HEAD"), "dev", "t")


def test_a_definition_is_not_a_run(history: History) -> None:
    history.overlay(defining(OVERLAY))
    history.job("kind: pipeline\nkfp: {}\nimage: a:1\nsteps: {one: {kind: batch, command: x}}\n")
    history.job(JOB, name="other")
    history.commit("first")
    assert set(run_history(history.root)) == {"jobs/team/other.yaml"}


def test_edited_files_and_other_names_are_not_read(history: History) -> None:
    history.job(JOB)
    history.commit("first")
    path = history.file("pytorchjob-demo")
    path.write_text(path.read_text().replace("replicas: 2", "replicas: 3"))
    (path.parent / "a\nb.yaml").write_text("kind: Job\n")
    (path.parent / "link.yaml").symlink_to("/etc/passwd")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "by hand")
    assert len(run_history(history.root)["jobs/team/demo.yaml"]) == 1


def test_without_git_there_is_no_history(repo: Repository) -> None:
    assert run_history(repo.root) == {}
