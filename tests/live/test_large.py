"""A cluster with thousands of runs."""

from __future__ import annotations

import json
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from gen.live import lists
from gen.live.client import Api

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.live.world import World

RUNS = int(os.environ.get("LIVE_RUNS", "60"))


def test_a_cluster_with_many_runs(world: Callable[[str], World], monkeypatch: pytest.MonkeyPatch) -> None:
    """`LIVE_RUNS=5000` makes it a measurement."""
    here = world("large")
    model = here.job(kind="batch", apply=False)
    text = json.dumps(model)
    folder = here.repository.root / "rendered/dev/jobs/large"
    raw = (folder / "demo/job-demo.yaml").read_text("utf-8")
    name = model["metadata"]["name"]

    def make(number: int) -> None:
        own = f"job-{number:05}"
        body = json.loads(text.replace(name, f"{own}-00000000").replace('"demo"', f'"{own}"'))
        assert here.cluster.client.create("/apis/batch/v1/namespaces/large/jobs", body).status == 201
        (folder / own).mkdir()
        file = raw.replace(name, f"{own}-00000000").replace(": demo\n", f": {own}\n").partition("\n")[2]
        (folder / own / f"job-{own}.yaml").write_text(file, "utf-8")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(RUNS)))
    requests: list[str] = []
    get = Api.get

    def counted(api: Api, path: str, query: Any = None) -> Any:
        requests.append(path)
        return get(api, path, query)

    monkeypatch.setattr(lists, "PAGE", max(RUNS // 10, 1))
    monkeypatch.setattr(Api, "get", counted)
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    rows = here.runs()
    assert len(rows) == RUNS + 1
    assert sum(path.endswith("/jobs") for path in requests) >= 10
    cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{RUNS} runs: {time.monotonic() - started:.1f} s, {cpu:.1f} s of CPU, {memory} MB, {len(requests)} requests")
