"""The kinds of jobs: one file each, and the one list of them. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.kinds.base import Conditions, Job, Problem
from gen.kinds.batch import BatchJob
from gen.kinds.mpi import MPIJob
from gen.kinds.pytorch import PyTorchJob
from gen.kinds.role import Role
from gen.kinds.tensorflow import TensorFlowJob

KINDS: Final[dict[str, type[Job]]] = {
    "batch": BatchJob,
    "mpi": MPIJob,
    "pytorch": PyTorchJob,
    "tensorflow": TensorFlowJob,
}

_RESOURCES: Final = {
    (version.rpartition("/")[0], kind.resource): kind for kind in KINDS.values() for version in kind.api_versions
}


def kind_of_resource(group: str, resource: str) -> type[Job] | None:
    """The kind of job that is rendered as this kind of object of an API group."""
    return _RESOURCES.get((group, resource))


__all__ = ["KINDS", "Conditions", "Job", "Problem", "Role", "kind_of_resource"]
