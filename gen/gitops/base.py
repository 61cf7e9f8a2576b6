"""What a GitOps engine does with the rendered files, and what it has to know of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, WithJsonSchema

from gen.kubernetes import Body
from gen.model.profile import Profile
from gen.model.scalars import matching

if TYPE_CHECKING:
    from collections.abc import Mapping

RepositoryURL = Annotated[
    str,
    matching(
        re.compile(r"(?:https?|ssh)://[A-Za-z0-9._~%@:/+-]+"),
        2048,
        "the URL of a Git repository",
        "write it like `https://git.example.com/team/jobs.git` or `ssh://git@git.example.com/team/jobs.git`",
    ),
    WithJsonSchema({"title": "URL", "type": "string"}),
]
Revision = Annotated[
    str,
    matching(re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]*"), 200, "a branch or a tag", "name it like `main`"),
    WithJsonSchema({"title": "branch or tag", "type": ["string", "number"]}),
]
Folder = Annotated[
    str,
    matching(
        re.compile(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*"),
        200,
        "a folder, relative to the top of the repository",
        "write it like `training/cluster`, without `/` in front",
    ),
    WithJsonSchema({"title": "folder", "type": "string"}),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What engines have to know of a kind of job: how its health shows, and what a queue changes."""

    api_version: str
    kind: str
    suspend: tuple[str, ...]
    templates: tuple[str, ...]
    succeeded: str
    failed: str
    suspended: str
    known: bool
    """Whether the engines tell its health by themselves."""

    @property
    def group(self) -> str:
        return group_of(self.api_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The rendered files of one overlay, as an engine finds them in Git."""

    overlay: str
    granted: tuple[str, ...] | None
    """Namespaces that the overlay grants something; None when it grants to every one."""
    namespaces: tuple[str, ...]
    """Namespaces that have jobs."""
    storage: bool
    """Whether there are storage objects."""
    queues: bool
    """Whether jobs may be admitted by a queue."""
    workloads: tuple[Workload, ...]
    kinds: tuple[tuple[str, str], ...]
    """Group and kind of everything that the files of jobs may hold."""


class Engine(Profile, ABC):
    """The repository that holds the rendered files, as the engine reaches it."""

    protection: ClassVar[Mapping[str, str]]
    """Annotations that keep an object in the cluster, whatever becomes of its file."""

    repo_url: RepositoryURL = Field(alias="repoURL")
    """URL of the Git repository; credentials for it are the engine's."""
    revision: Revision = "main"
    """Branch that is applied."""
    path: Folder | None = None
    """Folder of the Git repository in which `rendered/` lies; its top when left out."""

    @classmethod
    @abstractmethod
    def lifecycle(cls, state: str, *, settled: bool) -> Mapping[str, str]:
        """Annotations of a run in a state; `settled` when Git changes nothing under its name while it is active."""

    @abstractmethod
    def objects(self, site: Site) -> tuple[Body, ...]:
        """The engine's own objects, which make it apply the files of the overlay."""

    def in_git(self, path: str) -> str:
        """A path of the repository of jobs, relative to the top of the Git repository."""
        return f"{self.path}/{path}" if self.path else path


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]
