"""A cluster with thousands of runs."""

from __future__ import annotations

import gc
import json
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from gen.base import Findings
from gen.live import requests as live_requests
from gen.live.client import Api
from gen.live.clusters import questions, read_status
from gen.live.target import Access, read_targets
from gen.render.emit import digest_of, header

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.live.world import World

RUNS = int(os.environ.get("LIVE_RUNS", "60"))
MEASURED = 1000
"""Runs from which on the times are measured."""


def fill(here: World) -> None:
    """Runs with a pod each, in the cluster and in `rendered/`."""
    model = here.job(kind="batch", apply=False)
    text = json.dumps(model)
    folder = here.repository.root / "rendered/dev/jobs/large"
    raw = (folder / "demo/job-demo.yaml").read_text("utf-8")
    name = model["metadata"]["name"]

    def make(number: int) -> None:
        own = f"job-{number:05}"
        body = json.loads(text.replace(name, f"{own}-00000000").replace('"demo"', f'"{own}"'))
        assert here.cluster.client.create("/apis/batch/v1/namespaces/large/jobs", body).status == 201
        template = body["spec"]["template"]
        metadata = {**template["metadata"], "name": f"{own}-00000000-0", "namespace": "large"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        done = here.cluster.client.create("/api/v1/namespaces/large/pods", pod)
        assert done.status == 201, done.message
        (folder / own).mkdir()
        file = raw.replace(name, f"{own}-00000000").replace(": demo\n", f": {own}\n").partition("\n")[2]
        (folder / own / f"job-{own}.yaml").write_text(header(f"jobs/large/{own}.yaml", digest_of(file)) + file, "utf-8")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(RUNS)))


def user() -> float:
    """Seconds of CPU of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def test_a_cluster_with_many_runs(world: Callable[[str], World], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are read in pages, which the progress counts. `LIVE_RUNS=10000` makes it a measurement."""
    here = world("large")
    fill(here)
    here.runs("demo")  # so that modules are imported
    requests: list[tuple[str, Any]] = []
    get = Api.get

    def counted(api: Api, path: str, query: Any = None, *more: Any) -> Any:
        requests.append((path, query))
        return get(api, path, query, *more)

    if RUNS < MEASURED:
        monkeypatch.setattr(live_requests, "PAGE", max(RUNS // 10, 1))
    monkeypatch.setattr(Api, "get", counted)
    (target,) = read_targets(here.repository.root, (), Access(kubeconfig=str(here.kubeconfig)), Findings())
    took, alone, standard, cpu, cpu_alone = [], [], [], [], []
    gc.disable()  # as in the program
    for _ in range(1 if RUNS < MEASURED else 3):  # the first lists after many writes wait for the server's cache
        requests.clear()
        started, before = time.monotonic(), user()
        assert len(here.runs()) == RUNS + 1
        cpu.append(user() - before)
        took.append(time.monotonic() - started)
        assert sum(path.endswith("/jobs") for path, _ in requests) >= min(10, RUNS // live_requests.PAGE)
        started, asked = time.monotonic(), list(requests)
        before = user()
        for path, query in asked:
            get(target.api, path, query)
        alone.append(time.monotonic() - started)
        cpu_alone.append(user() - before)
        started = time.monotonic()
        for path, query in asked:
            json.loads(target.api.text(path, query))
        standard.append(time.monotonic() - started)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{RUNS} runs: {min(took):.1f} s, {min(cpu):.1f} s of CPU, {memory} MB, {len(asked)} requests; "
        f"the same requests alone, decoded, {min(alone):.1f} s and {min(cpu_alone):.1f} s of CPU, "
        f"so {min(took) / min(alone):.2f} times as long; decoded as most clients do, {min(standard):.1f} s, "
        f"so {min(took) / min(standard):.2f} times as long"
    )
    gc.enable()
    steps: list[tuple[int, int]] = []
    read_status(
        questions(here.repository.root, [target], None), Findings(), lambda done, total: steps.append((done, total))
    )
    assert len(steps) >= 20, "pages of runs, and of pods"
    assert steps == sorted(steps)
    assert 2 * RUNS <= steps[-1][0] <= steps[-1][1], "all runs and their pods; those of other namespaces count, too"
