"""Pages of a repository, without a browser. `tests/browser` opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands.site import Request, run
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


def test_nothing_is_overwritten(site: tuple[History, Path]) -> None:
    history, folder = site
    folder.mkdir()
    run(Request(folder=folder, root=history.root))
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=folder, root=history.root))
    link = folder.parent / "link"
    link.symlink_to(history.root)
    with pytest.raises(UsageError, match="is not an empty folder"):
        run(Request(folder=link, root=history.root))


def test_a_job_with_an_error_has_a_page(site: tuple[History, Path]) -> None:
    history, folder = site
    history.job("kind: pytorch\ngpus: <b>\n", name="broken")
    result = run(Request(folder=folder, root=history.root))
    assert result.exit_code == 1
    page = (folder / "jobs/team/broken.html").read_text()
    assert "invalid-value" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
