"""Files that `gen set` writes: all or none, byte for byte, and no links."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import UsageError
from gen.report.findings.text import text
from tests.commands.changes import JOB, change, codes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository


def test_a_file_with_the_values_is_not_written(repo: Repository) -> None:
    path = repo.job(JOB)
    before = path.stat()
    report, code = change(repo, "team/demo", "env.DEBUG=off", unset=("retries",))
    assert (code, report.summary) == (0, "no changes: 1 job file is already up to date")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_pattern_changes_all_files_or_none(repo: Repository) -> None:
    first, second = repo.job(JOB), repo.job("kind: mpi\nimage: a/b:1\ncommand: x\n", name="other")
    report, code = change(repo, "team/*", "attempt=2", "nprocPerNode=2")
    assert (code, codes(report)) == (1, ["unknown-field"])
    assert (first.read_text("utf-8"), second.read_text("utf-8")[:4]) == (JOB, "kind")
    report, code = change(repo, "team/*", "attempt=2", "env.DEBUG=off")
    assert code == 0
    assert report.summary.splitlines()[-1].startswith("changed 2 of 2 job files;")
    assert "attempt: 2" in first.read_text("utf-8")
    assert "attempt: 2" in second.read_text("utf-8")


def test_bytes_that_are_not_the_fields_stay(repo: Repository) -> None:
    raw = b"\xef\xbb\xbf" + JOB.replace("\n", "\r\n").rstrip().encode()
    path = repo.write("jobs/team/demo.yaml", raw)
    path.chmod(0o640)
    assert change(repo, "team/demo", "attempt=2")[1] == 0
    line = b"# quiet\r\n"
    assert path.read_bytes() == raw.replace(line, line + b"attempt: 2\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["demo.yaml"]


def refusal(repo: Repository, jobs: str) -> str:
    try:
        report, code = change(repo, jobs, "attempt=2")
    except UsageError as error:
        return str(error)
    assert code == 1
    return text(report)


def test_links_are_not_followed(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(JOB, "utf-8")
    (repo.root / "jobs/team").mkdir()
    (repo.root / "jobs/team/demo.yaml").symlink_to(outside)
    report, code = change(repo, "team/demo", "attempt=2")
    assert (code, codes(report)) == (1, ["not-a-file"])
    (tmp_path / "team").mkdir()
    (tmp_path / "team/demo.yaml").write_text(JOB, "utf-8")
    (repo.root / "jobs/linked").symlink_to(tmp_path / "team")
    assert "link" in refusal(repo, "jobs/linked/demo.yaml")
    assert outside.read_text("utf-8") == (tmp_path / "team/demo.yaml").read_text("utf-8") == JOB


def test_when_one_file_cannot_be_written_none_is(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [repo.job(JOB), repo.job(JOB, name="other")]
    rest = iter([os.open])

    def full(*arguments: Any) -> int:
        if str(arguments[0]).endswith(".tmp"):
            for opened in rest:
                return opened(*arguments)
            raise OSError(28, "No space left on device", str(arguments[0]))
        return original(*arguments)

    original = os.open
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(UsageError, match="No space left on device"):
        change(repo, "team/*", "attempt=2")
    assert [path.read_text("utf-8") for path in paths] == [JOB, JOB]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["demo.yaml", "other.yaml"]
