"""The runtime of a TrainJob decides the number of its nodes."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.facts.runtimes import STEP
from tests.cases import for_each
from tests.importers.manifests.forms import IMAGE, an_object
from tests.importers.manifests.proofs import messages, proof_of, read

V1 = "trainer.kubeflow.org/v1alpha1"
REMOVED = {"op": "remove", "path": "/spec/trainer/numNodes"}
TRAINER = {"metadata": {"labels": {STEP: "trainer"}}}


def train(name: str, **trainer: Any) -> dict[str, Any]:
    return an_object(V1, "TrainJob", {"runtimeRef": {"name": name}, **({"trainer": trainer} if trainer else {})})


def runtime(policy: dict[str, Any], **jobs: dict[str, Any]) -> dict[str, Any]:
    """A runtime with these metadata of the templates of its jobs."""
    pod = {"spec": {"containers": [{"name": "node", "image": IMAGE}]}}
    made = [{"name": name, "template": {**template, "spec": {"template": pod}}} for name, template in jobs.items()]
    spec = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": made}}}
    return {**an_object(V1, "ClusterTrainingRuntime", spec), "metadata": {"name": "own"}}


@for_each(
    ("objects", "workers", "declared", "patch"),
    [
        ([train("torch-distributed")], None, {}, None),
        ([train("own", numNodes=2)], "2", {}, None),
        ([train("own")], None, {}, [REMOVED]),
        ([train("own"), runtime({"numNodes": 4, "torch": {}}, node=TRAINER)], "4", {"policy": "torch"}, None),
        (
            [train("own"), runtime({"mpi": {"runLauncherAsNode": False}}, launcher=TRAINER, node={})],
            None,
            {"policy": "mpi", "launcherTrains": False},
            None,
        ),
        (
            [train("own"), runtime({"numNodes": 4, "mpi": {}}, launcher=TRAINER, node={})],
            None,
            {"policy": "mpi", "launcherTrains": False},
            [REMOVED],
        ),
    ],
)
def test_the_number_of_nodes(
    objects: list[dict[str, Any]], workers: str | None, declared: dict[str, Any], patch: list[Any] | None
) -> None:
    proof = proof_of(*objects)
    found = proof.job.fields.get("workers")
    assert (str(found) if found is not None else None) == workers
    assert next(iter(proof.job.overlay.get("runtimes", {}).values()), {}) == declared
    assert (proof.patch["patch"] if proof.patch is not None else None) == patch
    assert proof.remaining == ()


def test_a_runtime_that_gen_does_not_know_is_reported() -> None:
    why = "its definition is not in the input, and gen takes it for one with `policy: torch` and a job `node`"
    assert messages(train("own", numNodes=2)) == [f"the runtime `own` is not carried: {why}"]
    assert messages(train("torch-distributed", numNodes=2)) == []


def test_the_definition_of_a_runtime_belongs_into_the_overlay() -> None:
    _, found = read(train("own"), runtime({"torch": {}}, ranks=TRAINER))
    own, other = found
    assert own.message == (
        "the runtime `own` is not carried: its jobs have other names than those that the overlay declares by `policy`"
    )
    assert (own.hint, "overlays/<overlay>/runtimes/" in (other.hint or "")) == (
        "copy its definition into `overlays/<overlay>/runtimes/`",
        True,
    )
