"""`gen logs` through a real API server, with a fake kubelet."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gen.base.findings import UsageError
from gen.cli import app
from gen.live.logs import LogSelection, follow_logs
from tests.controllers.waiting import wait
from tests.live.node import NODE, Node, node
from tests.live.test_clusters import asked
from tests.live.world import RUNNING, World, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

    Make = Callable[[str], World]


@pytest.fixture
def kubelet(server: Cluster) -> Iterator[Node]:
    with node(server, server.client.authority) as made:
        yield made


def placed(here: World, run: Body, role: str, index: int, restarts: int = 0) -> str:
    """A running pod on the node. Its name."""
    status = json.loads(json.dumps(RUNNING))
    status["containerStatuses"][0]["restartCount"] = restarts
    return str(here.pod(run, role, index, status, nodeName=NODE)["metadata"]["name"])


def test_all_pods_in_the_order_of_time(world: Make, kubelet: Node) -> None:
    here = world("logs")
    run = here.job(more="workers: 3\n")
    master, first, second = (placed(here, run, *pod) for pod in (("master", 0), ("worker", 0), ("worker", 1)))
    kubelet.log(master, (1, "start"), (4, "done"))
    kubelet.log(first, (2, "epoch 1\repoch 2"), (5, "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202e"))
    kubelet.log(second, (3, "hello"))
    assert here.gen("logs", "logs/demo") == (
        "master-0     start\n"
        "worker-0     epoch 2\n"
        "worker-1     hello\n"
        "master-0     done\n"
        "worker-0     red \N{REPLACEMENT CHARACTER}]0;title\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}\n"
    )
    assert here.code == 0
    assert here.gen("logs", "logs/demo", "--role", "worker", "--rank", "1") == "worker-1     hello\n"
    assert here.gen("logs", "logs/demo", "--rank", "0", "--role", "master") == "master-0     start\nmaster-0     done\n"
    rows = [json.loads(line) for line in here.gen("logs", "logs/demo", "--output", "json").splitlines()]
    assert [(row["role"], row["rank"], row["text"]) for row in rows][:2] == [
        ("master", 0, "start"),
        ("worker", 0, "epoch 1\repoch 2"),
    ]


def test_since_tail_and_the_container_before(world: Make, kubelet: Node) -> None:
    here = world("logs-options")
    run = here.job()
    pod = placed(here, run, "master", 0, restarts=1)
    kubelet.log(pod, (2, "now"))
    kubelet.previous[pod, "main"] = [("2026-01-01T00:00:01.000000000Z", "before")]
    assert here.gen("logs", "logs-options/demo", "--previous") == "master-0     before\n"
    here.gen("logs", "logs-options/demo", "--since", "10m", "--tail", "5")
    assert kubelet.queries[-1]["sinceSeconds"] == ["600"]
    assert kubelet.queries[-1]["tailLines"] == ["5"]
    with pytest.raises(UsageError, match="cannot be combined"):
        here.gen("logs", "logs-options/demo", "--previous", "--follow")


def test_a_job_without_started_pods(world: Make, kubelet: Node) -> None:
    here = world("logs-none")
    run = here.job()
    here.pod(run, "master", 0, waiting("ImagePullBackOff", "no"), nodeName=NODE)
    output = here.gen("logs", "logs-none/demo")
    assert "[no-logs]" in output
    assert "gen status logs-none/demo" in output
    assert here.code == 1
    assert kubelet.queries == []


def test_a_kubelet_that_does_not_answer_hides_no_other_log(world: Make, kubelet: Node) -> None:
    here = world("logs-broken")
    run = here.job(more="workers: 2\n")
    kubelet.log(placed(here, run, "master", 0), (1, "fine"))
    here.pod(run, "worker", 0, RUNNING, nodeName="another")
    output = here.gen("logs", "logs-broken/demo")
    assert "master-0     fine\n" in output
    assert "[no-logs]" in output or "[cluster-" in output
    assert here.code == 1


def test_following_through_a_cut_a_restart_and_a_late_pod(world: Make, kubelet: Node) -> None:
    here = world("logs-follow")
    run = here.job(more="workers: 2\n")
    master = placed(here, run, "master", 0)
    kubelet.log(master, (1, "one"))
    seen: list[str] = []

    def read() -> None:
        questions, found = asked(here)
        for batch in follow_logs(questions, LogSelection(), found):
            seen.extend(f"{line.source.pod.title} {line.text}" for line in batch)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    wait(lambda: seen == ["master-0 one"], "first line")
    kubelet.cut()
    kubelet.log(master, (2, "two"))
    wait(lambda: seen[1:] == ["master-0 two"], "a line after the cut, and no line twice")
    late = placed(here, run, "worker", 0)
    kubelet.log(late, (3, "late"))
    wait(lambda: "worker-0 late" in seen, "a late pod")

    kubelet.end(master)
    kubelet.lines[master, "main"].clear()
    kubelet.ended.clear()
    kubelet.log(master, (5, "again"))
    placed(here, run, "master", 0, restarts=1)
    wait(lambda: "master-0 again" in seen, "a line after the restart")

    for pod, role in ((master, "master"), (late, "worker")):
        kubelet.end(pod)
        here.pod(run, role, 0, {"phase": "Succeeded", "containerStatuses": []}, nodeName=NODE)
    here.ends(run, "Succeeded")
    thread.join(20)
    assert not thread.is_alive(), "it ends with the run"
    assert sorted(seen) == ["master-0 again", "master-0 one", "master-0 two", "worker-0 late"]


def test_a_sweep_has_the_names_of_its_runs(world: Make, kubelet: Node) -> None:
    here = world("logs-sweep")
    here.job(more="env: {RATE: '{{ params.rate }}'}\nsweep: {matrix: {rate: [1, 2]}}\n", apply=False)
    names = []
    for number, run in enumerate(here.rendered()):
        here.cluster.apply(run)
        kubelet.log(placed(here, run, "master", 0), (number, f"rate {number}"))
        names.append(run["metadata"]["name"])
    first, second = names
    assert here.gen("logs", "logs-sweep/demo") == f"{first}/master-0 rate 0\n{second}/master-0 rate 1\n"
    assert here.gen("logs", "logs-sweep/demo", "--run", second) == "master-0     rate 1\n"


def test_a_wrong_duration() -> None:
    with pytest.raises(UsageError, match="--since"):
        CliRunner().invoke(app, ["logs", "a", "--since", "soon"], catch_exceptions=False)
