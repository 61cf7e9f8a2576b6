"""Kinds of jobs: one file each, and one line here. See `docs/extending.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.kinds.base import Job, Problem
from gen.kinds.role import Role
from gen.model.registry import LazyRegistry

if TYPE_CHECKING:
    from collections.abc import MutableMapping

KINDS: Final[MutableMapping[str, type[Job]]] = LazyRegistry(
    {
        "batch": "gen.kinds.batch:BatchJob",
        "jax": "gen.kinds.jax:JAXJob",
        "jobset": "gen.kinds.jobset:JobSetJob",
        "mpi": "gen.kinds.mpi:MPIJob",
        "paddle": "gen.kinds.paddle:PaddleJob",
        "pipeline": "gen.kinds.pipeline:PipelineJob",
        "pytorch": "gen.kinds.pytorch:PyTorchJob",
        "ray": "gen.kinds.ray:RayJob",
        "tensorflow": "gen.kinds.tensorflow:TensorFlowJob",
        "train": "gen.kinds.train:TrainJob",
        "volcano": "gen.kinds.volcano:VolcanoJob",
        "xgboost": "gen.kinds.xgboost:XGBoostJob",
    }
)
"""Model by the name of the kind, imported when it is used: defining a model takes as long as rendering several jobs."""

__all__ = ["KINDS", "Job", "Problem", "Role"]
