"""Fields of a pipeline for Kubeflow Pipelines."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from typing import ClassVar

from gen.model.base import Model
from gen.model.sweep import ParamName


class Definition(Model):
    """A definition for Kubeflow Pipelines, instead of a run."""

    main: ClassVar[str] = "params"

    params: tuple[ParamName, ...] = ()
    """Names of `params` that people can change when they start a run; their values are the defaults. Steps can use them
    in `command`, `args` and `env`. [default: none, so that all runs have the same values]"""
