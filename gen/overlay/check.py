"""Checks across the fields of an overlay: names that must exist, defaults that jobs accept, prices and budgets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from gen.base import Code, Findings, Route, did_you_mean
from gen.base.codes import grants as codes
from gen.base.codes.jobs import INVALID_VALUE, MISSING_FIELD, NO_EFFECT, UNKNOWN_FIELD, UNKNOWN_KIND
from gen.base.codes.overlays import RESERVED_NAME, UNKNOWN_API_VERSION, UNKNOWN_KUBERNETES_VERSION, UNKNOWN_PERMISSION
from gen.base.engines import ENGINES
from gen.job.fields import NOT_DEFAULTS, POD_NETWORK, JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.model import Model, alias_of, default_of, fields_at
from gen.job.scalars import shown
from gen.job.suggest import intended_kind
from gen.kubernetes.facts.runtimes import MPI
from gen.kubernetes.schemas.registry import minor_version, versions
from gen.overlay.entries import AcceleratorFields, VolumeFields
from gen.overlay.fields import PROFILES, OverlayFields
from gen.overlay.grant import Grant, known_permissions
from gen.overlay.profiles.storage import RESERVED_VOLUMES, SETTINGS

if TYPE_CHECKING:
    from decimal import Decimal

    from gen.base.yaml.layers import Layers
    from gen.base.yaml.strict import Data
    from gen.overlay.overlay import Overlay
    from gen.overlay.settings import RuntimeFields


def check_prices(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report prices without a currency, and budgets that some devices would not count in."""
    prices = _prices(fields)
    given = [route for route, price in prices.items() if price is not None]
    if given and fields.currency is None and not fields.abstract:
        message = "`currency` is missing: the overlay has a price"
        found.error(MISSING_FIELD, layers.place(given[0], key=True), message, "add `currency`, such as `currency: EUR`")
    if fields.currency is not None and not given and not fields.abstract:
        place = layers.place(("currency",), key=True)
        if place.file == layers.layers[0].source.file:  # others with prices may extend another overlay with it, too
            hint = f"add `{'.'.join(next(iter(prices)))}`, or remove `currency`"
            found.error(NO_EFFECT, place, "`currency` has no effect without a `price`", hint)
    for namespace, grant in fields.namespaces.items():
        used = [route for route in prices if grant.accelerators is None or route[1] in grant.accelerators]
        missing = [route for route in used if prices[route] is None]
        if grant.budget is not None and missing and not fields.abstract:
            field = ".".join(missing[0])
            message = f"`budget` of `{namespace}` cannot be checked: `{field}` is missing"
            hint = f"add `{field}`, such as `price: 2.50`, or `price: 0` for devices without costs"
            found.error(MISSING_FIELD, layers.place(("namespaces", namespace, "budget"), key=True), message, hint)


def _prices(fields: OverlayFields) -> Mapping[tuple[str, ...], Decimal | None]:
    """The prices by their routes."""
    if not fields.accelerators:
        return {("gpu", "price"): fields.gpu.price}
    return {("accelerators", name, "price"): one.price for name, one in fields.accelerators.items()}


_OWN = ("gen-in-", "gen-out-")
"""Volumes of copies, which have a number, too."""


def check_entries(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report faults that stay faults if other fields, which are invalid, were left out."""
    _volume_names(fields, layers, found)
    _volume_settings(fields, layers, found)
    _gpu_settings(fields, layers, found)
    _networks(fields, layers, found)
    _images(fields, layers, found)
    _pipelines(fields, layers, found)
    _definitions(fields, layers, found)


def check_overlay(fields: OverlayFields, data: Mapping[str, Data], layers: Layers, found: Findings) -> str:
    """Report faults, and return the Kubernetes version for the schemas; empty for a missing or unknown version."""
    _operators(fields, layers, found)
    _defaults(data, layers, found)
    check_entries(fields, layers, found)
    check_prices(fields, layers, found)
    if not fields.abstract:
        _grants(fields, layers, found)
    version = _kubernetes(fields, layers, found)
    if version:
        _profiles(fields, version, layers, found)
    return version


def _grants(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report grants of unknown resources, and settings without effect."""
    if (others := fields.namespaces.get("*")) is not None and others.resource_quota:
        place = layers.place(("namespaces", "*", "resourceQuota"), key=True)
        message = "`resourceQuota` has no effect on `*`: it requires the name of a namespace"
        found.error(NO_EFFECT, place, message, "set it for each namespace by its name, or remove it")
    for namespace, grant in fields.namespaces.items():
        for attribute in ("trust_finished", "resource_quota") if not grant.has_quotas else ():
            if getattr(grant, attribute):
                field = alias_of(Grant, attribute)
                message = f"`namespaces.{namespace}`: `{field}` has no effect without a quota"
                place = layers.place(("namespaces", namespace, field), key=True)
                found.error(INVALID_VALUE, place, message, "add `gpus` or `pods`, or remove it")
        for what, code, known, otherwise in _known_to_grants(fields):
            word = code.name.removeprefix("unknown-")
            names = getattr(grant, what) or ()
            for index, name in enumerate(names):
                if name not in known:
                    key = name if isinstance(names, dict) else index
                    place = layers.place(("namespaces", namespace, what, key), key=isinstance(names, dict))
                    hint = did_you_mean(name, known, otherwise=otherwise)
                    found.error(code, place, f"there is no {word} {shown(name)} to grant", hint)


def _profiles(fields: OverlayFields, version: str, layers: Layers, found: Findings) -> None:
    """Report profiles that the cluster is too old for."""
    for field in PROFILES:
        for name, entry in getattr(fields, field).items():
            for key, profile in entry.given.items():
                if profile.kubernetes and _minor(version) < _minor(profile.kubernetes):
                    message = (
                        f"`{key}` requires Kubernetes {profile.kubernetes} or later, and the cluster has {version}"
                    )
                    place = layers.place((field, name, key), key=True)
                    found.error(INVALID_VALUE, place, message, "use another profile, or upgrade the cluster")


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _volume_names(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report names of volumes that gen gives to its own."""
    for name in (name for name in fields.volumes if name in RESERVED_VOLUMES or name.startswith(_OWN)):
        place = layers.place(("volumes", name), key=True)
        hint = "choose another name; gen adds a volume of this one by itself"
        found.error(RESERVED_NAME, place, f"no volume can be called `{name}`", hint)


def _volume_settings(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Refuse settings that the profile of a volume does not use; it renders no object that would contain them."""
    for name, volume in fields.volumes.items():
        if volume.read_only and volume.mount_read_only:
            place = layers.place(("volumes", name, "mountReadOnly"), key=True)
            message = "`mountReadOnly` has no effect together with `readOnly`, which also makes the mounts read-only"
            found.error(NO_EFFECT, place, message, "remove one of the two; only `mountReadOnly` lets jobs override it")
        unused = SETTINGS - volume.profile.settings
        for attribute, field in VolumeFields.model_fields.items():
            if field.alias in unused and getattr(volume, attribute) != default_of(VolumeFields, attribute):
                (profile,) = volume.given
                message = f"`{field.alias}` has no effect on a volume with `{profile}`"
                place = layers.place(("volumes", name, field.alias), key=True)
                found.error(NO_EFFECT, place, message, f"remove `{field.alias}`")


def _networks(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report reserved names of networks, and volumes with the name of one that a network adds to pods."""
    if POD_NETWORK in fields.networks:
        place = layers.place(("networks", POD_NETWORK), key=True)
        found.error(RESERVED_NAME, place, "`pod` is the cluster's ordinary network", "choose another name")
    for name, network in fields.networks.items():
        for mount in network.effect(0).mounts:
            if mount.name in fields.volumes:
                place = layers.place(("volumes", mount.name), key=True)
                message = f"network `{name}` adds a volume with the name `{mount.name}` to pods"
                found.error(RESERVED_NAME, place, message, "choose another name")


def _images(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report rules that join a name to the word before it: `mirror` and `tensorflow` to `mirrortensorflow`."""
    for index, rule in enumerate(fields.images):
        if rule.from_.endswith("/") and rule.to[-1:].isalnum():
            message = f"{shown(rule.to)} would be joined to the rest of the name without the `/` of {shown(rule.from_)}"
            found.error(INVALID_VALUE, layers.place(("images", index, "to")), message, f"did you mean `{rule.to}/`?")


def _pipelines(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Pods of jobs must not have the account that creates the objects of steps, which no grant limits."""
    argo = fields.pipelines.argo if fields.pipelines is not None else None
    account = argo.service_account if argo is not None else None
    for namespace, grant in fields.namespaces.items():
        if account in grant.service_accounts:
            index = grant.service_accounts.index(account)
            message = f"the pods of jobs could create any object of a step with the account of pipelines, `{account}`"
            hint = "remove it, or give pipelines a ServiceAccount of their own"
            place = layers.place(("namespaces", namespace, "serviceAccounts", index))
            found.error(INVALID_VALUE, place, message, hint)


def _definitions(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report engines that cannot apply definitions of pipelines."""
    if fields.pipelines is None or fields.pipelines.kfp is None or fields.gitops is None:
        return
    from gen.overlay.profiles.engines import ENGINES as CLASSES

    able = " or ".join(ENGINES[name].title for name, engine in CLASSES.items() if not engine.refuses_definitions)
    for name, engine in fields.gitops.engines.items():
        if engine.refuses_definitions:
            message = f"{ENGINES[name].title} cannot apply pipelines with `kfp`: {engine.refuses_definitions}"
            hint = f"remove `pipelines.kfp`, or apply the overlay with {able}"
            found.error(INVALID_VALUE, layers.place(("pipelines", "kfp"), key=True), message, hint)


def _gpu_settings(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Refuse settings of `gpu` that each accelerator has for itself."""
    for attribute in sorted(fields.gpu.model_fields_set - {"hide_from_others"}) if fields.accelerators else ():
        alias = alias_of(type(fields.gpu), attribute)
        place = layers.place(("gpu", alias), key=True)
        message = f"`gpu.{alias}` has no effect on an overlay with `accelerators`"
        found.error(NO_EFFECT, place, message, f"remove `{alias}` from `gpu`; each accelerator has its own")


def _known_to_grants(fields: OverlayFields) -> Iterator[tuple[str, Code, Collection[str], str]]:
    """A field of `namespaces`, the finding about its entries, those that exist, and what to do when there are none."""
    yield "volumes", codes.UNKNOWN_VOLUME, fields.volumes, "declare it under `volumes`"
    if fields.queues:  # without any, these are queues of the cluster
        yield "queues", codes.UNKNOWN_QUEUE, fields.queues, "declare it under `queues`"
    if fields.priorities:  # without any, these are classes of the cluster
        yield "priorities", codes.UNKNOWN_PRIORITY, fields.priorities, "declare it under `priorities`"
    yield "stores", codes.UNKNOWN_STORE, fields.stores, "declare it under `stores`"
    yield "networks", codes.UNKNOWN_NETWORK, {*fields.networks, POD_NETWORK}, "declare it under `networks`"
    yield "accelerators", codes.UNKNOWN_ACCELERATOR, fields.accelerators, "declare it under `accelerators`"
    granted = {name for grant in fields.namespaces.values() for name in grant.allow}
    yield "allow", UNKNOWN_PERMISSION, known_permissions(granted), ""


def _kubernetes(fields: OverlayFields, layers: Layers, found: Findings) -> str:
    if fields.kubernetes is None:
        if not fields.abstract:
            hint = 'add the cluster\'s version, such as `kubernetes: "1.34"`, or `abstract: true`'
            found.error(MISSING_FIELD, layers.place((), key=True), "`kubernetes` is missing", hint)
        return ""
    version = minor_version(fields.kubernetes)
    if version not in versions():
        hint = f"use a version from {versions()[0]} to {versions()[-1]}"
        place = layers.place(("kubernetes",))
        found.error(UNKNOWN_KUBERNETES_VERSION, place, f"unsupported Kubernetes version `{version}`", hint)
        return ""
    return version


def _operators(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    for kind, version in fields.operators.items():
        if kind not in ALL_KINDS:
            place = layers.place(("operators", kind), key=True)
            found.error(UNKNOWN_KIND, place, f"unknown kind `{kind}`", did_you_mean(kind, ALL_KINDS))
        elif version not in ALL_KINDS[kind].facts.served:
            hint = did_you_mean(version, ALL_KINDS[kind].facts.served)
            place = layers.place(("operators", kind))
            found.error(UNKNOWN_API_VERSION, place, f"`{kind}` has no API version or release `{version}`", hint)


def _defaults(data: Mapping[str, Data], layers: Layers, found: Findings) -> None:
    """Check names only: values are checked once merged with a job."""
    defaults = data.get("defaults", {})
    if not isinstance(defaults, dict):
        return
    for name in (name for name in defaults if name != "kinds"):
        _check_default(JobFields, ("defaults", name), layers, found)
    kinds = defaults.get("kinds", {})
    if not isinstance(kinds, dict):
        place = layers.place(("defaults", "kinds"))
        found.error(INVALID_VALUE, place, "`defaults.kinds` must be a mapping", "write `kinds: {<kind>: {<field>: …}}`")
        return
    for kind, fields in kinds.items():
        if kind not in ALL_KINDS:
            place = layers.place(("defaults", "kinds", kind), key=True)
            meant = intended_kind(kind)
            hint = f"did you mean `{meant}`?" if meant else did_you_mean(kind, ALL_KINDS)
            found.error(UNKNOWN_KIND, place, f"unknown kind {shown(kind)}", hint)
        elif not isinstance(fields, dict):
            message = f"`defaults.kinds.{kind}` must be a mapping of fields, not {shown(fields)}"
            hint = "write `field: value` lines below it, indented"
            found.error(INVALID_VALUE, layers.place(("defaults", "kinds", kind)), message, hint)
        else:
            for name in fields:
                _check_default(ALL_KINDS[kind], ("defaults", "kinds", kind, name), layers, found)


def _check_default(model: type[Model], route: Route, layers: Layers, found: Findings) -> None:
    """Report a field that `defaults` cannot contain."""
    if hint := _unknown_default(model, str(route[-1])):
        message = f"unknown field `{route[-1]}` in the defaults"
        found.error(UNKNOWN_FIELD, layers.place(route, key=True), message, hint)


def _unknown_default(model: type[Model], name: str) -> str:
    """The hint about a field that `defaults` cannot contain; empty for one that they can."""
    known = {str(field.alias) for field in model.model_fields.values()}
    if name in NOT_DEFAULTS:
        return "remove it; each job sets its own"
    if name in known:
        return ""
    if (kind := intended_kind(name)) and kind not in known and model is JobFields:
        return f"write `kinds: {{{kind}: …}}` instead"
    if model is JobFields and any(name in fields_at(job, ()) for job in ALL_KINDS.values()):
        return f"only some kinds have it; write `kinds: {{<kind>: {{{name}: …}}}}` instead"
    from gen.job.suggest import suggest

    return suggest(model, (name,)).hint


def of_jobs(name: str) -> str:
    """The hint about an unknown field of an overlay that is one of jobs; empty for others."""
    from gen.job.suggest import suggest

    found = suggest(JobFields, (name,))
    if found.meant == "patches":
        return "set it with a patch under `patches`"
    if found.certain is None or found.certain[0] in NOT_DEFAULTS:
        return ""
    form = "…"
    for step in reversed(found.certain):
        form = f"{{{step}: {form}}}"
    return f"write `defaults: {form}` instead, for jobs that do not set it"


def check_runtimes(overlay: Overlay, files: Mapping[tuple[str, str], str], found: Findings) -> None:
    """Report runtimes that are described twice, settings without effect or without an accelerator, and grants."""
    known = {name for _, name in overlay.runtimes.known}
    for namespace, grant in overlay.fields.namespaces.items():
        for index, name in enumerate(grant.runtimes or ()):
            if name not in known:
                place = overlay.place("namespaces", namespace, "runtimes", index)
                hint = did_you_mean(name, known, otherwise="declare it under `runtimes`")
                found.error(codes.UNKNOWN_RUNTIME, place, f"there is no runtime {shown(name)} to grant", hint)
    for name, one in overlay.fields.runtimes.items():
        for field, code, message, hint in _faults(name, one, overlay.accelerators, files):
            found.error(code, overlay.place("runtimes", name, *field, key=not field), message, hint)


def _faults(
    name: str, one: RuntimeFields, accelerators: Mapping[str, AcceleratorFields], files: Mapping[tuple[str, str], str]
) -> Iterator[tuple[tuple[str, ...], Code, str, str]]:
    if (file := files.get((one.kind, name))) is not None:
        yield (), NO_EFFECT, f"`{file}` defines the runtime `{name}`, too", "remove one of the two"
    if not one.launcher_trains and one.runtime(name, accelerators).policy != MPI:
        yield ("launcherTrains",), NO_EFFECT, "only MPI runtimes have a launcher", "remove it, or set `policy: mpi`"
    if one.accelerator is not None and one.accelerator not in accelerators:
        hint = did_you_mean(one.accelerator, accelerators, otherwise="remove it, or declare it under `accelerators`")
        yield ("accelerator",), codes.UNKNOWN_ACCELERATOR, f"the overlay has no accelerator `{one.accelerator}`", hint
    elif one.accelerator is not None and not one.devices(name):
        yield ("accelerator",), NO_EFFECT, "the runtime requests no GPUs", "remove it, or set `gpus`"
    elif one.accelerator is None and one.gpus and len(accelerators) > 1:
        names = ", ".join(f"`{name}`" for name in accelerators)
        yield ("gpus",), MISSING_FIELD, f"`accelerator` is missing: the overlay has {names}", "add `accelerator`"
