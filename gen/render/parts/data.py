"""Volumes: mounts of training pods, files, shared memory, and the storage of an overlay in a namespace.

`sharedMemory` and volumes that are stored in RAM count against the memory of a container.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gen.base import Findings, Location, Route, did_you_mean
from gen.base.codes.files import TOO_LARGE
from gen.base.codes.grants import UNKNOWN_VOLUME
from gen.base.codes.jobs import INVALID_VALUE, MOUNT_CONFLICT, NO_EFFECT, SHARED_MEMORY, SHARED_OUTPUT
from gen.base.placeholders import RUN
from gen.job.fields import Mount
from gen.job.kinds.role import Role
from gen.job.plan import MountPlan, PodPlan, VolumePlan
from gen.kubernetes import quantity
from gen.kubernetes.objects import present
from gen.overlay.entries import VolumeFields
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.storage import StaticProfile, StorageProfile, Volume
from gen.render.job_run import JobInput
from gen.render.parts import accelerator, grants
from gen.render.parts.context import Context
from gen.render.parts.metadata import storage_metadata
from gen.render.results import Manifest

FILES = "files"
SHM = "shm"
_MAX_CONFIG_MAP = 1 << 20
_BY_PATH = ("files", "inputs", "outputs")
_BY_AUTHOR = ("data", *_BY_PATH)
"""Fields that choose where to mount something."""


class DataPlan(Struct, frozen=True):
    """Volumes and mounts that all pods of the job share."""

    storage: tuple[str, ...]
    """Volumes of the overlay that the job uses."""
    volumes: tuple[VolumePlan, ...]
    mounts: tuple[MountPlan, ...]
    files: Mapping[str, str]
    env: Mapping[str, str] = {}
    """Variables with directories of volumes."""


def plan_data(context: Context) -> DataPlan:
    volumes, mounts = [], []
    for name, value in sorted(context.job.data.items()):  # runs must not depend on the order
        declared = declared_volume(context, name, ("data", name), key=True)
        if declared is None:
            continue
        mount = value if isinstance(value, Mount) else Mount.model_construct(path=value)  # it was validated
        wanted = declared.mount_read_only if mount.read_only is None else mount.read_only
        read_only = declared.read_only or wanted
        if declared.read_only and mount.read_only is False and context.set_by_job(("data", name, "readOnly")):
            message = f"volume `{name}` is read-only in overlay `{context.overlay.name}`"
            hint = "remove `readOnly: false`, or use a volume that jobs can write to"
            context.error(NO_EFFECT, ("data", name, "readOnly"), message, hint)
        profile = declared.profile
        source = profile.pod_source(volume_of(context.overlay, context.given.namespace, name))
        volumes.append(
            VolumePlan(name=name, source=source, annotations=profile.pod_annotations, labels=profile.pod_labels)
        )
        path, route = _clean(mount.path), ("data", name)
        mounts.append(MountPlan(volume=name, path=path, sub_path=mount.sub_path, read_only=read_only, route=route))
        if mount.sub_path is not None and (mount.sub_path.startswith("/") or ".." in mount.sub_path.split("/")):
            hint = "use a directory in the volume, without `..` and without a leading `/`"
            context.error(
                INVALID_VALUE, ("data", name, "subPath"), f"`{mount.sub_path}` is outside of the volume", hint
            )
    storage = tuple(volume.name for volume in volumes)
    _check_handles(context, storage)
    files = _files(context)
    if files:
        volumes.append(VolumePlan(name=FILES, source={"configMap": {"name": config_map_name(context.name)}}))
        mounts += [
            MountPlan(volume=FILES, path=_clean(path), sub_path=key, read_only=True, route=("files", path))
            for key, path in files.items()
        ]
    content = {key: context.job.files[path] for key, path in files.items()}
    return DataPlan(storage, tuple(volumes), tuple(mounts), content)


def _check_handles(context: Context, names: tuple[str, ...]) -> None:
    """A kubelet takes two volumes of a driver with one handle for one, and does not start a pod with both."""
    profiles = {name: context.overlay.fields.volumes[name].profile for name in names}
    static = {name: profile for name, profile in profiles.items() if isinstance(profile, StaticProfile)}
    seen: dict[tuple[str, str], str] = {}
    for name, profile in static.items() if len(static) > 1 else ():
        csi = profile.persistent_source(volume_of(context.overlay, context.given.namespace, name)).get("csi")
        other = seen.setdefault((csi["driver"], csi["volumeHandle"]), name) if csi is not None else name
        if csi is not None and other != name:
            message = f"volumes `{other}` and `{name}` have the same handle `{csi['volumeHandle']}`"
            hint = "mount one of them, with `subPath` for a folder of it"
            context.error(MOUNT_CONFLICT, ("data", name), f"{message}, so a pod cannot mount both", hint, key=True)


def config_map_name(job: str) -> str:
    """It is immutable, so its name contains the hash even if the names of runs do not."""
    return f"{job}-{RUN}-files"


def declared_volume(context: Context, name: str, route: Route, *, key: bool) -> VolumeFields | None:
    """The volume that the route of the job names; None if the namespace cannot use it."""
    overlay = context.overlay
    known = overlay.fields.volumes
    if name not in known:
        hint = did_you_mean(name, known, otherwise="declare it in `volumes` of the overlay")
        context.error(UNKNOWN_VOLUME, route, f"overlay `{overlay.name}` has no volume `{name}`", hint, key=key)
        return None
    declared: VolumeFields = known[name]
    usable = grants.check_listed(context, route, "volume", name, context.grant.volumes, key=key)
    usable = usable and grants.check_allowed(context, route, declared.profile.grant, key=key)
    return declared if usable else None


def _files(context: Context) -> dict[str, str]:
    """Paths by key of the ConfigMap. The key is the file name, with a number if several files share it."""
    keys: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for path in sorted(context.job.files):
        if not path.startswith("/") or path.endswith("/") or ".." in path.split("/") or ":" in path:
            hint = "write the absolute path of a file, such as `/etc/app/conf.yaml`"
            context.error(INVALID_VALUE, ("files", path), f"`{path}` is not a valid file path", hint, key=True)
            continue
        name = re.sub(r"[^A-Za-z0-9._-]", "_", path.rsplit("/", 1)[-1])[:200]
        name = f"_{name}" if name.startswith("..") or name == "." else name
        key = name
        while key in keys:
            numbers[name] += 1
            key = f"{name}.{numbers[name]}"
        keys[key] = path
    size = sum(len(context.job.files[path].encode()) for path in context.job.files)
    if size > _MAX_CONFIG_MAP:
        message = f"the files have {size} bytes in total; a ConfigMap holds at most 1 MiB"
        context.error(TOO_LARGE, ("files",), message, "use a volume")
    return keys


_SHM_PATH = "/dev/shm"  # noqa: S108 - a mount point in a container


def shared_memory_size(
    context: Context, role: Role, choice: accelerator.Choice | None, mounts: Iterable[MountPlan]
) -> str | None:
    """That of the job, of the accelerator, or half of the memory of a pod with devices that mounts nothing there."""
    own: str | None = context.of_role(role, "shared_memory")
    if own is None and choice is not None:
        own = choice.fields.shared_memory
    memory = context.of_role(role, "memory")
    if own is not None or choice is None or memory is None or any(mount.path == _SHM_PATH for mount in mounts):
        return own
    return quantity.half(memory)


def shared_memory(size: str, route: Route) -> tuple[VolumePlan, MountPlan]:
    """A larger `/dev/shm`: the default, 64 MiB, is too small for NCCL and data loaders. A limit protects the node."""
    volume = VolumePlan(name=SHM, source={"emptyDir": present(medium="Memory", sizeLimit=size)})
    return volume, MountPlan(volume=SHM, path=_SHM_PATH, route=route)


def check_in_memory(context: Context, role: Role, data: DataPlan | None, shared: str | None) -> None:
    """Warn of files that can use all of the memory of a container. They count against its limit, and the API server and
    kubelets accept a larger size.
    """
    memory = context.of_role(role, "memory")
    if memory is None:
        return
    most, used = quantity.amount(memory), quantity.amount(shared or "0")
    if used >= most:
        route = context.route_of(role, "shared_memory")
        message = f"`sharedMemory` ({shared}) counts against `memory` ({memory}), and can use all of it"
        context.found.warning(SHARED_MEMORY, context.place(*route), message, "raise `memory`, or lower `sharedMemory`")
        return
    for volume in data.volumes if data is not None else ():
        directory = volume.source.get("emptyDir", {})
        size = directory.get("sizeLimit") if directory.get("medium") == "Memory" else None
        used += quantity.amount(size or "0")
        if size is not None and used >= most:
            others = "" if quantity.amount(size) == used else "with the others "
            message = f"volume `{volume.name}` ({size}) is in memory, and {others}can use all of `memory` ({memory})"
            hint = "raise `memory`, or use another volume"
            context.found.warning(SHARED_MEMORY, context.place("data", volume.name, key=True), message, hint)
            return


def holding(mounts: Iterable[MountPlan], path: str) -> MountPlan | None:
    """The innermost mount with a path; None if it is on none of them."""
    above = [one for one in mounts if f"{path.rstrip('/')}/".startswith(f"{one.path.rstrip('/')}/")]
    return max(above, key=lambda one: len(one.path), default=None)


def report_shared(pods: Iterable[PodPlan], storage: Iterable[str], runs: str, given: JobInput, found: Findings) -> None:
    """Warn about a volume that several runs can write to in the same directory."""
    writable = {mount.volume for pod in pods for mount in pod.mounts if not mount.read_only}
    shared = next((name for name in storage if name in writable), None)
    if shared is not None:
        message = f"the {runs} can write to the same directory of volume `{shared}`"
        path = f"`data: {{{shared}: {{path: …, subPath: '{{{{ run.id }}}}'}}}}`"
        hint = f"write the output below `{{{{ run.id }}}}`, such as with {path}, or mount it with `readOnly: true`"
        found.warning(SHARED_OUTPUT, given.place("data", shared, key=True), message, hint)


def check_mounts(context: Context, mounts: Iterable[MountPlan]) -> None:
    """Report two mounts at the same path, at the one that the author chose."""
    seen: dict[str, MountPlan] = {}
    for mount in mounts:
        if mount.path == "/":
            hint = "use a directory, such as `/data`"
            context.error(
                INVALID_VALUE, mount.route, "a volume cannot be mounted at `/`, because it would hide the image", hint
            )
        if (other := seen.get(mount.path)) is not None:
            route = mount.route if mount.route[0] in _BY_AUTHOR else other.route
            message = f"`{mount.path}` is used by both `{_user(other)}` and `{_user(mount)}`"
            context.error(MOUNT_CONFLICT, route, message, "change one of the two paths", key=route[0] in _BY_PATH)
        seen[mount.path] = mount


def _user(mount: MountPlan) -> str:
    """The field that needs a volume of its own, or the volume."""
    return str(mount.route[0]) if mount.route[0] in ("inputs", "outputs") else mount.volume


def _clean(path: str) -> str:
    """Normalized path, so that `/a/` and `/a` are the same."""
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


class StoragePlan(Struct, frozen=True, kw_only=True):
    """A volume of the overlay in a namespace with jobs that use it."""

    volume: Volume
    profile: StorageProfile
    place: Location
    """Place of its declaration."""


def volume_of(overlay: Overlay, namespace: str, name: str) -> Volume:
    """A volume that the overlay declares, in one namespace."""
    declared = overlay.fields.volumes[name]
    modes = declared.access_modes or (("ReadOnlyMany",) if declared.read_only else ("ReadWriteMany",))
    return Volume(
        name=name,
        namespace=namespace,
        size=declared.size or "",
        access_modes=modes,
        mount_options=declared.mount_options,
        zone=declared.zone,
        read_only=declared.read_only,
    )


def plan_storage(overlay: Overlay, uses: Iterable[tuple[str, str]]) -> tuple[StoragePlan, ...]:
    """Storage for pairs of a namespace and a volume, sorted."""
    return tuple(
        StoragePlan(
            volume=volume_of(overlay, namespace, name),
            profile=overlay.fields.volumes[name].profile,
            place=overlay.place("volumes", name, key=True),
        )
        for namespace, name in sorted(set(uses))
    )


def storage_objects(plan: StoragePlan) -> Iterator[Manifest]:
    """Objects of a volume in a namespace."""
    for body in plan.profile.objects(plan.volume):
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        body["metadata"] = storage_metadata(name, namespace, plan.volume.name)
        yield Manifest(body=body, name=name, source=plan.place, folder=plan.volume.namespace, tree="storage")
