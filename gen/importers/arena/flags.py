"""Flags of a submission, by subject: as fields of the job, or as grants and profiles of the overlay."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from gen.base import regex
from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.importers.draft import label, literal
from gen.job.kinds import ALL_KINDS
from gen.kubernetes import quantity
from gen.kubernetes.objects import INSTANCE_TYPE, NVIDIA_DEVICES, ZONE

if TYPE_CHECKING:
    from gen.importers import Fields
    from gen.importers.arena.submission import Draft, Value


_SHARED_MEMORY: Final = "2Gi"
"""Size of `/dev/shm` in Arena's pods (`charts/*/values.yaml`)."""
_ARENA_ENV: Final = {"workers": "workers", "gpus": "gpus"}
"""Variables that Arena sets in every container, and the flags with their values."""
_CODE_SETTINGS: Final = {
    "GIT_SYNC_BRANCH": "ref",
    "GIT_SYNC_REV": "ref",
    "GIT_SYNC_DEPTH": "depth",
    "GIT_SYNC_SUBMODULES": "submodules",
}
_CODE_USER: Final = frozenset({"GIT_SYNC_USERNAME", "GIT_SYNC_PASSWORD"})
_LOGS: Final = "/training_logs"
_IN_QUOTES: Final = regex(r"'[^']*'|\"[^\"\\]*\"")
"""A command in quotes of its own, which Arena loses: its charts write the command into YAML as it is."""
_CONTINUED: Final = regex(r"(?<!\\)[ \t]*\n {17,}(?=[^\s#])")
"""The start of a line that YAML joins to the one before: it is deeper than the list with the command in the charts."""


def containers(draft: Draft) -> None:
    """Image policy, command, working directory and environment."""
    given = draft.given
    command = " ".join(value.text for value in given.command)
    command = command[1:-1] if _IN_QUOTES.fullmatch(command) else command
    joined, number = _CONTINUED.subn(" ", command.strip())
    command = joined if number == command.strip().count("\n") else command
    command = command if any(char in command for char in "'\"\\\n") else " ".join(command.split())
    shell = given.text("shell")
    if command and shell not in ("", "sh"):
        draft.set([literal(shell), "-c", literal(command)], "command", place=given.command[0].place)
    elif command:
        draft.set(literal(command), "command", place=given.command[0].place)
    draft.carry("image-pull-policy", "imagePullPolicy")
    if given.last("working-dir") is not None:
        draft.carry("working-dir", "workingDir")
    elif not given.last("sync-source"):
        draft.set("/root", "workingDir")  # Arena's default; gen has it only with `code`
    _environment(draft, command)
    secrets = [value.text for value in given.every("image-pull-secret") if value.text]
    if secrets:
        draft.set(list(dict.fromkeys(secrets)), "imagePullSecrets", place=given.place_of("image-pull-secret"))


def pair(draft: Draft, flag: str, value: Value) -> tuple[str, str] | None:
    """A value `key=value`; Arena ignores others without a word."""
    key, equals, text = value.text.partition("=")
    if equals and key:
        return key, text
    message = f"a value of `--{flag}` is not carried: Arena ignores values that are not `key=value`"
    draft.found.warning(NOT_CARRIED, value.place, message, f"write `--{flag}=KEY=VALUE`, or remove it")
    return None


def _environment(draft: Draft, command: str) -> None:
    given = draft.given
    for value in given.every("env"):
        found = pair(draft, "env", value)
        if found is None:
            continue
        name, text = found
        if name.startswith("GIT_SYNC_"):
            _code_setting(draft, name, text, value)
        else:
            draft.variable(name, text, value.place)
    for name, flag in _ARENA_ENV.items():
        if re.search(rf"\$(?:{name}\b|\{{{name}\}})", command):
            default = "1" if flag == "workers" else "0"
            draft.set(given.text(flag) or default, "env", name)


def _code_setting(draft: Draft, name: str, text: str, value: Value) -> None:
    field = _CODE_SETTINGS.get(name)
    if not draft.given.last("sync-source") or not draft.given.text("sync-mode"):
        hint = "remove it, or fetch code with `code: {git: <URL>}`"
        draft.found.warning(NOT_CARRIED, value.place, f"`{name}` is not carried: the job fetches no code", hint)
    elif field is not None:
        draft.set(literal(text), "code", field, place=value.place)
    elif name in _CODE_USER:
        _credentials(draft, "env")
    else:
        hint = "remove it; the fields of `code` have what git-sync of gen supports"
        draft.found.warning(NOT_CARRIED, value.place, f"`{name}` is not carried: it has no field", hint)


def _credentials(draft: Draft, flag: str) -> None:
    secret = f"{draft.name}-git"
    if draft.fields.get("code", {}).get("credentials") != secret:
        draft.set(secret, "code", "credentials")
        hint = f"create a Secret `{secret}` with the keys `username` and `password` in the namespace"
        draft.secret(flag, "the account of the Git repository", hint)


def code(draft: Draft) -> None:
    """Code sync. Arena names the folder after the last part of the URL, as gen does."""
    given = draft.given
    mode, source = given.text("sync-mode"), given.last("sync-source")
    if mode not in ("", "git", "rsync"):
        hint = "use `git` or `rsync`"
        draft.found.error(INVALID_COMMAND_LINE, given.place_of("sync-mode"), f"unknown `--sync-mode` `{mode}`", hint)
    elif mode and source is None:
        hint = "add `--sync-source`, or remove `--sync-mode`"
        draft.found.error(INVALID_COMMAND_LINE, given.place_of("sync-mode"), "`--sync-source` is missing", hint)
    elif source is not None and not mode:
        hint = "add `--sync-mode=git` or `--sync-mode=rsync`"
        draft.lose("sync-source", "Arena ignores it without `--sync-mode`", hint)
        draft.fields.pop("code", None)
    elif source is not None:
        url = _without_user(draft, source.text)
        others = draft.fields.pop("code", {})
        draft.set({mode: literal(url), **others}, "code", place=source.place)
        if mode == "rsync":
            message = "`code.rsync` needs an image with the `rsync` command, and no maintained public one exists"
            hint = "set `codeSync.rsyncImage` of the overlay to an image of your own"
            draft.found.warning(NOT_CARRIED, source.place, message, hint)
    hint = "set `codeSync.gitImage` of the overlay to a mirror of git-sync 4; Arena's images are git-sync 3"
    draft.lose("sync-image", "the overlay chooses the image", hint)


def _without_user(draft: Draft, url: str) -> str:
    """The URL without a user name or a password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or "@" not in parts.netloc:
        return url
    _credentials(draft, "sync-source")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def data(draft: Draft) -> None:
    """Claims and folders of nodes become volumes of the overlay."""
    for value in draft.given.every("data"):
        claim, _, path = value.text.partition(":")
        if not claim or not path.startswith("/") or path == "/":
            hint = "write `--data=CLAIM:/PATH`"
            draft.found.error(INVALID_COMMAND_LINE, value.place, "`--data`: expected `CLAIM:/PATH`", hint)
            continue
        volume = draft.volume(claim, {"claim": claim})
        if volume in draft.fields.get("data", {}):
            message = f"`--data` has the claim `{claim}` twice, which Arena refuses"
            draft.found.error(INVALID_COMMAND_LINE, value.place, message, "keep the path that the job uses")
        draft.set(path, "data", volume, place=value.place)
    for number, value in enumerate(draft.given.every("data-dir")):
        host, _, path = value.text.partition(":")
        if not host.startswith("/"):
            hint = "write `--data-dir=/PATH` or `--data-dir=/PATH:/PATH`"
            draft.found.error(INVALID_COMMAND_LINE, value.place, "`--data-dir`: expected an absolute path", hint)
            continue
        volume = label(f"host-{host}", f"host-{number}")
        if volume in draft.fields.get("data", {}):
            volume = f"{volume[:60]}-{number}"
        draft.set(path or host, "data", volume, place=value.place)
        draft.need({"hostPath": {"path": host}}, "volumes", volume)
        draft.grant("allow", "hostPath")
    hint = "copy the file into the job: `files: {<path in the container>: |`, and its text indented below it"
    draft.lose("config-file", "gen reads no files that a script names", hint)


def tensorboard(draft: Draft) -> None:
    given = draft.given
    logdir = given.last("logdir")
    if not given.on("tensorboard"):
        for flag in ("logdir", "tensorboard-image"):
            draft.lose(flag, "the job has no TensorBoard", "remove it, or add `--tensorboard`")
        return
    path = logdir.text if logdir is not None else _LOGS
    mounts = draft.fields.get("data", {}).values()
    if not any(f"{path.rstrip('/')}/".startswith(f"{mount.rstrip('/')}/") for mount in mounts):
        why = f"`{path}` is not on a volume of the job; Arena keeps such logs in a folder of one node"
        hint = "write the logs to a volume, and set `tensorboard: {logdir: <a folder below a path of data>}`"
        draft.lose("tensorboard", why, hint)
        draft.lose("logdir", "the job has no TensorBoard", hint)
        draft.lose("tensorboard-image", "the job has no TensorBoard", hint)
        return
    draft.set({"logdir": literal(path)}, "tensorboard", place=given.place_of("logdir", "tensorboard"))
    draft.carry("tensorboard-image", "tensorboard", "image")


def shared_memory(draft: Draft, flag: str | None, memories: list[str]) -> None:
    """`/dev/shm`, by default that of Arena. It is left out for an overlay with the same default."""
    size = draft.given.text(flag) if flag is not None else ""
    known = [amount for text in memories if (amount := _amount(text))]
    asked = _amount(size or _SHARED_MEMORY)
    if known and asked is not None and min(known) <= asked:
        half = quantity.canonical(f"{max(int(min(known) / 2) // (1 << 20), 1)}Mi")
        place = draft.given.place_of(*([flag] if flag else []), "memory", "worker-memory")
        message = f"`/dev/shm` gets {half} instead of {size or _SHARED_MEMORY}, because it counts against the memory"
        draft.found.warning(NOT_CARRIED, place, message, "raise `memory` if the data loaders need more")
        draft.set(half, "sharedMemory", place=place)
    elif size and flag is not None:
        draft.carry(flag, "sharedMemory")
    else:
        draft.set(_SHARED_MEMORY, "sharedMemory")


def _amount(text: str) -> int | None:
    try:
        return int(quantity.amount(text)) if text else None
    except ValueError:
        return None


_ENI: Final = "k8s.aliyun.com/eni"
_OLD_TERWAY: Final = "1.0.10"
"""A release of Terway that reads this annotation (`gen.overlay.profiles.networks.alibaba`)."""
_MACHINE: Final = {INSTANCE_TYPE: "instanceType", ZONE: "zone"}
_EFFECTS: Final = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute"})
_PATCH: Final = "the platform owner can set it for some jobs with `patches` of the overlay"


def network(draft: Draft) -> None:
    """ENI, RDMA and the network of the nodes become one network of the overlay. ENI prevents the last, as in Arena."""
    given = draft.given
    profiles: dict[str, Fields] = {}
    if any(value.text == f"{_ENI}=true" for value in given.every("annotation")):
        profiles["eni"] = {"terway": {"version": _OLD_TERWAY}}
        if given.on("hostNetwork"):
            draft.lose("hostNetwork", "Arena ignores it with ENI", "remove it")
    elif given.on("hostNetwork"):
        profiles["host"] = {"hostNetwork": True}
        draft.grant("allow", "hostNetwork")
    if given.on("rdma"):
        profiles["rdma"] = {"rdma": {"resource": "rdma/hca"}}
    if profiles:
        name = "-".join(profiles)
        draft.set(name, "network", place=given.place_of("rdma", "hostNetwork", "annotation"))
        draft.need({key: value for one in profiles.values() for key, value in one.items()}, "networks", name)
    for flag in ("hostIPC", "hostPID"):
        draft.lose(flag, "jobs cannot share processes or memory with their node", _PATCH)
    draft.lose("scheduler", "the overlay chooses the scheduler", _PATCH)


def queue(draft: Draft) -> None:
    """`--gang` has the labels of ACK's gang scheduling. `--queue` is for kube-queue; gen uses Kueue."""
    given = draft.given
    if given.on("queue"):
        name = draft.namespace
        kueue = ALL_KINDS[draft.fields["kind"]].facts.kueue
        listed = {"frameworks": [kueue.framework]} if kueue is not None and not kueue.shipped else {}
        draft.join(name, {"kueue": {"localQueue": name, **listed}}, given.place_of("queue"))
        again = f", and list `{kueue.framework}` in its configuration" if listed and kueue is not None else ""
        hint = f"create a LocalQueue `{name}` of Kueue in the namespace{again}"
        message = "`--queue` becomes a queue of Kueue, in place of kube-queue"
        draft.found.warning(NOT_CARRIED, given.place_of("queue"), message, hint)
        if given.on("gang"):
            draft.lose("gang", "Kueue starts all pods of a job together", "remove it")
    elif given.on("gang"):
        draft.join("gang", {"ack": {}}, given.place_of("gang"))
    priority = given.last("priority")
    if priority is not None:
        draft.carry("priority", "priority")
        draft.grant("priorities", priority.text)


def metadata(draft: Draft, *, pods: bool = True) -> None:
    """Labels and annotations, which Arena sets on the object and on its pods."""
    for value in draft.given.every("annotation"):
        found = pair(draft, "annotation", value)
        if found is None or found == (_ENI, "true"):
            continue
        if found[0] == "runtime":
            hint = "remove it; it selects a chart of Arena"
            draft.found.warning(NOT_CARRIED, value.place, "annotation `runtime` is not carried", hint)
            continue
        _set_metadata(draft, found, value, ["annotations", *(["podAnnotations"] if pods else [])])
    for value in draft.given.every("label"):
        if (found := pair(draft, "label", value)) is not None:
            _set_metadata(draft, found, value, ["labels", *(["podLabels"] if pods else [])])


def _set_metadata(draft: Draft, entry: tuple[str, str], value: Value, fields: list[str]) -> None:
    draft.metadata(*entry, *fields, place=value.place)


def role_annotations(draft: Draft, own: dict[str, str]) -> None:
    """Annotations of all roles of the job (role: flag). Arena's chart adds them to those of `--annotation`.

    In gen, `podAnnotations` of a role replace those of the job.
    """
    common: Fields = draft.fields.get("podAnnotations", {})
    for role, flag in own.items():
        for value in draft.given.every(flag):
            if (found := pair(draft, flag, value)) is not None:
                draft.metadata(*found, f"roles.{role}.podAnnotations", place=value.place)
    roles: Fields = draft.fields.get("roles", {})
    replaced = [role for role in own if "podAnnotations" in roles.get(role, {})]
    for role in replaced:
        roles[role]["podAnnotations"] = {**common, **roles[role]["podAnnotations"]}
    if len(replaced) == len(own):
        draft.fields.pop("podAnnotations", None)


def selector(draft: Draft, flag: str) -> Fields:
    """The `placement` of a selector."""
    placement: Fields = {}
    for value in draft.given.every(flag):
        found = pair(draft, flag, value)
        if found is None:
            continue
        key, text = found
        if key in _MACHINE:
            placement[_MACHINE[key]] = text
        else:
            placement.setdefault("nodeSelector", {})[key] = text
            draft.grant("nodeLabels", f"{key}={text}")
    return placement


def tolerations(draft: Draft) -> list[dict[str, str]]:
    """Tolerations. Arena ignores those that are not `key=value:effect,operator`; gen also reads the usual form."""
    made = []
    for value in draft.given.every("toleration"):
        if value.text == "all":
            hint = "name the taints; the platform owner can tolerate all with `defaults.placement.tolerations`"
            message = "`--toleration=all` is not carried: a job cannot tolerate every taint"
            draft.found.warning(NOT_CARRIED, value.place, message, hint)
            continue
        taint, _, rest = value.text.partition(":")
        key, _, text = taint.partition("=")
        effect, _, operator = rest.partition(",")
        if not key or (effect and effect not in _EFFECTS) or operator not in ("", "Equal", "Exists"):
            hint = "write `KEY=VALUE:EFFECT,OPERATOR`"
            message = "`--toleration` is not carried: Arena ignores values of another form"
            draft.found.warning(NOT_CARRIED, value.place, message, hint)
            continue
        exists = operator == "Exists" or not text
        made.append(
            {
                "key": key,
                "operator": "Exists" if exists else "Equal",
                **({} if exists else {"value": text}),
                **({"effect": effect} if effect else {}),
            }
        )
        draft.grant("taints", key if exists else f"{key}={text}")
    return made


def placement(draft: Draft, own: dict[str, str], *, roles: tuple[str, ...] = (), every: tuple[str, ...] = ()) -> None:
    """Node selectors and tolerations. A role with a selector of its own (role: flag) does not use `--selector`.

    `roles` are those that use `--selector`; without any, it is that of the job. `every` are all roles of the job.
    """
    given = draft.given
    taints = tolerations(draft)
    tolerated: Fields = {"tolerations": taints} if taints else {}
    common = selector(draft, "selector")
    for role in roles:
        if common:
            draft.set({**common, **tolerated}, "roles", role, "placement", place=given.place_of("selector"))
    for role, flag in own.items():
        if placed := selector(draft, flag):
            draft.set({**placed, **tolerated}, "roles", role, "placement", place=given.place_of(flag))
    whole = {**({} if roles else common), **tolerated}
    placed_roles = [role for role, fields in draft.fields.get("roles", {}).items() if "placement" in fields]
    if whole and (not every or set(placed_roles) != set(every)):
        draft.set(whole, "placement", place=given.place_of("selector", "toleration"))


def devices(draft: Draft) -> None:
    """Extended resources, as an accelerator of the overlay."""
    given = draft.given
    for number, value in enumerate(given.every("device")):
        found = pair(draft, "device", value)
        if found is None:
            continue
        resource, count = found
        if number or "gpus" in draft.fields or not count.isdecimal():
            hint = f"add {resource} to the pods with `accelerators.<name>.resources` or `patches` of the overlay"
            message = f"`--device={resource}` is not carried: a pod requests devices of one kind"
            draft.found.warning(NOT_CARRIED, value.place, message, hint)
        elif "/" not in resource:
            hint = "write `--device=VENDOR/NAME=COUNT`"
            draft.found.error(INVALID_COMMAND_LINE, value.place, f"`{resource}` is not an extended resource", hint)
        elif int(count):
            name = label(resource, "device")
            draft.set(count, "gpus", place=value.place)
            draft.set(name, "accelerator", place=value.place)
            draft.need({"extended": {"resource": resource}}, "accelerators", name)


def hidden_devices(draft: Draft) -> None:
    """Report the variable that Arena sets in pods without `--gpus`."""
    given = draft.given
    shares = any(one.text.startswith("aliyun.com/gpu-") for flag in ("label", "device") for one in given.every(flag))
    none, no_ps = (given.text(flag) in ("", "0") for flag in ("gpus", "ps-gpus"))
    what = f"`{NVIDIA_DEVICES}=void`, which Arena sets in pods without `--gpus`,"
    if given.type.kind == "volcano" or shares or not (none or (no_ps and given.text("ps") not in ("", "0"))):
        return
    if none and "gpus" in draft.fields:
        draft.drop(given.place, what, "it would hide the GPUs of other flags", "check that the job should use its GPUs")
    else:
        hint = "set `gpu: {hideFromOthers: true}` in the overlay, if images show all GPUs of their node"
        draft.drop(given.place, what, "the overlay decides about it", hint)


def ssh(draft: Draft) -> None:
    """Report what images need for the operator of gen, and not for Arena's."""
    hint = "use an image with `sshd` and an ssh client"
    message = "the launcher starts processes with ssh, and that of Arena with `kubectl exec`"
    draft.found.warning(NOT_CARRIED, draft.given.place, message, hint)


_DURATION: Final = regex(r"(?:[0-9]+(?:\.[0-9]*)?(?:h|ms|us|µs|ns|m|s))+|0")
_UNITS: Final = {"h": "3600", "m": "60", "s": "1", "ms": "0.001", "us": "0.000001", "µs": "0.000001", "ns": "1e-9"}


def duration(draft: Draft, flag: str, *route: str) -> None:
    """A duration of Go (`time.ParseDuration`). Zero means none."""
    value = draft.given.last(flag)
    if value is None:
        return
    if _DURATION.fullmatch(value.text) is None:
        hint = "use a form like `2h30m` or `90s`"
        draft.found.error(INVALID_COMMAND_LINE, value.place, f"`--{flag}`: expected a duration", hint)
        return
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?)(h|ms|us|µs|ns|m|s)", value.text)
    seconds = int(sum((Decimal(number) * Decimal(_UNITS[unit]) for number, unit in parts), Decimal(0)))
    if seconds:
        draft.set(quantity.duration(seconds), *route, place=value.place)
