"""What starts the runs of a job, as kinds and plans know it. `gen.render.starters` has a file for each starter."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

if TYPE_CHECKING:
    from gen.job.queue import QueueProfile
    from gen.kubernetes.facts.base import Resource


class Edit(StrEnum):
    """Effect of an edit of a job on its object in Git."""

    NEW_RUN = "new run"
    """Another run takes the place of the previous one. A change of the platform alone keeps the committed run."""
    IN_PLACE = "in place"
    """The object stays and changes. Runs that have started go on, and later ones follow the edited job."""
    NEW_VERSION = "new version"
    """Another version takes its place. No run starts or stops."""


class StarterPlan(Struct, frozen=True, kw_only=True):
    """What starts the runs of a job: the decisions about it, and what holds for all jobs with the same starter."""

    name: ClassVar[str]
    field: ClassVar[str] = ""
    """The job field that selects it."""
    edit: ClassVar[Edit] = Edit.NEW_RUN
    decisive: ClassVar[frozenset[str]] = frozenset()
    """Job fields that start a new run only with this starter."""
    permission: ClassVar[str] = ""
    """The required field of the grant, in messages; empty without one."""
    runs_in_git: ClassVar[bool] = True
    """Whether Git has its runs, or the times at which they start. If not, people start them."""
    unit: ClassVar[str] = ""
    """What its progress counts: steps or trials; empty if it has none."""
    explained: ClassVar[bool] = False
    """Whether the objects that a run starts explain why it waits or failed."""
    dispensable: ClassVar[bool] = False
    """Whether it goes on after a run that failed."""
    inner: ClassVar[bool] = False
    """Whether its object contains that of the run, which was patched and checked before."""
    repeats: ClassVar[bool] = False
    """Whether one object starts a run at each of several times. It keeps its name then, without a hash."""
    named_later: ClassVar[bool] = False
    """Whether the object of a run gets its name when the run starts."""
    admitted: ClassVar[bool] = True
    """Whether a queue admits the object in Git, and not those that it starts."""
    is_workflow: ClassVar[bool] = False
    """Whether Argo Workflows runs it."""
    whole_hash: ClassVar[bool] = False
    """Whether the hash of a run covers the metadata of its steps, too."""
    run: ClassVar[str] = "run"
    """Name of a run in messages."""
    whole: ClassVar[str] = ""
    """Name of all runs together in messages, if it starts several in turn; empty for others."""
    digits: ClassVar[str] = "hash"
    """The end of the name of a run."""
    run_digits: ClassVar[int] = 0
    """Characters that the name of a run adds to that of the object in Git."""
    creator: ClassVar[str] = ""
    """What creates the objects of a pipeline's steps, if runs are named later."""
    phrase: ClassVar[str] = ""
    """Such a pipeline, in messages: a pipeline with `<phrase>`."""
    where: ClassVar[str] = ""
    """Places of a job without the name of the run, in messages."""
    name_of_run: ClassVar[str] = ""
    """Placeholder of the name of the run in the objects of a pipeline's steps."""

    facts: Resource
    """Facts of the object in Git."""
    at_once: int = 1
    """Runs that can overlap."""

    @classmethod
    def resource(cls, facts: Resource) -> Resource:
        """Facts of the object in Git, for runs of a kind with these facts."""
        return facts

    @classmethod
    def suffix(cls, suffix: str, room: int, *, aside: bool) -> tuple[str, int]:
        """The longest suffix of a run's objects, and its length. `aside` is that of an object that all runs share."""
        return suffix, room

    @classmethod
    def queue_fault(cls, profile: QueueProfile, facts: Resource, api_version: str) -> str:
        """Why a queue cannot take its runs; empty if it can."""
        return ""

    @property
    def reader(self) -> str | None:
        """The image that reads the results of a step, if it has one of its own."""
        return None
