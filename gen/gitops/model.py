"""The engines of an overlay, as it names them under `gitops`."""

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from gen.gitops import ENGINES
from gen.gitops.base import Engine
from gen.model.base import Model
from gen.model.profile import chosen, with_profiles
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


if TYPE_CHECKING:
    from typing import TypeAlias

    Gitops: TypeAlias = GitopsFields
else:
    Gitops = with_profiles(GitopsFields, ENGINES, ENGINES)
