"""Argo CD: a project and an ApplicationSet for jobs, the same for storage, and an Application that applies these sets.

Each job has its own Application, which has the health of the job; each namespace has one for its storage. The projects
limit them, so the platform owner applies projects, and no Application may. Facts about Argo CD are from its
documentation and source, see `docs/gitops-reference.md`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

from gen.base import as_mappings, at, regex
from gen.base.engines import ENGINES
from gen.base.repository.layout import object_file, object_files, rendered_path, tree_folder
from gen.job.names import ObjectName
from gen.job.scalars import Text, matching, schema
from gen.kubernetes.facts.base import Pattern, Resource, Wildcard
from gen.kubernetes.facts.builtin import PERSISTENT_VOLUME
from gen.kubernetes.facts.state import changed_by_kueue, filled_in_cluster
from gen.kubernetes.objects import MANAGED_BY, QUEUE_LABEL, Body, present
from gen.overlay.profiles.engines.argocd_settings import RUN_ENDED, SYNC_FAILED, health_settings, notification_settings
from gen.overlay.profiles.engines.base import Change, Engine, EngineObject, Outcome, Settings, Site, applied, removed

SYNC_OPTIONS: Final = ("ServerSideApply=true", "ApplyOutOfSyncOnly=true", "FailOnSharedResource=true")
COMPARE: Final = "ServerSideDiff=false"
"""Argo CD compares fields itself. The server's diff shows a change that the server rejects only once, such as a larger
claim of a class that does not allow it, and then the object as in sync. For runs, it applies Git's tolerations over
those that Kueue added to the same atomic list; it shows a difference forever, and fails for a Job, whose template is
immutable. Ignored differences come too late for it (`serverSideDiff` in `gitops-engine/pkg/diff/diff.go`)."""
_RETRY = {"limit": -1, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}}
"""For ever, and with the newest commit: a namespace may be created hours after its first job."""


def ignored_differences(site: Site) -> tuple[Body, ...]:
    found = ((workload.resource, [*_mutated(site, workload.resource)]) for workload in site.workloads)
    return tuple(
        present(group=resource.group, kind=resource.kind, jqPathExpressions=paths) for resource, paths in found if paths
    )


def _mutated(site: Site, resource: Resource) -> Iterator[str]:
    """Fields that the cluster adds, and in runs with a queue those that Kueue changes when it admits a run.

    Without a queue, `state: suspended` in Git must reach the cluster. Node selectors and tolerations are atomic, so an
    apply would revert them, and Kueue would stop the run. Kueue owns all other fields that it adds.
    """
    if site.queues and resource.kueue is not None:
        queued = f'select(.metadata.labels["{QUEUE_LABEL}"] != null)'
        yield from (f"{queued} | {_jq(field)}" for field in changed_by_kueue(resource))
    for field, value in filled_in_cluster(resource):
        yield f"{_jq(field)} | select(. == {json.dumps(value)})"


def _jq(pattern: Pattern) -> str:
    return "".join("[]?" if isinstance(step, Wildcard) else f".{step}" for step in pattern)


_GROUP = "argoproj.io"
_KEPT_OUT = ("kube-node-lease", "kube-public", "kube-system")
"""Namespaces without jobs, if the overlay grants to every namespace."""
_HERE = "in-cluster"
"""Name of the cluster of Argo CD itself."""
_TRACKING_ID = "argocd.argoproj.io/tracking-id"
_SETS = "applications"
"""Folder of the bundle that Argo CD applies."""
_FOLDER = "{{ .path.path }}"
"""Template expression for the folder that an ApplicationSet found."""

Service = Annotated[
    str,
    # the annotation key ends with it; the prefix and the longest trigger leave this many characters
    matching(
        regex(r"[a-z0-9](?:[-a-z0-9.]{0,28}[a-z0-9])?"),
        30,
        "a notification service of Argo CD",
        form=schema("service", "string"),
    ),
]


class ArgoCD(Engine):
    """Argo CD applies the rendered files."""

    namespace: ObjectName = ENGINES["argocd"].namespace
    """Namespace of Argo CD."""
    cluster: Text = _HERE
    """Name of the cluster in Argo CD."""
    notify: dict[Service, Text] = {}
    """Recipients of notifications about finished runs and failed syncs, by service, such as `slack: training`."""

    @classmethod
    def permitted(cls, body: Body) -> frozenset[tuple[str, str]]:
        """Kinds that a project permits in namespaces. The file may have been edited."""
        entries = _entries(body, "namespaceResourceWhitelist")
        return frozenset((str(entry.get("group")), str(entry.get("kind"))) for entry in entries)

    @classmethod
    def permissions(cls, body: Body) -> frozenset[str] | None:
        """The permissions of a project; none for the root Application, which no Application applies either."""
        if body.get("kind") == "Application":
            return frozenset()
        if body.get("kind") != "AppProject":
            return None
        repositories = at(body, "spec", "sourceRepos")
        volumes = _entries(body, "clusterResourceWhitelist")
        return frozenset(
            {
                *(kind for _, kind in cls.permitted(body)),
                *(f"{entry.get('kind')} {entry.get('name')}" for entry in volumes),
                *(f"namespace {entry.get('namespace')}" for entry in _entries(body, "destinations")),
                *(f"cluster {entry.get('name')}" for entry in _entries(body, "destinations")),
                *(f"repository {one}" for one in (repositories if isinstance(repositories, list) else ())),
            }
        )

    @classmethod
    def target(cls, body: Body) -> tuple[str, ...] | None:
        if body.get("kind") != "ApplicationSet":
            return None
        spec = at(body, "spec", "template", "spec")
        place = (at(spec, "source", "repoURL"), at(spec, "destination", "name"), at(body, "metadata", "namespace"))
        return tuple(map(str, place))

    @classmethod
    def replay(cls, change: Change) -> Outcome:
        facts = ENGINES["argocd"]
        if change.after is not None:
            # of either object; without `Replace`, only if the server refuses the apply (`sync_context.go`)
            force, replace = (any(mark.is_on(one) for one in (change.before, change.after)) for mark in facts.force)
            return applied(facts, change, forced=force and (replace or change.refused))
        # an ApplicationSet removes the Application of a folder that is gone, which deletes instead of pruning
        prune, delete = facts.protection
        return removed(change, prune if change.owner_stays else delete)

    @classmethod
    def ignored(cls, resource: Resource, metadata: object) -> Iterator[Pattern]:
        if resource.kueue is not None and at(metadata, "labels", QUEUE_LABEL) is not None:
            yield from changed_by_kueue(resource)

    @classmethod
    def owner(cls, overlay: str, owned: EngineObject) -> str:
        return f"{overlay}-storage.{owned.folder}" if owned.stored else f"{overlay}.{owned.folder}.{owned.job}"

    @classmethod
    def marks(cls, owner: str, namespace: str, owned: EngineObject) -> Mapping[str, Mapping[str, str]]:
        # of an object without a namespace, that of its Application (`util/argo/resource_tracking.go`)
        place = f"{owned.namespace or owned.folder}/{owned.name}"
        return {"annotate": {_TRACKING_ID: f"{owner}:{owned.group}/{owned.kind}:{place}"}}

    @classmethod
    def release(cls, overlay: str, namespace: str, owners: Sequence[str]) -> Iterator[str]:
        """The root would restore its sets, and a set the finalizers of its Applications, which delete their objects."""
        automated = '{"spec": {"syncPolicy": {"automated": null}}}'
        yield f"kubectl patch application {overlay}-root -n {namespace} --type=merge -p '{automated}'"
        yield f"kubectl delete applicationset {overlay}-jobs {overlay}-storage -n {namespace} --cascade=orphan"
        for owner in owners:
            finalizers = '{"metadata": {"finalizers": null}}'
            yield f"kubectl patch application {owner} -n {namespace} --type=merge -p '{finalizers}'"
            yield f"kubectl delete application {owner} -n {namespace}"

    @classmethod
    def go_on(cls, overlay: str, namespace: str, owners: Sequence[str], folder: str) -> Iterator[str]:
        yield f"kubectl apply --server-side -f {folder}/"

    @classmethod
    def remove(cls, overlay: str, namespace: str) -> Iterator[str]:
        yield f"kubectl delete application {overlay}-root -n {namespace}"
        yield f"kubectl delete appproject {overlay}-root {overlay}-jobs {overlay}-storage -n {namespace}"

    @property
    def destination(self) -> str | None:
        # the default is the cluster of Argo CD itself; there may be several Argo CDs
        return self.cluster if self.cluster != _HERE else None

    def objects(self, site: Site) -> tuple[Body, ...]:
        return (*self._root(site), *self._jobs(site), *self._storage(site))

    def settings(self, site: Site) -> tuple[Settings, ...]:
        # of Jobs, too: to the check of Argo CD, one that was suspended and resumed is complete (`health_job.go`)
        resources = [workload.resource for workload in site.workloads]
        health = health_settings(resources)
        return (health, notification_settings(resources)) if self.notify else (health,)

    def file(self, body: Body) -> str:
        if body["kind"] == "ApplicationSet":
            return f"{_SETS}/{super().file(body)}"
        # kubectl applies files in the order of their names, and an Application without its project waits for minutes
        return "root.yaml" if body["kind"] == "Application" else super().file(body)

    def _root(self, site: Site) -> tuple[Body, Body]:
        """An Application that applies the ApplicationSets, and may apply nothing else."""
        name = f"{site.overlay}-root"
        spec = {
            "description": f"ApplicationSets of the overlay {site.overlay}.",
            "sourceRepos": [self.repo_url],
            "destinations": [{"name": _HERE, "namespace": self.namespace}],
            "namespaceResourceWhitelist": [{"group": _GROUP, "kind": "ApplicationSet"}],
        }
        project = self._object("AppProject", name, spec)
        project["metadata"] |= present(annotations=self._subscriptions((SYNC_FAILED,)))
        root = self._application(
            name,
            name,
            path=self.in_git(rendered_path("argocd", site.overlay, _SETS)),
            include=object_file("ApplicationSet", "*"),
            cluster=_HERE,
            namespace=self.namespace,
            prune=False,
        )
        application = self._object("Application", name, root["spec"])
        application["metadata"] |= root["metadata"]
        return project, application

    def _jobs(self, site: Site) -> tuple[Body, Body]:
        name, tree = f"{site.overlay}-jobs", self.in_git(tree_folder(site.overlay, "jobs"))
        allowed = [{"group": group, "kind": kind} for group, kind in site.kinds]
        project = self._project(name, site, f"Jobs of the overlay {site.overlay}.", allowed)
        project["metadata"] |= present(annotations=self._subscriptions((*RUN_ENDED, SYNC_FAILED)))
        namespace, job = _segment(tree, 1), _segment(tree, 2)
        template = self._application(
            f"{site.overlay}.{namespace}.{job}",
            name,
            path=_FOLDER,
            include=object_files(kind for _, kind in site.kinds),
            cluster=self.cluster,
            namespace=namespace,
            prune=True,
            options=(*SYNC_OPTIONS, "RespectIgnoreDifferences=true"),
            ignored=ignored_differences(site),
        )
        folders = [f"{tree}/{namespace}/*" for namespace in site.granted or ("*",)]
        # removing a job frees its GPUs; this tree contains no data
        finalizers = ["resources-finalizer.argocd.argoproj.io"]
        return project, self._application_set(name, folders, {"applicationsSync": "sync"}, template, finalizers)

    def _storage(self, site: Site) -> tuple[Body, Body]:
        name, tree = f"{site.overlay}-storage", self.in_git(tree_folder(site.overlay, "storage"))
        namespaced = [one for one in site.storage_kinds if one is not PERSISTENT_VOLUME]
        allowed = [{"group": one.group, "kind": one.kind} for one in namespaced]
        project = self._project(name, site, f"Storage of the overlay {site.overlay}.", allowed)
        volumes = [f"{namespace}-*" for namespace in site.granted or ()] or ["*"]
        project["spec"]["clusterResourceWhitelist"] = [
            {"group": PERSISTENT_VOLUME.group, "kind": PERSISTENT_VOLUME.kind, "name": volume} for volume in volumes
        ]
        project["metadata"] |= present(annotations=self._subscriptions((SYNC_FAILED,)))
        namespace = _segment(tree, 1)
        template = self._application(
            f"{site.overlay}-storage.{namespace}",
            name,
            path=_FOLDER,
            include=object_files(resource.kind for resource in site.storage_kinds),
            cluster=self.cluster,
            namespace=namespace,
            prune=False,
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

    def _application(
        self,
        name: str,
        project: str,
        *,
        path: str,
        include: str,
        cluster: str,
        namespace: str,
        prune: bool,
        options: tuple[str, ...] = SYNC_OPTIONS,
        ignored: tuple[Body, ...] = (),
    ) -> Body:
        """A folder of the Git repository, and how Argo CD applies it. `include` is a pattern of names of files."""
        annotations = {
            "argocd.argoproj.io/compare-options": COMPARE,
            # Argo CD reads the folder again only after a commit that changes it
            "argocd.argoproj.io/manifest-generate-paths": ".",
        }
        spec = present(
            project=project,
            source={
                "repoURL": self.repo_url,
                "targetRevision": self.revision,
                "path": path,
                # explicit, because a stray file would select another tool
                "directory": {"include": include},
            },
            destination={"name": cluster, "namespace": namespace},
            ignoreDifferences=list(ignored),
            syncPolicy={
                "automated": {"prune": prune, "selfHeal": True},
                "retry": _RETRY,
                "syncOptions": list(options),
            },
        )
        return {"metadata": {"name": name, "labels": {MANAGED_BY: "gen"}, "annotations": annotations}, "spec": spec}

    def _application_set(
        self, name: str, folders: Sequence[str], policy: Body, template: Body, finalizers: Sequence[str] = ()
    ) -> Body:
        directories = [{"path": folder} for folder in folders]
        git = {"repoURL": self.repo_url, "revision": self.revision, "directories": directories}
        spec = {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"git": git}],
            "syncPolicy": policy,
            "template": {
                "metadata": {**template["metadata"], **present(finalizers=list(finalizers))},
                "spec": template["spec"],
            },
        }
        return self._object("ApplicationSet", name, spec)

    def _subscriptions(self, triggers: Sequence[str]) -> dict[str, str]:
        return {
            f"notifications.argoproj.io/subscribe.{trigger}.{service}": recipients
            for trigger in sorted(triggers)
            for service, recipients in sorted(self.notify.items())
        }

    def _object(self, kind: str, name: str, spec: Body) -> Body:
        return self.own_object(f"{_GROUP}/v1alpha1", kind, name, spec)


ENGINE = ArgoCD


def _segment(tree: str, behind: int) -> str:
    """Template expression for the name of the folder that many levels below a tree."""
    return f"{{{{ index .path.segments {tree.count('/') + behind} }}}}"


def _entries(body: Body, field: str) -> list[Body]:
    """Mappings in a list of a project."""
    return as_mappings(at(body, "spec", field))
