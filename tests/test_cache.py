"""With a cache and without one a run says and writes the same; it only takes less time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen import pipeline
from gen.cache import Cache
from gen.report.text import text
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/a/pytorchjob-a.yaml"


@pytest.fixture
def cached(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> tuple[Repository, list[str]]:
    """A rendered repository with a cache, and the names of the jobs that are rendered from then on."""
    for name in "abc":
        repo.job(JOB, name=name)
    assert repo.render(cache=repo.root / "cache")[1] == 0
    rendered: list[str] = []
    original = pipeline.render_file

    def noted(root: Path, job: Any, overlays: Any) -> Any:
        rendered.append(job.stem)
        return original(root, job, overlays)

    monkeypatch.setattr(pipeline, "render_file", noted)
    return repo, rendered


def test_nothing_is_rendered_when_nothing_changed(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    for _ in range(2):
        report, code = repo.check(cache=repo.root / "cache")
        assert (code, report.changes, rendered) == (0, (), [])
    assert report.summary == "3 jobs in 1 overlays: would write 0, would remove 0, 5 unchanged"
    assert repo.render(cache=repo.root / "cache")[0].summary.endswith("wrote 0, removed 0, 5 unchanged")


def test_only_the_job_that_changed_is_rendered(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    repo.job(JOB + "gpus: 1\n", name="b")
    report, code = repo.render(cache=repo.root / "cache")
    assert (code, rendered) == (0, ["b"])
    assert [change.path for change in report.changes] == [RUN.replace("/a", "/b").replace("-a.", "-b.")]
    assert repo.check()[1] == 0


@pytest.mark.parametrize("change", ["edit", "remove", "forge"])
def test_output_that_is_not_as_it_was_is_seen(cached: tuple[Repository, list[str]], change: str) -> None:
    repo, _ = cached
    path = repo.root / RUN
    original = path.read_text()
    if change == "edit":
        path.write_text(original.replace("replicas: 1", "replicas: 2"))
    elif change == "remove":
        path.unlink()
    else:
        first = (repo.root / RUN.replace("/a/", "/b/").replace("-a.", "-b.")).read_text()
        path.write_text(first)
    with_cache = text(repo.check(cache=repo.root / "cache")[0])
    assert with_cache == text(repo.check()[0])
    assert RUN in with_cache
    repo.render(cache=repo.root / "cache")
    assert path.read_text() == original


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: repo.overlay(OVERLAY + "defaults: {cpu: 2}\n"),
        lambda repo: repo.overlay('kubernetes: "1.34"\n', name="prod"),
        lambda repo: repo.job(JOB, name="d"),
        lambda repo: (repo.root / "jobs/team/c.yaml").unlink(),
        lambda repo: repo.job(JOB + "wrokers: 2\n", name="c"),
        lambda repo: repo.job("name: b\n" + JOB, name="c"),
        lambda repo: repo.write("jobs/stray.yaml", JOB),
        lambda repo: repo.write("jobs/team/c.yaml", b"\xff"),
        lambda repo: repo.write("overlays/dev/overlay.yaml", OVERLAY + "namespaces: {}\n"),
    ],
)
def test_any_change_of_inputs_gives_what_it_gives_without_a_cache(
    cached: tuple[Repository, list[str]], change: Any
) -> None:
    repo, _ = cached
    change(repo)
    assert text(repo.check(cache=repo.root / "cache")[0]) == text(repo.check()[0])


def test_warnings_are_remembered(repo: Repository) -> None:
    repo.overlay(OVERLAY + "select: {include: [team/a]}\n")
    repo.job(JOB, name="a")
    repo.job(JOB, name="b")
    for _ in range(3):
        report, code = repo.render(cache=repo.root / "cache")
        assert code == 0
        assert [(f.code, f.severity.value) for f in report.findings] == [("not-selected", "warning")]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"key": 1, "jobs": [], "run": 2}'])
def test_a_damaged_cache_is_no_cache(cached: tuple[Repository, list[str]], content: bytes) -> None:
    repo, _ = cached
    (path,) = (repo.root / "cache").iterdir()
    path.write_bytes(content)
    assert repo.check(cache=repo.root / "cache")[1] == 0
    stored = json.loads(path.read_bytes())
    stored["jobs"] = {key: entry[:2] for key, entry in stored["jobs"].items()}
    path.write_text(json.dumps(stored))
    assert repo.check(cache=repo.root / "cache")[1] == 0


def test_a_cache_of_other_tools_does_not_count(
    cached: tuple[Repository, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, rendered = cached
    monkeypatch.setattr("sys.version", "another")
    repo.check(cache=repo.root / "cache")
    assert rendered == ["a", "b", "c"]


def test_a_narrowed_run_neither_uses_nor_changes_the_cache(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    (path,) = (repo.root / "cache").iterdir()
    before = path.read_bytes()
    repo.check("team/a", cache=repo.root / "cache")
    assert rendered == ["a"]
    assert path.read_bytes() == before


def test_a_cache_that_cannot_be_written_is_no_error(repo: Repository) -> None:
    repo.job(JOB, name="a")
    (repo.root / "cache").write_text("a file is in the way")
    assert repo.render(cache=repo.root / "cache")[1] == 0
    assert Cache.open(repo.root, repo.root / "cache", None).jobs == {}
