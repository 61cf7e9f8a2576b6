"""Argo CD: a project and an ApplicationSet for jobs, the same for storage, and additions to the settings of Argo CD.

Each job has its own Application, which has the health of the job; each namespace has one for its storage. Facts about
Argo CD are from its documentation and source, see `docs/gitops.md`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import WithJsonSchema

from gen.gitops.argocd_settings import RUN_ENDED, SYNC_FAILED, health_settings, notification_settings
from gen.gitops.base import Engine, Site
from gen.kubernetes import MANAGED_BY, QUEUE_LABEL, Body, at, present
from gen.model.names import ObjectName
from gen.model.scalars import Text, matching
from gen.repository.layout import object_files, tree_folder
from gen.resources.base import Wildcard
from gen.resources.core import DATA, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.resources.base import Pattern, Resource

_API = "argoproj.io/v1alpha1"
_KEPT_OUT = ("kube-node-lease", "kube-public", "kube-system")
"""Namespaces without jobs, if the overlay grants to every namespace."""
_SYNC_OPTIONS = ("ServerSideApply=true", "ApplyOutOfSyncOnly=true", "FailOnSharedResource=true")
_COMPARE = {"argocd.argoproj.io/compare-options": "ServerSideDiff=true,IncludeMutationWebhook=true"}

Service = Annotated[
    str,
    # the annotation key ends with it; the prefix and the longest trigger leave this many characters
    matching(re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,28}[a-z0-9])?"), 30, "a notification service of Argo CD"),
    WithJsonSchema({"title": "service", "type": "string"}),
]


class ArgoCD(Engine):
    """Argo CD applies the rendered files."""

    namespace: ObjectName = "argocd"
    """Namespace of Argo CD."""
    cluster: Text = "in-cluster"
    """Name of the cluster in Argo CD."""
    notify: dict[Service, Text] = {}
    """Recipients of notifications about finished runs and failed syncs, by service, such as `slack: training`."""

    @classmethod
    def permitted(cls, body: Body) -> frozenset[tuple[str, str]]:
        """Kinds that a project permits in namespaces. The file may have been edited."""
        listed = at(body, "spec", "namespaceResourceWhitelist")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        return frozenset((str(entry.get("group")), str(entry.get("kind"))) for entry in entries)

    def objects(self, site: Site) -> tuple[Body, ...]:
        checked = [workload.resource for workload in site.workloads if workload.needs_health_check]
        settings = [health_settings(self.namespace, checked)] if checked else []
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
            ignored=_ignored(site),
        )
        # removing a job frees its GPUs; this tree contains no data
        template["metadata"]["finalizers"] = ["resources-finalizer.argocd.argoproj.io"]
        folders = [f"{tree}/{namespace}/*" for namespace in site.granted or ("*",)]
        return project, self._application_set(name, folders, {"applicationsSync": "sync"}, template)

    def _storage(self, site: Site) -> tuple[Body, Body]:
        name, tree = f"{site.overlay}-storage", self.in_git(tree_folder(site.overlay, "storage"))
        claims = [{"group": PERSISTENT_VOLUME_CLAIM.group, "kind": PERSISTENT_VOLUME_CLAIM.kind}]
        project = self._project(name, site, f"Storage of the overlay {site.overlay}.", claims)
        volumes = [f"{namespace}-*" for namespace in site.granted or ()] or ["*"]
        project["spec"]["clusterResourceWhitelist"] = [
            {"group": PERSISTENT_VOLUME.group, "kind": PERSISTENT_VOLUME.kind, "name": volume} for volume in volumes
        ]
        project["metadata"] |= present(annotations=self._subscriptions((SYNC_FAILED,)))
        namespace = _segment(tree, 1)
        template = self._application(
            name=f"{site.overlay}-storage.{namespace}",
            project=name,
            include=object_files(resource.kind for resource in DATA),
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
            # explicit, because a stray file would select another tool
            "directory": {"include": include},
        }
        # Argo CD reads the folder again only after a commit that changes it
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
    """Template expression for the name of the folder that many levels below a tree."""
    return f"{{{{ index .path.segments {tree.count('/') + behind} }}}}"


def _ignored(site: Site) -> list[Body]:
    resources = (workload.resource for workload in site.workloads)
    return [_mutated(resource) for resource in resources if site.queues and "kueue" in resource.queues]


def _mutated(resource: Resource) -> Body:
    """Fields that Kueue changes when it admits a run. They are ignored only in runs with a queue.

    Without a queue, `state: suspended` in Git must reach the cluster. Kueue sets `suspend`, node selectors and
    tolerations (`pkg/podset/podset.go`). The last two are atomic, so an apply would revert them, and Kueue would stop
    the run. Kueue owns all other fields that it adds.
    """
    queued = f'select(.metadata.labels["{QUEUE_LABEL}"] != null)'
    fields = [_jq(resource.suspend)] if resource.suspend is not None else []
    for pods in resource.pods:
        template = _jq(pods.template)
        fields += [f"{template}.spec.nodeSelector", f"{template}.spec.tolerations"]
    return present(
        group=resource.group,
        kind=resource.kind,
        jqPathExpressions=[f"{queued} | {field}" for field in fields],
    )


def _jq(pattern: Pattern) -> str:
    return "".join("[]?" if isinstance(step, Wildcard) else f".{step}" for step in pattern)
