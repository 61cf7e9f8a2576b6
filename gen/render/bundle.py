"""The stage that renders the objects of GitOps engines, once for each overlay that names an engine.

The objects depend only on the overlay and on the objects that are rendered for it. Patches do not apply to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.jobs import NAME_TOO_LONG
from gen.gitops.base import Site, Workload
from gen.kinds import KINDS
from gen.kubernetes import MAX_NAME
from gen.render.check import check_manifests
from gen.render.emit import emit, emitted
from gen.render.manifest import Manifest, Patched
from gen.render.patch.provenance import Provenance
from gen.render.results import RenderedOverlay
from gen.render.seal import unsealed
from gen.repository.layout import RenderedPath, settings_file
from gen.resources.apps import DEPLOYMENT
from gen.resources.argo import CRON_WORKFLOW, WORKFLOW
from gen.resources.core import CONFIG_MAP, DATA, INGRESS, RESOURCE_QUOTA, SERVICE
from gen.resources.katib import EXPERIMENT
from gen.resources.kfp import PIPELINE, PIPELINE_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.manifest import File
    from gen.render.results import RenderedJob
    from gen.resources.base import Resource


def render_bundles(
    overlays: Sequence[Overlay], jobs: Sequence[RenderedJob], storage: Sequence[RenderedOverlay], found: Findings
) -> list[RenderedOverlay]:
    """The bundles of all overlays, for their rendered jobs and storage."""
    bundles = []
    for overlay in overlays:
        if overlay.fields.gitops is None:
            continue
        own = [job for job in jobs if job.overlay == overlay.name]
        stored = [file.path for one in storage if one.overlay == overlay.name for file in one.files]
        site = site_of(overlay, own, stored)
        manifests = tuple(_manifests(overlay, site, found))
        patched = Patched(manifests, manifests, tuple(Provenance() for _ in manifests), frozenset())
        valid = check_manifests(patched, overlay.kinds, found)
        if valid is not None:
            files = (*emit(unsealed(valid), overlay.name), *_settings(overlay, site))
            bundles.append(RenderedOverlay(overlay=overlay.name, files=files, matched=frozenset()))
    return bundles


def site_of(overlay: Overlay, jobs: Sequence[RenderedJob], storage: Sequence[str]) -> Site:
    """The overlay as its engines see it; `storage` has the paths of its storage files.

    Kinds that no job uses are absent unless `operators` lists them, so another version of gen changes no bundle.
    """
    fields = overlay.fields
    named = fields.namespaces.keys()
    rendered = {kind for job in jobs for kind in job.kinds}
    workloads = _workloads(overlay, rendered)
    limited = any(grant.resource_quota for grant in fields.namespaces.values())
    kinds = {*_companions(overlay), *workloads, *(_group_and_kind(kind) for kind in rendered)}
    return Site(
        overlay=overlay.name,
        granted=None if not named or "*" in named else tuple(sorted(named)),
        namespaces=tuple(sorted({job.namespace for job in jobs})),
        storage_kinds=(*DATA, *([RESOURCE_QUOTA] if limited else [])),
        stored=tuple(sorted({RenderedPath.parse(path).namespace for path in storage})),
        queues=overlay.suspends_runs,
        workloads=tuple(workload for _, workload in sorted(workloads.items())),
        kinds=tuple(sorted(kinds)),
    )


def _companions(overlay: Overlay) -> Iterator[tuple[str, str]]:
    """Kinds of objects that a job of any kind can have. Named always, because an engine only prunes what it permits."""
    yield from (CONFIG_MAP.key, SERVICE.key, DEPLOYMENT.key)
    yield from (one.key for queue in overlay.granted_queues for one in queue.companions)
    yield from (one.key for device in overlay.accelerators.values() for one in device.profile.companions)
    listed = [KINDS[kind].facts.scheduled_by for kind in overlay.fields.operators if kind in KINDS]
    yield from (schedule.key for schedule in listed if schedule is not None and not schedule.is_workflow)
    if overlay.argo is not None:
        yield from (WORKFLOW.key, CRON_WORKFLOW.key)
    if overlay.fields.pipelines is not None and overlay.fields.pipelines.kfp is not None:
        yield from (PIPELINE.key, PIPELINE_VERSION.key)
    if overlay.fields.tensorboard.ingress is not None:
        yield INGRESS.key


def _workloads(overlay: Overlay, rendered: set[str]) -> dict[tuple[str, str], Workload]:
    """Kinds of runs that the overlay's jobs have, or that it permits by `operators` or by a grant for searches."""
    operators = overlay.fields.operators
    searches = {EXPERIMENT.key: Workload(api_version=_api_version(EXPERIMENT, None), resource=EXPERIMENT)}
    searching = str(EXPERIMENT) in rendered or any(grant.search for grant in overlay.fields.namespaces.values())
    return (searches if searching else {}) | {
        job.facts.key: Workload(api_version=_api_version(job.facts, operators.get(kind)), resource=job.facts)
        for kind, job in KINDS.items()
        if kind in operators or str(job.facts) in rendered
    }


def _api_version(facts: Resource, served: str | None) -> str:
    return facts.api_version(served or facts.served[0])


def _group_and_kind(text: str) -> tuple[str, str]:
    group, _, kind = text.rpartition("/")
    return group, kind


def _manifests(overlay: Overlay, site: Site, found: Findings) -> Iterator[Manifest]:
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        for body in engine.objects(site):
            name = body["metadata"]["name"]
            if len(name) > MAX_NAME:  # engines use the names of their objects as label values
                hint = "shorten the name of the overlay or of the namespace"
                found.error(NAME_TOO_LONG, place, f"`{name}` is longer than {MAX_NAME}", hint)
            yield Manifest(body=body, name=name, source=place, folder=key, tree="bundle", file=engine.file(body))


def _settings(overlay: Overlay, site: Site) -> Iterator[File]:
    """Merge patches of the settings of the engines."""
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        for one in engine.settings(site):
            identity = f"settings of {key} in ConfigMap {one.config_map}"
            yield emitted(settings_file(key, overlay.name, one.config_map), {"data": dict(one.data)}, place, identity)
