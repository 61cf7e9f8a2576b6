"""Discovery and reading of the base, and the message without one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings, UsageError
from gen.base.repository import git
from gen.base.repository.files import MAX_RENDERED_BYTES
from gen.review.rendered_trees import read_trees
from tests.history import JOB, History, branch, reported
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gen.review.result import Review


@pytest.fixture
def merged(history: History) -> History:
    history.job(JOB)
    branch(history)
    return history


def starting(plan: Review) -> list[str]:
    return [run.job for run in plan.starting]


def refusal(history: History, **options: str) -> str:
    with pytest.raises(UsageError) as raised:
        history.plan(**options)
    return str(raised.value)


def test_the_base_is_where_the_branch_left_and_not_what_the_default_branch_is_now(merged: History) -> None:
    merged.job(JOB, name="mine")
    merged.commit("mine")
    merged.git("switch", "--quiet", "main")
    merged.job(JOB, name="theirs")
    (merged.root / "jobs/team/mine.yaml").unlink(missing_ok=True)
    merged.commit("theirs")
    merged.git("switch", "--quiet", "topic")
    plan = merged.plan()
    assert (starting(plan), plan.stopping) == (["mine"], ())
    assert plan.base.ref == "main"


def test_any_commit_can_be_the_base(merged: History) -> None:
    merged.job(JOB, name="second")
    merged.commit("second")
    merged.job(JOB, name="third")
    merged.rendering()
    assert starting(merged.plan(base="HEAD")) == ["third"]
    assert starting(merged.plan(base="HEAD~1")) == ["second", "third"]
    assert starting(merged.plan(base=merged.git("rev-parse", "HEAD~2"))) == ["demo", "second", "third"]


def test_the_default_branch_is_that_of_the_upstream_first(merged: History, tmp_path: Path) -> None:
    merged.git("clone", "--quiet", "--branch=main", ".", str(tmp_path / "clone"))
    clone = History(tmp_path / "clone")
    clone.job(JOB, name="local")
    clone.commit("on main itself, and not pushed")
    plan = clone.plan()
    assert (plan.base.ref, starting(plan)) == ("origin/HEAD", ["local"])


def test_files_that_are_not_committed_count(merged: History) -> None:
    merged.job(JOB, name="untracked")
    merged.rendering()
    assert starting(merged.plan()) == ["untracked"]


def test_a_repository_in_a_folder_of_a_larger_one(tmp_path: Path) -> None:
    inner = History.at(tmp_path / "outer/ml/jobs-of-ml")
    History(tmp_path / "outer").git("init", "--quiet", "--initial-branch=main")
    inner.job(JOB)
    branch(inner)
    inner.job(JOB, name="more")
    inner.rendering()
    plan = inner.plan()
    assert (starting(plan), plan.kept) == (["more"], 1)


def test_a_repository_with_sha_256(tmp_path: Path) -> None:
    history = History.at(tmp_path / "repo")
    history.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    history.job(JOB)
    branch(history)
    trees = read_trees(history.root, git.find_base(history.root, None), Findings())
    assert trees.before == trees.after != [], "the same items, which are parsed at most once"
    history.job(JOB.replace("train:1", "train:2"))
    history.rendering()
    assert starting(history.plan()) == ["demo"]


def test_line_ends_that_git_converts_are_no_change(merged: History) -> None:
    path = merged.file("pytorchjob")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert merged.plan().objects == ()


def test_what_did_not_change_is_neither_parsed_nor_read_from_git(
    merged: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        merged.job(JOB, name=f"j{number}")
    merged.commit("more")
    asked: list[str] = []
    calls: list[list[str]] = []
    blobs, run = git.Base.blobs, subprocess.run

    def counted_blobs(base: git.Base, digests: Iterable[str]) -> dict[str, bytes]:
        asked.extend(wanted := list(digests))
        return blobs(base, wanted)

    def counted_run(command: list[str], **options: Any) -> Any:
        calls.append(command)
        return run(command, **options)

    monkeypatch.setattr(git.Base, "blobs", counted_blobs)
    monkeypatch.setattr(subprocess, "run", counted_run)
    merged.job(JOB.replace("train:1", "train:2"), name="j7")
    merged.rendering()
    calls.clear()
    assert starting(merged.plan(base="HEAD")) == ["j7"]
    assert len(asked) == 2, "the run and its job"
    assert len(calls) <= 16, "however many files there are"


def test_what_gen_cannot_read_is_a_finding_and_an_error_in_the_work_tree_alone(merged: History) -> None:
    folder = merged.root / "rendered/dev/jobs/team/demo"
    (folder / "broken.yaml").write_text("a: [\n")
    (folder / "list.yaml").write_text("apiVersion: v1\nkind: List\nmetadata: {name: a}\nitems: []\n")
    (folder / "two.yaml").write_text("a: b\n---\nc: d\n")
    (folder / "bytes.yaml").write_bytes(b"\xff\xfe")
    (folder / "text.yaml").write_text("text\n")
    (folder / "README.md").write_text("# about\n")
    (folder / "deep.yaml").write_text("[" * 100_000)
    (folder / "link.yaml").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    (folder / "large.yaml").write_bytes(b"#" * (MAX_RENDERED_BYTES + 1))
    os.mkfifo(folder / "fifo.yaml")
    os.close(os.open(os.fsencode(folder) + b"/\xff.yaml", os.O_CREAT, 0o644))
    found = {(f.place.file.rsplit("/", 1)[1], f.code, f.severity.value) for f in merged.plan().findings}
    expected = {
        ("broken.yaml", "invalid-yaml", "error"),
        ("list.yaml", "not-a-manifest", "error"),
        ("two.yaml", "many-documents", "error"),
        ("bytes.yaml", "not-utf-8", "error"),
        ("text.yaml", "not-a-manifest", "error"),
        ("deep.yaml", "too-deep", "error"),
        ("link.yaml", "not-a-file", "error"),
        ("folder", "not-a-file", "error"),
        ("large.yaml", "not-a-file", "error"),
        ("fifo.yaml", "not-a-file", "error"),
        ("\\xff.yaml", "empty-file", "error"),
    }
    names = ("broken.yaml", "list.yaml", "two.yaml", "bytes.yaml", "text.yaml", "README.md", "deep.yaml", "\\xff.yaml")
    expected |= {(name, "foreign-file", "error") for name in names}
    assert found == expected
    (folder / "fifo.yaml").unlink()
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "oh")
    unchanged = {(f.place.file.rsplit("/", 1)[1], f.code, f.severity.value) for f in merged.plan(base="HEAD").findings}
    assert unchanged == expected - {("fifo.yaml", "not-a-file", "error")}
    for path in folder.iterdir():
        if not path.name.startswith("pytorchjob"):
            path.unlink()
    findings = merged.plan(base="HEAD").findings
    assert {finding.severity.value for finding in findings} == {"warning"}
    assert all(finding.message.startswith("at ") for finding in findings)
    assert {f.place.file.rsplit("/", 1)[1] for f in findings} == {name for name, _, _ in unchanged} - {"README.md"}


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Service\nmetadata: []\n",
        "apiVersion: [1]\nkind: {a: b}\nmetadata: {name: [x]}\n",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: 1, namespace: 2, labels: 3, annotations: [4]}\nspec: 5\n",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: [1]\n",
    ],
)
def test_an_object_of_any_form_is_read_on_either_side(merged: History, text: str) -> None:
    path = merged.root / "rendered/dev/jobs/team/demo/odd.yaml"
    path.write_text(text)
    for form in ("text", "markdown", "json"):
        merged.plan()
        assert merged_report(merged, form)
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "odd")
    path.write_text(text.replace("v1", "v2").replace("5", "{a: 1}"))
    assert merged_report(merged, "text", base="HEAD")


def merged_report(history: History, form: str, **options: str) -> str:
    return reported(form, history.plan(**options))


def test_a_folder_without_git(tmp_path: Path) -> None:
    Repository.at(tmp_path / "repo")
    said = refusal(History(tmp_path / "repo"))
    assert "a Git commit is required" in said
    assert "not a git repository" in said


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    history = History.at(tmp_path / "repo")
    history.git("init", "--quiet")
    assert "has no commit to compare with" in refusal(history)


def test_an_unknown_base_has_a_near_name(merged: History) -> None:
    assert refusal(merged, base="mian") == "unknown Git ref `mian`; did you mean `main`?"
    assert "fetch it" in refusal(merged, base="0123456789")
    assert "unknown Git ref `--all`" in refusal(merged, base="--all")


def test_no_default_branch(merged: History) -> None:
    merged.git("branch", "--quiet", "--move", "main", "trunk")
    assert "set the base with --base REF" in refusal(merged)


def test_no_commit_in_common(merged: History) -> None:
    merged.git("switch", "--quiet", "--orphan", "other")
    for folder in ("jobs", "overlays"):
        (merged.root / folder).mkdir(exist_ok=True)
    merged.git("commit", "--quiet", "--allow-empty", "--message", "apart")
    assert "have no common ancestor" in refusal(merged)


def test_the_error_of_a_shallow_clone_has_the_command_to_deepen_it(merged: History, tmp_path: Path) -> None:
    merged.job(JOB, name="more")
    merged.commit("more")
    merged.git("switch", "--quiet", "main")
    clone = tmp_path / "clone"
    source = f"file://{merged.root}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", "--branch=topic", source, clone], check=True)
    for options in ({}, {"base": "HEAD~1"}, {"base": "origin/main"}):
        said = refusal(History(clone), **options)
        assert "`git fetch --unshallow`" in said
        assert "`fetch-depth: 0`" in said
    subprocess.run(["git", "-C", clone, "fetch", "--quiet", "--depth=1", "origin", "main:main"], check=True)
    assert "no common ancestor; this clone is shallow" in refusal(History(clone))


def test_without_the_program(merged: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert refusal(merged) == "`git` is required, but not installed"


def test_rendered_as_a_link(merged: History) -> None:
    (merged.root / "rendered").rename(merged.root / "elsewhere")
    (merged.root / "rendered").symlink_to("elsewhere")
    assert "is a link" in refusal(merged)


def test_what_should_be_a_folder_and_cannot_be_listed_is_a_finding(merged: History) -> None:
    (merged.root / "rendered").rename(merged.root / "elsewhere")
    (merged.root / "rendered").write_text("a file")
    assert [(f.code, f.place.file, f.severity.value) for f in merged.plan().findings] == [
        ("not-a-file", "rendered", "error")
    ]


def test_no_rendered_folder_means_that_all_goes(merged: History) -> None:
    (merged.root / "rendered").rename(merged.root / "elsewhere")
    plan = merged.plan()
    assert ([run.job for run in plan.stopping], plan.after) == (["demo"], 0)
    assert [finding.code for finding in plan.findings] == ["not-rendered"], "the job is still there"


def test_edits_that_are_not_rendered_are_reported(merged: History) -> None:
    assert merged.codes() == []
    merged.job(JOB.replace("train:1", "train:2"))
    assert merged.codes() == [("not-rendered", "warning")]
    merged.rendering()
    assert "not-rendered" not in dict(merged.codes())
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "rendered")
    merged.git("switch", "--quiet", "--create", "next")
    merged.job(JOB, name="new")
    assert dict(merged.codes(base="topic")) == {"not-rendered": "warning"}


def test_changed_files_are_those_of_the_folders_in_a_part_of_a_repository(merged: History) -> None:
    """Git compares all files, so the paths of others, and those outside of the folder, are left out."""
    part = merged.root / "part"
    for path in ("jobs/a.yaml", "jobs/old.yaml", "jobs-more/a.yaml", "gen.yaml", "gen.yaml.more", "overlays/a/b.yaml"):
        merged.write(f"part/{path}", "a: 1\n")
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "part")
    assert git.changed_files(part, "HEAD", "jobs", "gen.yaml") == set()
    for path in ("jobs/a.yaml", "jobs/new.yaml", "jobs-more/a.yaml", "gen.yaml", "gen.yaml.more", "overlays/a/b.yaml"):
        merged.write(f"part/{path}", "a: 2\n")
    merged.write("jobs/team/other.yaml", JOB)
    (part / "jobs/old.yaml").unlink()
    assert git.changed_files(part, "HEAD", "jobs", "gen.yaml") == {
        *("jobs/a.yaml", "jobs/new.yaml", "jobs/old.yaml", "gen.yaml")
    }
    assert git.changed_files(part, "none", "jobs") is None


def test_a_pipe_in_place_of_a_file_differs(merged: History) -> None:
    pipe = merged.root / "gen.yaml"
    merged.write("gen.yaml", "{}\n")
    merged.commit("settings")
    pipe.unlink()
    os.mkfifo(pipe)
    assert git.changed_files(merged.root, "HEAD", "jobs", "gen.yaml") == {"gen.yaml"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["rendered/dev/jobs/team", "jobs/team"])
def test_a_check_does_not_wait_for_a_pipe_with_attributes(merged: History, folder: str) -> None:
    for path in (*merged.root.glob("rendered/**/*.yaml"), *merged.root.glob("jobs/**/*.yaml")):
        os.utime(path, (2**31, 2**31))  # later than the index: Git compares the content, as just after a commit
    merged.git("add", "--all")
    os.mkfifo(merged.root / folder / ".gitattributes")
    command = [sys.executable, "-m", "gen", "check"]
    done = subprocess.run(command, cwd=merged.root, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, "control-file" in done.stdout + done.stderr) == (1, True)
