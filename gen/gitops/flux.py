"""Flux: the source, a Kustomization for storage, and one for the jobs of each namespace.

One rejected object blocks its whole Kustomization (`ssa/manager_apply.go`), so namespaces do not share one. Facts about
Flux are from its documentation and source, see `docs/gitops.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.gitops.base import Engine, Site, Workload
from gen.kubernetes import MANAGED_BY, Body, present
from gen.model.names import ObjectName
from gen.repository.layout import rendered_path, tree_folder

if TYPE_CHECKING:
    from gen.resources.base import Phase

_KUSTOMIZE = "kustomize.toolkit.fluxcd.io"
_TIMES = {"interval": "10m", "retryInterval": "2m", "timeout": "5m"}


class Flux(Engine):
    """Flux applies the rendered files."""

    namespace: ObjectName = "flux-system"
    """Namespace of Flux."""
    secret: ObjectName | None = None
    """Secret in that namespace with credentials for the repository."""
    service_account: ObjectName | None = None
    """ServiceAccount in that namespace that applies the files. [default: the one of Flux, which has all permissions]"""
    notify: ObjectName | None = None
    """Provider in that namespace that is notified of objects that could not be applied."""

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
        """It never removes an applied object, even when it is removed itself."""
        spec = {"prune": False, "deletionPolicy": "Orphan"}
        return self._kustomization(site, _storage_name(site), self.in_git(tree_folder(site.overlay, "storage")), spec)

    def _jobs(self, site: Site, namespace: str) -> Body:
        spec = present(
            prune=True,
            targetNamespace=namespace,
            dependsOn=[{"name": _storage_name(site)}] if site.storage else None,
            healthCheckExprs=[_health(workload) for workload in site.workloads if workload.needs_health_check],
        )
        path = self.in_git(tree_folder(site.overlay, "jobs", namespace))
        return self._kustomization(site, f"{site.overlay}.jobs.{namespace}", path, spec)

    def _kustomization(self, site: Site, name: str, path: str, spec: Body) -> Body:
        # waiting for a run to end would block every later commit; `force` would delete objects that it cannot change
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
    """CEL over the top-level fields. It fails until the object has a status, which means "not ready yet" to Flux."""
    status = workload.resource.status
    assert status is not None  # noqa: S101 - `needs_health_check`
    return {
        "apiVersion": workload.api_version,
        "kind": workload.resource.kind,
        "failed": _holds(status.failed),
        "current": _holds(status.succeeded),
    }


def _holds(sign: str | tuple[Phase, ...]) -> str:
    """An expression that is true if a condition, or one of several phases, holds."""
    if isinstance(sign, str):
        return f"status.conditions.exists(c, c.type == '{sign}' && c.status == 'True')"
    return " || ".join(_in_phase(phase) for phase in sign)


def _in_phase(phase: Phase) -> str:
    steps = range(2, len(phase.field) + 1)
    present = [f"has({'.'.join(phase.field[:end])})" for end in steps]
    values = ", ".join(f"'{value}'" for value in phase.values)
    return "(" + " && ".join([*present, f"{'.'.join(phase.field)} in [{values}]"]) + ")"
