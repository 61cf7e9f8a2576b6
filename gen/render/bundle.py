"""The stage that renders the objects of GitOps engines, once for each overlay that names an engine.

The objects depend only on the overlay and on the objects that are rendered for it. Patches do not apply to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gen.base import Findings, Location
from gen.base.codes.jobs import NAME_TOO_LONG
from gen.base.containment import contained
from gen.base.repository.layout import RenderedPath, overlay_file, settings_file
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import CONFIG_MAP, DATA, DEPLOYMENT, INGRESS, RESOURCE_QUOTA, SERVICE
from gen.kubernetes.objects import MAX_NAME
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import Site, Workload
from gen.render.check import check_manifests
from gen.render.emit import emit, emit_file
from gen.render.manifest import File, Manifest, PatchedObjects, SealedObjects
from gen.render.patch.provenance import Provenance
from gen.render.results import RenderedJob, RenderedOverlay
from gen.render.starters import STARTERS


def render_bundles(
    overlays: Sequence[Overlay],
    jobs: Sequence[RenderedJob],
    storage: Sequence[RenderedOverlay],
    found: Findings,
    *,
    whole: bool = True,
) -> list[RenderedOverlay]:
    """The bundles of all overlays, for their rendered jobs and storage; if not `whole`, only what belongs to jobs."""
    bundles: list[RenderedOverlay] = []
    for overlay in overlays:
        if overlay.fields.gitops is None:
            continue
        own = [job for job in jobs if job.overlay == overlay.name]
        stored = [file.path for one in storage if one.overlay == overlay.name for file in one.files]
        with contained(found, Location(overlay_file(overlay.name)), "render the objects of GitOps engines"):
            bundles += _bundle(overlay, site_of(overlay, own, stored), found, whole=whole)
    return bundles


def _bundle(overlay: Overlay, site: Site, found: Findings, *, whole: bool) -> Iterator[RenderedOverlay]:
    """The bundle of an overlay, unless it has an error."""
    manifests = tuple(_manifests(overlay, site, found, whole=whole))
    patched = PatchedObjects(manifests, manifests, tuple(Provenance() for _ in manifests), frozenset())
    valid = check_manifests(patched, overlay.kinds, found)
    if valid is not None:
        settings = _settings(overlay, site) if whole else ()
        files = (*emit(SealedObjects(valid.manifests), overlay.name), *settings)
        yield RenderedOverlay(overlay=overlay.name, files=files, matched=frozenset())


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
        jobs=_jobs(jobs),
        storage_kinds=(*DATA, *([RESOURCE_QUOTA] if limited else [])),
        stored=tuple(sorted({RenderedPath.parse(path).namespace for path in storage})),
        queues=overlay.suspends_runs,
        workloads=tuple(workload for _, workload in sorted(workloads.items())),
        kinds=tuple(sorted(kinds)),
    )


def _jobs(jobs: Sequence[RenderedJob]) -> dict[tuple[str, str], frozenset[str]]:
    """By the folders of their files. The runs of a sweep share one."""
    found: dict[tuple[str, str], set[str]] = {}
    for job in jobs:
        for file in job.files[:1]:
            path = RenderedPath.parse(file.path)
            found.setdefault((path.namespace, path.job), set()).update(job.kinds)
    return {key: frozenset(kinds) for key, kinds in sorted(found.items())}


def _companions(overlay: Overlay) -> Iterator[tuple[str, str]]:
    """Kinds of objects that jobs of every kind can have. All are named: an engine only prunes what it permits."""
    yield from (CONFIG_MAP.key, SERVICE.key, DEPLOYMENT.key)
    yield from (one.key for queue in overlay.granted_queues for one in queue.companions)
    yield from (one.key for device in overlay.accelerators.values() for one in device.profile.companions)
    yield from (key for starter in STARTERS for key in starter.permitted(overlay))
    if overlay.fields.tensorboard.ingress is not None:
        yield INGRESS.key


def _workloads(overlay: Overlay, rendered: set[str]) -> dict[tuple[str, str], Workload]:
    """Kinds of runs that the overlay's jobs have, or that it permits by `operators` or by a grant for searches."""
    operators = overlay.fields.operators
    around = {one.resource.key: one for starter in STARTERS for one in starter.health(overlay, rendered)}
    return around | {
        job.facts.key: Workload(api_version=_api_version(job.facts, operators.get(kind)), resource=job.facts)
        for kind, job in ALL_KINDS.items()
        if kind in operators or str(job.facts) in rendered
    }


def _api_version(facts: Resource, served: str | None) -> str:
    return facts.api_version(served or facts.served[0])


def _group_and_kind(text: str) -> tuple[str, str]:
    group, _, kind = text.rpartition("/")
    return group, kind


def _manifests(overlay: Overlay, site: Site, found: Findings, *, whole: bool) -> Iterator[Manifest]:
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        bodies = (*(engine.objects(site) if whole else ()), *engine.objects_of_jobs(site))
        longest = max((body["metadata"]["name"] for body in bodies), key=len, default="")
        if len(longest) > MAX_NAME:  # engines use the names of their objects as label values
            hint = "shorten the name of the overlay"
            found.error(NAME_TOO_LONG, place, f"`{longest}` is longer than {MAX_NAME}", hint)
        for body in bodies:
            name = body["metadata"]["name"]
            yield Manifest(body=body, name=name, source=place, folder=key, tree="bundle", file=engine.file(body))


def _settings(overlay: Overlay, site: Site) -> Iterator[File]:
    """Merge patches of the settings of the engines."""
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        for one in engine.settings(site):
            identity = f"settings of {key} in ConfigMap {one.config_map}"
            yield emit_file(settings_file(key, overlay.name, one.config_map), {"data": dict(one.data)}, place, identity)
