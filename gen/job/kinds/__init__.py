"""Kinds of jobs: one file each, and one line here. See `docs/extending.md`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Final

from gen.base import LazyRegistry
from gen.job.kinds.base import Job, Problem
from gen.job.kinds.role import Role
from gen.kubernetes.facts import RESOURCES

KINDS: Final[LazyRegistry[Job]] = LazyRegistry(
    {
        "batch": "gen.job.kinds.batch:BatchJob",
        "jax": "gen.job.kinds.jax:JAXJob",
        "jobset": "gen.job.kinds.jobset:JobSetJob",
        "mpi": "gen.job.kinds.mpi:MPIJob",
        "paddle": "gen.job.kinds.paddle:PaddleJob",
        "pipeline": "gen.job.kinds.pipeline:PipelineJob",
        "pytorch": "gen.job.kinds.pytorch:PyTorchJob",
        "ray": "gen.job.kinds.ray:RayJob",
        "tensorflow": "gen.job.kinds.tensorflow:TensorFlowJob",
        "train": "gen.job.kinds.train:TrainJob",
        "volcano": "gen.job.kinds.volcano:VolcanoJob",
        "xgboost": "gen.job.kinds.xgboost:XGBoostJob",
    }
)
"""Kinds of gen and of plugins. A model is imported when it is used, which takes as long as rendering several jobs."""
_DECLARED: Final[dict[str, type[Job]]] = {}
_DECLARED_NAMES: Final[set[str]] = set()
ALL_KINDS: Final[Mapping[str, type[Job]]] = ChainMap(_DECLARED, KINDS)
"""With the kinds that the overlays of this repository declare."""


def declare(name: str, model: type[Job]) -> None:
    """Register a kind until `forget_declared`. Its name and its Kubernetes kind must be free."""
    _DECLARED[name] = model
    RESOURCES[model.facts.key] = model.facts


def forget_declared() -> None:
    """Remove the declared kinds, which other overlays may declare differently."""
    for model in _DECLARED.values():
        del RESOURCES[model.facts.key]
    _DECLARED.clear()
    _DECLARED_NAMES.clear()


def name_declared(names: Iterable[str]) -> None:
    """Remember kinds before their declarations are validated, so that jobs are not blamed for faults of those."""
    _DECLARED_NAMES.update(names)


def has_declared_name(name: str) -> bool:
    """Whether an overlay declares the kind, even if its declaration is invalid."""
    return name in _DECLARED_NAMES


def is_declared(name: str) -> bool:
    return name in _DECLARED


__all__ = [
    "ALL_KINDS",
    "KINDS",
    "Job",
    "Problem",
    "Role",
    "declare",
    "forget_declared",
    "has_declared_name",
    "is_declared",
    "name_declared",
]
