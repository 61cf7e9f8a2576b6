"""List of job files, and selection by paths, folders and patterns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gen.base.findings import Findings, UsageError
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import checked_root, find_root
from gen.report.formats import REPORTERS
from tests.cases import for_each
from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    repo = Repository.at(tmp_path / "repo")
    for namespace, name in (("team", "one"), ("team", "two"), ("other", "one")):
        repo.job(JOB, name=name, namespace=namespace)
    return repo


def chosen(root: Path, *patterns: str) -> list[str]:
    found = Findings()
    jobs = chosen_jobs(root, patterns, found)
    assert found.items == []
    return [job.key for job in jobs]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("jobs/team/one.yaml", ["team/one"]),
        ("team/one", ["team/one"]),
        ("*/one", ["other/one", "team/one"]),
        ("jobs/*/one.yaml", ["other/one", "team/one"]),
        ("jobs/team", ["team/one", "team/two"]),
        ("jobs/team/", ["team/one", "team/two"]),
        ("team", ["team/one", "team/two"]),
        ("jobs", ["other/one", "team/one", "team/two"]),
        (".", ["other/one", "team/one", "team/two"]),
    ],
)
def test_paths_folders_and_patterns(
    repo: Repository, pattern: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)
    assert chosen(repo.root, pattern) == expected


def test_paths_are_those_of_the_working_directory_too(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root / "jobs/team")
    assert chosen(repo.root, "one.yaml") == ["team/one"]
    assert chosen(repo.root, ".") == ["team/one", "team/two"]
    assert chosen(repo.root, "../other") == ["other/one"]


def test_a_root_behind_a_link(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(repo.root)
    monkeypatch.chdir(tmp_path)
    root = checked_root(Path("link"))
    assert chosen(root, "link/jobs/team/one.yaml", "link/jobs/other") == ["other/one", "team/one"]
    assert chosen(root, f"{tmp_path}/link/jobs/*/one.yaml") == ["other/one", "team/one"]
    assert Repository(Path("link")).render("link/jobs/team")[1] == 0
    assert len(repo.rendered()) == 2


@for_each("pattern", ["jobs/none", "none", "", "jobs/team/\0", "x" * 5000, "../elsewhere", "overlays"])
def test_a_pattern_without_a_match_is_reported(repo: Repository, pattern: str) -> None:
    (repo.root / "jobs/empty").mkdir()
    with pytest.raises(UsageError, match="no job matches"):
        chosen_jobs(repo.root, (pattern,), Findings())
    with pytest.raises(UsageError, match="no job files in `jobs/empty`"):
        chosen_jobs(repo.root, ("jobs/empty",), Findings())


@for_each(
    ("path", "place", "code", "hint"),
    [
        ("jobs/team/a.yml", "jobs/team/a.yml", "misplaced-file", "rename it to a.yaml"),
        ("jobs/team/a.YAML", "jobs/team/a.YAML", "misplaced-file", "rename it to a.yaml"),
        ("jobs/team/a.json", "jobs/team/a.json", "misplaced-file", "rename it to a.yaml"),
        ("jobs/team/a b.yaml", "jobs/team/a b.yaml", "invalid-name", "use letters, digits, `-`, `_` and `.`"),
        ("jobs/team/x/a.yaml", "jobs/team/x", "misplaced-file", "move its files to jobs/team/"),
        ("jobs/a.Yml", "jobs/a.Yml", "misplaced-file", "move it to jobs/<namespace>/"),
        ("jobs/a.json", "jobs/a.json", "misplaced-file", "move it to jobs/<namespace>/"),
        ("jobs/Team/a.yaml", "jobs/Team", "invalid-name", "rename the folder"),
    ],
)
def test_what_is_not_where_or_what_it_should_be_is_found_in_a_whole_and_in_a_narrowed_run(
    repo: Repository, path: str, place: str, code: str, hint: str
) -> None:
    repo.write(path, JOB)
    for patterns in ((), (path,), (str(repo.root / path),)):
        found = Findings()
        assert len(chosen_jobs(repo.root, patterns, found) if patterns else all_jobs(repo.root, found)) in (0, 3)
        ((said),) = found.items
        assert (said.place.file, said.code) == (place, code)
        assert said.hint.startswith(hint)


def test_other_files_are_ignored(repo: Repository) -> None:
    for path in ("jobs/README.md", "jobs/team/OWNERS", "jobs/.keep", "jobs/team/.one.yaml.swp", "jobs/.hidden/a.yaml"):
        repo.write(path, "x")
    found = Findings()
    assert len(all_jobs(repo.root, found)) == 3
    assert found.items == []


@pytest.mark.parametrize("link", ["jobs/linked", "jobs/team/linked.yaml"])
def test_links_are_not_followed_however_they_are_named(repo: Repository, tmp_path: Path, link: str) -> None:
    outside = Repository.at(tmp_path / "outside")
    outside.job(JOB)
    target = "jobs/team/demo.yaml" if link.endswith(".yaml") else "jobs/team"
    (repo.root / link).symlink_to(outside.root / target)
    for pattern in ("", link, "*/*", f"{link}/demo.yaml"):
        if pattern == f"{link}/demo.yaml" and link.endswith(".yaml"):
            continue
        report, code = repo.render(*([pattern] if pattern else []))
        assert code == 1
        assert {(f.code, f.place.file) for f in report.findings} == {("not-a-file", link)}


@pytest.mark.parametrize("name", ["jobs", "overlays"])
def test_the_two_folders_are_no_links(repo: Repository, tmp_path: Path, name: str) -> None:
    (repo.root / name).rename(tmp_path / name)
    (repo.root / name).symlink_to(tmp_path / name)
    for find in (checked_root, find_root):
        with pytest.raises(UsageError, match=f"{name} is a symbolic link"):
            find(repo.root)


def test_a_name_that_is_no_utf_8_can_be_shown(repo: Repository) -> None:
    name = os.fsdecode(b"\xff.yaml")
    header = "# Generated by gen from jobs/team/x.yaml, do not edit: x [000000000000]\n"
    for folder in ("jobs/team", "overlays/dev", "rendered/dev/jobs/team"):
        repo.write(f"{folder}/{name}", header + JOB)
    report, code = repo.render(cache=repo.root / "cache")
    assert (code, [f.place.file for f in report.findings]) == (1, ["jobs/team/\\xff.yaml"])
    (repo.root / "jobs/team" / name).unlink()
    report, code = repo.render(cache=repo.root / "cache")
    assert (code, [f.place.file for f in report.findings]) == (1, ["rendered/dev/jobs/team/\\xff.yaml"])
    for reporter in REPORTERS.values():
        assert reporter(report).encode()
