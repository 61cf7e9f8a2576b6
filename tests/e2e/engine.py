"""A model of Argo CD that follows the rules of its documentation.

ApplicationSets find folders and make an Application of each, as their `syncPolicy` lets them. An Application applies
its files server-side where the server's own diff sees a difference, and creates again what is missing. Before that, it
prunes what bears its tracking annotation and has no file, unless the object in the cluster says `Prune=false`
(`runTasks` in `gitops-engine/pkg/sync/sync_context.go`). A file with the hook `Skip` is a target that is never applied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import yaml

from tests.overlay.profiles.engines.project import permitted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

TRACKING = "argocd.argoproj.io/tracking-id"
HOOK = "argocd.argoproj.io/hook"
OPTIONS = "argocd.argoproj.io/sync-options"
MANAGER = "argocd-controller"
OWN = {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}


@dataclass(frozen=True, slots=True)
class Application:
    """One folder of the repository, and how it is to be applied."""

    name: str
    folder: str
    spec: Body
    cascade: bool
    """Whether its objects go when it goes."""


@dataclass
class Engine:
    """Argo CD over one repository and one cluster."""

    root: Path
    cluster: Cluster
    applications: dict[str, Application] = field(default_factory=dict)

    def sync(self) -> list[str]:
        """Synchronize everything with Git, like a webhook or the next interval. Returns the actions in order."""
        done: list[str] = []
        for path in sorted(self.root.glob("rendered/argocd/*/applications/applicationset-*.yaml")):
            done += self._generate(yaml.safe_load(path.read_text("utf-8")))
        for application in list(self.applications.values()):
            done += self._sync(application)
        return done

    def _generate(self, body: Body) -> Iterator[str]:
        """Create, and if the policy lets it delete, the Applications of a set."""
        spec, owner = body["spec"], body["metadata"]["name"]
        found = {application.name: application for application in self._found(spec)}
        gone = [a for a in self.applications.values() if a.spec["project"] == owner and a.name not in found]
        if spec["syncPolicy"]["applicationsSync"] in {"sync", "create-delete"}:
            for application in gone:
                del self.applications[application.name]
                if application.cascade and not spec["syncPolicy"].get("preserveResourcesOnDeletion"):
                    yield from self._delete_all(application)
        self.applications |= found

    def _found(self, spec: Body) -> Iterator[Application]:
        template = spec["template"]
        cascade = bool(template["metadata"].get("finalizers"))
        for entry in spec["generators"][0]["git"]["directories"]:
            for folder in sorted(self.root.glob(entry["path"])):
                path = folder.relative_to(self.root).as_posix()
                yield Application(_filled(template["metadata"]["name"], path), path, template["spec"], cascade)

    def _sync(self, application: Application) -> Iterator[str]:
        targets = list(self._targets(application))
        for body in targets:
            assert permitted(self._project(application), body), f"{application.spec['project']} does not permit {body}"
        if application.spec["syncPolicy"]["automated"]["prune"]:
            yield from self._prune(application, {_identity(body) for body in targets})
        for body in targets:
            if body["metadata"].get("annotations", {}).get(HOOK) != "Skip" and self._differs(application, body):
                yield self._apply(application, body)

    def _targets(self, application: Application) -> Iterator[Body]:
        include = application.spec["source"]["directory"]["include"]
        kinds = re.findall(r"[a-z]+", include.partition("}")[0])
        for path in sorted((self.root / application.folder).glob("*")):
            if any(fnmatchcase(path.name, f"{kind}-*.yaml") for kind in kinds):
                yield yaml.safe_load(path.read_text("utf-8"))

    def _differs(self, application: Application, body: Body) -> bool:
        """`ServerSideDiff=true`: the object after an apply, against the live one."""
        live = self.cluster.client.get(self.cluster.path(body))
        if live.status == 404:
            return True
        predicted = self._send(application, body, dryRun="All")
        return _content(predicted) != _content(live.body)

    def _apply(self, application: Application, body: Body) -> str:
        before = self.cluster.client.get(self.cluster.path(body)).status
        self._send(application, body)
        return f"{'created' if before == 404 else 'changed'} {_identity(body)}"

    def _send(self, application: Application, body: Body, **query: str) -> Body:
        group = body["apiVersion"].rpartition("/")[0]
        namespace = body["metadata"].get("namespace", "")
        name = f"{application.name}:{group}/{body['kind']}:{namespace}/{body['metadata']['name']}"
        annotations = {**body["metadata"].get("annotations", {}), TRACKING: name}
        tracked = {**body, "metadata": {**body["metadata"], "annotations": annotations}}
        response = self.cluster.client.apply(
            self.cluster.path(body), tracked, fieldManager=MANAGER, force="true", fieldValidation="Strict", **query
        )
        assert response.status in {200, 201}, response.message
        return response.body

    def _prune(self, application: Application, kept: set[str]) -> Iterator[str]:
        for body in self._tracked(application):
            options = body["metadata"]["annotations"].get(OPTIONS, "").split(",")
            if _identity(body) not in kept and "Prune=false" not in options:
                yield self._delete(body)

    def _delete_all(self, application: Application) -> Iterator[str]:
        for body in self._tracked(application):
            if "Delete=false" not in body["metadata"]["annotations"].get(OPTIONS, "").split(","):
                yield self._delete(body)

    def _delete(self, body: Body) -> str:
        assert self.cluster.client.delete(self.cluster.path(body)).status in {200, 202}
        return f"pruned {_identity(body)}"

    def _tracked(self, application: Application) -> Iterator[Body]:
        """Objects in the cluster that the Application once applied and that are not being deleted."""
        spec = self._project(application)["spec"]
        namespace = application.folder.split("/")[3]
        for allowed in (*spec["namespaceResourceWhitelist"], *spec.get("clusterResourceWhitelist", ())):
            for body in self.cluster.live(allowed["group"], allowed["kind"], namespace):
                mark = body["metadata"].get("annotations", {}).get(TRACKING, "")
                if mark.split(":")[0] == application.name and "deletionTimestamp" not in body["metadata"]:
                    yield body

    def _project(self, application: Application) -> Body:
        (path,) = self.root.glob(f"rendered/argocd/*/appproject-{application.spec['project']}.yaml")
        project: Body = yaml.safe_load(path.read_text("utf-8"))
        return project


def _filled(template: str, path: str) -> str:
    return re.sub(r"\{\{ index \.path\.segments (\d+) \}\}", lambda match: path.split("/")[int(match[1])], template)


def _identity(body: Body) -> str:
    return f"{body['kind']} {body['metadata']['name']}"


def _content(body: Body) -> Body:
    metadata = {key: value for key, value in body["metadata"].items() if key not in OWN}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}
