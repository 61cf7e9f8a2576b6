"""Flags about networks, nodes, queues and metadata: names in the job, and grants and profiles of the overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.importers.arena.pods import pair
from gen.importers.draft import label
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.objects import INSTANCE_TYPE, ZONE

if TYPE_CHECKING:
    from gen.importers.arena.submission import Draft, Value
    from gen.importers.base import Fields

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
