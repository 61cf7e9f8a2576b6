"""`gen stop`, `rerun`, `suspend`, `resume` and `finish` edit job files, and name the effect."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from gen.base import at
from gen.base.findings import Findings, UsageError
from gen.base.yaml.strict import parse
from gen.commands import rerun
from gen.edit.change import VERBS
from gen.review.runs import RunAction
from tests.cases import for_each
from tests.commands.changes import JOB, change, codes
from tests.history import History, branch
from tests.support import Repository, opened

if TYPE_CHECKING:
    from pathlib import Path

    from gen.report.formats import Report

START, END = JOB.removesuffix("\n# the end\n"), "\n# the end\n"
OVERLAY = """\
kubernetes: "1.34"
namespaces: {"*": {gpus: 64}}
gitops: {argocd: {repoURL: "https://git.example.com/a.git"}}
"""
SWEEP = JOB.replace("train.py", "train.py --lr {{ params.lr }} --seed {{ params.seed }}") + (
    "sweep:\n  matrix:\n    lr: [0.1, 0.01]\n    seed: [1, 2]\n"
)


def apply(repo: Repository, verb: str, *jobs: str, when: tuple[str, ...] = (), dry: bool = False) -> tuple[Report, int]:
    command = import_module(f"gen.commands.{verb}")
    request = command.Request(jobs=jobs or ("demo",), when=when, dry_run=dry, root=repo.root)
    return opened(command.run(request))


@for_each(
    ("before", "verb", "after", "effect"),
    [
        ("", "stop", "state: stopped\n", "Argo CD deletes `demo-"),
        ("", "suspend", "state: suspended\n", "within 3 minutes of the merge, and its pods have 30 s"),
        ("state: suspended\n", "resume", "", "lets the operator start the pods of `demo-"),
        ("state: stopped\n", "resume", "", "Argo CD creates `demo-"),
        ("state: suspended\n", "finish", "state: finished\n", "nothing changes in the cluster"),
        ("state: finished\n", "stop", "state: stopped\n", "its record stays"),
        ("", "rerun", "attempt: 2\n", "starts attempt 2 within 3 minutes of the merge, and deletes `demo-"),
        ("state: finished\nattempt: 4\n", "rerun", "attempt: 5\n", "starts attempt 5 within 3 minutes of the merge"),
        ("state: finished\n", "resume", None, "is already finished; `gen rerun` starts the next attempt"),
        ("state: stopped\n", "finish", None, "is already stopped"),
    ],
)
def test_a_verb_changes_the_state_of_a_job(
    repo: Repository, before: str, verb: str, after: str | None, effect: str
) -> None:
    repo.overlay(OVERLAY)
    path = repo.job(START + before + END)
    repo.render()
    report, code = apply(repo, verb)
    assert (code, codes(report)) == (0, [])
    assert path.read_text("utf-8") == START + (before if after is None else after) + END
    assert effect in report.summary
    assert repo.codes() == []


def test_nothing_is_written_in_a_dry_run(repo: Repository) -> None:
    path = repo.job(JOB)
    report, _ = apply(repo, "stop", dry=True)
    assert "would change 1 of 1 job file; nothing was written" in report.summary
    assert path.read_text("utf-8") == JOB


def test_finishing_an_active_run_warns_that_it_may_run(repo: Repository) -> None:
    repo.job(JOB)
    repo.render()
    report, code = apply(repo, "finish")
    assert (code, codes(report)) == (0, ["may-still-run"])
    assert "gen stop team/demo" in str(report.findings[0].hint)


@for_each(
    ("steps", "overrides"),
    [
        ([("stop", ("lr=0.1",))], [{"when": {"lr": "0.1"}, "state": "stopped"}]),
        ([("stop", ("lr=0.1", "seed=2"))], [{"when": {"lr": "0.1", "seed": "2"}, "state": "stopped"}]),
        ([("stop", ("lr=0.1",)), ("resume", ("lr=0.1",))], [{"when": {"lr": "0.1"}, "state": "active"}]),
        ([("rerun", ("lr=0.1",)), ("rerun", ("lr=0.1",))], [{"when": {"lr": "0.1"}, "attempt": "3"}]),
        (
            [("rerun", ("lr=0.1",)), ("stop", ("lr=0.1,seed=1",)), ("rerun", ("lr=0.1",))],
            [
                {"when": {"lr": "0.1"}, "attempt": "2"},
                {"when": {"lr": "0.1", "seed": "1"}, "state": "stopped"},
                {"when": {"lr": "0.1"}, "attempt": "3", "state": "active"},
            ],
        ),
        (
            [("finish", ("lr=0.1",)), ("rerun", ())],
            [{"when": {"lr": "0.1"}, "state": "active"}],
        ),
    ],
)
def test_a_verb_is_about_runs_of_a_sweep(
    repo: Repository, steps: list[tuple[str, tuple[str, ...]]], overrides: list[object]
) -> None:
    path = repo.job(SWEEP)
    repo.render()
    for verb, when in steps:
        report, code = apply(repo, verb, when=when)
        assert code == 0, report
    data = parse(path.read_text("utf-8"), "", Findings())
    assert isinstance(data, dict)
    assert data["sweep"]["overrides"] == overrides  # type: ignore[index, call-overload]
    assert repo.codes() == []


@for_each(
    ("when", "message"),
    [
        (("lr=0.2",), "the sweep has no run with `lr=0.2`"),
        (("rate=1",), "the sweep has no parameter `rate`"),
        (("lr",), "expected PARAMETER=VALUE"),
    ],
)
def test_values_that_no_run_has(repo: Repository, when: tuple[str, ...], message: str) -> None:
    repo.job(SWEEP)
    with pytest.raises(UsageError, match=message):
        apply(repo, "stop", when=when)


def test_jobs_are_found_by_names_and_patterns(repo: Repository) -> None:
    for name in ("exp-1", "exp-2", "other"):
        repo.job(JOB, name=name)
    assert "changed 2 of 2" in apply(repo, "stop", "exp-*")[0].summary
    assert "changed 1 of 1" in apply(repo, "stop", "other")[0].summary
    repo.job(JOB, name="other", namespace="team-2")
    with pytest.raises(UsageError, match=r"2 namespaces have a job `other`: write `team/other` or `team-2/other`"):
        apply(repo, "stop", "other")
    with pytest.raises(UsageError, match=r"did you mean `other`\?"):
        apply(repo, "stop", "othr")


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_a_command(verb: str, repo: Repository) -> None:
    repo.job(JOB)
    assert apply(repo, verb)[1] == 0


def test_a_stopped_run_leaves_the_cluster_and_keeps_its_record(history: History) -> None:
    history.overlay(OVERLAY)
    path = history.job(JOB)
    history.commit()
    apply(history, "stop")
    history.rendering()
    plan = history.plan()
    assert [run.action for run in plan.runs] == [RunAction.STOPPED]
    (record,) = (history.root / "rendered").rglob("pytorchjob-*.yaml")
    text = record.read_text("utf-8")
    assert "gen/stopped: demo-" in text
    assert "argocd.argoproj.io/hook: Skip" in text
    assert "kustomize.toolkit.fluxcd.io/ssa: Ignore" in text
    name = text.partition("gen/stopped: ")[2].partition("\n")[0]
    assert f"\n  name: {name}-stopped\n" in text, "engines delete the object that Git has no more"
    history.commit()
    apply(history, "resume")
    history.rendering()
    assert path.read_text("utf-8") == JOB
    assert [(run.action, run.latest.name) for run in history.plan().runs] == [(RunAction.STARTED, name)]


def test_the_sentence_of_a_plan_says_that_a_job_is_stopped(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(JOB)
    history.commit()
    apply(history, "stop")
    assert [one["sentence"].partition(":")[0] for one in history.report()["changes"]] == ["`demo` is stopped"]
    history.commit()
    apply(history, "rerun")
    assert "and is no longer stopped" in history.report()["changes"][0]["sentence"]


def test_the_sentence_of_a_plan_is_about_runs_of_a_sweep(history: History) -> None:
    """Of three runs, one continues, one is finished, and one is new: no word is about the whole job."""
    history.overlay(OVERLAY + "volumes: {nas: {size: 1Ti, nas: {server: a.example.com, path: /a}}}\n")
    model = (
        JOB.replace("train.py", "train.py {{ params.lr }}") + "gpus: 2\ndata: {nas: /data}\ncheckpoints: /data/saved\n"
    )
    history.job(model + "sweep: {matrix: {lr: [0.1, 0.01]}}\n")
    history.commit()
    name = history.objects()[1]["metadata"]["name"]
    apply(history, "stop", when=("lr=0.1",))
    assert history.report()["changes"][0]["sentence"].endswith("}]`: -2 GPUs, 1 run is stopped")
    change(history, "demo", unset=("sweep.overrides",))
    opened(rerun.run(rerun.Request(jobs=("demo",), when=("lr=0.1",), resume=True, root=history.root)))
    apply(history, "finish", when=("lr=0.01",))
    change(history, "demo", "sweep.matrix.lr+=1")
    sentence = history.report()["changes"][0]["sentence"]
    assert sentence.partition("`sweep.matrix.lr`: ")[2] == (
        f"+2 GPUs, 1 run is stopped, 2 new ones start, 1 record stays in Git; 1 run continues from `{name}`"
    )


def overrides(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = at(parse(path.read_text("utf-8"), "", Findings()), "sweep", "overrides")
    return found


def test_a_verb_for_all_runs_keeps_those_that_ended_before(history: History) -> None:
    """A run that was stopped does not start again with the suspended ones, and a finished one is not deleted."""
    history.overlay(OVERLAY)
    path = history.job(SWEEP)
    history.commit()
    apply(history, "stop", when=("lr=0.1",))
    history.commit()
    apply(history, "suspend")
    history.commit()
    report, _ = apply(history, "resume")
    ended, goes_on = (f"demo-lr-{lr}-seed-1-" for lr in ("0p1", "0p01"))
    assert goes_on in report.summary
    assert ended not in report.summary
    assert overrides(path) == [{"when": {"lr": "0.1"}, "state": "stopped"}]
    history.commit()
    apply(history, "finish", when=("lr=0.01", "seed=1"))
    history.commit()
    apply(history, "stop")
    assert [one["state"] for one in overrides(path)] == ["stopped", "finished"]
    (sentence,) = history.report()["changes"]
    assert "1 run is stopped" in sentence["sentence"]
    assert "nothing" not in sentence["sentence"]


def test_a_plan_says_that_runs_of_a_sweep_are_suspended(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(SWEEP)
    branch(history)
    apply(history, "suspend", when=("lr=0.1",))
    assert history.report()["changes"][0]["sentence"].endswith("2 runs are suspended")
