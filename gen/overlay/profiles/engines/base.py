"""The interface of a GitOps engine, its action on an object when Git changes, and its view of the overlay."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, ClassVar

from msgspec import Struct
from pydantic import Field

from gen.base import regex
from gen.base.engines import EngineFacts, Mark
from gen.base.repository.layout import object_file
from gen.job.names import ObjectName
from gen.job.profile import Profile
from gen.job.scalars import matching, schema
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.objects import MANAGED_BY, Body


class SyncEffect(IntEnum):
    """Ordered by the effect on pods, the smallest first: of several engines, the largest counts."""

    LEFT = 0
    BLOCKED = 1
    """Not applied, because the engine must refuse another object first."""
    REFUSED = 2
    """The API server refuses the change."""
    PATCHED = 3
    CREATED = 4
    DELETED = 5
    REPLACED = 6
    """Deleted and created."""

    @property
    def creates(self) -> bool:
        return self in {SyncEffect.CREATED, SyncEffect.REPLACED}

    @property
    def deletes(self) -> bool:
        return self in {SyncEffect.DELETED, SyncEffect.REPLACED}


class Outcome(Struct, frozen=True, kw_only=True):
    deed: SyncEffect
    reason: str = ""
    """Why the engine ignores the change of the file."""


class Change(Struct, frozen=True, kw_only=True):
    """An object in Git before and after a commit, as an engine reads it. The cluster had the state before."""

    before: Any = None
    """Its metadata; None without a file."""
    after: Any = None
    record: bool = False
    """Whether the engine left the object before alone, so that it may have gone from the cluster."""
    changed: bool = False
    """Whether the engine sees a difference."""
    refused: bool = False
    """Whether the API server refuses to change the object in place."""
    moved: bool = False
    """Whether an owner that is gone applied the object before, and was not prepared for that."""
    owner_stays: bool = True
    """Whether the Application or Kustomization that applied it goes on."""
    root_stays: bool = True
    """Whether the engine still has objects of its own for the overlay in Git."""
    pruned: bool = True
    """Whether the owner prunes. None prunes data."""


def applied(facts: EngineFacts, change: Change, *, forced: bool = False) -> Outcome:
    """What becomes of an object with a file. `forced` means that it is deleted and created at each change."""
    if facts.finished.is_on(change.after):
        return Outcome(deed=SyncEffect.LEFT, reason=f"the annotation `{facts.finished}`")
    if change.before is None or change.record:
        return Outcome(deed=SyncEffect.CREATED)
    if not change.moved and facts.settled is not None and facts.settled.is_on(change.after):
        return Outcome(
            deed=SyncEffect.LEFT, reason=f"the annotation `{facts.settled}`, which lets it create objects only"
        )
    if change.moved or (change.changed and forced):
        return Outcome(deed=SyncEffect.REPLACED)
    if change.changed and change.refused:
        return Outcome(deed=SyncEffect.REFUSED, reason="a changed field that the API server does not let change")
    return Outcome(deed=SyncEffect.PATCHED if change.changed else SyncEffect.LEFT)


def removed(change: Change, *protections: Mark) -> Outcome:
    """What becomes of an object without a file. Engines read protections from the cluster."""
    mark = next((one for one in protections if one.is_on(change.before)), None)
    if mark is not None:
        return Outcome(deed=SyncEffect.LEFT, reason=f"the annotation `{mark}`")
    if not change.pruned:
        return Outcome(deed=SyncEffect.LEFT, reason="nothing prunes data")
    return Outcome(deed=SyncEffect.DELETED)


RepositoryURL = Annotated[
    str,
    matching(
        regex(r"(?:https?|ssh)://[A-Za-z0-9._~%@:/+-]+"),
        2048,
        "the URL of a Git repository",
        "use a form like `https://git.example.com/team/jobs.git` or `ssh://git@git.example.com/team/jobs.git`",
        form=schema("URL", "string"),
    ),
]
Revision = Annotated[
    str,
    matching(
        regex(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]*"),
        200,
        "a branch or tag",
        "use a name like `main`",
        form=schema("branch or tag", "string", "number"),
    ),
]
Folder = Annotated[
    str,
    matching(
        regex(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*"),
        200,
        "a folder relative to the root of the repository",
        "use a form like `training/cluster`, without a leading `/`",
        form=schema("folder", "string"),
    ),
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
    jobs: Mapping[tuple[str, str], frozenset[str]]
    """Kinds of the objects of each job, as `group/Kind`, by its namespace and name."""
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


class EngineObject(Struct, frozen=True, kw_only=True):
    """An object in a cluster, and its folder in `rendered/`."""

    group: str
    kind: str
    namespace: str
    """Empty for a volume."""
    name: str
    folder: str
    """Namespace in `rendered/`."""
    job: str
    stored: bool

    def __str__(self) -> str:
        """The arguments of kubectl that name it."""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind.lower()}/{self.name}" + (f" -n {self.namespace}" if self.namespace else "")


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

    def objects_of_jobs(self, site: Site) -> tuple[Body, ...]:
        """Other objects of the engine, each of which belongs to one job."""
        return ()

    @classmethod
    def permitted(cls, body: Body) -> frozenset[tuple[str, str]]:
        """Group and kind that an object of the engine permits. An engine keeps objects that it no longer permits."""
        return frozenset()

    @classmethod
    def permissions(cls, body: Body) -> frozenset[str] | None:
        """What one of the engine's objects permits, in words; None for an object that the engine applies itself."""
        return None

    @classmethod
    def target(cls, body: Body) -> tuple[str, ...] | None:
        """The repository and cluster of an object that applies runs; None for the engine's other objects."""
        return None

    @classmethod
    @abstractmethod
    def replay(cls, change: Change) -> Outcome:
        """The engine's action on an object of an overlay when Git changes."""

    @classmethod
    def ignored(cls, resource: Resource, metadata: object) -> Iterator[Pattern]:
        """Fields of an object that the engine neither compares nor applies."""
        yield from ()

    @classmethod
    def folder(cls, body: Body) -> str | None:
        """The folder in `rendered/` that one of its objects applies, if it names one."""
        return None

    @classmethod
    def owner(cls, overlay: str, owned: EngineObject) -> str:
        """The name of the engine's object that applies an object."""
        return ""

    @classmethod
    def marks(cls, owner: str, namespace: str, owned: EngineObject) -> Mapping[str, Mapping[str, str]]:
        """Annotations and labels that name the owner, by the command of kubectl that sets them."""
        return {}

    @classmethod
    def release(cls, overlay: str, namespace: str, owners: Sequence[str]) -> Iterator[str]:
        """Commands that stop owners. They change and delete no object any more, even when they go."""
        yield from ()

    @classmethod
    def go_on(cls, overlay: str, namespace: str, owners: Sequence[str], folder: str) -> Iterator[str]:
        """Commands that undo `release` for the rest of an overlay."""
        yield from ()

    @classmethod
    def remove(cls, overlay: str, namespace: str) -> Iterator[str]:
        """Commands that remove the rest of a released overlay."""
        yield from ()

    def settings(self, site: Site) -> tuple[Settings, ...]:
        """Additions to the settings of the engine."""
        return ()

    def file(self, body: Body) -> str:
        """Path of one of the engine's own objects, relative to the folder of its bundle."""
        return object_file(body["kind"], body["metadata"]["name"])

    def own_object(self, api_version: str, kind: str, name: str, spec: Body) -> Body:
        metadata = {"name": name, "namespace": self.namespace, "labels": {MANAGED_BY: "gen"}}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}

    def in_git(self, path: str) -> str:
        """A path of the repository of jobs, relative to the top of the Git repository."""
        return f"{self.path}/{path}" if self.path else path
