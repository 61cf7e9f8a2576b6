"""Ten pull requests of growing size. The first lines of every form of their plans answer what a reviewer asks.

`pull_requests/<name>.txtar` has the plan on a terminal, as a comment, the text of the page, and the JSON document with
its long lists cut.
"""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from gen.live.plan_facts import LiveFacts, RunLife
from gen.report.formats import PLAN_REPORTERS, Planned
from gen.report.plan.text import as_text
from gen.report.terminal import Terminal
from tests.history import JOB, History, branch
from tests.support import HERE, OVERLAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.review.result import Review

FOLDER = HERE / "report/plan/pull_requests"
WIDTH = 100
LONGEST = 60
"""Lines of a form in a golden file."""
CLUSTER = OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 9000\n    budget: 99999999\n') + (
    "currency: EUR\naccelerators: {h100: {nvidia: H100, price: 2.5}}\n"
)
FAST = JOB + "accelerator: h100\n"
SWEEP = FAST.replace("train.py", "train.py --lr={{ params.lr }}") + "sweep: {matrix: {lr: ['0.1', '0.2']}}\n"
PIPELINE = """\
kind: pipeline
image: registry.example.com/train:1
command: python train.py
steps:
  prepare: {kind: batch, timeout: 1h}
  train: {kind: pytorch, needs: [prepare], gpus: 4, accelerator: h100, timeout: 2h}
"""


def clusters(repo: History, *names: str) -> None:
    for name in names:
        repo.overlay(CLUSTER, name)


def one_job(repo: History) -> None:
    clusters(repo, "dev", "prod")
    repo.job(FAST, name="yolo")
    branch(repo)
    repo.job(FAST.replace("workers: 3", "workers: 6"), name="yolo")


def sweep(repo: History) -> None:
    repo.job(SWEEP, name="lrs")
    branch(repo)
    repo.job(SWEEP.replace("'0.2'", "'0.2', '0.4'"), name="lrs")


def pipeline(repo: History) -> None:
    repo.job(PIPELINE, name="flow")
    branch(repo)
    repo.job(PIPELINE.replace("timeout: 2h", "timeout: 4h").replace("gpus: 4", "gpus: 8"), name="flow")


def platform(repo: History) -> None:
    for number in range(50):
        repo.job(FAST, name=f"job-{number:02}")
    branch(repo)
    repo.overlay(CLUSTER + "defaults: {env: {NCCL_DEBUG: INFO}}\nruns: {restartedFor: CVE-2026-1234}\n")


def volume(repo: History) -> None:
    repo.job(FAST + "data: {nas: /data}\n", name="keeps")
    branch(repo)
    repo.job(FAST, name="keeps")
    repo.overlay(CLUSTER.replace("  nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}\n", ""))
    repo.render()
    shutil.rmtree(repo.root / "rendered/dev/storage")


def forged(repo: History) -> None:
    repo.job(FAST, name="bert")
    branch(repo)
    repo.rendering()
    text = repo.file("dev/jobs/team/bert/pytorchjob").read_text()
    repo.write("rendered/dev/jobs/team/bert/pytorchjob-miner.yaml", re.sub(r"bert-[0-9a-f]{8}", "miner", text))


def removed_overlay(repo: History) -> None:
    clusters(repo, "dev", "prod")
    for name in ("bert", "gpt", "yolo"):
        repo.job(FAST, name=name)
    branch(repo)
    shutil.rmtree(repo.root / "overlays/prod")


def engine_and_queue(repo: History) -> None:
    argocd = "gitops: {argocd: {repoURL: https://git.example.com/ml/jobs.git}}\n"
    repo.overlay(CLUSTER + argocd)
    for name in ("bert", "gpt"):
        repo.job(FAST, name=name)
    branch(repo)
    repo.overlay(CLUSTER + argocd.replace("argocd", "flux"))
    for name in ("bert", "gpt"):
        repo.job(FAST + "queue: research\n", name=name)


def mixed(repo: History) -> None:
    clusters(repo, "dev", "prod")
    for number in range(8):
        repo.job(FAST, name=f"old-{number}")
        repo.job(FAST, name=f"edited-{number}")
    for name in ("paused", "ended", "resumed"):
        repo.job(FAST + ("state: suspended\n" if name == "resumed" else ""), name=name)
    repo.job(FAST + "schedule: 0 1 * * *\n".replace("pytorch", "batch"), name="nightly")
    branch(repo)
    for number in range(8):
        (repo.root / f"jobs/team/old-{number}.yaml").unlink()
        repo.job(FAST.replace("train:1", f"train:{number + 2}"), name=f"edited-{number}")
    repo.job(FAST + "state: suspended\n", name="paused")
    repo.job(FAST + "state: finished\n", name="ended")
    repo.job(FAST, name="resumed")
    repo.job(FAST.replace("timeout: 12h\n", ""), name="endless", namespace="vision")
    repo.job(SWEEP + "data: {nas: /data}\n", name="lrs")
    repo.overlay(CLUSTER.replace("budget: 99999999", "budget: 40000"), "dev")


def thousand(repo: History) -> None:
    for number in range(1000):
        repo.job(FAST.replace("workers: 3\n", ""), name=f"job-{number:04}")
    branch(repo)
    for number in range(1000):
        repo.job(FAST.replace("workers: 3\n", "").replace("train:1", "train:2"), name=f"job-{number:04}")


REQUESTS: dict[str, Callable[[History], None]] = {
    "01-one-job": one_job,
    "02-sweep": sweep,
    "03-pipeline": pipeline,
    "04-platform": platform,
    "05-volume": volume,
    "06-forged-file": forged,
    "07-removed-overlay": removed_overlay,
    "08-engine-and-queue": engine_and_queue,
    "09-mixed": mixed,
    "10-thousand-jobs": thousand,
}
BY_HAND = ("05-volume", "06-forged-file")
"""They edit `rendered/` after the render."""
ANSWERS: dict[str, str] = {
    "01-one-job": (
        "no errors; 2 runs start (12 pods, 96 GPUs); 2 runs stop after up to 31 hours (2 replaced); "
        "2 runs of up to 31 hours are stopped; +1,440.00 EUR; `yolo` grows"
    ),
    "02-sweep": "no errors; 1 run starts; no run stops; +720.00 EUR; adds `0.4` to `sweep.matrix.lr`",
    "03-pipeline": (
        "no errors; 1 run starts; 1 run stops after up to 31 hours (1 replaced); "
        "EUR a month; `flow`; its run of 31 hours is stopped"
    ),
    "04-platform": (
        "no errors; 50 runs start; "
        "50 runs stop after up to 31 hours (50 replaced); the same cost; "
        "and 47 more jobs start again for `CVE-2026-1234`"
    ),
    "05-volume": "refused; data-removed; 1 run starts; 2 data objects removed; data is at risk; the same cost",
    "06-forged-file": (
        "refused; foreign-file; no job and no overlay renders this file; "
        "1 object not rendered by gen (3 pods, 24 GPUs); no run stops; EUR; miner"
    ),
    "07-removed-overlay": (
        "no errors; no run starts; 3 runs stop after up to 31 hours (3 removed); saves up to 2,160.00 EUR; leave `prod`"
    ),
    "08-engine-and-queue": (
        "no errors; 2 runs start; 2 runs stop after up to 31 hours (2 replaced); "
        "the same cost; queue: research; may delete all that they applied"
    ),
    "09-mixed": (
        "refused; over-budget; "
        "34 runs stop after up to 31 hours (16 replaced, 16 removed, 2 suspended); 24 runs start; EUR"
    ),
    "10-thousand-jobs": (
        "no errors; 1,000 runs start; 1,000 runs stop after up to 31 hours (1,000 replaced); the same cost; 997 more"
    ),
}
"""Facts in the first five lines of every form, apart from the safety of data."""


BLOCKS = frozenset(
    ["div", "p", "li", "tr", "section", "article", "dl", "h1", "h2", "h3", "details", "summary", "footer"]
)


class Words(HTMLParser):
    """The text of a page, with a line for each block."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._skipped = 0
        self._text = ""
        self.feed(page)
        self.lines = [line for line in (" ".join(one.split()) for one in self._text.split("\n")) if line]

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._skipped += tag in ("style", "script", "nav", "select", "title", "button")
        if tag in (
            "div",
            "p",
            "li",
            "tr",
            "section",
            "article",
            "dl",
            "h1",
            "h2",
            "h3",
            "details",
            "summary",
            "footer",
        ):
            self._text += "\n"
        elif tag in ("td", "th", "dd", "dt", "span"):
            self._text += " "
        elif tag == "code":
            self._text += "`"

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in ("style", "script", "nav", "select", "title", "button")
        self._text += "`" if tag == "code" else ""

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text += data.replace("\n", " ")


def training(plan: Review) -> LiveFacts:
    """What the clusters of the overlays answer: the runs that stop have trained for 31 hours, 30 hours and so on."""
    keys = [run.pair.before.key for run in plan.stopping if run.pair.before is not None]
    return LiveFacts(
        time="2026-11-24T09:00:00Z",
        runs=tuple(
            RunLife(
                overlay=key.scope,
                namespace=key.namespace,
                name=key.name,
                phase="running",
                seconds=max(31 - number, 1) * 3600,
                metrics={"loss": "0.31"} if not number else {},
                checkpoint="saved checkpoint /data/step-1200" if not number else "",
            )
            for number, key in enumerate(keys)
        ),
    )


def forms(plan: Review) -> Iterator[tuple[str, list[str]]]:
    """Lines of each form, without empty ones. What runs stop after how much training, clusters say."""
    view = Planned(data=plan, live=training(plan) if plan.stopping else None, terminal=Terminal(width=WIDTH))
    yield "terminal", as_text(view).split("\n")
    yield "comment", PLAN_REPORTERS["markdown"](view).split("\n")
    yield "page", Words(PLAN_REPORTERS["html"](view)).lines
    document = json.loads(PLAN_REPORTERS["json"](view))
    yield "json", json.dumps(cut(document), indent=1, ensure_ascii=False).split("\n")


def cut(value: Any) -> Any:
    """The value with at most two entries of each list."""
    if isinstance(value, dict):
        return {name: cut(item) for name, item in value.items()}
    if isinstance(value, list):
        return [*map(cut, value[:2]), *([f"… and {len(value) - 2} more"] if len(value) > 2 else [])]
    return value


def stable(line: str) -> str:
    """The line without digests."""
    line = re.sub(r"(?<=-)[0-9a-f]{1,7}(?=…)", "0", line)
    return re.sub(r"(?<![0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{8}(?:[0-9a-f]{2}|[0-9a-f]{4})?)(?![0-9a-f])", "0" * 8, line)


def first_lines(form: str, lines: list[str]) -> str:
    """The first lines for a reader, without the brackets of JSON and the marker of comments."""
    shown = [line for line in lines if re.search(r"\w", line) and not line.startswith(("<!--", '  "version"'))]
    skipped = 2 if form == "page" else 0  # a link for keyboards, and the name of the page
    return re.sub(r"\s+", " ", " ".join(shown[skipped : skipped + 5]))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name > "09" else ()) for name in REQUESTS],
)
def test_a_reviewer_can_decide_after_five_lines(history: History, name: str, update_golden: bool) -> None:
    clusters(history, "dev")
    REQUESTS[name](history)
    if name not in BY_HAND:
        history.render()
    plan = history.plan()
    sections = dict(forms(plan))
    for form, lines in sections.items():
        said = first_lines(form, lines).lower()
        for answer in ANSWERS[name].split("; "):
            assert answer.lower() in said, (form, answer)
        assert "data" in said, form
    comment = sections["comment"]
    assert next((index for index, line in enumerate(comment) if "<details>" in line), 0) <= 25
    golden = FOLDER / f"{name}.txtar"
    shown = "".join(
        f"-- {form} --\n"
        + "".join(f"{stable(line)}\n" for line in lines[:LONGEST])
        + (f"… and {len(lines) - LONGEST} more lines\n" if len(lines) > LONGEST else "")
        for form, lines in sections.items()
    )
    if update_golden:
        FOLDER.mkdir(exist_ok=True)
        golden.write_text(shown, "utf-8")
    assert shown == golden.read_text("utf-8")
