"""Names that operators derive from the names of objects."""

from __future__ import annotations

from typing import Any

import pytest

from gen.resources.base import Derived, Resource
from gen.resources.batch import JOB
from gen.resources.jobset import JOBSET
from gen.resources.kubeflow import MPIJOB, PYTORCHJOB, TFJOB
from gen.resources.names import is_derived, longest_suffixes
from gen.resources.ray import RAYJOB
from gen.resources.trainer import TRAINJOB
from gen.resources.volcano import VOLCANO_JOB

PARALLEL = {"template": {"spec": {"completions": 4}}}
CASES: list[tuple[Resource, dict[str, Any], list[str]]] = [
    (PYTORCHJOB, {"pytorchReplicaSpecs": {"Master": {}, "Worker": {"replicas": 11}}}, ["-master-0", "-worker-10"]),
    (PYTORCHJOB, {"pytorchReplicaSpecs": {"Worker": {"replicas": 0}, "worker": {"replicas": "x"}}}, []),
    (TFJOB, {"tfReplicaSpecs": {"PS": {"replicas": 2}}}, ["-ps-1"]),
    (
        MPIJOB,
        {"mpiReplicaSpecs": {"Launcher": {}, "Worker": {"replicas": 3}}},
        ["-config", "-ssh", "-launcher", "-worker", "-worker-2"],
    ),
    (JOB, {"completions": 12}, ["-11"]),
    (JOB, {}, []),
    (
        JOBSET,
        {"replicatedJobs": [{"name": "a", "replicas": 2}, {"name": "b", **PARALLEL}]},
        ["-a-1", "-b-0", "-b-0-3-xxxxx"],
    ),
    (VOLCANO_JOB, {"tasks": [{"name": "ps"}, {"replicas": 5}]}, ["-ps-0", "-default1-4"]),
    (
        TRAINJOB,
        {"trainer": {"numNodes": 2}, "initializer": {"model": {}}},
        ["-node-0-1-xxxxx", "-model-initializer-0-0-xxxxx"],
    ),
    (RAYJOB, {}, []),
]


@pytest.mark.parametrize(("resource", "spec", "suffixes"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)])
def test_the_longest_suffixes_of_an_object(resource: Resource, spec: dict[str, Any], suffixes: list[str]) -> None:
    assert sorted(longest_suffixes(resource, {"spec": spec})) == sorted(suffixes)


@pytest.mark.parametrize(
    ("resource", "suffix", "expected"),
    [
        (PYTORCHJOB, "-worker-10", True),
        (PYTORCHJOB, "-chief-0", False),
        (PYTORCHJOB, "-worker-x", False),
        (PYTORCHJOB, "-worker", False),
        (MPIJOB, "-launcher", True),
        (MPIJOB, "-worker-0", True),
        (MPIJOB, "-launcher-0", False),
        (JOBSET, "-any-name-3", True),
        (JOB, "-0", False),
    ],
)
def test_names_of_other_objects(resource: Resource, suffix: str, expected: bool) -> None:
    assert is_derived(resource, suffix) is expected


def test_a_suffix_is_no_pattern() -> None:
    resource = Resource(group="", kind="Dot", derived=(Derived(suffix="-a.b+{0}", kinds=("Pod",)),))
    assert is_derived(resource, "-a.b+1")
    assert not is_derived(resource, "-axbb1")
