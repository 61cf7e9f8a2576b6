"""The interface of a GitOps engine, and the facts about the rendered files of an overlay that engines need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Struct
from pydantic import Field

from gen.kubernetes import Body
from gen.model.names import ObjectName
from gen.model.profile import Profile
from gen.model.scalars import matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.repository.layout import object_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.resources.base import Resource

RepositoryURL = Annotated[
    str,
    matching(
        regex(r"(?:https?|ssh)://[A-Za-z0-9._~%@:/+-]+"),
        2048,
        "the URL of a Git repository",
        "use a form like `https://git.example.com/team/jobs.git` or `ssh://git@git.example.com/team/jobs.git`",
    ),
    JsonForm({"title": "URL", "type": "string"}),
]
Revision = Annotated[
    str,
    matching(regex(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]*"), 200, "a branch or tag", "use a name like `main`"),
    JsonForm({"title": "branch or tag", "type": ["string", "number"]}),
]
Folder = Annotated[
    str,
    matching(
        regex(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*"),
        200,
        "a folder relative to the root of the repository",
        "use a form like `training/cluster`, without a leading `/`",
    ),
    JsonForm({"title": "folder", "type": "string"}),
]


class Workload(Struct, frozen=True, kw_only=True):
    """A Kubernetes kind that is rendered for jobs, in the version that the cluster serves."""

    api_version: str
    resource: Resource

    @property
    def needs_health_check(self) -> bool:
        return self.resource.status is not None and not self.resource.known_to_engines


class Site(Struct, frozen=True, kw_only=True):
    """The rendered files of one overlay, as an engine reads them from Git."""

    overlay: str
    granted: tuple[str, ...] | None
    """Namespaces with a grant; None if the overlay grants to every namespace."""
    namespaces: tuple[str, ...]
    """Namespaces with jobs."""
    stored: tuple[str, ...]
    """Namespaces with storage objects."""
    storage_kinds: tuple[Resource, ...]
    """Kinds of the objects in the tree of storage."""
    queues: bool
    """Whether the overlay grants queues that suspend runs until they admit them."""
    workloads: tuple[Workload, ...]
    """Kinds of the overlay's runs, and those that it lists under `operators`."""
    kinds: tuple[tuple[str, str], ...]
    """Group and kind of every object that may belong to jobs."""


class Settings(Struct, frozen=True, kw_only=True):
    """Keys of a ConfigMap of another owner, to add with `kubectl patch --type=merge`."""

    config_map: str
    data: Mapping[str, str]


class Engine(Profile, ABC):
    """The Git repository with the rendered files, as the engine accesses it."""

    repo_url: RepositoryURL = Field(alias="repoURL")
    """URL of the Git repository. The engine has the credentials."""
    revision: Revision = "main"
    """Branch to apply."""
    path: Folder | None = None
    """Folder of the Git repository that contains `rendered/`. [default: the top]"""
    namespace: ObjectName
    """Namespace of the engine."""
    refuses_definitions: ClassVar[str] = ""
    """Why the engine cannot apply definitions of pipelines; empty if it can."""

    @property
    def destination(self) -> str | None:
        """Name of the cluster that the engine applies to, if the settings name one."""
        return None

    @abstractmethod
    def objects(self, site: Site) -> tuple[Body, ...]:
        """The engine's own objects, which make it apply the files of the overlay."""

    @classmethod
    def permitted(cls, body: Body) -> frozenset[tuple[str, str]]:  # noqa: ARG003 - most objects permit nothing
        """Group and kind of what one of the engine's objects permits. An engine keeps what is no longer permitted."""
        return frozenset()

    @classmethod
    def permissions(cls, body: Body) -> frozenset[str] | None:  # noqa: ARG003 - most engines apply all that is in Git
        """What one of the engine's objects permits, in words; None for an object that the engine applies itself."""
        return None

    def settings(self, site: Site) -> tuple[Settings, ...]:  # noqa: ARG002 - most engines need none
        """Additions to the settings of the engine."""
        return ()

    def file(self, body: Body) -> str:
        """Path of one of the engine's own objects, relative to the folder of its bundle."""
        return object_file(body["kind"], body["metadata"]["name"])

    def in_git(self, path: str) -> str:
        """A path of the repository of jobs, relative to the top of the Git repository."""
        return f"{self.path}/{path}" if self.path else path
