"""Argo CD: a project and an ApplicationSet for jobs, the same for storage, and what its own settings lack.

An Application for each job, so that its health is the job's, and one for the storage of each namespace. Facts about
Argo CD are from its documentation and source, see `docs/gitops.md`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import WithJsonSchema

from gen.gitops.argocd_settings import RUN_ENDED, SYNC_FAILED, health_settings, notification_settings
from gen.gitops.base import Engine, Site, Workload
from gen.kubernetes import MANAGED_BY, QUEUE_LABEL, Body, present
from gen.model.names import ObjectName
from gen.model.scalars import Text, matching
from gen.repository.layout import object_files, tree_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_API = "argoproj.io/v1alpha1"
_STORAGE_KINDS = ("PersistentVolume", "PersistentVolumeClaim")
_KEPT_OUT = ("kube-node-lease", "kube-public", "kube-system")
"""Namespaces that no job belongs to, where an overlay grants to every one."""
_SYNC_OPTIONS = ("ServerSideApply=true", "ApplyOutOfSyncOnly=true", "FailOnSharedResource=true")
_COMPARE = {"argocd.argoproj.io/compare-options": "ServerSideDiff=true,IncludeMutationWebhook=true"}

Service = Annotated[
    str,
    # it ends the key of an annotation, of which a prefix and the longest trigger leave this much
    matching(re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,28}[a-z0-9])?"), 30, "a service of Argo CD's notifications"),
    WithJsonSchema({"title": "service", "type": "string"}),
]


class ArgoCD(Engine):
    """Argo CD applies the rendered files."""

    protection: ClassVar[Mapping[str, str]] = {
        # `Prune` does not cover the deletion of an Application, and `Delete` does not cover pruning
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        # without it, a protected object whose file is gone keeps its Application out of sync for ever
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    }

    namespace: ObjectName = "argocd"
    """Namespace of Argo CD."""
    cluster: Text = "in-cluster"
    """Name of the cluster in Argo CD."""
    notify: dict[Service, Text] = {}
    """Who is told of runs that end and of syncs that fail: recipients by service, such as `slack: training`."""

    @classmethod
    def lifecycle(cls, state: str, *, settled: bool) -> Mapping[str, str]:  # noqa: ARG003 - Argo CD applies what differs
        # stays a target without being applied, compared, pruned or counted in health (`sync_phase.go`, `state.go`)
        return {"argocd.argoproj.io/hook": "Skip"} if state == "finished" else {}

    def objects(self, site: Site) -> tuple[Body, ...]:
        settings = [health_settings(self.namespace, site.workloads)]
        if self.notify:
            settings.append(notification_settings(self.namespace))
        return (*self._jobs(site), *self._storage(site), *settings)

    def _jobs(self, site: Site) -> tuple[Body, Body]:
        name, tree = f"{site.overlay}-jobs", self.in_git(tree_folder(site.overlay, "jobs"))
        allowed = [{"group": group, "kind": kind} for group, kind in site.kinds]
        project = self._project(name, site, f"Jobs of the overlay {site.overlay}.", allowed)
        project["metadata"] |= present(annotations=self._subscriptions((*RUN_ENDED, SYNC_FAILED)))
        namespace, job = _segment(tree, 1), _segment(tree, 2)
        template = self._application(
            name=f"{site.overlay}.{namespace}.{job}",
            project=name,
            include=object_files(kind for _, kind in site.kinds),
            namespace=namespace,
            prune=True,
            options=[*_SYNC_OPTIONS, "RespectIgnoreDifferences=true"],
            ignored=[_mutated(workload) for workload in site.workloads] if site.queues else [],
        )
        # removing a job frees its GPUs; there is no data in this tree
        template["metadata"]["finalizers"] = ["resources-finalizer.argocd.argoproj.io"]
        folders = [f"{tree}/{namespace}/*" for namespace in site.granted or ("*",)]
        return project, self._application_set(name, folders, {"applicationsSync": "sync"}, template)

    def _storage(self, site: Site) -> tuple[Body, Body]:
        name, tree = f"{site.overlay}-storage", self.in_git(tree_folder(site.overlay, "storage"))
        claims = [{"group": "", "kind": "PersistentVolumeClaim"}]
        project = self._project(name, site, f"Storage of the overlay {site.overlay}.", claims)
        volumes = [f"{namespace}-*" for namespace in site.granted or ()] or ["*"]
        project["spec"]["clusterResourceWhitelist"] = [
            {"group": "", "kind": "PersistentVolume", "name": volume} for volume in volumes
        ]
        project["metadata"] |= present(annotations=self._subscriptions((SYNC_FAILED,)))
        namespace = _segment(tree, 1)
        template = self._application(
            name=f"{site.overlay}-storage.{namespace}",
            project=name,
            include=object_files(_STORAGE_KINDS),
            namespace=namespace,
            prune=False,
            options=_SYNC_OPTIONS,
        )
        folders = [f"{tree}/{namespace}" for namespace in site.granted or ("*",)]
        guards = {"applicationsSync": "create-update", "preserveResourcesOnDeletion": True}
        return project, self._application_set(name, folders, guards, template)

    def _project(self, name: str, site: Site, description: str, kinds: Sequence[Body]) -> Body:
        namespaces = site.granted or ("*", *(f"!{kept}" for kept in sorted({*_KEPT_OUT, self.namespace})))
        spec = {
            "description": description,
            "sourceRepos": [self.repo_url],
            "destinations": [{"name": self.cluster, "namespace": namespace} for namespace in namespaces],
            "namespaceResourceWhitelist": list(kinds),
        }
        return self._object("AppProject", name, spec)

    def _application_set(self, name: str, folders: Sequence[str], policy: Body, template: Body) -> Body:
        directories = [{"path": folder} for folder in folders]
        git = {"repoURL": self.repo_url, "revision": self.revision, "directories": directories}
        spec = {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"git": git}],
            "syncPolicy": policy,
            "template": template,
        }
        return self._object("ApplicationSet", name, spec)

    def _application(
        self,
        *,
        name: str,
        project: str,
        include: str,
        namespace: str,
        prune: bool,
        options: Sequence[str],
        ignored: Sequence[Body] = (),
    ) -> Body:
        source = {
            "repoURL": self.repo_url,
            "targetRevision": self.revision,
            "path": "{{ .path.path }}",
            # said outright, or a stray file would make it a tree of another tool
            "directory": {"include": include},
        }
        # only a commit that touches the folder makes Argo CD read it again
        annotations = {**_COMPARE, "argocd.argoproj.io/manifest-generate-paths": "."}
        spec = present(
            project=project,
            source=source,
            destination={"name": self.cluster, "namespace": namespace},
            ignoreDifferences=list(ignored),
            syncPolicy={
                "automated": {"prune": prune, "selfHeal": True},
                "retry": {"limit": 3},
                "syncOptions": list(options),
            },
        )
        return {"metadata": {"name": name, "labels": {MANAGED_BY: "gen"}, "annotations": annotations}, "spec": spec}

    def _subscriptions(self, triggers: Sequence[str]) -> dict[str, str]:
        return {
            f"notifications.argoproj.io/subscribe.{trigger}.{service}": recipients
            for trigger in sorted(triggers)
            for service, recipients in sorted(self.notify.items())
        }

    def _object(self, kind: str, name: str, spec: Body) -> Body:
        metadata = {"name": name, "namespace": self.namespace, "labels": {MANAGED_BY: "gen"}}
        return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}


ENGINE = ArgoCD


def _segment(tree: str, behind: int) -> str:
    """The expression for the name of a folder that the generator found so many steps below a tree."""
    return f"{{{{ index .path.segments {tree.count('/') + behind} }}}}"


def _mutated(workload: Workload) -> Body:
    """What a queue changes in a run that it admits: only in those that have a queue, or Git could suspend none.

    Kueue sets `suspend`, node selectors and tolerations (`pkg/podset/podset.go`); the last two are atomic, so an
    apply would take them back, and Kueue would stop the run. Other fields that it adds belong to it.
    """
    queued = f'select(.metadata.labels["{QUEUE_LABEL}"] != null)'
    template = ".".join(workload.templates).replace(".*", "[]?")
    fields = (".".join(workload.suspend), f"{template}.spec.nodeSelector", f"{template}.spec.tolerations")
    return present(
        group=workload.group,
        kind=workload.kind,
        jqPathExpressions=[f"{queued} | .{field}" for field in fields],
    )
