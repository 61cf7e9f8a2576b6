"""Flux: the source, a Kustomization for storage, and one for the jobs of each namespace.

One object that is refused holds up everything in its Kustomization (`ssa/manager_apply.go`), so namespaces do not share
one. Facts about Flux are from its documentation and source, see `docs/gitops.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.gitops.base import Engine, Site, Workload
from gen.kubernetes import MANAGED_BY, Body, present
from gen.model.names import ObjectName
from gen.repository.layout import rendered_path, tree_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_KUSTOMIZE = "kustomize.toolkit.fluxcd.io"
_TIMES = {"interval": "10m", "retryInterval": "2m", "timeout": "5m"}


class Flux(Engine):
    """Flux applies the rendered files."""

    protection: ClassVar[Mapping[str, str]] = {f"{_KUSTOMIZE}/prune": "disabled"}

    namespace: ObjectName = "flux-system"
    """Namespace of Flux."""
    secret: ObjectName | None = None
    """Secret of that namespace with credentials for the repository."""
    service_account: ObjectName | None = None
    """ServiceAccount of that namespace that applies the files; Flux's own, which may do anything, when left out."""
    notify: ObjectName | None = None
    """Provider of that namespace that is told what could not be applied."""

    @classmethod
    def lifecycle(cls, state: str, *, settled: bool) -> Mapping[str, str]:
        if state == "finished":
            return {f"{_KUSTOMIZE}/ssa": "Ignore"}
        # not where Git may still change the object: Flux leaves one that is there alone, whatever Git says, so a run
        # could be neither suspended nor resumed (`ssa/manager_apply.go`, `shouldSkipApply`)
        return {f"{_KUSTOMIZE}/ssa": "IfNotPresent"} if settled else {}

    def objects(self, site: Site) -> tuple[Body, ...]:
        kustomizations = [self._jobs(site, namespace) for namespace in site.namespaces]
        if site.storage:
            kustomizations.append(self._storage(site))
        alerts = [self._alert(site, kustomizations)] if self.notify and kustomizations else []
        return (self._source(site), *kustomizations, *alerts)

    def _source(self, site: Site) -> Body:
        spec = present(
            interval="5m",
            url=self.repo_url,
            ref={"branch": self.revision},
            secretRef={"name": self.secret} if self.secret else None,
            sparseCheckout=[self.in_git(rendered_path(site.overlay))],
        )
        return self._object("source.toolkit.fluxcd.io/v1", "GitRepository", site.overlay, spec)

    def _storage(self, site: Site) -> Body:
        """Nothing that it once applied is ever removed by it, not even when it is removed itself."""
        spec = {"prune": False, "deletionPolicy": "Orphan"}
        return self._kustomization(site, _storage_name(site), self.in_git(tree_folder(site.overlay, "storage")), spec)

    def _jobs(self, site: Site, namespace: str) -> Body:
        spec = present(
            prune=True,
            targetNamespace=namespace,
            dependsOn=[{"name": _storage_name(site)}] if site.storage else None,
            healthCheckExprs=[_health(workload) for workload in site.workloads if not workload.known],
        )
        path = self.in_git(tree_folder(site.overlay, "jobs", namespace))
        return self._kustomization(site, f"{site.overlay}.jobs.{namespace}", path, spec)

    def _kustomization(self, site: Site, name: str, path: str, spec: Body) -> Body:
        # waiting for a run to end would hold up every later commit; `force` would delete what it cannot change
        common = present(
            sourceRef={"kind": "GitRepository", "name": site.overlay},
            path=f"./{path}",
            serviceAccountName=self.service_account,
            wait=False,
            force=False,
        )
        return self._object(f"{_KUSTOMIZE}/v1", "Kustomization", name, {**_TIMES, **common, **spec})

    def _alert(self, site: Site, kustomizations: list[Body]) -> Body:
        sources = [{"kind": one["kind"], "name": one["metadata"]["name"]} for one in kustomizations]
        spec = {
            "providerRef": {"name": self.notify},
            "eventSeverity": "error",
            "eventSources": [{"kind": "GitRepository", "name": site.overlay}, *sources],
        }
        return self._object("notification.toolkit.fluxcd.io/v1beta3", "Alert", site.overlay, spec)

    def _object(self, api_version: str, kind: str, name: str, spec: Body) -> Body:
        metadata = {"name": name, "namespace": self.namespace, "labels": {MANAGED_BY: "gen"}}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


ENGINE = Flux


def _storage_name(site: Site) -> str:
    return f"{site.overlay}.storage"


def _health(workload: Workload) -> Body:
    """CEL over the object's top-level fields. Until there is a status it fails, which Flux takes for not yet ready."""

    def holds(condition: str) -> str:
        return f"status.conditions.exists(c, c.type == '{condition}' && c.status == 'True')"

    return {
        "apiVersion": workload.api_version,
        "kind": workload.kind,
        "failed": holds(workload.failed),
        "current": holds(workload.succeeded),
    }
