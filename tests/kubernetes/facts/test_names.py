"""Names that operators derive from the names of objects."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.facts.base import DerivedName, Resource
from gen.kubernetes.facts.builtin import JOB
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.kubeflow import MPIJOB, PYTORCHJOB, TFJOB
from gen.kubernetes.facts.pods import is_derived, longest_suffixes
from gen.kubernetes.facts.ray import RAYJOB
from gen.kubernetes.facts.trainer import TRAINJOB
from gen.kubernetes.facts.volcano import VOLCANO_JOB
from tests.cases import for_each

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


@for_each(("resource", "spec", "suffixes"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)])
def test_the_longest_suffixes_of_an_object(resource: Resource, spec: dict[str, Any], suffixes: list[str]) -> None:
    assert sorted(longest_suffixes(resource, {"spec": spec})) == sorted(suffixes)


@for_each(
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
    resource = Resource(group="", kind="Dot", derived=(DerivedName(suffix="-a.b+{0}", kinds=("Pod",)),))
    assert is_derived(resource, "-a.b+1")
    assert not is_derived(resource, "-axbb1")
