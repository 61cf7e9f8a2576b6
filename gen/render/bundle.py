"""The stage that renders what GitOps engines need of their own, once for each overlay that names an engine.

The objects are a function of the overlay and of what was rendered for it. Patches do not reach them: they are for what
runs in the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.gitops import Site, Workload
from gen.kinds import KINDS
from gen.kubernetes import MAX_NAME
from gen.render.emit import emit
from gen.render.manifest import Manifest, Patched
from gen.render.patch.provenance import Provenance
from gen.render.results import RenderedOverlay
from gen.render.seal import unsealed
from gen.render.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.results import RenderedJob

_OF_JOBS = (("", "ConfigMap"), ("", "Service"), ("apps", "Deployment"))
"""Group and kind of what a job may have beside its workload."""
_INGRESS = ("networking.k8s.io", "Ingress")


def render_bundles(
    overlays: Sequence[Overlay], jobs: Sequence[RenderedJob], storage: Sequence[RenderedOverlay], found: Findings
) -> list[RenderedOverlay]:
    """The bundles of all overlays, for their rendered jobs and storage."""
    bundles = []
    for overlay in overlays:
        if overlay.fields.gitops is None:
            continue
        own = [job for job in jobs if job.overlay == overlay.name]
        stored = any(one.files for one in storage if one.overlay == overlay.name)
        manifests = tuple(_manifests(overlay, site_of(overlay, own, storage=stored), found))
        patched = Patched(manifests, manifests, tuple(Provenance() for _ in manifests), frozenset())
        valid = validate(patched, overlay.kinds, found)
        if valid is not None:
            bundles.append(
                RenderedOverlay(
                    overlay=overlay.name, files=tuple(emit(unsealed(valid), overlay.name)), matched=frozenset()
                )
            )
    return bundles


def site_of(overlay: Overlay, jobs: Sequence[RenderedJob], *, storage: bool) -> Site:
    fields = overlay.fields
    named = fields.namespaces.keys()
    versions = {kind: fields.operators.get(kind, next(iter(job.api_versions))) for kind, job in KINDS.items()}
    workloads = [_workload(kind, version) for kind, version in versions.items()]
    ingress = [_INGRESS] if fields.tensorboard.ingress else []
    return Site(
        overlay=overlay.name,
        granted=None if not named or "*" in named else tuple(sorted(named)),
        namespaces=tuple(sorted({job.namespace for job in jobs})),
        storage=storage,
        queues=any(grant.queues for grant in fields.namespaces.values()),
        workloads=tuple(sorted(workloads, key=lambda workload: workload.kind)),
        kinds=tuple(sorted({*_OF_JOBS, *ingress, *((workload.group, workload.kind) for workload in workloads)})),
    )


def _workload(kind: str, version: str) -> Workload:
    job = KINDS[kind]
    says = job.conditions
    return Workload(
        api_version=version,
        kind=job.resource,
        suspend=job.suspend,
        templates=job.templates,
        succeeded=says.succeeded,
        failed=says.failed,
        suspended=says.suspended,
        known=says.known,
    )


def _manifests(overlay: Overlay, site: Site, found: Findings) -> Iterator[Manifest]:
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        for body in engine.objects(site):
            name = body["metadata"]["name"]
            if len(name) > MAX_NAME:  # engines put the names of their objects into labels
                hint = "shorten the name of the overlay or of the namespace"
                found.error("name-too-long", place, f"`{name}` is longer than {MAX_NAME}", hint)
            yield Manifest(body=body, name=name, source=place, folder=key, tree="bundle")
