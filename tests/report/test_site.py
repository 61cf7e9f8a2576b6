"""Pages of a repository, without a browser. `tests/browser` opens them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands.site import Request, run
from gen.report.site import Page
from tests.history import JOB, History

if TYPE_CHECKING:
    from pathlib import Path


OVERLAY = """\
kubernetes: "1.34"
currency: EUR
accelerators: {h100: {nvidia: H100, price: 2.5}}
queues: {research: {kueue: {localQueue: research}}}
namespaces: {team: {gpus: 64, budget: 5000}}
volumes: {data: {claim: data}}
"""


@pytest.fixture
def site(history: History, tmp_path: Path) -> tuple[History, Path]:
    history.overlay(OVERLAY)
    history.job(JOB)
    history.job(JOB + "state: suspended\n", name="other")
    history.commit("first")
    return history, tmp_path / "site"


def test_every_job_and_overlay_has_its_page(site: tuple[History, Path]) -> None:
    history, folder = site
    result = run(Request(folder=folder, root=history.root))
    assert (result.exit_code, result.output.summary) == (0, f"wrote 4 pages to {folder}")
    index = (folder / "index.html").read_text()
    assert 'href="jobs/team/demo.html"' in index
    assert "2 jobs in 1 overlay; active jobs request 24 GPUs" in index
    assert "team in dev: at most 720.00 EUR in a month" in index
    overlays = (folder / "overlays.html").read_text()
    for text in ("h100", "2.5 EUR", "64 gpus", "5000 EUR", "research", "data"):
        assert f"<td>{text}</td>" in overlays
    job = (folder / "jobs/team/demo.html").read_text()
    assert "command: python train.py" in job
    assert history.git("rev-parse", "HEAD")[:10] in job
    assert "demo-" in job.partition("History of runs")[2]


def test_links_lead_to_the_repository(site: tuple[History, Path]) -> None:
    history, folder = site
    run(Request(folder=folder, root=history.root, web="https://git.example.com/ml/jobs"))
    head = history.git("rev-parse", "HEAD")
    job = (folder / "jobs/team/demo.html").read_text()
    assert f'href="https://git.example.com/ml/jobs/blob/{head}/jobs/team/demo.yaml"' in job
    assert f'href="https://git.example.com/ml/jobs/commit/{head}"' in job


def test_nothing_of_others_is_overwritten(site: tuple[History, Path]) -> None:
    history, folder = site
    folder.mkdir()
    run(Request(folder=folder, root=history.root))
    (folder / "own.html").write_text("own")
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=folder, root=history.root))
    (folder / "own.html").unlink()
    (folder / "index.html").unlink()
    (folder / "index.html").symlink_to(history.root / "README.md")
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=folder, root=history.root))
    link = folder.parent / "link"
    link.symlink_to(history.root)
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=link, root=history.root))


def test_pages_that_a_branch_brings_are_not_taken_for_those_of_gen(site: tuple[History, Path]) -> None:
    history, folder = site
    run(Request(folder=folder, root=history.root))
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=copy, root=history.root))


def test_only_pages_that_show_something_else_are_written(
    site: tuple[History, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    history, folder = site
    run(Request(folder=folder, root=history.root))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.html")}
    history.job(JOB.replace("gpus: 8", "gpus: 4"))
    history.commit("second")
    filled: list[str] = []
    real = Page.content

    def content(page: Page) -> bytes:
        filled.append(page.template)
        return real(page)

    monkeypatch.setattr(Page, "content", content)
    result = run(Request(folder=folder, root=history.root))
    assert result.output.summary == f"wrote 3 pages to {folder}, removed 0, 1 unchanged"
    assert sorted(filled) == ["index", "job", "overlays"]
    written = {path.relative_to(folder).as_posix() for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert written == {"index.html", "overlays.html", "jobs/team/demo.html"}
    fresh = folder.with_name("fresh")
    run(Request(folder=fresh, root=history.root))
    assert _texts(folder) == _texts(fresh)


def test_pages_of_jobs_that_are_gone_are_removed(site: tuple[History, Path]) -> None:
    history, folder = site
    run(Request(folder=folder, root=history.root))
    (history.root / "jobs/team/other.yaml").unlink()
    (folder / "jobs/team/demo.html").write_text("edited by hand")
    result = run(Request(folder=folder, root=history.root))
    assert result.output.summary == f"wrote 2 pages to {folder}, removed 1, 1 unchanged"
    fresh = folder.with_name("fresh")
    run(Request(folder=fresh, root=history.root))
    assert _texts(folder) == _texts(fresh)


def _texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_job_with_an_error_has_a_page(site: tuple[History, Path]) -> None:
    history, folder = site
    history.job("kind: pytorch\ngpus: <b>\n", name="broken")
    result = run(Request(folder=folder, root=history.root))
    assert result.exit_code == 1
    page = (folder / "jobs/team/broken.html").read_text()
    assert "invalid-value" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
