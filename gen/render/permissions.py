"""Judge final objects: permissions of their pods that the overlay of today does not grant.

One function judges the objects of a run after the render, and those of a kept run, which an earlier overlay rendered.
Permissions that a patch adds are granted by the owner who wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from gen.base import Findings, at
from gen.base.codes.grants import NOT_GRANTED
from gen.job.profile import Effect
from gen.kubernetes.facts import held_object, resource_of_object
from gen.kubernetes.facts import permissions as facts
from gen.kubernetes.facts.builtin import CONFIG_MAP, SERVICE
from gen.kubernetes.facts.scheduling import queue_in
from gen.kubernetes.objects import QUEUE_LABEL, Body
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay
from gen.overlay.secrets import Owner
from gen.render.parts.data import volume_of
from gen.render.parts.grants import is_granted_image, rewritten
from gen.render.parts.metadata import is_of_controllers, is_reserved
from gen.render.parts.network import annotations_of
from gen.render.parts.node_labels import MACHINE, matches
from gen.render.results import Manifest, PatchedObjects
from gen.render.starters import STARTERS, starter_of_object

_COUNTS: Final = (0, 1, 8)
"""Numbers of devices of a pod, for the effects of profiles."""
_PERMISSION = "permission"


class GrantedPermissions(Struct, frozen=True, kw_only=True):
    """Permissions that the overlay grants to the pods of a namespace."""

    grant: Grant
    exact: frozenset[facts.Permission]
    models: frozenset[str]
    """Node labels with models of devices, which any job may select."""
    secrets: Mapping[str, tuple[Owner, ...]]
    """Secrets of the overlay with their owners. Others are free."""
    read_only: frozenset[str]
    """Volumes that no job may write to."""
    runtimes: frozenset[str]
    images: frozenset[str]
    """Images of the containers that gen adds, without digests."""
    stores: tuple[str, ...]
    """Places of object stores that the namespace may read."""
    written: tuple[str, ...]
    """Those that it may write to."""

    def has(self, one: facts.Permission, *, platform: bool = False) -> bool:
        """Whether the overlay grants it.

        `platform` is for objects that gen adds to those of a job, such as a TensorBoard and the pods of a workflow.
        """
        kind, text = one
        check = _CHECKS.get(kind)
        return one in self.exact or (check is not None and check(self, text, platform))


def _secret(given: GrantedPermissions, name: str, platform: bool) -> bool:
    """Those that the overlay does not declare are free."""
    declared = given.secrets.get(name, ())
    return not declared or any(owner.includes(given.grant, platform=platform) for owner in declared)


def _node(given: GrantedPermissions, label: str, _: bool) -> bool:
    key, value = label.split("=", 1)
    return key in MACHINE or key in given.models or matches(given.grant.node_labels, key, value)


def _taint(given: GrantedPermissions, taint: str, _: bool) -> bool:
    key, separator, value = taint.partition("=")
    return matches(given.grant.taints, key, value if separator else None)


def _metadata(given: GrantedPermissions, key: str, _: bool) -> bool:
    """Keys of gen and of its operators are set by fields, which have grants of their own."""
    return is_reserved(key) or is_of_controllers(key) or any(fnmatchcase(key, one) for one in given.grant.metadata)


def _is_in(place: str, folders: Iterable[str]) -> bool:
    """Whether a place of object stores is one of the folders, or below one."""
    return any(f"{place}/".startswith(f"{one}/") for one in folders)


_CHECKS: Final[dict[str, Callable[[GrantedPermissions, str, bool], bool]]] = {
    facts.IMAGE: lambda own, image, _: is_granted_image(image, own.grant) or image.partition("@")[0] in own.images,
    facts.SECRET: _secret,
    facts.WRITE: lambda own, volume, _: volume not in own.read_only,
    facts.STORE: lambda own, place, _: _is_in(place, own.stores),
    facts.STORE_TO_WRITE: lambda own, place, _: _is_in(place, own.written),
    facts.SELECTS: _node,
    facts.TOLERATES: _taint,
    facts.METADATA: _metadata,
    facts.RUNTIME: lambda own, name, _: name in own.runtimes,
    # a class that jobs may have is also one of their groups, in each queue
    facts.GROUP_PRIORITY: lambda own, priority, _: (facts.PRIORITY, priority.partition(" ")[0]) in own.exact,
}
"""Permissions that are not granted by a list."""


def granted(overlay: Overlay, namespace: str) -> GrantedPermissions | None:
    """Permissions of the pods of a namespace; None if the overlay has no grant for it."""
    known: dict[str, GrantedPermissions | None] = overlay.granted
    if namespace not in known:
        grant = overlay.grant(namespace)
        known[namespace] = _granted(overlay, namespace, grant) if grant is not None else None
    return known[namespace]


def _granted(overlay: Overlay, namespace: str, grant: Grant) -> GrantedPermissions:
    fields, allowed = overlay.fields, {"", *grant.allow}
    effects = [
        network.effect(count)
        for name, network in fields.networks.items()
        if _listed(name, grant.networks) and all(one.grant in allowed for one in network.profiles)
        for count in _COUNTS
    ]
    effects += [
        accelerator.effect(count)
        for name, accelerator in overlay.accelerators.items()
        if not name or _listed(name, grant.accelerators)
        for count in _COUNTS
    ]
    effects += [fields.spot.effect] if fields.spot is not None else []
    volumes = {
        name: volume.profile
        for name, volume in fields.volumes.items()
        if _listed(name, grant.volumes) and volume.profile.grant in allowed
    }
    sources = [one.pod_source(volume_of(overlay, namespace, name)) for name, one in volumes.items()]
    exact = facts.permissions({"spec": {"volumes": sources}})
    for effect in effects:
        exact.update(_of_effect(effect))
    exact |= {(facts.METADATA, key) for one in volumes.values() for key in (*one.pod_annotations, *one.pod_labels)}
    exact |= {
        (facts.SELECTS, f"{key}={value}") for name in volumes for key, value in fields.volumes[name].node_labels.items()
    }
    models = {label for one in overlay.accelerators.values() if (label := one.models) is not None}
    exact |= {(facts.ACCOUNT, name) for name in grant.service_accounts}
    classes = {fields.priorities[name].class_name if name in fields.priorities else name for name in grant.priorities}
    exact |= {(facts.PRIORITY, name) for name in classes}
    declared = [fields.queues[name].profile for name in grant.queues if name in fields.queues]
    # a run from before they were declared only has the name of the LocalQueue
    exact |= {(facts.QUEUE, name) for name in grant.queues}
    exact |= {(facts.QUEUE, str(queue.labels[QUEUE_LABEL])) for queue in declared if QUEUE_LABEL in queue.labels}
    exact |= {(facts.QUEUE, name) for one in declared if (name := one.queue_name) is not None}
    groups = [(one.queue_name, one.group_priority) for one in declared]
    exact |= {(facts.GROUP_PRIORITY, facts.group_priority(queue, name)) for queue, name in groups if queue and name}
    exact |= {(_PERMISSION, one.permission) for one in STARTERS if one.permission and one.granted(grant)}
    if overlay.argo is not None:
        exact.add((facts.WORKFLOW_ACCOUNT, overlay.argo.service_account))
    stores = {name: store for name, store in fields.stores.items() if _listed(name, grant.stores)}
    places = {name: "/".join(part for part in (one.bucket, one.prefix) if part) for name, one in stores.items()}
    return GrantedPermissions(
        grant=grant,
        secrets=overlay.secrets,
        read_only=frozenset(name for name, one in fields.volumes.items() if one.read_only),
        runtimes=frozenset(name for _, name in overlay.runtimes.known),
        exact=frozenset(exact),
        models=frozenset(models),
        images=frozenset(_images(overlay, effects)),
        stores=tuple(places.values()),
        written=tuple(place for name, place in places.items() if not stores[name].read_only),
    )


def _listed(name: str, names: Container[str] | None) -> bool:
    return names is None or name in names


def _of_effect(effect: Effect) -> Iterator[facts.Permission]:
    """Permissions of pods with a network or an accelerator."""
    own: Body = {
        "resources": {"limits": effect.resources},
        "securityContext": {"capabilities": {"add": list(effect.capabilities)}},
    }
    spec: Body = {
        "hostNetwork": effect.host_network,
        "nodeSelector": effect.node_labels,
        "tolerations": list(effect.tolerations),
        "volumes": [{"name": mount.name, **mount.source} for mount in effect.mounts],
        "containers": [own, *effect.sidecars],
    }
    yield from facts.permissions({"spec": spec})
    yield from (("deviceClassName", claim.device_class) for claim in effect.claims)
    yield from ((facts.METADATA, key) for key in (*annotations_of(effect), *effect.labels))


def _images(overlay: Overlay, effects: Iterable[Effect]) -> Iterator[str]:
    """Images of the containers that gen adds, as pods pull them."""
    fields, pipelines = overlay.fields, overlay.fields.pipelines
    argo, kfp = overlay.argo, pipelines.kfp if pipelines is not None else None
    wanted = [fields.code_sync.git_image, fields.code_sync.rsync_image, fields.copying.image, fields.tensorboard.image]
    wanted += [argo.reader, argo.notify.image if argo.notify is not None else None] if argo is not None else []
    wanted += [kfp.image] if kfp is not None else []
    wanted += [str(sidecar["image"]) for effect in effects for sidecar in effect.sidecars]
    yield from (rewritten(overlay, image) for image in wanted if image)


def uses(body: Body) -> set[facts.Permission]:
    """The permissions, queue and kind of starter of an object in Git."""
    inner = held_object(body) or {}
    queue = queue_in(at(body, "metadata", "labels")) or queue_in(at(inner, "metadata", "labels"))
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    permission = starter_of_object(resource).permission if resource is not None else ""
    named = (one for one in ((facts.QUEUE, queue), (_PERMISSION, permission)) if one[1])
    return facts.permissions(body).union(named, facts.queues(at(body, "metadata", "labels")))


def lost(kept: Iterable[Body], fresh: Iterable[Body], overlay: Overlay, namespace: str) -> tuple[str, ...]:
    """Permissions of a kept run that a new run of its job does not have, as messages name them."""
    given = granted(overlay, namespace)
    more = set[facts.Permission]().union(*map(uses, kept)).difference(*map(uses, fresh))
    return tuple(shown(one) for one in sorted(more) if given is None or not given.has(one, platform=True))


def shown(one: facts.Permission) -> str:
    return f"{one[0]} `{one[1]}`" if one[1] else f"`{one[0]}`"


def without_limits(kept: Iterable[Body], fresh: Iterable[Body]) -> tuple[str, ...]:
    """Limits of a new run that a kept one lacks."""
    old = {key: limits for body in kept for key, limits in facts.restrictions(body).items()}
    new = {key: limits for body in fresh for key, limits in facts.restrictions(body).items()}
    missing = {limit for key, limits in new.items() for limit in limits - old.get(key, limits)}
    return tuple(f"no `{limit}`" for limit in sorted(missing))


_WITHOUT_PODS: Final = frozenset({CONFIG_MAP.kind, SERVICE.kind})
"""Kinds of most other objects, which are not read."""


def judge(patched: PatchedObjects, overlay: Overlay, namespace: str, found: Findings) -> None:
    """Report permissions of a rendered run that neither a grant nor a patch gives."""
    given = granted(overlay, namespace)
    if given is None:
        return
    for manifest, built in zip(patched.manifests, patched.built, strict=True):
        if manifest.body["kind"] in _WITHOUT_PODS:
            continue
        more = [one for one in facts.permissions(manifest.body, whole=False) if not given.has(one)]
        if more and _is_of_platform(manifest):
            more = [one for one in more if not given.has(one, platform=True)]
        if more and manifest is not built:
            more = sorted(facts.permissions(built.body, whole=False).intersection(more))
        for one in more:
            message = f"`{manifest.identity}` has {shown(one)}, which overlay `{overlay.name}` does not grant"
            hint = f"remove it, or grant it to namespace `{namespace}` in `namespaces` of the overlay"
            found.error(NOT_GRANTED, manifest.source, message, hint)
        _judge_runtime(manifest, given, overlay, namespace, found)


def _judge_runtime(
    manifest: Manifest, given: GrantedPermissions, overlay: Overlay, namespace: str, found: Findings
) -> None:
    """Report permissions of a runtime's own pods, unless the grant of the namespace names the runtime."""
    resource = resource_of_object(manifest.body["apiVersion"], manifest.body["kind"])
    if resource is None or resource.nodes is None:
        return
    name = str(at(manifest.body, "spec", "runtimeRef", "name"))
    if name in (given.grant.runtimes or ()):
        return
    for one in sorted(facts.created_permissions(manifest.body, overlay.runtimes)):
        if not given.has(one):
            message = f"runtime `{name}` has {shown(one)}, which overlay `{overlay.name}` does not grant"
            hint = f"use another runtime, or add `{name}` to `namespaces.{namespace}.runtimes` of the overlay"
            found.error(NOT_GRANTED, manifest.source, message, hint)


def _is_of_platform(manifest: Manifest) -> bool:
    resource = resource_of_object(manifest.body["apiVersion"], manifest.body["kind"])
    return not manifest.of_run or (resource is not None and bool(resource.steps))
