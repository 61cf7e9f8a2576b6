"""Several clusters at once: what one does not answer hides nothing of the others."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from msgspec.structs import replace

from gen.base.findings import Findings, UsageError
from gen.live import requests as live_requests
from gen.live.client import Api, ExpiredError
from gen.live.clusters import follow, questions, read_status
from gen.live.target import Access, read_targets
from tests.controllers.waiting import wait
from tests.e2e.server import free_ports
from tests.live.proxy import proxy
from tests.live.world import RUNNING, World, kubeconfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.live.model import ClusterStatus

    Make = Callable[[str], World]


def second(here: World, port: int, name: str = "other") -> None:
    """Add an overlay with a cluster at a port."""
    config = yaml.safe_load(here.kubeconfig.read_text("utf-8"))
    server = {**config["clusters"][0]["cluster"], "server": f"https://127.0.0.1:{port}"}
    config["clusters"].append({"name": name, "cluster": server})
    config["contexts"].append({"name": name, "context": {"cluster": name, "user": "admin"}})
    here.kubeconfig.write_text(yaml.safe_dump(config), "utf-8")
    text = (here.repository.root / "overlays/dev/overlay.yaml").read_text("utf-8")
    here.repository.overlay(text.replace("context: admin", f"context: {name}"), name)


def test_a_cluster_without_a_server(world: Make) -> None:
    here = world("closed")
    (port,) = free_ports(1)
    second(here, port)
    name = here.job()["metadata"]["name"]
    answer = here.answer()
    assert {run["overlay"]: run["phase"] for run in answer["runs"]} == {"dev": "pending", "other": "unknown"}
    (finding,) = answer["findings"]
    assert (finding["code"], finding["file"], here.code) == ("cluster-unreachable", "overlays/other/overlay.yaml", 1)
    assert "Connection refused" in finding["message"]
    assert name in here.gen("status", "--overlay", "dev")
    assert here.code == 0


def test_a_cluster_that_hangs(world: Make) -> None:
    here = world("hangs")
    here.job()
    with proxy(here.cluster.client.port) as through:
        through.silent = True
        second(here, through.port)
        here.repository.render()
        answer = here.answer("--request-timeout", "0.5")
    assert {run["overlay"]: run["phase"] for run in answer["runs"]} == {"dev": "pending", "other": "unknown"}
    assert [finding["code"] for finding in answer["findings"]] == ["cluster-timeout"]


def test_the_contexts_of_overlays_and_flags(world: Make) -> None:
    here = world("contexts")
    here.job()
    overlay = here.repository.root / "overlays/dev/overlay.yaml"
    text = overlay.read_text("utf-8")
    overlay.write_text(text.replace("admin", "nowhere"), "utf-8")
    assert here.codes() == ["cluster-context"]
    assert here.codes(context="admin") == []
    assert here.codes(context="dev=admin") == []
    with pytest.raises(UsageError, match="unknown overlay `prod` in --context"):
        here.gen("status", context="prod=admin")
    overlay.write_text(text.replace("cluster: {context: admin}\n", ""), "utf-8")
    assert here.codes() == [], "the only overlay has the current context"
    here.repository.overlay(text, "second")
    here.repository.render()
    assert here.codes() == ["cluster-context"], "and with several, it is not guessed"


def asked(here: World) -> tuple[list[Any], Findings]:
    found = Findings()
    targets = read_targets(here.repository.root, (), Access(kubeconfig=str(here.kubeconfig), seconds=5), found)
    return questions(here.repository.root, targets, None), found


def test_lists_are_read_page_by_page(world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("pages")
    names = {here.job(name=f"job-{number}")["metadata"]["name"] for number in range(5)}
    monkeypatch.setattr(live_requests, "PAGE", 2)
    requests: list[str] = []
    get = Api.get

    def counted(api: Api, path: str, query: Any = None, *more: Any) -> Any:
        requests.append(path)
        return get(api, path, query, *more)

    monkeypatch.setattr(Api, "get", counted)
    status = read_status(*asked(here))
    assert {run.name for run in status.runs} == names
    assert sum("pytorchjobs" in path for path in requests) >= 3


def test_lists_do_not_wait_for_the_runs_in_git(world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server prepares its pages while files are read, once even if several threads need them."""
    here = world("beside")
    name = here.job()["metadata"]["name"]
    requested, reads = threading.Event(), list[int]()
    get = Api.get

    def noted(api: Api, path: str, query: Any = None, *more: Any) -> Any:
        if "pytorchjobs" in path:
            requested.set()
        return get(api, path, query, *more)

    monkeypatch.setattr(Api, "get", noted)
    (question,), found = asked(here)
    find = question.scope.find

    def slow() -> Any:
        reads.append(1)
        assert requested.wait(10), "the list of runs waits for the files"
        return find()

    scope = replace(question.scope, find=slow)
    status = read_status([replace(question, scope=scope)], found, lambda *_: None)
    assert [run.name for run in status.runs] == [name]
    assert len(reads) == 1


def test_a_page_that_expires(world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes on with the present version of the list, or the list starts again."""
    here = world("expired")
    for number in range(3):
        here.job(name=f"job-{number}")
    monkeypatch.setattr(live_requests, "PAGE", 1)
    (question,), _ = asked(here)
    api = question.target.api
    get, expired = api.get, list[str]()

    def answer(path: str, query: dict[str, str], *more: Any) -> Any:
        if "continue" in query and len(expired) < 1:
            expired.append(path)
            raise ExpiredError
        return get(path, query, *more)

    monkeypatch.setattr(api, "get", answer)
    collection = live_requests.Collection(base="/apis/kubeflow.org/v1", resource="pytorchjobs", namespace="expired")
    names = [body["metadata"]["name"] for body in live_requests.list_objects(api, collection).items]
    assert len(names) == len(set(names)) == 3
    assert expired


def test_a_watch_goes_on_after_a_cut(world: Make) -> None:
    here = world("cut")
    run = here.job()
    with proxy(here.cluster.client.port) as through:
        config = kubeconfig(here.cluster.client, f"https://127.0.0.1:{through.port}")
        here.kubeconfig.write_text(yaml.safe_dump(config), "utf-8")
        seen: list[ClusterStatus] = []
        ends = threading.Event()
        thread = threading.Thread(target=_follow, args=(here, seen, ends), daemon=True)
        thread.start()
        wait(lambda: seen, "first answer")
        assert seen[0].runs[0].phase == "pending"
        here.pod(run, "master", 0, RUNNING)
        wait(lambda: seen[-1].runs[0].phase == "running", "running")
        before = through.connections
        through.cut()
        here.ends(run, "Succeeded")
        wait(lambda: seen[-1].runs[0].phase == "succeeded", "the end after the cut")
        assert through.connections > before
        late = here.job(name="late")
        wait(lambda: late["metadata"]["name"] in {one.name for one in seen[-1].runs}, "a late run")
        ends.set()
        here.ends(late, "Succeeded")
        thread.join(10)
        assert not thread.is_alive()


def _follow(here: World, seen: list[ClusterStatus], ends: threading.Event) -> None:
    questions, found = asked(here)
    with closing(follow(questions, found, None)) as answers:
        for status in answers:
            seen.append(status)
            if ends.is_set():
                break


def test_a_watch_of_a_version_that_the_server_forgot(world: Make) -> None:
    here = world("forgot")
    here.job()
    (question,), _ = asked(here)
    collection = live_requests.Collection(base="/apis/kubeflow.org/v1", resource="pytorchjobs", namespace="forgot")
    with closing(live_requests.watch_objects(question.target.api, collection, "1", lambda: False)) as events:
        event = next(events)
    assert (event.kind, len(event.items)) in {("RELISTED", 1), ("ADDED", 0)}


def test_waiting_for_the_end(world: Make) -> None:
    here = world("waits")
    run = here.job()
    timer = threading.Timer(1, here.ends, (run, "Succeeded"))
    timer.start()
    output = here.gen("status", "--wait", "succeeded", "--timeout", "1m")
    assert (here.code, "succeeded" in output) == (0, True), output
    here.ends(run, "Failed")
    here.gen("status", "--wait", "succeeded", "--timeout", "1m")
    assert here.code == 1
    here.gen("status", "--wait", "ended")
    assert here.code == 0
    here.job(name="second")
    here.gen("status", "--wait", "ended", "--timeout", "1s")
    assert here.code == 1, "it does not end in time"


def test_each_change_is_shown(world: Make) -> None:
    here = world("shown")
    run = here.job()
    timer = threading.Timer(1, here.ends, (run, "Succeeded"))
    timer.start()
    output = here.gen("status", "--watch", "--timeout", "4s")
    assert output.count(run["metadata"]["name"]) == 2, output
    assert "1 run: 1 pending" in output
