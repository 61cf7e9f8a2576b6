"""The object stores and volumes that a run copies from and to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import did_you_mean
from gen.findings.grants import NOT_GRANTED, UNKNOWN_STORE
from gen.findings.jobs import INVALID_VALUE
from gen.kinds.mounts import VolumePlan
from gen.kinds.transfer_plan import OWN_FOLDER
from gen.model.transfer import Input
from gen.regex import regex
from gen.render.plan.data import declared_volume
from gen.render.plan.storage import volume_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.model.transfer import Place
    from gen.overlay.store import StoreFields
    from gen.render.plan.context import Context

VOLUMES = f"{OWN_FOLDER}/volumes"
_MEANT_BY_KUBELET = regex(r"\$(?=[$(])")


class Folder(Struct, frozen=True, kw_only=True):
    """A folder of an object store or a volume."""

    place: str
    """As rclone names it; the path of a volume in the container."""
    store: str | None
    volume: str | None


class PlacesPlan(Struct, frozen=True, kw_only=True):
    """Folders by the route of the field that names them."""

    folders: Mapping[Route, Folder]
    env: Mapping[str, tuple[Body, ...]]
    """Settings of rclone by object store."""
    volumes: Mapping[str, VolumePlan]


def places_of(context: Context) -> Iterator[tuple[Route, Place]]:
    job = context.job
    yield from ((("inputs", path), job.inputs[path]) for path in sorted(job.inputs))
    yield from ((("outputs", path), job.outputs[path]) for path in sorted(job.outputs))
    if job.logs is not None:
        yield ("logs",), job.logs


def plan_places(context: Context) -> PlacesPlan:
    folders: dict[Route, Folder] = {}
    env: dict[str, tuple[Body, ...]] = {}
    volumes: dict[str, VolumePlan] = {}
    places = tuple(places_of(context))
    names = sorted({place.store for _, place in places if place.store is not None})
    for route, place in places:
        if (place.store is None) == (place.volume is None):
            message = "expected exactly one of `store` and `volume`"
            context.error(INVALID_VALUE, route, message, "set one of the two")
        elif place.store is not None:
            if (store := _store(context, route, place, place.store)) is not None:
                remote = f"S{names.index(place.store)}"
                path = "/".join(part for part in (store.bucket, store.prefix, place.path) if part)
                folders[route] = Folder(place=f"{remote}:{literal(path)}", store=place.store, volume=None)
                env[place.store] = tuple(_settings(remote, store))
        elif (volume := _volume(context, route, place, str(place.volume))) is not None:
            volumes[volume.name] = volume
            at = f"{VOLUMES}/{volume.name}/{literal(place.path)}"
            folders[route] = Folder(place=at, store=None, volume=volume.name)
    return PlacesPlan(folders=folders, env=env, volumes=volumes)


def literal(text: str) -> str:
    """A text that the kubelet does not take for references to variables
    (`third_party/forked/golang/expansion/expand.go` of Kubernetes).
    """
    return _MEANT_BY_KUBELET.sub("$$", text)


def _store(context: Context, route: Route, place: Place, name: str) -> StoreFields | None:
    overlay, namespace = context.overlay, context.given.namespace
    known, granted = overlay.fields.stores, context.grant.stores
    at = (*route, "store")
    if name not in known:
        hint = did_you_mean(name, known, otherwise="declare it in `stores` of the overlay")
        context.error(UNKNOWN_STORE, at, f"overlay `{overlay.name}` has no object store `{name}`", hint)
        return None
    if granted is not None and name not in granted:
        message = f"namespace `{namespace}` may not use object store `{name}` in overlay `{overlay.name}`"
        remedy = f"add it to `namespaces.{namespace}.stores` of the overlay"
        context.error(NOT_GRANTED, at, message, did_you_mean(name, granted, besides=remedy))
        return None
    store: StoreFields = known[name]
    if store.read_only and not isinstance(place, Input):
        message = f"object store `{name}` is read-only in overlay `{overlay.name}`"
        context.error(NOT_GRANTED, at, message, "use an object store that jobs can write to")
        return None
    return store


def _volume(context: Context, route: Route, place: Place, name: str) -> VolumePlan | None:
    at = (*route, "volume")
    declared = declared_volume(context, name, at, key=False)
    if declared is None:
        return None
    if declared.read_only and not isinstance(place, Input):
        message = f"volume `{name}` is read-only in overlay `{context.overlay.name}`"
        context.error(NOT_GRANTED, at, message, "use a volume that jobs can write to")
        return None
    if not declared.profile.outlives_pods:
        message = f"volume `{name}` ends with the pod, and no other pod can read or write it"
        context.error(INVALID_VALUE, at, message, "use an object store, or a volume that stays")
        return None
    profile = declared.profile
    source = profile.pod_source(volume_of(context.overlay, context.given.namespace, name))
    return VolumePlan(name=name, source=source, annotations=profile.pod_annotations, labels=profile.pod_labels)


def _settings(remote: str, store: StoreFields) -> Iterator[Body]:
    """Variables with the settings of rclone. Buckets are not created, and need not be listed."""
    prefix = f"RCLONE_CONFIG_{remote}_"
    values = {**store.profile.settings(), "NO_CHECK_BUCKET": "true"}
    if store.secret is None:
        values["ENV_AUTH"] = "true"
    for name, value in sorted(values.items()):
        yield {"name": f"{prefix}{name}", "value": value}
    for name, key in store.profile.keys.items() if store.secret is not None else ():
        reference = {"secretKeyRef": {"name": store.secret, "key": key}}
        yield {"name": f"{prefix}{name}", "valueFrom": reference}
