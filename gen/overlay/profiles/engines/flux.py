"""Flux: the source, a Kustomization for these objects, one for each job, and one for the storage of each namespace.

One rejected object blocks its whole Kustomization (`ssa/manager_apply.go`), so jobs do not share one, as the
maintainers advise (fluxcd/pkg#293), and none depends on another. Facts about Flux are from its documentation and
source, see `docs/gitops-reference.md`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from gen.base import at
from gen.base.engines import ENGINES, Mark
from gen.base.repository.layout import RENDERED, from_rendered, object_file, rendered_folder, tree_folder
from gen.job.names import ObjectName
from gen.kubernetes.facts.base import Phase
from gen.kubernetes.facts.builtin import DATA, RESOURCE_QUOTA
from gen.kubernetes.objects import MAX_NAME, Body, present
from gen.overlay.profiles.engines.base import (
    Change,
    Engine,
    EngineObject,
    Outcome,
    Site,
    SyncEffect,
    Workload,
    applied,
    removed,
)

_KUSTOMIZE = "kustomize.toolkit.fluxcd.io"
_DISABLED = Mark(key=f"{_KUSTOMIZE}/reconcile", value="disabled", any_case=True, in_labels=True)
_NO_ROOT = "the missing root Kustomization, which adds and removes those of jobs"
_TIMES = {"interval": "10m", "retryInterval": "2m", "timeout": "5m"}
_SOURCE, _KUSTOMIZATION, _ALERT = "GitRepository", "Kustomization", "Alert"
_OVERLAY = "gen/overlay"
"""Label of the Kustomizations of an overlay."""
_NO_FOLDER = "kustomization path not found"
"""In errors of a Kustomization whose folder is not in Git (`kustomization_controller.go`)."""
_DIGITS = 8
_ANY = "[a-z]*"
"""A kind in the name of a file; without one, as in `kustomization.yaml`, a file has a meaning of its own."""


class Flux(Engine):
    """Flux applies the rendered files."""

    namespace: ObjectName = ENGINES["flux"].namespace
    """Namespace of Flux."""
    secret: ObjectName | None = None
    """Secret in that namespace with credentials for the repository."""
    service_account: ObjectName | None = None
    """ServiceAccount in that namespace that applies the files of jobs and storage. [default: the one of Flux, which has
    all permissions]"""
    root_service_account: ObjectName | None = None
    """ServiceAccount in that namespace that applies the objects of Flux itself. It changes sources, Kustomizations and
    alerts in that namespace. [default: the one of Flux]"""
    notify: ObjectName | None = None
    """Provider in that namespace that is notified of objects that could not be applied."""
    # it tries all objects of a Kustomization before it applies the first (`docs/pipelines.md`)
    refuses_definitions: ClassVar[str] = "it checks a version before it creates the Pipeline"

    @classmethod
    def target(cls, body: Body) -> tuple[str, ...] | None:
        if body.get("kind") != _SOURCE:
            return None
        return str(at(body, "spec", "url")), str(at(body, "metadata", "namespace"))

    @classmethod
    def replay(cls, change: Change) -> Outcome:
        facts = ENGINES["flux"]
        # of the object in Git or in the cluster (`shouldSkipApply` of `ssa/manager_apply.go`)
        disabled = next((one for one in (change.after, change.before) if _DISABLED.is_on(one)), None)
        if disabled is not None:
            return Outcome(deed=SyncEffect.LEFT, reason=f"the annotation `{_DISABLED}`")
        if change.after is not None:
            # of either object, and only if the server refuses a dry run (`shouldForceApply`)
            force = any(mark.is_on(one) for mark in facts.force for one in (change.before, change.after))
            if change.before is None and not change.root_stays and not change.owner_stays:
                return Outcome(deed=SyncEffect.LEFT, reason=_NO_ROOT)
            return applied(facts, change, forced=force and change.refused)
        if not change.root_stays and not change.owner_stays:
            # nothing removes its Kustomization, which fails for a folder that is not there
            return Outcome(deed=SyncEffect.LEFT, reason=_NO_ROOT)
        return removed(change, *facts.protection)

    @classmethod
    def folder(cls, body: Body) -> str | None:
        if body.get("kind") != _KUSTOMIZATION:
            return None
        return from_rendered(str(at(body, "spec", "path")))

    @classmethod
    def owner(cls, overlay: str, owned: EngineObject) -> str:
        return (
            _name(overlay, "storage", owned.folder) if owned.stored else _name(overlay, "jobs", owned.folder, owned.job)
        )

    @classmethod
    def marks(cls, owner: str, namespace: str, owned: EngineObject) -> Mapping[str, Mapping[str, str]]:
        # a Kustomization deletes only objects with its own labels (`Inclusions` of `kustomization_controller.go`)
        return {"label": {f"{_KUSTOMIZE}/name": owner, f"{_KUSTOMIZE}/namespace": namespace}}

    @classmethod
    def release(cls, overlay: str, namespace: str, owners: Sequence[str]) -> Iterator[str]:
        """A Kustomization that is suspended deletes nothing, also not when it is deleted itself."""
        yield from _suspend((overlay, *owners), namespace, "true")

    @classmethod
    def go_on(cls, overlay: str, namespace: str, owners: Sequence[str], folder: str) -> Iterator[str]:
        yield from _suspend((overlay,), namespace, "null")
        yield "# the root removes those that are not in Git any more, which are suspended, without their objects"
        yield from _suspend(owners, namespace, "null")

    @classmethod
    def remove(cls, overlay: str, namespace: str) -> Iterator[str]:
        yield "# with the Kustomizations of its jobs and its storage, which are suspended"
        yield f"kubectl delete kustomization {overlay} -n {namespace}"
        yield f"kubectl delete kustomization -l {_OVERLAY}={overlay} -n {namespace}"
        yield f"kubectl delete gitrepository -n {namespace} {overlay}"

    def objects(self, site: Site) -> tuple[Body, ...]:
        storage = (self._storage(site, namespace) for namespace in site.stored)
        alerts = [self._alert(site)] if self.notify else []
        return (self._source(site), self._root(site), *storage, *alerts)

    def objects_of_jobs(self, site: Site) -> tuple[Body, ...]:
        return tuple(self._job(site, *job) for job in site.jobs)

    def _source(self, site: Site) -> Body:
        spec = present(
            interval=f"{ENGINES['flux'].minutes}m",
            url=self.repo_url,
            ref={"branch": self.revision},
            secretRef={"name": self.secret} if self.secret else None,
            # each of these folders must exist, or the source fails and no run is removed; `rendered/` has this file
            sparseCheckout=[self.in_git(RENDERED)],
            ignore=self._ignored(site),
        )
        return self.own_object("source.toolkit.fluxcd.io/v1", _SOURCE, site.overlay, spec)

    def _ignored(self, site: Site) -> str:
        """All files but those that gen writes for the overlay, in the form of `.gitignore`; the last match counts.

        A Kustomization applies every YAML file below its folder. These patterns are behind those of `.sourceignore`
        files in the repository, so no file there can hide others (`fluxcd/pkg/sourceignore`).

        They are the same for all jobs and volumes. Otherwise the first job of a kind changes the source, and a second
        artifact of the same commit replaces the first. A Kustomization that has applied the first one ignores the
        second until its interval. One that reads the second too early finds an unknown digest, and waits for its
        `retryInterval` (`requestsForRevisionChangeOf` of the kustomize-controller).
        """
        trees = {
            rendered_folder(site.overlay, "bundle", "flux"): (_SOURCE, _KUSTOMIZATION, _ALERT),
            f"{tree_folder(site.overlay, 'storage')}/*": [one.kind for one in (*DATA, RESOURCE_QUOTA)],
            f"{tree_folder(site.overlay, 'jobs')}/*/*": (_ANY,),
        }
        lines = ["/*"]
        for folder, kinds in trees.items():
            lines += [f"!/{self.in_git(folder)}/{object_file(kind, '*')}" for kind in sorted(kinds)]
            # a pattern also matches the files below a folder of that name
            lines.append(f"/{self.in_git(folder)}/*/*")
        return "".join(f"{line}\n" for line in lines)

    def _root(self, site: Site) -> Body:
        """It applies the bundle, so that jobs and volumes come and go without anybody applying it again.

        When the Kustomization of a job is pruned, Flux removes its runs. When this one is removed, everything else
        stays.
        """
        spec = present(prune=True, deletionPolicy="Orphan", serviceAccountName=self.root_service_account)
        return self._kustomization(site, site.overlay, rendered_folder(site.overlay, "bundle", "flux"), spec)

    def _storage(self, site: Site, namespace: str) -> Body:
        """It never removes an applied object, even when it is removed itself."""
        spec = present(
            prune=False, deletionPolicy="Orphan", targetNamespace=namespace, serviceAccountName=self.service_account
        )
        folder = tree_folder(site.overlay, "storage", namespace)
        return self._kustomization(site, _name(site.overlay, "storage", namespace), folder, spec)

    def _job(self, site: Site, namespace: str, job: str) -> Body:
        own = (workload for workload in site.workloads if str(workload.resource) in site.jobs[namespace, job])
        spec = present(
            prune=True,
            targetNamespace=namespace,
            serviceAccountName=self.service_account,
            healthCheckExprs=[health_check(workload) for workload in own if workload.needs_health_check],
        )
        folder = f"{tree_folder(site.overlay, 'jobs', namespace)}/{job}"
        return self._kustomization(site, _name(site.overlay, "jobs", namespace, job), folder, spec)

    def _kustomization(self, site: Site, name: str, folder: str, spec: Body) -> Body:
        # waiting for a run to end would block every later commit; `force` would delete objects that it cannot change
        common = {
            "sourceRef": {"kind": _SOURCE, "name": site.overlay},
            "path": f"./{self.in_git(folder)}",
            "wait": False,
            "force": False,
        }
        body = self.own_object(f"{_KUSTOMIZE}/v1", _KUSTOMIZATION, name, {**_TIMES, **common, **spec})
        body["metadata"]["labels"][_OVERLAY] = site.overlay
        return body

    def _alert(self, site: Site) -> Body:
        every = {"kind": _KUSTOMIZATION, "name": "*", "matchLabels": {_OVERLAY: site.overlay}}
        spec = {
            "providerRef": {"name": self.notify},
            "eventSeverity": "error",
            "eventSources": [{"kind": _SOURCE, "name": site.overlay}, every],
            # of a removed job, until the root removes its Kustomization
            "exclusionList": [_NO_FOLDER],
        }
        return self.own_object("notification.toolkit.fluxcd.io/v1beta3", _ALERT, site.overlay, spec)


ENGINE = Flux


def _name(*parts: str) -> str:
    """A name of a Kustomization. It is the value of a label of each of its objects."""
    name = ".".join(parts)
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    return f"{name[: MAX_NAME - _DIGITS - 1].rstrip('.-')}-{digest}"


def _suspend(names: Iterable[str], namespace: str, value: str) -> Iterator[str]:
    for name in names:
        patch = f'{{"spec": {{"suspend": {value}}}}}'
        yield f"kubectl patch kustomization {name} -n {namespace} --type=merge -p '{patch}'"


def health_check(workload: Workload) -> Body:
    """CEL over the top-level fields. It fails until the object has a status, which means "not ready yet" to Flux."""
    status = workload.resource.status
    assert status is not None  # `needs_health_check`
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
