"""Effects of engines on runs when a change is merged, from their own rules."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.history import History
from tests.support import OVERLAY

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://git.example.com/a.git"
ENGINES = {
    "argocd": f"gitops: {{argocd: {{repoURL: {URL}}}}}\n",
    "flux": f"gitops: {{flux: {{repoURL: {URL}}}}}\n",
}
JOB = "kind: batch\nimage: a:1\ncommand: x\n"
STABLE = "runs: {naming: stable}\n"


def annotated(history: History, prefix: str, mark: str) -> None:
    """Write an annotation into a rendered file, as a hand or a patch of the platform may."""
    path = history.file(prefix)
    text = path.read_text("utf-8")
    line = f"    {mark}\n"
    text = text.replace("  annotations:\n", "  annotations:\n" + line, 1) if "  annotations:\n" in text else text
    if line not in text:
        text = text.replace("  labels:\n", f"  annotations:\n{line}  labels:\n", 1)
    path.write_text(text, "utf-8")


def merged(history: History) -> None:
    """Commit the work tree as the base, with manual changes."""
    history.git("add", "--all")
    history.git("commit", "--quiet", "--allow-empty", "--message", "base")


def empty(history: History, overlay: str) -> None:
    """A repository without jobs."""
    for folder in ("jobs", "rendered"):
        shutil.rmtree(history.root / folder, ignore_errors=True)
    (history.root / "jobs").mkdir()
    history.overlay(overlay)


def effects(history: History) -> tuple[int, int, list[str]]:
    """The numbers of runs that start and stop, and the obstacles for an engine."""
    review = history.plan(base="HEAD")
    reasons = [one.message for one in review.findings if one.code == "not-applied"]
    return len(review.starting), len(review.stopping), reasons


@for_each("engine", list(ENGINES))
@for_each(
    ("mark", "of", "stays"),
    [
        ("argocd.argoproj.io/sync-options: Prune=false", "argocd", False),
        ("argocd.argoproj.io/sync-options: Delete=false", "argocd", True),
        ("kustomize.toolkit.fluxcd.io/prune: disabled", "flux", True),
        ("kustomize.toolkit.fluxcd.io/reconcile: disabled", "flux", True),
    ],
)
def test_a_removed_run_goes_unless_its_engine_keeps_it(
    history: History, engine: str, mark: str, of: str, stays: bool
) -> None:
    """The last file of a job takes its Application with it, which deletes instead of pruning."""
    empty(history, OVERLAY + ENGINES[engine])
    history.job(JOB, "other")
    history.job(JOB + "gpus: 8\n")
    history.rendering()
    annotated(history, "job-demo", mark)
    merged(history)
    (history.root / "jobs/team/demo.yaml").unlink()
    history.rendering()
    kept = stays and of == engine
    starts, stops, reasons = effects(history)
    assert (starts, stops, len(reasons)) == (0, 0 if kept else 1, 1 if kept else 0)
    (row,) = history.plan(base="HEAD").usage
    assert row.after.gpus == (8 if kept else 0), "a run that stays has its GPUs"
    if kept:
        assert f"the annotation `{mark}`" in reasons[0]


@for_each(("engine", "stopped"), [("argocd", 1), ("flux", 0)])
def test_without_its_bundle_flux_removes_no_job(history: History, engine: str, stopped: int) -> None:
    """The path of the root is missing then; an ApplicationSet goes on without the file that made it."""
    empty(history, OVERLAY + ENGINES[engine])
    history.job(JOB, "other")
    history.job(JOB)
    history.rendering()
    merged(history)
    history.overlay(OVERLAY)
    (history.root / "jobs/team/demo.yaml").unlink()
    history.job(JOB, "new")
    history.rendering()
    starts, stops, reasons = effects(history)
    assert (starts, stops, len(reasons)) == (stopped, stopped, 0 if stopped else 2)


@for_each("engine", list(ENGINES))
@for_each(("kind", "refused"), [("batch", True), ("pytorch", False)])
def test_a_suspended_run_with_an_edit_resumes_if_the_server_takes_it(
    history: History, engine: str, kind: str, refused: bool
) -> None:
    """The template of a Job is immutable (`ValidateJobSpecUpdate`); the training operator has no such rule."""
    empty(history, OVERLAY + STABLE + ENGINES[engine])
    history.job(JOB.replace("batch", kind) + "state: suspended\ntensorboard: {logdir: /data/a}\ndata: {nas: /data}\n")
    history.rendering()
    merged(history)
    history.job(JOB.replace("batch", kind).replace("a:1", "a:2") + "data: {nas: /data}\n")
    history.rendering()
    starts, stops, reasons = effects(history)
    assert (starts, stops) == (0 if refused else 1, 0)
    assert len(reasons) == int(refused)


@for_each(
    ("engine", "mark", "stops"),
    [
        ("argocd", 'argocd.argoproj.io/sync-options: "Force=true,Replace=true"', 1),
        ("argocd", "argocd.argoproj.io/sync-options: Force=true", 1),
        ("argocd", "argocd.argoproj.io/sync-options: Replace=true", 0),
        ("flux", "kustomize.toolkit.fluxcd.io/force: enabled", 1),
        ("flux", "argocd.argoproj.io/sync-options: Force=true", 0),
    ],
)
def test_an_object_that_an_engine_may_force_starts_again(history: History, engine: str, mark: str, stops: int) -> None:
    empty(history, OVERLAY + STABLE + ENGINES[engine])
    history.job(JOB)
    history.rendering()
    annotated(history, "job-demo", mark)
    merged(history)
    path = history.file("job-demo")
    path.write_text(path.read_text("utf-8").replace("image: a:1", "image: a:2"), "utf-8")
    assert effects(history)[:2] == (stops, stops)


def test_flux_creates_a_run_of_a_queue_once(history: History) -> None:
    """`IfNotPresent`: a change of the file does not reach the cluster."""
    history.overlay(OVERLAY + ENGINES["flux"])
    history.job(JOB + "queue: research\n")
    history.rendering()
    merged(history)
    path = history.file("job-demo")
    path.write_text(path.read_text("utf-8").replace("spec:\n", "spec:\n  suspend: true\n", 1), "utf-8")
    starts, stops, (reason,) = effects(history)
    assert (starts, stops) == (0, 0)
    assert "IfNotPresent" in reason


EDITS: dict[str, Callable[[str], str]] = {
    "edit": lambda text: text.replace("command: x", "command: x 1"),
    "suspend": lambda text: text + "state: suspended\n",
    "finish": lambda text: text + "state: finished\n",
    "label": lambda text: text + "labels: {a: b}\n",
    "same": lambda text: text,
}


@pytest.mark.parametrize("engine", [*ENGINES, ""])
@pytest.mark.slow
def test_what_starts_was_not_there_and_what_stops_was(history: History, engine: str) -> None:
    """Over random histories, the runs that exist are those that started and did not stop."""
    chance = random.Random(f"replay {engine}")  # noqa: S311
    history.overlay(OVERLAY + ENGINES.get(engine, ""))
    history.job(JOB, "keep")
    history.rendering()
    merged(history)
    live = {run.key.name for run in history.plan(base="HEAD").runs if run.after is not None and run.after.active}
    for _ in range(12):
        for name in ("one", "two"):
            text = chance.choice([None, *EDITS.values()])
            path = history.root / f"jobs/team/{name}.yaml"
            path.unlink(missing_ok=True)
            if text is not None:
                history.job(text(JOB.replace("batch", chance.choice(["batch", "pytorch"]))), name)
        history.rendering()
        review = history.plan(base="HEAD")
        started = {run.after.name for run in review.starting if run.after is not None}
        stopped = {run.before.name for run in review.stopping if run.before is not None}
        assert stopped <= live
        records = {run.latest.name for run in review.runs if run.action.value == "retired"}
        live = (live - stopped - records) | started
        active = {run.after.name for run in review.runs if run.after is not None and run.after.active}
        assert live == active
        merged(history)
