"""Effects on runs, between real commits."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from gen.base import Findings
from gen.commands.plan import Request as PlanRequest
from gen.commands.plan import review
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import generated_object
from gen.render.run import render
from gen.review import runs as module
from gen.review.rendered_trees import Pair
from gen.review.run_versions import version_of
from tests.history import JOB, History, branch, reported
from tests.support import OVERLAY, cases, copy_case

if TYPE_CHECKING:
    from pathlib import Path


def runs(report: dict[str, Any]) -> dict[str, str]:
    return {run["job"]: run["action"] for run in report["runs"]}


def counts(report: dict[str, Any]) -> dict[str, int]:
    """The counts of runs that are not zero."""
    return {name: count for name, count in report["summary"]["runs"].items() if count}


def test_added_removed_edited_and_unchanged_jobs(history: History) -> None:
    for name in ("stays", "edited", "leaves"):
        history.job(JOB, name=name)
    branch(history)
    history.job(JOB, name="comes")
    history.job(JOB.replace("train:1", "train:2"), name="edited")
    (history.root / "jobs/team/leaves.yaml").unlink()
    report = history.report()
    assert runs(report) == {"comes": "started", "edited": "replaced", "leaves": "stopped"}
    assert counts(report) == {"started": 2, "stopped": 2, "kept": 1, "replaced": 1}
    (row,) = report["gpus"]
    assert (row["namespace"], row["queue"], row["before"], row["after"]) == (
        "team",
        None,
        {"gpus": 72, "gpuHours": 864.0, "unboundedRuns": 0},
        {"gpus": 72, "gpuHours": 864.0, "unboundedRuns": 0},
    )
    history.commit("the pull request")
    assert runs(history.report()) == runs(report), "committed or not, it is the same branch"


def test_the_run_of_an_edited_job_replaces_the_previous_one(history: History) -> None:
    job = JOB + "files: {/etc/app.conf: 'a: 1'}\nenv: {LR: 1e-3, RUN: '{{ run.id }}'}\n"
    history.job(job)
    branch(history)
    history.job(job.replace("1e-3", "3e-4").replace("a: 1", "a: 2"))
    report = history.report()
    (run,) = report["runs"]
    assert (run["action"], run["before"]["gpus"], run["after"]["gpus"]) == ("replaced", 24, 24)
    assert run["before"]["name"] != run["after"]["name"] == run["name"]
    changed = {item["kind"]: item for item in report["objects"]}
    assert {kind: item["change"] for kind, item in changed.items()} == {
        "ConfigMap": "replaced",
        "PyTorchJob": "replaced",
    }
    assert changed["PyTorchJob"]["replaces"] == run["before"]["name"]
    route = "spec.pytorchReplicaSpecs.{}.template.spec.containers[pytorch].env[LR].value"
    assert changed["PyTorchJob"]["fields"] == [
        {"path": route.format(role), "before": "1e-3", "after": "3e-4"} for role in ("Master", "Worker")
    ]
    assert [field["after"] for field in changed["ConfigMap"]["fields"]] == ["a: 2"]


@pytest.mark.parametrize(
    ("before", "after", "action", "starts", "stops", "gpus"),
    [
        ("active", "finished", "retired", False, False, (24, 24)),
        ("active", "suspended", "suspended", False, True, (24, 0)),
        ("suspended", "active", "resumed", True, False, (0, 24)),
        ("suspended", "finished", "retired", False, False, (0, 0)),
        ("finished", "active", "reopened", True, False, (0, 24)),
        ("finished", "suspended", "suspended", False, False, (0, 0)),
    ],
)
def test_changes_of_state(
    history: History, before: str, after: str, action: str, starts: bool, stops: bool, gpus: tuple[int, int]
) -> None:
    history.job(JOB + f"state: {before}\n")
    branch(history)
    history.job(JOB + f"state: {after}\n")
    report = history.report()
    (run,) = report["runs"]
    assert (run["action"], run["starts"], run["stops"]) == (action, starts, stops)
    rows = [(row["before"]["gpus"], row["after"]["gpus"]) for row in report["gpus"]]
    assert rows == ([gpus] if any(gpus) else [])
    assert report["refused"] is False


MARKS = {"argocd": "argocd.argoproj.io/hook: Skip", "flux": "kustomize.toolkit.fluxcd.io/ssa: Ignore"}


def with_engine(engine: str) -> str:
    return OVERLAY + f"gitops: {{{engine}: {{repoURL: https://git.example.com/a.git}}}}\n"


@pytest.mark.parametrize("removed", MARKS)
@pytest.mark.parametrize("engine", MARKS)
def test_the_annotation_of_the_engine_makes_a_record(history: History, engine: str, removed: str) -> None:
    """That of another engine protects from a change of the engine only."""
    history.overlay(with_engine(engine))
    history.job(JOB)
    branch(history)
    history.job(JOB + "state: finished\n")
    history.rendering()
    path = history.file("pytorchjob")
    path.write_text(path.read_text().replace(f"    {MARKS[removed]}\n", ""))
    (run,) = history.plan().runs
    assert run.action.value == ("kept" if removed == engine else "retired")


@pytest.mark.parametrize(("before", "after"), [("argocd", "flux"), ("flux", "argocd")])
def test_a_change_of_the_engine_starts_no_record(history: History, before: str, after: str) -> None:
    history.overlay(with_engine(before))
    history.job(JOB + "state: finished\n")
    branch(history)
    text = history.file("pytorchjob").read_text()
    assert all(mark in text for mark in MARKS.values()), "the engine that runs reads the file before and after"
    history.overlay(with_engine(after))
    report = history.report()
    assert counts(report) == {}
    assert report["gpus"] == []
    assert history.file("pytorchjob").read_text() == text


@pytest.mark.parametrize(("before", "after"), [("argocd", "flux"), ("flux", "argocd")])
def test_a_record_that_the_new_engine_applies_is_a_start(history: History, before: str, after: str) -> None:
    """Its file does not change: the annotation for the other engine was taken out before."""
    history.overlay(with_engine(before))
    history.job(JOB + "state: finished\n")
    history.rendering()
    path = history.file("pytorchjob")
    path.write_text(text := path.read_text().replace(f"    {MARKS[after]}\n", ""))
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "base")
    history.git("switch", "--quiet", "--create", "topic")
    history.overlay(with_engine(after))
    history.rendering()
    path.write_text(text)
    review = history.plan()
    (run,) = review.runs
    assert (run.action.value, run.starts, [row.after.gpus for row in review.usage]) == ("reopened", True, [24])
    assert history.check()[1] == 1


@pytest.mark.parametrize(
    ("before", "after", "action"),
    [
        (None, "suspended", "added"),
        (None, "finished", "added"),
        ("suspended", None, "removed"),
        ("finished", None, "removed"),
    ],
)
def test_inactive_runs_neither_start_nor_stop(
    history: History, before: str | None, after: str | None, action: str
) -> None:
    history.job(JOB, name="other")
    if before is not None:
        history.job(JOB + f"state: {before}\n")
    branch(history)
    if after is None:
        (history.root / "jobs/team/demo.yaml").unlink()
    else:
        history.job(JOB + f"state: {after}\n")
    report = history.report()
    assert runs(report) == {"demo": action}
    assert counts(report) == {"kept": 1, action: 1}
    assert history.plan().starting == history.plan().stopping == ()


def test_a_label_changes_the_object_but_not_the_run(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB + "labels: {team: a}\n")
    report = history.report()
    assert report["runs"] == []
    (item,) = report["objects"]
    assert (item["change"], item["fields"]) == ("changed", [{"path": "metadata.labels.team", "after": "a"}])


def test_moving_files_neither_starts_nor_stops_runs(history: History) -> None:
    history.job(JOB + "name: demo\n", name="one")
    branch(history)
    (history.root / "jobs/team/one.yaml").rename(history.root / "jobs/team/two.yaml")
    report = history.report()
    assert (report["runs"], report["objects"]) == ([], [])
    history.file("pytorchjob").rename(history.root / "rendered/dev/jobs/team/elsewhere.yaml")
    plan = history.plan()
    assert [(item.action.value, item.pair.moved) for item in plan.objects] == [("moved", True)]
    assert (plan.starting, plan.stopping, plan.kept) == ((), (), 1)


def test_renaming_a_job_stops_one_run_and_starts_another(history: History) -> None:
    history.job(JOB)
    branch(history)
    (history.root / "jobs/team/demo.yaml").rename(history.root / "jobs/team/other.yaml")
    assert runs(history.report()) == {"demo": "stopped", "other": "started"}


def test_a_changed_kind_replaces_the_run(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("pytorch", "mpi"))
    report = history.report()
    (run,) = report["runs"]
    assert (run["action"], run["kind"], run["before"]["gpus"]) == ("replaced", "MPIJob", 24)
    assert "replaces PyTorchJob demo-" in history.report("text")


def test_an_edit_with_a_stable_name_is_a_warning(history: History) -> None:
    history.overlay(OVERLAY + "runs: {naming: stable}\n")
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("train:1", "train:2"))
    report = history.report()
    assert runs(report) == {"demo": "edited"}
    assert (history.plan().starting, history.plan().stopping) == ((), ())
    assert history.codes() == [("run-edited", "warning")]


def test_an_edited_file_of_a_run_is_an_error(history: History) -> None:
    history.job(JOB)
    branch(history)
    path = history.file("pytorchjob")
    path.write_text(path.read_text().replace("train:1", "evil:1"))
    assert history.codes() == [("run-edited", "error")]


def test_finishing_and_editing_a_job_at_once_is_a_warning(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("train:1", "train:2") + "state: finished\n")
    report = history.report()
    assert [(run["action"], run["starts"], run["stops"]) for run in report["runs"]] == [("replaced", False, True)]
    assert history.codes() == [("never-ran", "warning")]


def test_tensorboards(history: History) -> None:
    with_board = JOB + "data: {nas: /data}\ntensorboard: {logdir: /data/logs}\n"
    for name in ("a", "b", "c"):
        history.job(with_board, name=name)
    branch(history)
    history.job(JOB + "data: {nas: /data}\n", name="a")
    history.job(with_board.replace("/data/logs", "/data/other"), name="b")
    history.job(with_board, name="d")
    report = history.report()
    boards = {name: count for name, count in report["summary"]["tensorboards"].items() if count}
    assert boards == {"added": 1, "removed": 1, "changed": 1, "kept": 1}
    assert runs(report) == {"d": "started"}


def test_an_object_in_two_files_is_an_error(history: History) -> None:
    history.job(JOB)
    branch(history)
    path = history.file("pytorchjob")
    path.with_name("again.yaml").write_text(path.read_text())
    assert history.codes() == [("duplicate-object", "error")]
    assert history.plan().objects == ()


def test_overlays_are_compared_separately(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY, name="prod")
    assert [(run["overlay"], run["action"]) for run in history.report()["runs"]] == [("prod", "started")]
    assert history.report(overlay=("dev",))["runs"] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: case.name)
def test_a_render_says_of_a_run_what_its_file_says(case: Path, tmp_path: Path) -> None:
    """Plans do not parse the file of a run that does not change."""
    root = copy_case(case, tmp_path / "repo").root
    rendered = render(root, (), ())
    overlays = {one.name: one for one in OverlayReader(root, Findings()).read()}
    for path in rendered.summaries:
        one = generated_object((rendered.files[path].text or "").encode(), path)
        assert one is not None
        known = module.summarized(Pair(one, one), overlays, rendered)
        found = Findings()
        version = version_of(one, overlays, (), found)
        assert known is None or known.before == known.after == version
        assert rendered.summaries[path].job == one.job
        assert found.items == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_plan_is_the_same_without_what_the_render_knows(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random histories of a golden case: jobs and overlays are edited, removed, copied, suspended and finished."""
    chosen = random.Random(seed)  # noqa: S311 - a test
    history = History(copy_case(chosen.choice(cases("golden")), tmp_path / "repo").root)
    history.git("init", "--quiet", "--initial-branch", "main")
    history.commit()
    history.git("checkout", "--quiet", "-b", "change")
    for step in range(3):
        _edit(history, chosen)
        _, code = history.render()
        plans = []
        for known in (True, False):
            if not known:
                monkeypatch.setattr(module, "summarized", lambda *_: None)
            plan = review(PlanRequest(root=history.root, base="main"))
            plans.append({form: reported(form, plan) for form in ("text", "json", "markdown", "html")})
            monkeypatch.undo()
        assert plans[0] == plans[1], (seed, step, code)


def _edit(history: History, chosen: random.Random) -> None:
    jobs = sorted(history.root.glob("jobs/*/*.yaml"))
    overlays = sorted(history.root.glob("overlays/*/overlay.yaml"))
    path = chosen.choice(jobs) if jobs else chosen.choice(overlays)
    text = path.read_text("utf-8")
    match chosen.randrange(6):
        case 0 if len(jobs) > 1:
            path.unlink()
        case 1 if jobs:
            shutil.copy(path, path.with_name(f"copy-{chosen.randrange(99)}.yaml"))
        case 2 if jobs and "\nstate:" not in text:
            path.write_text(f"{text}state: {chosen.choice(['suspended', 'finished', 'stopped'])}\n", "utf-8")
        case 3 if jobs and "\nattempt:" not in text:
            path.write_text(f"{text}attempt: 2\n", "utf-8")
        case 4:
            overlay = chosen.choice(overlays)
            overlay.write_text(overlay.read_text("utf-8") + "# the platform\nprices: {currency: USD}\n", "utf-8")
        case _:
            rendered = sorted(history.root.glob("rendered/*/jobs/*/*/*.yaml"))
            if rendered:
                edited = chosen.choice(rendered)
                edited.write_text(edited.read_text("utf-8").replace("8", "9"), "utf-8")
