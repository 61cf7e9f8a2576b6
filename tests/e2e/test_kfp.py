"""Steps of Kubeflow Pipelines against a real API server: their script creates the objects, and waits for their end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts.state import waiting
from tests.e2e.test_workflows import STATUSES
from tests.kfp import Step, steps_of
from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

FILE = HERE / "golden/pipeline-for-kubeflow-pipelines/rendered/dev/jobs/team/demo/pipelineversion-demo.yaml"
STEPS = steps_of(yaml.safe_load(FILE.read_text("utf-8")))
KIND = {one.facts.key: name for name, one in KINDS.items() if not one.own_fields}
GIVEN = {"_rate": "0.2", "_model": "vit/b-16", "prepare_count": "1e5", "pytorch_best": "/data/9.ckpt"}
_MOST_S = 60


@dataclass
class Run:
    """A run in a cluster. Its steps are programs here."""

    cluster: Cluster
    name: str
    uid: str
    environment: dict[str, str]

    def step(self, step: Step, given: dict[str, str], files: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = step.command({"run": self.name, **given}, files or {})
        return subprocess.Popen(command, env=self.environment, stdout=-1, stderr=-1, text=True)

    def object(self, step: Step) -> Body:
        body = step.object()
        return {**body, "metadata": {**body["metadata"], "name": f"{self.name}-{step.name}"}}


@pytest.fixture(scope="module")
def kubectl(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of kubectl for the cluster."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    folder = tmp_path_factory.mktemp("kubectl")
    (folder / "config").write_text(json.dumps(cluster.client.kubeconfig()), "utf-8")
    return {**os.environ, "KUBECONFIG": str(folder / "config"), "HOME": str(folder), "GEN_SECONDS": "0.1"}


@pytest.fixture
def run(cluster: Cluster, kubectl: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Run]:
    name = f"demo-{abs(hash(request.node.name)) % 36**5:05d}"
    metadata = {"name": name, "namespace": "team"}
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata}
    body["spec"] = {"entrypoint": "a", "templates": [{"name": "a", "container": {"image": "a"}}]}
    path = cluster.path(body)
    created = cluster.client.create(path.rpartition("/")[0], body)
    assert created.status == 201, created.message
    yield Run(cluster, name, created.body["metadata"]["uid"], kubectl)
    for step in STEPS.values():
        cluster.client.delete(cluster.path(Run(cluster, name, "", {}).object(step)))
    cluster.client.delete(path)


@contextmanager
def running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _MOST_S
    while not (value := found()):
        assert time.monotonic() < deadline, "the time is over"
        time.sleep(0.05)
    return value


def live(run: Run, body: Body) -> Body | None:
    response = run.cluster.client.get(run.cluster.path(body))
    return response.body if response.status == 200 else None


@pytest.mark.parametrize("step", STEPS.values(), ids=str)
@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_a_step_creates_its_object_and_waits_for_its_end(step: Step, end: str, run: Run) -> None:
    own = step.object()
    kind = KIND[own["apiVersion"].rpartition("/")[0], own["kind"]]
    found = waiting(KINDS[kind].facts)
    assert found is not None
    # a Job that is about to fail cannot succeed
    known = {about: one for about, one in STATUSES[kind].items() if about != "about to fail" or end == "failed"}
    statuses = [status for status, expected in known.values() if expected == "waiting"]
    assert statuses
    body = run.object(step)
    with running(run.step(step, GIVEN)) as process:
        created = until(lambda: live(run, body) or process.poll() is not None)
        assert created is not True, process.communicate()
        owner = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": run.name, "uid": run.uid}
        assert created["metadata"]["ownerReferences"] == [{**owner, "controller": True}]
        watched = body
        if found.of is not KINDS[kind].facts:  # which its operator makes
            watched = {"apiVersion": found.of.served[0], "kind": found.of.kind}
            watched["metadata"] = {key: body["metadata"][key] for key in ("name", "namespace")}
            template = {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a"}]}}}}
            spec = {"replicatedJobs": [{"name": "a", "template": template}]}
            collection = run.cluster.path(watched).rpartition("/")[0]
            made = run.cluster.client.create(collection, {**watched, "spec": spec})
            assert made.status == 201, made.message
        for status in statuses:
            _set(run, watched, status)
            time.sleep(0.5)
            assert process.poll() is None, process.communicate()
        _set(run, watched, next(status for status, expected in STATUSES[kind].values() if expected == end))
        code = process.wait(_MOST_S)
        said = process.communicate()[1]
    run.cluster.client.delete(run.cluster.path(watched))
    if step.results and end == "succeeded":
        assert "no pod with the labels" in said  # nothing runs here
    else:
        assert (code == 0) == (end == "succeeded"), said


def _set(run: Run, body: Body, status: Body) -> None:
    path = run.cluster.path(body)
    known = run.cluster.client.get(path).body.get("status") or {}
    started = {"startTime": "2026-01-01T00:00:00Z"} if body["kind"] == "Job" else {}  # the server requires it
    if "conditions" in status:
        more = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Test", "message": ""}
        status = {**status, "conditions": [{**more, **one} for one in status["conditions"]]}
    cleared = {**dict.fromkeys(known.keys() - {"failed"}), **started, **status}
    response = run.cluster.client.merge(f"{path}/status", {"status": cleared})
    assert response.status == 200, response.message


def test_values_are_only_values(run: Run) -> None:
    step = STEPS["pytorch"]
    with running(run.step(step, GIVEN)):
        body = until(lambda: live(run, run.object(step)))
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    (container,) = template["spec"]["containers"]
    assert container["command"] == ["sh", "-c", "torchrun train.py --rate 0.2 --images 1e5"]
    assert {"name": "MODEL", "value": "vit/b-16"} in container["env"]
    assert template["metadata"]["labels"]["gen/workflow"] == run.name


def test_other_texts_of_a_job_stay(run: Run) -> None:
    step = STEPS["prepare"]
    with running(run.step(step, GIVEN)):
        body = until(lambda: live(run, run.object(step)))
    (container,) = body["spec"]["template"]["spec"]["containers"]
    (text,) = [one["value"] for one in container["env"] if one["name"] == "TEXT"]
    assert text == "{{workflow.name}} {{$.inputs.parameters}} <run> <params/rate> $(HOME)"
    assert container["command"][-1].endswith(f"--out /data/{run.name}")


HOSTILE = [
    *(
        "",
        "-x",
        "a b",
        "a;b",
        "a'b",
        'a"b',
        "a\nb",
        "a\\b",
        "a&b",
        "a|b",
        "$HOME",
        "$(id)",
        "`id`",
        "{{workflow.name}}",
    ),
    *('", "image": "evil', "<run>", "a*", "[a]", "ü", "a\tb", "\\u0022", "x" * 1025),
]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_hostile_value_creates_nothing(value: str, run: Run) -> None:
    step = STEPS["pytorch"]
    done = run.step(step, {**GIVEN, "_model": value})
    said = done.communicate(timeout=_MOST_S)[1]
    assert done.returncode == 5, said
    assert said.startswith("gen: the value of params/model ")
    assert live(run, run.object(step)) is None


@pytest.mark.parametrize("name", ["", "a b", "../x", "A", "a;id", "a/b"])
def test_a_hostile_name_of_a_run_creates_nothing(name: str, run: Run) -> None:
    step = STEPS["jax"]
    done = subprocess.run(step.command({"run": name}, {}), env=run.environment, capture_output=True, check=False)
    assert done.returncode == 2


def test_a_run_elsewhere_creates_nothing(run: Run) -> None:
    step = STEPS["jax"]
    command = step.command({"run": "another-run"}, {})
    done = subprocess.run(command, env=run.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot read the workflow another-run in namespace team" in done.stderr


def test_a_second_pod_waits_for_the_object_of_the_first(run: Run) -> None:
    step = STEPS["jax"]
    body = run.object(step)
    with running(run.step(step, {})):
        until(lambda: live(run, body))
    with running(run.step(step, {})) as process:
        time.sleep(1)
        assert process.poll() is None, process.communicate()
        _set(run, body, STATUSES["jax"]["succeeded"][0])
        assert process.wait(_MOST_S) == 0


def test_a_foreign_object_is_not_taken_over(run: Run) -> None:
    step = STEPS["jax"]
    body = run.object(step)
    path = run.cluster.path(body)
    foreign = {**body, "metadata": {"name": body["metadata"]["name"], "namespace": "team"}}
    assert run.cluster.client.create(path.rpartition("/")[0], foreign).status == 201
    done = run.step(step, {})
    said = done.communicate(timeout=_MOST_S)[1]
    assert done.returncode == 1
    assert "already exists" in said
