"""Kinds of jobs: one file each, and their registry. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.kinds.base import Job, Problem
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

__all__ = ["KINDS", "Job", "Problem", "Role"]
