"""The engines of an overlay, as it names them under `gitops`."""

from typing import Self

from pydantic import create_model, model_validator

from gen.gitops import ENGINES, Engine
from gen.model.base import Model
from gen.model.profile import chosen, profile_fields
from gen.model.scalars import conflict


class GitopsFields(Model):
    """GitOps engines that apply the rendered files, and their settings."""

    @property
    def engines(self) -> dict[str, Engine]:
        return chosen(self, ENGINES)

    @model_validator(mode="after")
    def _some_engine(self) -> Self:
        if not self.engines:
            remedy = "set one of " + ", ".join(f"`{key}`" for key in ENGINES) + ", or both"
            raise conflict("expected a GitOps engine, got none", remedy)
        return self


Gitops: type[GitopsFields] = create_model(
    "Gitops", __base__=GitopsFields, __doc__=GitopsFields.__doc__, **profile_fields(ENGINES)
)
