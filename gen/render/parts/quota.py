"""Quotas of namespaces for GPUs and pods: their checks, and ResourceQuotas, so that the API server counts them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Findings, Location, counted
from gen.base.codes.grants import OVER_QUOTA
from gen.base.repository.layout import job_key
from gen.base.yaml.source import Source
from gen.kubernetes.facts.builtin import RESOURCE_QUOTA, in_quota
from gen.overlay.overlay import Overlay
from gen.render.parts.metadata import storage_metadata
from gen.render.results import File, Manifest, OverQuota, RenderedJob

_NOUNS: Final = {"gpus": "GPUs", "pods": "pods"}
"""Fields of `namespaces.<namespace>` that are quotas, with the noun for their units."""
GPUS: Final = ("gpus",)
PODS: Final = ("pods",)
_QUOTA = "gen"
"""Name of the ResourceQuota of a namespace."""
Quota = tuple[str, ...]
"""Route of a quota below `namespaces.<namespace>`: `gpus`, `pods`, or `accelerators` and a name."""
Requested = Counter[tuple[str, str, Quota]]
"""Requests of active jobs, by overlay, namespace and quota."""


def quotas(overlay: Overlay, namespace: str) -> dict[Quota, int]:
    """Quotas of a namespace; without those that have no limit."""
    grant = overlay.grant(namespace)
    if grant is None:
        return {}
    limits: dict[Quota, int] = {(field,): limit for field in _NOUNS if (limit := getattr(grant, field)) is not None}
    named = grant.accelerators if isinstance(grant.accelerators, dict) else {}
    return {**limits, **{("accelerators", name): limit for name, limit in named.items()}}


def add_request(requested: Requested, place: tuple[str, str], gpus: int, pods: int, named: Mapping[str, int]) -> None:
    """Count GPUs and pods for an overlay and namespace; `named` has the GPUs by accelerator."""
    requested[*place, GPUS] += gpus
    requested[*place, PODS] += pods
    for name, count in named.items():
        requested[*place, ("accelerators", name)] += count


def requested_by(jobs: Iterable[RenderedJob]) -> Requested:
    """Requests of the jobs while they are active."""
    requested: Requested = Counter()
    for job in jobs:
        add_request(requested, (job.overlay, job.namespace), job.gpus, job.pods, job.accelerators)
    return requested


class Share(Struct, frozen=True, kw_only=True):
    """What one job requests of a quota."""

    name: str
    amount: int
    place: Location | None = None
    """Where a job that changed asks for it; None for a job that is in `rendered/` as it is."""


Shares = Callable[[str, str, Quota], Sequence[Share]]
"""The shares of an overlay, a namespace and a quota, which are looked for if the quota is exceeded."""
_MOST_SHARES: Final = 5
"""Jobs in a finding, the largest first."""


class _Excess(Struct, frozen=True, kw_only=True):
    """A quota that is exceeded."""

    key: tuple[str, str, Quota]
    amount: int
    message: str
    place: Location
    """Place of the quota in the overlay."""
    field: str
    """Field of the quota, for the remedy."""


def _exceeded(
    requested: Mapping[tuple[str, str, Quota], int], overlays: Iterable[Overlay], verb: str = "requests"
) -> Iterator[_Excess]:
    """The quotas of namespaces that request more than that."""
    by_name = {overlay.name: overlay for overlay in overlays}
    for (name, namespace, quota), amount in sorted(requested.items()):
        overlay = by_name.get(name)
        limit = quotas(overlay, namespace).get(quota) if overlay is not None else None
        if overlay is not None and limit is not None and amount > limit:
            key = namespace if namespace in overlay.fields.namespaces else "*"
            noun = _NOUNS.get(quota[0]) or f"GPUs of accelerator `{quota[1]}`"
            message = f"namespace `{namespace}` {verb} {amount} {noun} in overlay `{name}`; its quota is {limit}"
            place = overlay.place("namespaces", key, *quota)
            full = name, namespace, quota
            yield _Excess(key=full, amount=amount, message=message, place=place, field=".".join(quota))


def summed(shares: Iterable[Share]) -> list[Share]:
    """One share for each job, over its runs. A job is at the place of its first run that changed."""
    found: dict[str, Share] = {}
    for one in shares:
        known = found.setdefault(one.name, Share(name=one.name, amount=0))
        found[one.name] = Share(name=one.name, amount=known.amount + one.amount, place=known.place or one.place)
    return [one for one in found.values() if one.amount]


def shares_of(jobs: Iterable[RenderedJob], place: Callable[[File, Quota], Location | None]) -> Shares:
    """The shares of jobs. `place` is None for the workload of a run that did not change."""
    known = tuple(jobs)

    def shares(overlay: str, namespace: str, quota: Quota) -> Sequence[Share]:
        of_quota = ((job, requested_by((job,))[overlay, namespace, quota]) for job in known)
        return summed(
            Share(name=job_key(file.source.file), amount=amount, place=place(file, quota))
            for job, amount in of_quota
            for file in job.files
            if amount and file.record
        )

    return shares


def check_quotas(
    requested: Mapping[tuple[str, str, Quota], int],
    overlays: Iterable[Overlay],
    found: Findings,
    shares: Shares,
    verb: str = "requests",
    before: Mapping[tuple[str, str, Quota], int] | None = None,
) -> tuple[OverQuota, ...]:
    """Report the namespaces that request more than their quota; as a warning if they requested as much `before`.

    Otherwise, changes that fit one by one would together keep all other namespaces from rendering. An error is at the
    largest job that changed, if there is one. Returns the errors.
    """
    errors: list[OverQuota] = []
    for excess in _exceeded(requested, overlays, verb):
        known = sorted(shares(*excess.key), key=lambda one: (-one.amount, one.name))
        changed = [(one, one.place) for one in known if one.place is not None]
        message = f"{excess.message}{_listed(known)}"
        hint = f"{stop_hint(one.name for one in known if one.place is None)}, or raise `{excess.field}`"
        warning = Findings()
        warning.warning(OVER_QUOTA, excess.place, f"{message}; this change does not raise it", hint)
        if before is not None and excess.amount <= before.get(excess.key, 0):
            found.extend(warning)
            continue
        if changed:
            hint = f"ask for less, {hint} in the overlay"
            related = [(place, f"`{one.name}` requests {one.amount}") for one, place in changed[1:_MOST_SHARES]]
            found.error(OVER_QUOTA, changed[0][1], message, hint, [(excess.place, "the quota"), *related])
        else:
            found.error(OVER_QUOTA, excess.place, message, hint)
        errors.append(OverQuota(key=excess.key, amount=excess.amount, error=found.items[-1], excused=warning.items[0]))
    return tuple(errors)


def stop_hint(others: Iterable[str]) -> str:
    """How to make room: end the largest of the runs that are there already."""
    return f"end some of its runs with `gen stop {next(iter(others), 'JOB')}`"


def _listed(shares: Sequence[Share]) -> str:
    """`: a 16 (changed), b 8`; nothing for a single job."""
    if len(shares) <= 1:
        return ""
    names = [f"`{one.name}` {one.amount}{' (changed)' if one.place else ''}" for one in shares[:_MOST_SHARES]]
    rest = shares[_MOST_SHARES:]
    more = [f"{counted(len(rest), 'other job')} {sum(one.amount for one in rest)}"] if rest else []
    return f": {', '.join((*names, *more))}"


def asking_field(source: Source | None, file: str, quota: Quota) -> Location:
    """The place in a job file of the field that asks for most of a quota."""
    if source is None:
        return Location(file)
    names = ("workers",) if quota == PODS else ("gpus", "workers")
    found = (source.find((name,)) for name in names)
    return next((one.value for one in found if one.steps == 1), Location(file, 1, 1))


class ResourceQuotaPlan(Struct, frozen=True, kw_only=True):
    """The ResourceQuota of a namespace."""

    namespace: str
    hard: Mapping[str, str]
    """Limits by resource."""
    place: Location
    """Place of the field that asks for it."""


def plan_resource_quotas(overlay: Overlay) -> tuple[ResourceQuotaPlan, ...]:
    """The ResourceQuotas that the overlay asks for, sorted by namespace. They do not depend on jobs."""
    return tuple(
        ResourceQuotaPlan(
            namespace=namespace,
            hard=_hard(overlay, namespace),
            place=overlay.place("namespaces", namespace, "resourceQuota", key=True),
        )
        for namespace, grant in sorted(overlay.fields.namespaces.items())
        if grant.resource_quota
    )


def _hard(overlay: Overlay, namespace: str) -> dict[str, str]:
    """Limits by resource. Quotas count extended resources only as `requests.<resource>`.

    From `concepts/policy/resource-quotas.md` of the Kubernetes documentation.
    """
    limits = quotas(overlay, namespace)
    total = limits.get(GPUS)
    amounts: dict[str, int] = {}
    most: dict[str, int] = {}
    unlimited: set[str] = set()
    for devices, units in _accelerators(overlay, namespace):
        for resource, unit in units.items():
            most[resource] = max(most.get(resource, 0), unit)
            amounts[resource] = amounts.get(resource, 0) + (devices or 0) * unit
            unlimited |= {resource} if devices is None else set()
    if total is not None:
        amounts = {resource: min(amount, total * most[resource]) for resource, amount in amounts.items()}
    hard = {in_quota(name): str(amount) for name, amount in sorted(amounts.items()) if name not in unlimited}
    return hard | ({"pods": str(limits[PODS])} if PODS in limits else {})


def _accelerators(overlay: Overlay, namespace: str) -> Iterator[tuple[int | None, dict[str, int]]]:
    """For each accelerator: the devices that the namespace may use, None without a limit, and their resources.

    Several accelerators may have the same resource, such as `nvidia.com/gpu`.
    """
    limits, grant = quotas(overlay, namespace), overlay.grant(namespace)
    granted = grant.accelerators if grant is not None else None
    for name, units in overlay.device_units.items():
        known = [limits[quota] for quota in (GPUS, ("accelerators", name)) if quota in limits]
        allowed = granted is None or not name or name in granted
        yield (min(known, default=None) if allowed else 0), dict(units)


def resource_quota(plan: ResourceQuotaPlan) -> Manifest:
    """The ResourceQuota of a namespace."""
    body = {
        "apiVersion": "v1",
        "kind": RESOURCE_QUOTA.kind,
        "metadata": storage_metadata(_QUOTA, plan.namespace),
        "spec": {"hard": dict(plan.hard)},
    }
    return Manifest(body=body, name=_QUOTA, source=plan.place, folder=plan.namespace, tree="storage")
