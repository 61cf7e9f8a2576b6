"""Pages of a repository in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.commands.environment import VARIABLE
from gen.commands.site import Request, run
from tests.browser.support import Browser, painted, searched
from tests.browser.test_plan import EVIL, NAME, harmless, poisoned
from tests.history import JOB, History

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow  # starts a browser

PAGES = ("index.html", "overlays.html", "jobs/team/demo.html")
OVERLAY = """\
kubernetes: "1.34"
currency: EUR
accelerators: {h100: {nvidia: H100, price: 2.5}}
namespaces: {team: {gpus: 640, budget: 5000, metadata: ["*/*"]}}
"""


@pytest.fixture
def committed(history: History) -> History:
    history.overlay(OVERLAY)
    for index in range(20):
        history.job(JOB, name=f"job-{index}")
    history.job(JOB, name="demo")
    history.commit("first")
    return history


JOBS = 1000


@pytest.mark.parametrize("mistake", ["", "gpu: 1\n"])
def test_a_site_of_a_thousand_jobs_is_painted_at_once(
    history: History, browser: Browser, tmp_path: Path, mistake: str
) -> None:
    """Also with a finding about each job, and a job with a long history."""
    history.overlay(OVERLAY.replace("640", "64000"))
    for attempt in range(1, 20):
        history.job(f"{JOB}attempt: {attempt}\n", name="demo")
        history.commit("again")
    for index in range(JOBS):
        history.job(f"{JOB}accelerator: h100\n{mistake}", name=f"job-{index}")
    found = texts(history, tmp_path / "site")
    assert {path: size for path, text in found.items() if (size := len(text.encode())) >= 3_000_000} == {}
    for path, text in found.items():
        page = browser.open(text)
        assert painted(page) < 1000, path
    page = browser.open(found["index.html"])
    assert page.locator(".row").count() == JOBS + 1
    assert searched(page, "job-77") < 1000
    assert page.locator(".row:visible").count() == 11


def test_findings_link_to_their_explanation(
    committed: History, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "https://docs.example.com/gen")
    committed.job(JOB + "gpu: 1\n", name="demo")
    for path in ("index.html", "jobs/team/demo.html"):
        page = browser.open(texts(committed, tmp_path / path.partition(".")[0].replace("/", "-"))[path])
        link = page.locator(".finding a").first
        assert link.inner_text() == "unknown-field"
        assert link.get_attribute("href") == "https://docs.example.com/gen/findings/unknown-field.html"


def texts(history: History, folder: Path) -> dict[str, str]:
    run(Request(folder=folder, root=history.root))
    return {path: (folder / path).read_text() for path in PAGES}


def test_jobs_can_be_searched(committed: History, browser: Browser, tmp_path: Path) -> None:
    page = browser.open(texts(committed, tmp_path / "site")["index.html"])
    assert page.locator(".row:visible").count() == 21
    page.keyboard.press("/")
    page.keyboard.type("demo active")
    assert page.locator(".row:visible").all_inner_texts()[0].startswith("team/demo")
    assert page.locator("#shown").inner_text() == "1 of 21 shown"
    page.keyboard.press("Escape")
    assert page.locator(".row:visible").count() == 21


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_no_violation(
    committed: History, browser: Browser, tmp_path: Path, axe: str, scheme: str, width: int
) -> None:
    for path, text in texts(committed, tmp_path / "site").items():
        page = browser.open(text, scheme=scheme, width=width, bypass_csp=True)
        page.add_script_tag(content=axe)
        found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations', 'passes']})")
        assert [(path, one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        assert len(found["passes"]) > 10
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path


def test_tables_break_no_word_on_a_phone(committed: History, browser: Browser, tmp_path: Path) -> None:
    page = browser.open(texts(committed, tmp_path / "site")["index.html"], width=360)
    cells = page.eval_on_selector_all(".scroll td", "(all) => all.map((one) => getComputedStyle(one).overflowWrap)")
    assert set(cells) == {"normal"}


def test_no_script_from_any_text(committed: History, browser: Browser, tmp_path: Path) -> None:
    committed.git("-c", f"user.name={NAME}", "commit", "--quiet", "--allow-empty", "--message", NAME)
    for path in [*(committed.root / "jobs").rglob("*.yaml"), *(committed.root / "overlays").rglob("*.yaml")]:
        body = poisoned(yaml.safe_load(path.read_text()))
        committed.write(str(path.relative_to(committed.root)), yaml.safe_dump({**body, EVIL: EVIL}))
    committed.write("CODEOWNERS", f"* {NAME} {EVIL}\n")
    for text in texts(committed, tmp_path / "site").values():
        harmless(browser.open(text))
    page = browser.open((tmp_path / "site/jobs/team/demo.html").read_text())
    assert NAME in page.locator("pre").inner_text(), "it is shown as a text"
