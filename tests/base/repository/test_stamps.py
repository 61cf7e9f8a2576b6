"""No edit, link, copy or restored time passes for the file that a stamp is for. All with real files."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.repository.stamps import Stamp, Stamps, Status
from gen.commands import check
from tests.support import Repository, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = "ab" * 32
JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
RUN = "rendered/dev/jobs/team/a/job-a.yaml"


def tick(root: Path) -> None:
    """Wait until the clock of the file system goes on, so that files that exist by now are not racy."""
    stamps = Stamps(root, root / "none", KEY)
    start = stamps.start
    assert start is not None, "the file system of tests has files without a name"
    while stamps.clock() == start:
        pass


def known(root: Path, path: str = "a") -> bool:
    """Whether the next run knows the file."""
    stamps = Stamps(root, root / ".stamps", KEY)
    return stamps.knows(stamps.of_files((path, f"{path}.lock"), "content"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file that a run has read."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a").write_text("12345")
    tick(folder)
    stamps = Stamps(folder, folder / ".stamps", KEY)
    stamps.add(stamps.of_files(("a", "a.lock"), "content"))
    stamps.save()
    assert known(folder)
    return folder


def edited(path: Path) -> None:
    """Another content of the same size, with the old times."""
    before = path.stat()
    path.write_text("54321")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    """A copy with the old times and another content, renamed over the file, as archives and rsync do."""
    other = path.with_name("other")
    shutil.copy2(path, other)
    edited(other)
    other.replace(path)


def linked(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def hard_linked(path: Path) -> None:
    """A write through another name of the file."""
    os.link(path, path.with_name("other"))
    edited(path.with_name("other"))


@pytest.mark.parametrize(
    "change",
    [
        edited,
        replaced,
        linked,
        hard_linked,
        lambda path: path.unlink(),
        lambda path: path.chmod(0o755),
        lambda path: path.with_name("a.lock").write_text(""),
    ],
    ids=["edit", "copy", "link", "hard link", "removal", "mode", "other file"],
)
def test_a_changed_file_is_unknown(root: Path, change: Callable[[Path], object]) -> None:
    change(root / "a")
    assert not known(root)


def test_another_content_key_or_damage_is_unknown(root: Path) -> None:
    stamps = Stamps(root, root / ".stamps", KEY)
    assert not stamps.knows(stamps.of_files(("a", "a.lock"), "other content"))
    other = Stamps(root, root / ".stamps", "cd" * 32)
    assert not other.knows(other.of_files(("a", "a.lock"), "content"))
    raw = (root / ".stamps").read_bytes()
    (root / ".stamps").write_bytes(raw[1:])
    assert not known(root)
    (root / ".stamps").write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    assert not known(root)


def test_a_file_that_changes_in_the_tick_of_the_run_gets_no_stamp(tmp_path: Path) -> None:
    """Its status can stay the same although it changes again."""
    for number in range(200):
        path = tmp_path / f"f{number}"
        path.write_text("12345")
        stamps = Stamps(tmp_path, tmp_path / ".stamps", KEY)
        stamp = stamps.of_files((path.name,), "content")
        stamps.add(stamp)
        stamps.save()
        path.write_text("54321")
        after = Stamps(tmp_path, tmp_path / ".stamps", KEY)
        now = after.of_files((path.name,), "content")
        assert not after.knows(now)


def test_a_written_file_that_another_program_changed_gets_no_stamp(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("12345")
    tick(tmp_path)
    stamps = Stamps(tmp_path, tmp_path / ".stamps", KEY)
    before = stamps.clock()
    (tmp_path / "a").write_text("54321")
    tick(tmp_path)
    stamps.add_written(stamps.of_files(("a",), "content"), before, stamps.clock())
    stamps.save()
    assert not known(tmp_path)


def test_without_a_clock_nothing_gets_a_stamp(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY, raising=False)  # as a file system that has no such files
    stamps = Stamps(root, root / "none", KEY)
    assert stamps.start is None
    stamp = Stamp(b"x" * 16, Status("a", b"x" * 16, 0, 0))
    stamps.add(stamp)
    stamps.add_written(stamp, stamps.clock(), stamps.clock())
    stamps.save()
    assert not (root / "none").exists()


def test_the_clock_leaves_no_file(root: Path) -> None:
    names = sorted(root.iterdir())
    assert Stamps(root, root / "none", KEY).clock()
    assert sorted(root.iterdir()) == names


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    """A repository with stamps of all of its files."""
    for name in "abc":
        repo.job(JOB, name=name)
    assert repo.render(cache=repo.root / "cache")[1] == 0
    tick(repo.root)
    assert checked(repo) == []
    return repo


def checked(repo: Repository) -> list[str]:
    report, _ = opened(check.check(check.Request(root=repo.root, parallel=1), repo.root / "cache"))
    return [change.path for change in report.changes]


def test_files_with_stamps_are_not_read(rendered: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even what the system would show of them."""
    read: list[str] = []
    open_ = os.open

    def noted(path: str, *arguments: int) -> int:
        read.append(os.path.relpath(path, rendered.root))
        return open_(path, *arguments)

    monkeypatch.setattr(os, "open", noted)
    assert checked(rendered) == []
    assert [path for path in read if path.startswith(("jobs/", "rendered/"))] == []


def same_size(path: Path) -> None:
    path.write_text(path.read_text().replace("train:1", "train:2"))


def same_size_and_times(path: Path) -> None:
    before = path.stat()
    same_size(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("edit", [same_size, same_size_and_times])
def test_an_edit_of_the_same_size_is_found(rendered: Repository, edit: Callable[[Path], None]) -> None:
    edit(rendered.root / RUN)
    assert checked(rendered) == [RUN]
    edit(rendered.root / "jobs/team/b.yaml")
    assert checked(rendered)[:2] == [RUN, RUN.replace("/a/", "/b/").replace("-a.", "-b.")]
    assert rendered.render(cache=rendered.root / "cache")[1] == 0
    assert checked(rendered) == []


def test_an_edit_in_the_tick_of_the_render_is_found(repo: Repository) -> None:
    """At once after the run, as often as the clock may hide it."""
    for number in range(30):
        repo.job(JOB.replace("train:1", f"train:{number:03}"), name="a")
        assert repo.render(cache=repo.root / "cache")[1] == 0
        path = repo.root / RUN
        path.write_text(path.read_text().replace(f"train:{number:03}", "train:999"))
        assert checked(repo) == [RUN]


@pytest.mark.parametrize("what", ["surplus", "link", "folder", "mode"])
def test_other_changes_of_a_folder_with_a_stamp_are_found(rendered: Repository, what: str) -> None:
    folder = (rendered.root / RUN).parent
    if what == "surplus":
        (folder / "other.yaml").write_text("a: b\n")
    elif what == "link":
        folder.rename(rendered.root / "elsewhere")
        folder.symlink_to(rendered.root / "elsewhere")
    elif what == "folder":
        (folder / "empty").mkdir()
    else:
        (rendered.root / RUN).chmod(0o755)
    with_cache = outcome(rendered, rendered.root / "cache")
    assert with_cache == outcome(rendered, None)
    assert with_cache[0] or what == "mode"  # which counts in a repository of Git


def outcome(repo: Repository, cache: Path | None) -> tuple[bool, str]:
    try:
        report, code = opened(check.check(check.Request(root=repo.root, parallel=1), cache))
    except Exception as error:  # noqa: BLE001 - compared as it is
        return True, str(error)
    return code != 0, f"{report.findings} {report.changes} {report.summary}"


def test_a_job_file_with_its_lock_is_known_together(rendered: Repository) -> None:
    (rendered.root / "jobs/team/a.lock").write_text("{}\n")
    assert outcome(rendered, rendered.root / "cache") == outcome(rendered, None)


@pytest.fixture
def without_record(rendered: Repository) -> Repository:
    """A repository whose last run cannot be read any more, but by the report of a run without a change."""
    (last,) = (rendered.root / "cache").glob("*.json")
    last.write_text("")
    return rendered


def test_a_run_without_a_change_reads_no_results(without_record: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(without_record, None)
    monkeypatch.setattr("gen.render.cache.read_run", None)
    assert outcome(without_record, without_record.root / "cache") == expected
    report, code = without_record.render(cache=without_record.root / "cache")
    assert (report.summary, code) == ("3 jobs in 1 overlay: wrote 0, removed 0, 6 unchanged", 0)


def test_a_run_after_one_that_wrote_reads_no_results(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for files that were written in the last moment."""
    for number in range(10):
        repo.job(JOB, name=f"j{number}")
        tick(repo.root)
        assert repo.render(cache=repo.root / "cache")[1] == 0
        with monkeypatch.context() as patch:
            patch.setattr("gen.render.cache.read_run", None)
            assert checked(repo) == []


def renamed(repo: Repository) -> None:
    (repo.root / "jobs/team/a.yaml").rename(repo.root / "jobs/team/d.yaml")


CHANGES: dict[str, Callable[[Repository], object]] = {
    "job": lambda repo: repo.job(JOB.replace("train:1", "train:2"), name="a"),
    "new job": lambda repo: repo.job(JOB, name="d"),
    "removed job": lambda repo: (repo.root / "jobs/team/c.yaml").unlink(),
    "renamed job": renamed,
    "lock": lambda repo: (repo.root / "jobs/team/a.lock").write_text("x\n"),
    "lock alone": lambda repo: (repo.root / "jobs/team/x.lock").write_text("{}\n"),
    "misplaced file": lambda repo: (repo.root / "jobs/x.yaml").write_text(JOB),
    "misnamed file": lambda repo: (repo.root / "jobs/team/a.yml").write_text(JOB),
    "overlay": lambda repo: (repo.root / "overlays/dev/overlay.yaml").write_text("x: 1\n"),
    "rendered file": lambda repo: same_size_and_times(repo.root / RUN),
    "removed file": lambda repo: (repo.root / RUN).unlink(),
    "removed folder": lambda repo: shutil.rmtree((repo.root / RUN).parent),
    "surplus folder": lambda repo: shutil.copytree((repo.root / RUN).parent, repo.root / "rendered/dev/jobs/team/x"),
    "surplus file": lambda repo: (repo.root / "rendered/notes.yaml").write_text("a: b\n"),
    "empty folder": lambda repo: (repo.root / "rendered/dev/jobs/team/x").mkdir(),
    "link": lambda repo: (repo.root / "rendered/dev/jobs/team/x").symlink_to("a"),
    "linked tree": lambda repo: linked(repo.root / "rendered"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_run_after_any_change_reports_what_one_without_a_cache_does(
    rendered: Repository, change: Callable[[Repository], object]
) -> None:
    before = outcome(rendered, rendered.root / "cache")
    change(rendered)
    after = outcome(rendered, rendered.root / "cache")
    assert after == outcome(rendered, None)
    assert after != before


def test_warnings_are_reported_again(rendered: Repository) -> None:
    rendered.job(JOB.replace("train:1", "train:latest"), name="a")
    assert rendered.render(cache=rendered.root / "cache")[1] == 0
    tick(rendered.root)
    expected = outcome(rendered, None)
    assert "mutable-image" in expected[1], expected
    assert [outcome(rendered, rendered.root / "cache") for _ in range(2)] == [expected] * 2
    assert list((rendered.root / "cache").glob("*.unchanged"))
