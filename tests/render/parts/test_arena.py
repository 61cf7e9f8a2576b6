"""Runs that the client of Arena finds: the selectors are those of `pkg/training` of kubeflow/arena 0.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts.pods import pod_sets
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

OVERLAY = 'kubernetes: "1.34"\nvolumes: {{logs: {{claim: logs}}}}\ncompat: {{arena: {arena}}}\n'
TYPES = {"pytorch": "pytorchjob", "tensorflow": "tfjob", "mpi": "mpijob", "ray": "rayjob", "volcano": "volcanojob"}


def objects(repo: Repository, kind: str, arena: str = "true") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The run, and all other objects."""
    repo.overlay(OVERLAY.format(arena=arena))
    repo.job(yaml.safe_dump({"kind": kind, **KINDS[kind].example, "data": {"logs": "/logs"}, "tensorboard": True}))
    every = repo.objects()
    (run,) = [one for one in every if one["kind"] == KINDS[kind].facts.kind]
    return run, [one for one in every if one is not run]


@for_each("kind", TYPES)
def test_the_client_finds_a_run_its_pods_and_its_gpus(repo: Repository, kind: str) -> None:
    run, _ = objects(repo, kind)
    name, labels = run["metadata"]["name"], {"app": TYPES[kind]}
    labels["release"] = name
    assert labels.items() <= run["metadata"]["labels"].items()
    templates = [pods.template for pods in pod_sets(KINDS[kind].facts, run)]
    assert templates
    for template in templates:
        assert labels.items() <= template["metadata"]["labels"].items()
    assert int(run["metadata"]["annotations"]["requestGPUsOfJobOwner"]) >= 1


def test_the_client_finds_the_launcher(repo: Repository) -> None:
    run, _ = objects(repo, "mpi")
    launcher = run["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["labels"]
    assert (launcher["mpi_role_type"], launcher["group_name"]) == ("launcher", "kubeflow.org")


def test_the_client_finds_tensorboard_on_its_port(repo: Repository) -> None:
    run, others = objects(repo, "pytorch")
    (service,) = [one for one in others if one["kind"] == "Service"]
    assert service["metadata"]["name"] == "demo-tensorboard"
    assert {"role": "tensorboard", "release": run["metadata"]["name"]}.items() <= service["metadata"]["labels"].items()


@pytest.mark.parametrize("arena", ["true", "false"])
def test_tensorboard_serves_its_own_port(repo: Repository, arena: str) -> None:
    _, others = objects(repo, "pytorch", arena)
    (service,) = [one for one in others if one["kind"] == "Service"]
    assert [port["port"] for port in service["spec"]["ports"]] == [80, 6006]


def test_the_client_deletes_the_run_and_nothing_else(repo: Repository) -> None:
    run, others = objects(repo, "pytorch")
    name = run["metadata"]["name"]
    (state,) = [one for one in others if one["kind"] == "ConfigMap"]
    assert state["metadata"]["name"] == f"{name}-pytorchjob"
    assert state["data"] == {"app": f"pytorchjob.kubeflow.org/{name}"}


def test_other_overlays_and_kinds_have_none_of_it(repo: Repository) -> None:
    for kind, arena in (("pytorch", "false"), ("batch", "true")):
        run, others = objects(repo, kind, arena)
        assert not {"app", "release"} & run["metadata"]["labels"].keys()
        assert "ConfigMap" not in {one["kind"] for one in others}


def test_a_job_cannot_take_the_labels(repo: Repository) -> None:
    fields = {"kind": "pytorch", **KINDS["pytorch"].example, "podLabels": {"release": "other"}, "labels": {"app": "x"}}
    repo.job(yaml.safe_dump(fields))
    repo.overlay(OVERLAY.format(arena="false"))
    assert "reserved-metadata" not in repo.codes()
    repo.overlay(OVERLAY.format(arena="true"))
    assert repo.codes().count("reserved-metadata") == 2
