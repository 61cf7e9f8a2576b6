"""Objects in the forms that upstream projects show: each is imported, rendered and equal to the original."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL
from tests.importers.manifests.proofs import proof_of
from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@for_each("name", EQUAL)
def test_an_object_of_each_kind_is_equal(name: str) -> None:
    proof = proof_of(EQUAL[name])
    assert proof.remaining == ()
    assert proof.patch is None, proof.patch
    assert proof.job.fields["kind"] == name.split("-", maxsplit=1)[0]


@for_each(
    ("name", "defaults"),
    [
        ("train", {"managedBy": "trainer.kubeflow.org/trainjob-controller"}),
        ("batch", {"completionMode": "NonIndexed", "managedBy": "kubernetes.io/job-controller"}),
        ("batch-on-a-schedule", {"failedJobsHistoryLimit": 1, "successfulJobsHistoryLimit": 3}),
        ("jobset", {"successPolicy": {"operator": "All"}, "managedBy": "jobset.sigs.k8s.io/jobset-controller"}),
        ("jobset", {"failurePolicy": {"maxRestarts": 3, "restartStrategy": "Recreate"}}),
        ("ray", {"backoffLimit": 0, "managedBy": "ray.io/kuberay-operator"}),
        ("pytorch", {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}}),
        ("mpi-v2beta1", {"launcherCreationPolicy": "AtStartup", "mpiImplementation": "OpenMPI"}),
        ("mpi-v2beta1", {"runLauncherAsWorker": False}),
    ],
)
def test_defaults_of_a_cluster_change_nothing(name: str, defaults: dict[str, Any]) -> None:
    body = {**EQUAL[name], "spec": {**EQUAL[name]["spec"], **defaults}}
    proof, known = proof_of(body), proof_of(EQUAL[name])
    assert (proof.patch, proof.remaining, proof.job.fields) == (None, (), known.job.fields)


@for_each(
    ("name", "unchanged"),
    [
        ("ray", ("minReplicas", "maxReplicas")),
        ("volcano", ("`minAvailable: 2`",)),
        ("batch-on-a-schedule", ("HistoryLimit",)),
        ("train", ("apiGroup", "kind")),
    ],
)
def test_additions_without_effect_are_not_named(name: str, unchanged: tuple[str, ...]) -> None:
    added = ", ".join(proof_of(EQUAL[name]).added)
    assert [one for one in unchanged if one in added] == []


def test_every_kind_with_pods_is_imported() -> None:
    """By hand in another form, or as gen renders it."""
    with_pods = {model.facts.kind for model in KINDS.values() if model.facts.pods or model.facts.nodes}
    written = {KINDS[name.split("-")[0]].facts.kind for name in EQUAL}
    as_rendered = {param.values[0].stem.partition("-")[0] for param in golden()}
    assert {kind for kind in with_pods - written if kind.lower() not in as_rendered} == set()


NOT_EQUAL = {
    **dict.fromkeys(
        (
            "batch-array-job-demo",
            "copies-of-files-job-batch",
            "copies-of-files-jobset-set",
            "copies-of-files-mpijob-mpi",
            "copies-of-files-pytorchjob-one-pod",
            "pins-of-images-and-code-pytorchjob-train",
        ),
        "copies and logs (their volumes have a name of gen)",
    ),
}
"""Rendered runs that are not imported as they are, with what prevents it. Those with long names come besides."""


KIND = re.compile(r"^kind: (\w+)$", re.MULTILINE)


def golden() -> Iterator[Any]:
    """Rendered runs of the golden cases."""
    kinds = {model.facts.kind for model in KINDS.values() if model.facts.pods or model.facts.nodes}
    for path in sorted((HERE / "golden").glob("*/rendered/*/jobs/*/*/*.yaml")):
        kind = KIND.search(path.read_text("utf-8"))
        if kind is not None and kind[1] in kinds:
            name = f"{path.parts[-7]}-{path.stem}"
            reason = NOT_EQUAL.get(name)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason is not None else []
            yield pytest.param(path, id=name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("path", list(golden()))
def test_what_gen_renders_is_imported_and_rendered_again(path: Path) -> None:
    body = yaml.safe_load(path.read_text("utf-8"))
    body["metadata"]["name"] = "demo"
    assert proof_of(body).remaining == ()
