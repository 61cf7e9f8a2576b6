"""A run that is the object in Git: an operator or a controller of Kubernetes starts it when an engine applies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.render.starters.base import Starter


class Direct(Starter, frozen=True, kw_only=True):
    name: ClassVar[str] = "direct"
    is_run: ClassVar[bool] = True

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        return True
