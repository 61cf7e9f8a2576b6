"""Messages about runs, by the notifications engine of Argo CD, over the states of an Application in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.kubernetes.facts import RESOURCES
from tests.go_programs import answers, go_program
from tests.support import HERE, OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GITOPS = "gitops: {argocd: {repoURL: https://a.example/b.git, notify: {slack: ml}}}\n"
BESIDE = {"CronWorkflow", "PipelineVersion", "Pipeline", "ConfigMap", "Service", "Deployment", "Ingress", "PodGroup"}
State = tuple[str, list[dict[str, Any]]]


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_program("notifyref", tmp_path_factory.mktemp("notifyref"))


@pytest.fixture
def said(repo: Repository, engine: Path) -> Callable[..., list[str]]:
    """The messages over states: the health of the Application and its objects. Each state is a later revision."""
    repo.overlay(OVERLAY + GITOPS)
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    assert repo.render()[1] == 0
    data = yaml.safe_load(repo.rendered()["argocd/dev/settings/argocd-notifications-cm.patch"])["data"]
    texts = {name: yaml.safe_load(text)["message"] for name, text in data.items() if name.startswith("template.")}
    triggers = {name.removeprefix("trigger."): text for name, text in data.items() if name.startswith("trigger.")}

    def messages(*states: State) -> list[str]:
        requests, since, before = [], 0, ""
        for number, (health, resources) in enumerate(states):
            since, before = (since if health == before else number), health
            status = {
                "health": {"status": health, "lastTransitionTime": f"2026-01-01T00:00:{since:02}Z"},
                "sync": {"status": "Synced"},
                "operationState": {"phase": "Succeeded", "syncResult": {"revision": f"{number}"}},
                "resources": resources,
            }
            app = {"metadata": {"name": "dev.team.demo", "namespace": "argocd"}, "status": status}
            requests.append({"triggers": triggers, "app": app})
        found, seen = [], set()
        for sent in answers(engine, requests):
            for trigger, key in sorted(sent.items()):
                if (trigger, key) not in seen:
                    seen.add((trigger, key))
                    found.append(texts[f"template.{trigger}"].partition(": ")[2].partition(".")[0])
        return found

    return messages


def of(kind: str, name: str, *, record: bool = False) -> dict[str, Any]:
    """An object in the status of an Application, which has no sync status if Argo CD skips it."""
    one = {"kind": kind, "name": name, "namespace": "team", "version": "v1"}
    return one if record else {**one, "status": "Synced"}


RUN, NEXT = [of("PyTorchJob", "demo-0123abcd")], [of("PyTorchJob", "demo-89abcdef")]
RECORD = [of("PyTorchJob", "demo-0123abcd", record=True), of("Deployment", "demo-tensorboard")]
NIGHTLY = [of("CronJob", "demo")]


def test_a_run_is_announced_once_whatever_is_applied(said: Callable[..., list[str]]) -> None:
    board = [*RUN, of("Deployment", "demo-tensorboard")]
    assert said(("Progressing", RUN), ("Degraded", RUN), ("Degraded", board), ("Degraded", RUN)) == ["its run failed"]
    assert said(("Healthy", RUN), ("Unknown", RUN), ("Healthy", board)) == ["its run succeeded"]


def test_a_new_run_is_announced_again(said: Callable[..., list[str]]) -> None:
    states = (("Degraded", RUN), ("Progressing", NEXT), ("Degraded", NEXT), ("Healthy", NEXT))
    assert said(*states) == ["its run failed", "its run failed", "its run succeeded"]


def test_a_retired_run_has_no_other_end(said: Callable[..., list[str]]) -> None:
    assert said(("Degraded", RUN), ("Healthy", RECORD), ("Healthy", RECORD[:1])) == ["its run failed"]


def test_objects_beside_runs_have_no_end(said: Callable[..., list[str]]) -> None:
    for kind in sorted(BESIDE):
        assert said(("Healthy", [of(kind, "demo-0123abcd")]), ("Degraded", [of(kind, "demo-0123abcd")])) == []


def test_all_rendered_kinds_are_runs_or_known_to_be_none() -> None:
    runs = {one.kind for one in RESOURCES.values() if one.times is not None or (one.is_run and one.status is not None)}
    found = set()
    for path in (HERE / "golden").glob("*/rendered/*/jobs/*/*/*.yaml"):
        if not path.parents[5].name.startswith("declared-kind"):
            found.add(yaml.safe_load(path.read_bytes())["kind"])
    assert found - runs <= BESIDE | {"ResourceClaimTemplate"}


def test_each_run_of_a_schedule_is_announced(said: Callable[..., list[str]]) -> None:
    night = [("Progressing", NIGHTLY), ("Degraded", NIGHTLY), ("Degraded", NIGHTLY)]
    good = [("Progressing", NIGHTLY), ("Healthy", NIGHTLY), ("Healthy", NIGHTLY)]
    states = [("Suspended", NIGHTLY), *night, *night, *good, *good]
    assert said(*states) == ["its run failed"] * 2 + ["its run succeeded"] * 2


def test_runs_with_the_name_of_the_job_are_told_apart(said: Callable[..., list[str]]) -> None:
    stable = [of("Job", "demo")]
    assert said(("Degraded", stable), ("Progressing", stable), ("Degraded", stable)) == ["its run failed"] * 2


def test_a_sweep_is_announced_by_its_first_failure(said: Callable[..., list[str]]) -> None:
    sweep = [*RUN, *NEXT]
    states = (("Progressing", sweep), ("Degraded", sweep), ("Degraded", sweep), ("Healthy", NEXT))
    assert said(*states) == ["its run failed", "its run succeeded"]
