"""The Application of Argo CD, as an object and as the template of an ApplicationSet, and the differences it ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.kubernetes import MANAGED_BY, QUEUE_LABEL, Body, present
from gen.resources.base import Wildcard
from gen.resources.mutated import changed_by_kueue

if TYPE_CHECKING:
    from gen.gitops.base import Site
    from gen.resources.base import Pattern, Resource

SYNC_OPTIONS: Final = ("ServerSideApply=true", "ApplyOutOfSyncOnly=true", "FailOnSharedResource=true")
COMPARE: Final = "ServerSideDiff=false"
"""Argo CD compares fields itself. The server's diff shows a change that the server rejects only once, such as a larger
claim of a class that does not allow it, and then the object as in sync. For runs, it applies Git's tolerations over
those that Kueue added to the same atomic list; it shows a difference for ever, and fails for a Job, whose template is
immutable. Ignored differences come too late for it (`serverSideDiff` in `gitops-engine/pkg/diff/diff.go`)."""
_RETRY = {"limit": -1, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}}
"""For ever, and with the newest commit: a namespace may be created hours after its first job."""


class Application(Struct, frozen=True, kw_only=True):
    """A folder of a Git repository, and how Argo CD applies it."""

    name: str
    project: str
    repository: str
    revision: str
    path: str
    include: str
    """Pattern of the names of its files."""
    cluster: str
    namespace: str
    prune: bool
    options: tuple[str, ...] = SYNC_OPTIONS
    ignored: tuple[Body, ...] = ()

    @property
    def metadata(self) -> Body:
        annotations = {
            "argocd.argoproj.io/compare-options": COMPARE,
            # Argo CD reads the folder again only after a commit that changes it
            "argocd.argoproj.io/manifest-generate-paths": ".",
        }
        return {"name": self.name, "labels": {MANAGED_BY: "gen"}, "annotations": annotations}

    @property
    def spec(self) -> Body:
        source = {
            "repoURL": self.repository,
            "targetRevision": self.revision,
            "path": self.path,
            # explicit, because a stray file would select another tool
            "directory": {"include": self.include},
        }
        return present(
            project=self.project,
            source=source,
            destination={"name": self.cluster, "namespace": self.namespace},
            ignoreDifferences=list(self.ignored),
            syncPolicy={
                "automated": {"prune": self.prune, "selfHeal": True},
                "retry": _RETRY,
                "syncOptions": list(self.options),
            },
        )


def ignored_differences(site: Site) -> tuple[Body, ...]:
    resources = (workload.resource for workload in site.workloads)
    return tuple(_mutated(resource) for resource in resources if site.queues and resource.kueue is not None)


def _mutated(resource: Resource) -> Body:
    """Fields that Kueue changes when it admits a run. They are ignored only in runs with a queue.

    Without a queue, `state: suspended` in Git must reach the cluster. Node selectors and tolerations are atomic, so an
    apply would revert them, and Kueue would stop the run. Kueue owns all other fields that it adds.
    """
    queued = f'select(.metadata.labels["{QUEUE_LABEL}"] != null)'
    fields = map(_jq, changed_by_kueue(resource))
    return present(
        group=resource.group,
        kind=resource.kind,
        jqPathExpressions=[f"{queued} | {field}" for field in fields],
    )


def _jq(pattern: Pattern) -> str:
    return "".join("[]?" if isinstance(step, Wildcard) else f".{step}" for step in pattern)
