"""Costs of runs: the same amounts in plans, comments and lists, and budgets of namespaces."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from gen.commands.list import Request as ListRequest
from gen.commands.list import run as list_jobs
from gen.commands.plan import Request, review
from gen.job.kinds import KINDS
from gen.overlay.costs import money
from gen.report.formats import LIST_REPORTERS
from gen.report.plan.phrases import ASSUMPTIONS
from gen.report.terminal import Terminal
from tests.history import History, branch, reported

OVERLAY = """\
kubernetes: "1.34"
currency: EUR
pipelines: {argo: {serviceAccount: runner}}
accelerators:
  h100: {nvidia: H100, price: 2.5}
  slice: {mig: {profile: 1g.10gb}, price: 0.333333}
  shared: {timeSliced: {}, price: 0.1}
  owned: {amd: {}, price: 0}
  claimed: {dra: {deviceClass: gpu.example.com}, price: 1}
  new: {extended: example.com/gpu}
namespaces:
  team: {search: {maxTrials: 100, parallelTrials: 10}}
runtimes: {torch-distributed: {}}
"""
IMAGE = "image: registry.example.com/train:1\ncommand: python train.py\n"
PYTORCH = f"kind: pytorch\n{IMAGE}"
BATCH = f"kind: batch\n{IMAGE}workers: 1\n"
H100 = "accelerator: h100\n"
RAY = f"kind: ray\n{IMAGE}workers: 2\ngpus: 1\ntimeout: 1h\n{H100}"
STEPS = """\
kind: pipeline
image: registry.example.com/train:1
command: python train.py
steps:
  prepare: {kind: batch, timeout: 100h}
  left: {kind: pytorch, needs: [prepare], gpus: 4, accelerator: h100, timeout: 2h}
  right: {kind: pytorch, needs: [prepare], gpus: 2, workers: 2, accelerator: h100, timeout: 3h}
  last: {kind: pytorch, needs: [left, right], gpus: 6, accelerator: h100, timeout: 1h}
"""
SEARCH = (
    "metrics: [loss]\nsearch: {minimize: loss, params: {lr: {min: 0.1, max: 1}}, maxTrials: 10, parallelTrials: 3}\n"
)
SWEPT = PYTORCH.replace("train.py", "train.py --n={{ params.n }}")
SEARCHED = PYTORCH.replace("train.py", "train.py --lr={{ params.lr }}")
ELASTIC = f"{PYTORCH}workers: 2\nelastic: {{min: 1, max: 4}}\n"

CASES: dict[str, tuple[str, list[str | None], str]] = {
    "active": (f"{PYTORCH}workers: 3\ngpus: 8\ntimeout: 12h\n{H100}", ["720.00"], "720.00"),
    "without GPUs": (f"{PYTORCH}timeout: 1h\n", ["0.00"], "0.00"),
    "suspended": (f"{PYTORCH}gpus: 2\ntimeout: 1h\n{H100}state: suspended\n", ["5.00"], "0.00"),
    "finished": (f"{PYTORCH}gpus: 2\ntimeout: 1h\n{H100}state: finished\n", ["5.00"], "0.00"),
    "unbounded": (f"{PYTORCH}gpus: 2\n{H100}", [None], "3650.00"),
    "longer than a month": (f"{PYTORCH}gpus: 1\ntimeout: 100d\n{H100}", ["6000.00"], "1825.00"),
    "rounded up": (f"{BATCH}gpus: 1\ntimeout: 1s\n{H100}", ["0.01"], "0.01"),
    "MIG instance": (f"{BATCH}gpus: 1\ntimeout: 3h\naccelerator: slice\n", ["1.00"], "1.00"),
    "share of a GPU": (f"{BATCH}gpus: 1\ntimeout: 3h\naccelerator: shared\n", ["0.30"], "0.30"),
    "claimed devices": (f"{PYTORCH}workers: 2\ngpus: 4\ntimeout: 3h\naccelerator: claimed\n", ["24.00"], "24.00"),
    "pods that stay after the end": (f"{PYTORCH}gpus: 2\ntimeout: 1h\n{H100}cleanup: None\n", [None], "3650.00"),
    "cluster that stays after the end": (f"{RAY}keepCluster: 3h\n", ["20.00"], "20.00"),
    "time limit of each attempt": (f"{RAY}keepCluster: 1h\nretries: 4\n", ["30.00"], "30.00"),
    "time limit of all attempts": (f"{PYTORCH}gpus: 2\ntimeout: 1h\nretries: 4\n{H100}", ["5.00"], "5.00"),
    "without costs": (f"{PYTORCH}gpus: 8\naccelerator: owned\n", ["0.00"], "0.00"),
    "without a price": (f"{PYTORCH}gpus: 8\ntimeout: 1h\naccelerator: new\n", ["0.00"], "0.00"),
    "elastic": (f"{ELASTIC}gpus: 2\ntimeout: 1h\n{H100}", ["20.00"], "20.00"),
    "sweep": (f"{SWEPT}gpus: 2\ntimeout: 1h\n{H100}sweep: {{matrix: {{n: [1, 2, 3]}}}}\n", ["5.00"] * 3, "15.00"),
    "sweep of sizes": (
        f"{PYTORCH}gpus: '{{{{ params.n }}}}'\ntimeout: 1h\n{H100}sweep: {{matrix: {{n: [1, 2, 3]}}}}\n",
        ["2.50", "5.00", "7.50"],
        "15.00",
    ),
    "search": (f"{SEARCHED}gpus: 2\ntimeout: 1h\n{H100}{SEARCH}", ["50.00"], "50.00"),
    "search without a time limit": (f"{SEARCHED}gpus: 2\n{H100}{SEARCH}", [None], "10950.00"),
    "pipeline": (STEPS, ["65.00"], "65.00"),
    "pipeline with an endless step": (STEPS.replace(", timeout: 1h", ""), [None], "14600.00"),
    "schedule of a pipeline": (f"{STEPS}schedule: 0 3 1,15 * *\n", ["65.00"], "130.00"),
    "suspended pipeline": (f"{STEPS}state: suspended\n", ["65.00"], "65.00"),
    "schedule": (f"{BATCH}gpus: 2\ntimeout: 1h\n{H100}schedule: 0 3 1,15 * *\n", ["5.00"], "10.00"),
    "schedule that is always busy": (f"{BATCH}gpus: 2\ntimeout: 5h\n{H100}schedule: '@hourly'\n", ["25.00"], "3650.00"),
    "schedule with overlaps": (
        f"{BATCH}gpus: 1\ntimeout: 90m\n{H100}schedule: {{cron: '@every 1h', concurrency: Allow}}\n",
        ["3.75"],
        "2737.50",
    ),
    "schedule without a time limit": (f"{BATCH}gpus: 2\n{H100}schedule: '@daily'\n", [None], "3650.00"),
    "suspended schedule": (
        f"{BATCH}gpus: 2\ntimeout: 1h\n{H100}schedule: '@daily'\nstate: suspended\n",
        ["5.00"],
        "5.00",
    ),
    "suspended schedule without a time limit": (
        f"{BATCH}gpus: 2\n{H100}schedule: '@daily'\nstate: suspended\n",
        [None],
        "3650.00",
    ),
}
"""A job, the cost of each of its runs, which has no bound if it is None, and that of a month."""


def started(history: History, text: str, overlay: str = OVERLAY) -> dict[str, Any]:
    """The plan of a pull request that adds a job."""
    history.overlay(overlay)
    branch(history)
    history.job(text)
    report: dict[str, Any] = history.report()
    return report


def listed(history: History) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(LIST_REPORTERS["json"](list_jobs(ListRequest(root=history.root)).output))
    return document["jobs"][0]  # type: ignore[no-any-return] # JSON


@pytest.mark.slow
@pytest.mark.parametrize(("text", "runs", "month"), CASES.values(), ids=CASES)
def test_plans_comments_pages_and_lists_have_the_same_costs(
    history: History, text: str, runs: list[str | None], month: str
) -> None:
    report = started(history, text)
    row = listed(history)
    amounts = sorted((run["after"]["cost"]["run"] for run in report["runs"]), key=str)
    assert amounts == runs
    assert sorted((cost["run"] for cost in row["costs"]), key=str) == runs
    months = [entry["after"]["month"] for entry in report["costs"]] or ["0.00"]
    assert months == [month]
    assert row["monthCost"] == month
    shown = f"{money(int(month.replace('.', '')))} EUR"
    listing = list_jobs(ListRequest(root=history.root)).output
    for form in ("text", "markdown"):
        assert f"team in dev: at most {shown} in a month" in LIST_REPORTERS[form](listing)
        if report["costs"] and month != "0.00":
            assert f"active runs at most 0.00 → {shown} in a month" in reported(form, history.plan())
            assert f'<td class="number">0.00 → {shown}</td>' in reported("html", history.plan())


def test_everything_without_a_bound_is_named(history: History) -> None:
    report = started(history, f"{PYTORCH}gpus: 2\n{H100}")
    name = report["runs"][0]["name"]
    cost = report["summary"]["cost"]
    assert cost == {"atMost": {}, "unboundedRuns": [name], "unpriced": []}
    assert report["costs"][0]["after"] == {"month": "3650.00", "unboundedRuns": [name], "unpriced": []}
    for form in ("text", "markdown"):
        text = reported(form, history.plan())
        assert "1 starting run without a time limit, so without a bound" in text
        assert re.search("no time limit[ |]+5.00 EUR an hour", text)
        assert text.count(name) >= 3, "as a run, as one without a bound, and in the namespace"
        assert all(assumption in text for assumption in ASSUMPTIONS)


def test_devices_without_a_price_are_named(history: History) -> None:
    report = started(history, f"{PYTORCH}gpus: 2\ntimeout: 1h\naccelerator: new\n")
    assert report["costs"][0]["after"]["unpriced"] == ["new"]
    for form in ("text", "markdown"):
        assert "without devices that have no price" in reported(form, history.plan())
    listing = list_jobs(ListRequest(root=history.root)).output
    assert "unknown (new)" in LIST_REPORTERS["text"](replace(listing, terminal=Terminal()))


def test_the_gpus_of_an_overlay_with_one_kind_have_a_price(history: History) -> None:
    overlay = 'kubernetes: "1.34"\ncurrency: USD\ngpu: {price: 1.99}\nnamespaces: {team: {}}\n'
    report = started(history, f"{PYTORCH}gpus: 2\nworkers: 2\ntimeout: 90m\n", overlay)
    assert report["runs"][0]["after"]["cost"]["run"] == "11.94"
    assert report["summary"]["cost"]["atMost"] == {"USD": "11.94"}


def test_costs_are_omitted_without_prices(history: History) -> None:
    started(history, f"{PYTORCH}gpus: 2\n", 'kubernetes: "1.34"\nnamespaces: {team: {}}\n')
    for form in ("text", "markdown"):
        assert re.findall("(?i)cost.*", reported(form, history.plan())) in (
            ["Cost  no prices"],
            ["Cost | no prices |  |"],
        )
        assert "cost" not in LIST_REPORTERS[form](list_jobs(ListRequest(root=history.root)).output).lower()


def test_currencies_are_not_added(history: History) -> None:
    history.overlay('kubernetes: "1.34"\ncurrency: USD\ngpu: {price: 1}\nnamespaces: {team: {}}\n', name="other")
    report = started(history, f"{PYTORCH}gpus: 2\ntimeout: 1h\n{H100}clusters: [dev]\n")
    history.job(f"{PYTORCH}gpus: 3\ntimeout: 1h\nclusters: [other]\n", name="elsewhere")
    report = history.report()
    assert report["summary"]["cost"]["atMost"] == {"EUR": "5.00", "USD": "3.00"}
    assert "starting runs cost at most 5.00 EUR and 3.00 USD" in history.report("text")


def test_sums_of_rows_are_exact(history: History) -> None:
    report = started(
        history, f"{SWEPT}workers: 1\ngpus: 1\ntimeout: 1m\naccelerator: slice\nsweep: {{matrix: {{n: [1, 2, 3]}}}}\n"
    )
    assert [run["after"]["cost"]["run"] for run in report["runs"]] == ["0.01"] * 3
    assert report["summary"]["cost"]["atMost"] == {"EUR": "0.03"}
    assert report["costs"][0]["after"]["month"] == "0.03"


BUDGET = OVERLAY.replace("  new: {extended: example.com/gpu}\n", "").replace("team: {", "team: {budget: 100.5, ")


@pytest.mark.parametrize(("hours", "codes"), [(20, []), (21, [("over-budget", "error")])])
def test_a_budget_limits_what_a_change_adds(history: History, hours: int, codes: list[tuple[str, str]]) -> None:
    started(history, f"{PYTORCH}gpus: 2\ntimeout: {hours}h\n{H100}", BUDGET)
    assert history.codes() == codes


def test_a_finding_about_a_budget_has_a_place_and_a_remedy(history: History) -> None:
    started(history, f"{PYTORCH}gpus: 2\n{H100}", BUDGET)
    (finding,) = history.plan().findings
    name = history.plan().runs[0].latest.name
    assert (finding.code, str(finding.place)) == ("over-budget", "overlays/dev/overlay.yaml:11:18")
    assert finding.message == (
        "the active jobs of namespace `team` in overlay `dev` can cost 3,650.00 EUR in a month; "
        "its budget is 100.50 EUR"
    )
    assert finding.hint.startswith(
        f"set a `timeout`, without `cleanup: None`, for `{name}`, which count for the whole month, or lower"
    )


def test_a_change_that_costs_less_is_not_refused(history: History) -> None:
    history.overlay(OVERLAY.replace("  new: {extended: example.com/gpu}\n", ""))
    history.job(f"{PYTORCH}gpus: 2\n{H100}")
    branch(history)
    history.overlay(BUDGET)
    history.job(f"{PYTORCH}gpus: 2\ntimeout: 100h\n{H100}")
    history.rendering()
    assert history.codes() == [("over-budget", "warning")]


def test_a_budget_is_not_freed_by_finished(history: History) -> None:
    history.overlay(BUDGET)
    history.job(f"{PYTORCH}gpus: 2\ntimeout: 20h\n{H100}")
    branch(history)
    history.job(f"{PYTORCH}gpus: 2\ntimeout: 20h\n{H100}state: finished\n")
    history.job(f"{PYTORCH}gpus: 2\ntimeout: 20h\n{H100}", name="other")
    history.rendering()
    assert ("over-budget", "error") in history.codes()


def test_devices_that_lose_their_price_are_reported(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(f"{PYTORCH}gpus: 2\ntimeout: 1h\naccelerator: new\n")
    branch(history)
    history.overlay(BUDGET)
    assert ("unknown-cost", "warning") in [
        (f.code, f.severity.value) for f in review(Request(root=history.root)).findings
    ]


@pytest.mark.parametrize("schedule", [False, True])
@pytest.mark.parametrize("kind", [kind for kind, model in KINDS.items() if not model.own_fields])
def test_plans_and_lists_agree_about_every_kind(history: History, kind: str, *, schedule: bool) -> None:
    """The list reads job files, and the plan rendered objects."""
    wanted: dict[str, Any] = {"workers": 2, "gpus": 3, "accelerator": "h100", "timeout": "90m"}
    unsupported = KINDS[kind].unsupported_fields()
    times = {"cron": "@every 1h", "concurrency": "Forbid" if "timeout" in unsupported else "Allow"}
    job = {**KINDS[kind].example, "kind": kind, **wanted, **({"schedule": times} if schedule else {})}
    report = started(history, json.dumps({field: value for field, value in job.items() if field not in unsupported}))
    (run,) = report["runs"]
    cost = run["after"]["cost"]
    assert listed(history)["costs"] == [cost]
    assert cost["run"] == ("22.50" if "timeout" not in unsupported else None)
    assert listed(history)["monthCost"] == report["costs"][0]["after"]["month"]
