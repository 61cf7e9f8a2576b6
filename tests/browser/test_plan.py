"""The page of a plan in a real Chromium."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from gen.commands.environment import VARIABLE
from gen.report.plan.html import as_html
from gen.report.plan.markdown import as_markdown
from tests.browser.support import Browser, painted, searched
from tests.history import JOB, History, branch

pytestmark = pytest.mark.slow  # starts a browser

OVERLAY = """\
kubernetes: "1.34"
currency: EUR
pipelines: {argo: {serviceAccount: runner}}
accelerators: {h100: {nvidia: H100, price: 2.5}, a100: {nvidia: A100, price: 1.2}}
namespaces:
  team: {gpus: 200, budget: 100, queues: [research], accelerators: {h100: 160, a100: 40}}
  vision: {gpus: 50000}
volumes: {data: {claim: data}}
"""
STEPS = """\
kind: pipeline
image: registry.example.com/train:1
command: python train.py
steps:
  prepare: {kind: batch, timeout: 1h}
  left: {kind: pytorch, needs: [prepare], gpus: 4, accelerator: h100, timeout: 2h}
  last: {kind: pytorch, needs: [left], gpus: 6, accelerator: h100, timeout: 1h}
"""
SWEEP = JOB.replace("train.py", "train.py --lr={{ params.lr }}") + "sweep: {matrix: {lr: ['0.1', '0.2', '0.3']}}\n"
FAST = "accelerator: h100\n"


@pytest.fixture
def changed(history: History) -> History:
    """A pull request with every kind of change."""
    history.overlay(OVERLAY)
    history.job(JOB + FAST, name="bert")
    history.job(JOB + FAST, name="old")
    history.job(JOB + FAST + "queue: research\n", name="kept")
    branch(history)
    history.job(JOB.replace("train.py", "train.py --epochs 3") + FAST, name="bert")
    (history.root / "jobs/team/old.yaml").unlink()
    history.job(SWEEP + FAST, name="sweep")
    history.job(STEPS, name="flow")
    history.job(JOB.replace("timeout: 12h\n", "") + "accelerator: a100\n", name="endless", namespace="vision")
    history.rendering()
    return history


def test_a_reviewer_sees_the_plan(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()))
    assert page.locator("h1").inner_text().startswith("6 runs start (")
    assert page.locator(".changes li").first.inner_text().startswith("team/")
    assert page.locator(".tiles dt").all_inner_texts() == ["Runs", "GPUs", "Cost", "Data"]
    assert page.locator(".verdict .badge").inner_text() == "Refused"
    titles = [text.split("\n")[0] for text in page.locator(".card .title").all_inner_texts()]
    assert titles == [
        "replaced team/bert",
        "started vision/endless",
        "started team/sweep (3 runs)",
        "started team/flow",
        "stopped team/old",
    ]
    assert page.locator(".card", has_text="endless").locator(".cost dd").inner_text() == "28.80 EUR an hour"
    assert page.locator("#data .badge").inner_text() == "Nothing is lost"
    assert page.locator("#findings code", has_text="over-budget").count() == 1
    assert (
        "budget" in page.locator("#findings mark").first.inner_text() + page.locator("#findings pre").first.inner_text()
    )
    assert page.locator("#gpus tbody tr").count() == 6
    steps = page.locator(".card", has_text="flow").locator(".tree li")
    assert [text.split(" ")[0] for text in steps.all_inner_texts()] == ["prepare", "left", "last"]
    assert "after left" in steps.nth(2).inner_text()
    assert page.locator("#differences .equal").count() == 1


def test_the_sums_of_the_page_are_those_of_the_plan(changed: History, browser: Browser) -> None:
    report = changed.report()
    page = browser.open(as_html(changed.plan()))
    rows = page.locator("#costs tbody tr").all_inner_texts()
    months = [re.findall(r"[0-9.,]+", row.replace(",", "")) for row in rows]
    assert [[cost["before"]["month"], cost["after"]["month"]] for cost in report["costs"]] == [
        row[:2] for row in months
    ]
    assert report["summary"]["cost"]["atMost"]["EUR"] in page.locator(".tiles").inner_text().replace(",", "")


def test_details_are_unpacked_when_they_are_opened(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()))
    card = page.locator(".card", has_text="bert")
    assert card.locator("pre").count() == 0
    card.locator("summary").click()
    card.locator("pre").first.wait_for()
    diff, job, rendered = card.locator("pre").all_inner_texts()
    assert "--epochs 3" in diff
    assert job == (changed.root / "jobs/team/bert.yaml").read_text()
    assert "kind: PyTorchJob" in rendered
    card.locator("summary").click()
    card.locator("summary").click()
    assert card.locator(".panes").count() == 1


def test_filters_and_search(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()))
    visible = page.locator(".card:visible")
    page.select_option("#namespace", "vision")
    assert visible.count() == 1
    assert page.locator("#shown").inner_text() == "1 of 5 shown"
    page.select_option("#namespace", "")
    page.select_option("#action", "started")
    assert visible.count() == 3
    page.select_option("#action", "")
    page.fill("#search", "team sweep")
    assert visible.all_inner_texts()[0].startswith("started team/sweep")
    page.fill("#search", "epochs")
    assert (visible.count(), page.locator(".equal:visible").count()) == (1, 1)
    page.fill("#search", "nothing is like this")
    assert (visible.count(), page.locator(".equal:visible").count()) == (0, 0)
    assert page.locator("#none").is_visible()


def test_keys(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()))
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("team")
    assert page.locator("#shown").inner_text() == "4 of 5 shown"
    page.keyboard.press("Escape")
    assert page.locator("#shown").inner_text() == ""
    for expected in ("bert", "endless"):
        page.keyboard.press("j")
        assert expected in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("k")
    page.keyboard.press("o")
    page.locator(".card", has_text="bert").locator("pre").first.wait_for()
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_first_key_leads_past_the_header(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the runs"


@pytest.mark.parametrize(("scheme", "expected"), [("light", "rgb(246, 247, 249)"), ("dark", "rgb(15, 17, 22)")])
def test_colors_follow_the_system(changed: History, browser: Browser, scheme: str, expected: str) -> None:
    page = browser.open(as_html(changed.plan()), scheme=scheme)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == expected


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(changed: History, browser: Browser, axe: str, scheme: str, width: int) -> None:
    page = browser.open(as_html(changed.plan()), scheme=scheme, width=width, bypass_csp=True)
    for summary in page.locator("details[data-run] > summary").all():
        summary.click()
    page.locator(".panes").nth(3).wait_for()
    page.add_script_tag(content=axe)
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations', 'passes']})")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "nothing is wider than the screen"
    )


def test_the_page_can_be_printed(changed: History, browser: Browser) -> None:
    page = browser.open(as_html(changed.plan()), width=A4)
    page.emulate_media(media="print")
    title, facts = (
        float(page.eval_on_selector(one, "(node) => parseFloat(getComputedStyle(node).fontSize)"))
        for one in (".card .title", ".card .facts")
    )
    assert title > facts
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every((n) => n.scrollWidth <= n.clientWidth)")
    assert not page.locator(".tools").is_visible()
    assert len(page.pdf()) > 10_000


A4 = 718
"""Width of the paper without margins, in CSS pixels."""
EVIL = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'\"`&lt;{{7*7}}"
NAME = "<img src=x onerror=window.pwned=1>"


def poisoned(value: Any, *, top: bool = True) -> Any:
    """The same object with the attack in every text, except in those that identify its kind."""
    if isinstance(value, dict):
        same = ("apiVersion", "kind") if top else ()
        return {key: one if key in same else poisoned(one, top=False) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, top=False) for one in value]
    return f"{value}{EVIL}" if isinstance(value, str) and not value.isdecimal() else value


def opened(page: Any) -> None:
    """Open all details."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator(".panes").first.wait_for()


def harmless(page: Any) -> None:
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.scripts.length") <= 2
    assert page.locator("img, iframe, object, embed, form, base").count() == 0


def test_no_script_from_rendered_files(changed: History, browser: Browser) -> None:
    """Everybody can write files below `rendered/`, with any text in each field and in their names."""
    for path in sorted((changed.root / "rendered").rglob("*.yaml")):
        text = path.read_text()
        body = poisoned(yaml.safe_load(text))
        changed.write(str(path.relative_to(changed.root)), text.split("\n")[0] + "\n" + yaml.safe_dump(body))
    body = {"apiVersion": "batch/v1", "kind": f"Job{NAME}", "metadata": {"name": NAME, "namespace": NAME}}
    changed.write(f"rendered/dev/jobs/team/{NAME}/{NAME}.yaml", json.dumps(body))
    changed.write(f"rendered/{NAME}/jobs/a/b/{NAME}.yaml", EVIL)
    changed.git("branch", "base<img/onerror=1>", "main")
    page = browser.open(as_html(changed.plan(base="base<img/onerror=1>")))
    opened(page)
    harmless(page)
    assert EVIL in "".join(page.locator(".pane pre").all_text_contents()), "it is shown as a text"
    assert NAME in page.locator("main").inner_text()


def test_no_script_from_jobs_and_overlays(changed: History, browser: Browser) -> None:
    """The page shows the text of job files, and messages about values in them."""
    for path in [*(changed.root / "jobs").rglob("*.yaml"), *(changed.root / "overlays").rglob("*.yaml")]:
        body = poisoned(yaml.safe_load(path.read_text()))
        changed.write(str(path.relative_to(changed.root)), yaml.safe_dump({**body, EVIL: EVIL}))
    changed.write(f"jobs/team/{NAME}.yaml", EVIL)
    page = browser.open(as_html(changed.plan()))
    opened(page)
    harmless(page)
    assert NAME in "".join(page.locator(".pane pre").all_text_contents()), "it is shown as a text"


def test_the_policy_stops_what_would_get_through(changed: History, browser: Browser) -> None:
    text = as_html(changed.plan()).replace(
        "</main>", '<script>window.pwned=1</script><img src="https://example.com/x.png"></main>'
    )
    page = browser.open(text)
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert browser.blocked == ["https://example.com/x.png: csp"]
    assert len([noise for noise in browser.noise if "Content Security Policy" in noise]) == 2
    browser.noise.clear()


def test_links_lead_to_the_commit(changed: History, browser: Browser) -> None:
    review = changed.plan(web="https://git.example.com/ml/jobs")
    page = browser.open(as_html(review))
    head = changed.git("rev-parse", "HEAD")
    links = page.locator(".meta a").evaluate_all("links => links.map((link) => link.href)")
    assert f"https://git.example.com/ml/jobs/commit/{head}" in links
    page.locator(".card", has_text="bert").locator("summary").click()
    link = page.locator(".pane a").first
    link.wait_for()
    assert link.get_attribute("href") == f"https://git.example.com/ml/jobs/blob/{head}/jobs/team/bert.yaml"


def test_findings_link_to_their_explanation(
    changed: History, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "https://docs.example.com/gen")
    page = browser.open(as_html(changed.plan()))
    link = page.locator("#findings .finding", has_text="over-budget").locator("code a").first
    assert link.get_attribute("href") == "https://docs.example.com/gen/findings/over-budget.html"
    assert "[`over-budget`](https://docs.example.com/gen/findings/over-budget.html) at " in as_markdown(changed.plan())


RUNS = 1000


def test_a_plan_of_a_thousand_runs_is_painted_at_once(history: History, browser: Browser) -> None:
    history.overlay(OVERLAY)
    for index in range(RUNS):
        history.job(JOB + FAST, name=f"job-{index}", namespace="vision")
    branch(history)
    for index in range(RUNS):
        history.job(JOB.replace("train.py", f"train.py --seed {index}") + FAST, name=f"job-{index}", namespace="vision")
    history.rendering()
    text = as_html(history.plan())
    assert len(text.encode()) < 3_000_000
    page = browser.open(text)
    assert page.locator(".card").count() == RUNS
    assert painted(page) < 500
    assert searched(page, "job-77") < 1000
    assert page.locator(".card:visible").count() == 11
