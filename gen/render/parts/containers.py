"""Containers: the environment of a training container, and parts that init containers and TensorBoard share, also
scripts from `gen/templates/pods/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from gen.base import regex
from gen.base.codes.jobs import INVALID_ENV, RESERVED_ENV
from gen.job.kinds.role import Role
from gen.job.plan import MountPlan, VolumePlan
from gen.job.pods import EnvSource
from gen.kubernetes.objects import NVIDIA_DEVICES, Body, present
from gen.overlay.secrets import ENV
from gen.render.parts.checkpoints import VARIABLES
from gen.render.parts.context import Context
from gen.render.parts.grants import check_secret


def resources(amounts: Mapping[str, str]) -> Body:
    """Requests equal to limits: extended resources require it, and such pods are evicted last."""
    return {"limits": dict(amounts), "requests": dict(amounts)} if amounts else {}


def pod_volumes(volumes: Sequence[VolumePlan]) -> list[Body]:
    return [{"name": volume.name, **volume.source} for volume in volumes]


def volume_mounts(mounts: Sequence[MountPlan]) -> list[Body]:
    return [
        present(name=mount.volume, mountPath=mount.path, subPath=mount.sub_path, readOnly=mount.read_only or None)
        for mount in mounts
    ]


_FOLDER = Path(__file__).parents[2] / "templates/pods"  # `importlib.resources` takes a millisecond to import


@cache
def script(name: str) -> str:
    """The script as an argument of a container, without its comments."""
    return literal(source(name))


@cache
def source(name: str) -> str:
    """The script as a shell reads it, without its comments."""
    text = (_FOLDER / name).read_text("utf-8")
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


_MEANT_BY_KUBELET = regex(r"\$(?=[$(])")


def literal(text: str) -> str:
    """A text that the kubelet does not take for references to variables
    (`third_party/forked/golang/expansion/expand.go` of Kubernetes).
    """
    return _MEANT_BY_KUBELET.sub("$$", text)


_SOURCES = ("secret", "config_map", "field", "resource")
_DEVICES = frozenset(
    {"AMD_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "CAMBRICON_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES"}
    | {"MTHREADS_VISIBLE_DEVICES", NVIDIA_DEVICES}
)
"""Variables for container runtimes of vendors: they give a container the devices of its node."""
OWN_VARIABLES = ("RCLONE_", "GEN_")
"""Prefixes of the variables for copies."""
UNBUFFERED = "PYTHONUNBUFFERED"
"""Without it, Python keeps up to 8 KiB of output that is not for a terminal, so that logs are empty for long."""
_NO_DEVICES = ("void", "none")


_GIT_SYNC = regex(r"GIT_?SYNC_(\w+)")
_CODE_FIELDS = {
    name: field
    for field, names in {
        "code.git": ("REPO",),
        "code.ref": ("REF", "BRANCH", "REV"),
        "code.depth": ("DEPTH",),
        "code.submodules": ("SUBMODULES",),
        "code.name": ("DEST", "LINK"),
        "code.credentials": ("USERNAME", "PASSWORD", "SSH", "SSH_KEY_FILE", "SSH_KNOWN_HOSTS_FILE"),
    }.items()
    for name in names
}
"""Fields of a job by the settings of git-sync, which Arena sets in the environment of the job."""


def environment(context: Context, role: Role, devices: Mapping[str, str]) -> tuple[Body, ...]:
    """Variables of the kind, devices, network and volumes, then those of the job: entries may refer to earlier ones."""
    hidden = () if role.gpus else without_devices(context)
    provided = {entry["name"]: entry for entry in (*role.env, *hidden)}
    provided |= {name: {"name": name, "value": value} for name, value in devices.items()}
    if role.rendezvous is not None:
        for entry in role.rendezvous.variables(role.gpus):
            provided.setdefault(entry["name"], entry)
    if UNBUFFERED not in context.job.fixed_env:
        provided[UNBUFFERED] = {"name": UNBUFFERED, "value": "1"}
    written = _written(context, role)
    return (*(entry for name, entry in provided.items() if name not in written), *written.values())


def without_devices(context: Context) -> tuple[Body, ...]:
    """Variables of a container without GPUs, which hide those of the node if the overlay wants that."""
    if not context.overlay.fields.gpu.hide_from_others:
        return ()
    names = {one.profile.hidden_by for one in context.overlay.accelerators.values()}
    return tuple({"name": name, "value": "void"} for name in sorted(names))


def _written(context: Context, role: Role) -> dict[str, Body]:
    routes: dict[str, tuple[str, ...]] = {name: ("env", name) for name in context.job.env}
    values = dict(context.job.env)
    if role.fields is not None:
        values |= role.fields.env
        routes |= {name: ("roles", role.name, "env", name) for name in role.fields.env}
    entries = {}
    for name, value in values.items():
        reason = _of_gen(context, role, name) or _of_operator(context, role, name, value)
        if reason is not None:
            context.error(RESERVED_ENV, routes[name], *reason, key=True)
        elif name in _DEVICES and value not in _NO_DEVICES and context.set_by_job(routes[name]):
            hint = "request GPUs with `gpus`; only `void` and `none`, which hide them, are allowed here"
            message = f"`{name}` would give the container GPUs that it did not request"
            context.error(RESERVED_ENV, routes[name], message, hint, key=True)
        else:
            entries[name] = _entry(context, name, value, routes[name])
    return entries


def _of_gen(context: Context, role: Role, name: str) -> tuple[str, str] | None:
    if (setting := _GIT_SYNC.fullmatch(name)) is not None:
        field = _CODE_FIELDS.get(setting[1])
        hint = (
            f"set `{field}` instead" if field else "remove it; the fields of `code` are the settings of the code sync"
        )
        return f"`{name}` is a setting of git-sync, which runs in a container of its own", hint
    if name.startswith(OWN_VARIABLES) and (context.job.inputs or context.job.outputs or context.job.logs):
        return f"`{name}` is for the copies of gen", "remove it; the object store of the overlay has the settings"
    if (field := VARIABLES.get(name)) is not None and context.job.checkpoints is not None:
        return f"`{name}` is set by `{field}`", "remove it"
    if any(name == entry["name"] for entry in role.env):
        return (
            f"`{name}` is set for every pod of `{context.job.kind}`",
            "remove it; gen derives it from the other fields",
        )
    return None


def _of_operator(context: Context, role: Role, name: str, value: str | EnvSource) -> tuple[str, str] | None:
    kind = context.job.kind
    if name in context.job.reserved:
        return f"`{name}` is reserved for the operator of `{kind}`", "remove it; the operator sets it in every pod"
    if name in role.reserved_env:
        hint = "remove it, or set it for another role in `roles`"
        return f"`{name}` is reserved for the operator of `{kind}` in the role `{role.name}`", hint
    fixed = context.job.fixed_env.get(name)
    if fixed is not None and fixed != value:
        hint = f"remove it, or set it to `{fixed}`"
        return f"the operator of `{kind}` sets `{name}` to `{fixed}` in every pod", hint
    return None


def _entry(context: Context, name: str, value: str | EnvSource, route: tuple[str, ...]) -> Body:
    if isinstance(value, str):
        return {"name": name, "value": value}
    given = [source for source in _SOURCES if getattr(value, source) is not None]
    keyed = given in (["secret"], ["config_map"])
    if len(given) != 1 or keyed != (value.key is not None):
        message = f"`{name}` needs exactly one source for its value"
        hint = "write `{secret: …, key: …}`, `{configMap: …, key: …}`, `{field: …}` or `{resource: …}`"
        if given in (["secret"], ["config_map"]):
            source = "secret" if value.secret is not None else "configMap"
            message = f"`{name}`: `{source}` requires a `key`"
            hint = f"add `key`: `{{{source}: {value.secret or value.config_map}, key: <key>}}`"
        elif len(given) == 1:
            message, hint = f"`{name}` has a `key`, which only Secrets and ConfigMaps have", "remove `key`"
        context.error(INVALID_ENV, route, message, hint)
        return {"name": name}
    if value.secret is not None:
        check_secret(context, value.secret, (*route, "secret"), ENV)
    return {"name": name, "valueFrom": _source(value)}


def _source(value: EnvSource) -> Body:
    if value.field is not None:
        return {"fieldRef": {"fieldPath": value.field}}
    if value.resource is not None:
        return {"resourceFieldRef": {"resource": value.resource}}
    reference = present(name=value.secret or value.config_map, key=value.key, optional=value.optional)
    return {"secretKeyRef" if value.secret else "configMapKeyRef": reference}
