"""Permissions of the pods of an object: host access, privileges, accounts, Secrets, images, volumes, devices and nodes.

It is read from the object itself, at each field with the name, so that objects of any kind, partial pod templates and
objects that were edited by hand are covered. The names are those of the fields. Fields that the Pod Security Standards
restrict are from "Pod Security Standards" of the documentation of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import orjson

from gen.base import as_list, as_mapping, as_mappings, at, names, regex
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.facts.pods import templates_by_shape
from gen.kubernetes.facts.runtimes import Runtimes
from gen.kubernetes.facts.volcano import QUEUE_LABEL
from gen.kubernetes.objects import COMPONENT, Body

SELECTS: Final = "nodeSelector"
TOLERATES: Final = "toleration"
METADATA: Final = "metadata"
IMAGE: Final = "image"
SECRET: Final = "secret"  # noqa: S105 - a field
CLAIM: Final = "claim"
STORE: Final = "store"
STORE_TO_WRITE: Final = "store to write"
ACCOUNT: Final = "serviceAccount"
PRIORITY: Final = "priority"
GROUP_PRIORITY: Final = "priority of the group"
DEVICE: Final = "device"
CAPABILITY: Final = "capability"
RUNTIME: Final = "runtime"
QUEUE: Final = "queue"
WRITE: Final = "write"
WORKFLOW_ACCOUNT: Final = "workflowAccount"

NOTABLE: Final = frozenset(
    {"hostNetwork", "hostPID", "hostIPC", "hostPath", "hostPort", "hostProcess", "privileged", "procMount", "sysctl"}
    | {"seccompProfile", "appArmorProfile", "seLinuxOptions", "volume", "nodeName"}
    | {CAPABILITY, ACCOUNT, SECRET}
)
"""Permissions that a reviewer must see."""


Permission = tuple[str, str]
"""A permission and its value: `("hostNetwork", "")` or `("serviceAccount", "trainer")`."""

_VOLUMES: Final = names(
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk gitRepo "
    "glusterfs image iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)
"""Sources of volumes that the Pod Security Standards restrict, apart from `hostPath`."""
_CLAIMED: Final = frozenset({"name", "persistentVolumeClaim"})
_HARMLESS: Final = frozenset({"name", "configMap", "downwardAPI", "emptyDir"})
_TYPES_OF_SELINUX: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_QUEUE_LABELS: Final = (QUEUE, QUEUE_LABEL)
"""Labels of YuniKorn and Volcano."""
_REMOTE: Final = regex(r"S[0-9]+:(?P<place>[^/]+(?:/.*)?)")
"""A place of an object store in an argument for rclone, as gen names it."""


def permissions(body: Body, *, whole: bool = True) -> set[Permission]:
    """All permissions of the pods of an object and of objects in its steps; unless `whole`, without those by fields."""
    found: set[Permission] = set()
    waiting: list[object] = [value for key, value in body.items() if key != "metadata"]
    waiting += _steps(body)
    for holder in waiting:  # it grows
        if type(holder) is list:
            waiting += holder
        elif type(holder) is dict:
            for key in _READ.intersection(holder):
                found.update(_READERS[key](holder[key], holder))
            if whole:
                found.update(_by_field(holder))
            for key, value in holder.items():
                if key not in _PLAIN and (type(value) is dict or type(value) is list):
                    waiting.append(value)
    return found


def created_permissions(body: Body, runtimes: Runtimes) -> set[Permission]:
    """Host access, privileges, accounts and Secrets of the pods of the runtimes that an object and its steps name."""
    found: set[Permission] = set()
    for one in (body, *_steps(body)):
        resource = resource_of_object(one.get("apiVersion"), one.get("kind"))
        if resource is not None and resource.nodes is not None:
            found |= permissions(runtimes.expanded(one, resource)[0], whole=False)
    return {one for one in found if one[0] in NOTABLE}


_Reader = Callable[[object, Body], Iterable[Permission]]


def _by_field(holder: Body) -> Iterator[Permission]:
    if "metadata" in holder and "spec" in holder:
        yield from _metadata(holder["metadata"])
    for key in _READ_BY_FIELD.intersection(holder):
        yield from _READERS_BY_FIELD[key](holder[key], holder)


def _flag(what: str) -> _Reader:
    return lambda value, _: ((what, ""),) if value is not False and value is not None else ()


def _text(what: str) -> _Reader:
    return lambda value, _: ((what, str(value)),) if value and isinstance(value, str | int) else ()


def _named(what: str) -> _Reader:
    """A mapping with a name, or a list of mappings."""

    def read(value: object, _: Body) -> Iterator[Permission]:
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict) and one.get("name"):
                yield what, str(one["name"])

    return read


def _account(value: object, holder: Body) -> Iterator[Permission]:
    """That of a workflow is not the one of a pod with a program of a job."""
    if value:
        yield WORKFLOW_ACCOUNT if "templates" in holder or "entrypoint" in holder else ACCOUNT, str(value)


def _priority(value: object, holder: Body) -> Iterator[Permission]:
    """That of a group of pods in a queue of Volcano is not the one of its pods."""
    if value and "queue" in holder:
        yield GROUP_PRIORITY, group_priority(str(holder["queue"]), str(value))
    elif value:
        yield PRIORITY, str(value)


def group_priority(queue: str, name: str) -> str:
    """A PriorityClass of the groups in a queue."""
    return f"{name} in queue {queue}"


def _capabilities(value: object, _: Body) -> Iterator[Permission]:
    for name in as_list(at(value, "add")):
        yield CAPABILITY, str(name)


def _profile(what: str) -> _Reader:
    return lambda value, _: ((what, "Unconfined"),) if at(value, "type") == "Unconfined" else ()


def _selinux(value: object, _: Body) -> Iterator[Permission]:
    kind = str(at(value, "type") or "")
    own = [str(at(value, field)) for field in ("user", "role") if at(value, field)]
    if own or kind not in _TYPES_OF_SELINUX:
        yield "seLinuxOptions", " ".join((*own, kind)).strip()


def _proc_mount(value: object, _: Body) -> Iterator[Permission]:
    if value and value != "Default":
        yield "procMount", str(value)


def _host_path(value: object, _: Body) -> Iterator[Permission]:
    if isinstance(value, dict):
        yield "hostPath", str(value.get("path") or "/")


def _volumes(value: object, _: Body) -> Iterator[Permission]:
    for volume in value if isinstance(value, list) else ():
        if not isinstance(volume, dict) or _HARMLESS.issuperset(volume):
            continue
        if volume.keys() == _CLAIMED and isinstance(claim := at(volume["persistentVolumeClaim"], "claimName"), str):
            yield CLAIM, claim  # as most are
            continue
        for source in _VOLUMES.intersection(volume):
            yield "volume", f"{source} {_json(volume[source])}"
        yield from permissions({"spec": volume}, whole=False)


def _resources(value: object, _: Body) -> Iterator[Permission]:
    for field in ("limits", "requests"):
        yield from _devices(at(value, field), {})


def _security(value: Any, _: Body) -> Iterator[Permission]:
    for key in _READ.intersection(value) if isinstance(value, dict) else ():
        yield from _READERS[key](value[key], value)
    yield from _READERS["hostProcess"](at(value, "windowsOptions", "hostProcess"), {})


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


def _devices(value: object, _: Body) -> Iterable[Permission]:
    """Resources of nodes, which have a prefix unless Kubernetes defines them."""
    return [(DEVICE, name) for name in value if "/" in name] if isinstance(value, dict) else ()


def _variables(value: object, _: Body) -> Iterator[Permission]:
    for one in value if isinstance(value, list) else ():
        if "valueFrom" in one and (name := at(one, "valueFrom", "secretKeyRef", "name")):
            yield SECRET, str(name)


def _ports(value: object, _: Body) -> Iterator[Permission]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and one.get("hostPort"):
            yield "hostPort", str(one["hostPort"])


def _selector(value: object, _: Body) -> Iterator[Permission]:
    for key, wanted in value.items() if isinstance(value, dict) else ():
        yield SELECTS, f"{key}={wanted}"


def _affinity(value: object, _: Body) -> Iterator[Permission]:
    for term in value if isinstance(value, list) else ():
        for one in as_list(at(term, "matchExpressions")):
            if at(one, "operator") == "In" and isinstance(one.get("values"), list):
                yield from ((SELECTS, f"{one.get('key')}={wanted}") for wanted in one["values"])


def _tolerations(value: object, _: Body) -> Iterator[Permission]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict):
            exact = one.get("operator") != "Exists"
            key = str(one.get("key") or "")
            yield TOLERATES, f"{key}={one.get('value') or ''}" if exact else key


def _metadata(value: object) -> Iterator[Permission]:
    """Labels and annotations of pods that controllers can act on; Services select pods by labels of any form."""
    labels, annotations = at(value, "labels"), at(value, "annotations")
    yield from queues(labels)
    yield from ((METADATA, key) for key in (labels if isinstance(labels, dict) else ()))
    yield from ((METADATA, key) for key in (annotations if isinstance(annotations, dict) else ()) if "/" in key)


def queues(labels: object) -> Iterator[Permission]:
    """Queues of schedulers in labels."""
    yield from ((QUEUE, str(name)) for key in _QUEUE_LABELS if (name := at(labels, key)))


def _arguments(value: object, holder: Body) -> Iterator[Permission]:
    for one in value if isinstance(value, list) else ():
        match = _REMOTE.fullmatch(one) if isinstance(one, str) else None
        if match is not None:
            yield STORE if holder.get("name") == "copy" else STORE_TO_WRITE, match["place"]


def _mounts(value: object, _: Body) -> Iterator[Permission]:
    """Volumes that a container can write to, by the names in its pod."""
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and not one.get("readOnly"):
            yield WRITE, str(one.get("name"))


_READERS: Final[dict[str, _Reader]] = {
    **{name: _flag(name) for name in ("hostNetwork", "hostPID", "hostIPC", "hostProcess", "privileged")},
    **{name: _text(name) for name in ("nodeName", "deviceClassName")},
    **dict.fromkeys(("serviceAccountName", "serviceAccount"), _account),
    **dict.fromkeys(
        ("secretKeyRef", "secretRef", "secret", "imagePullSecrets", "nodePublishSecretRef", "nodeStageSecretRef"),
        _named(SECRET),
    ),
    **dict.fromkeys(("limits", "requests"), _devices),
    **{name: _text(CLAIM) for name in ("claimName", "volumeClaimName")},
    **{name: _profile(name) for name in ("seccompProfile", "appArmorProfile")},
    "secretName": _text(SECRET),
    "image": _text(IMAGE),
    **dict.fromkeys(("priorityClassName", "priorityClass"), _priority),
    "runtimeRef": _named(RUNTIME),
    "capabilities": _capabilities,
    "seLinuxOptions": _selinux,
    "procMount": _proc_mount,
    "sysctls": _named("sysctl"),
    "hostPath": _host_path,
    "volumes": _volumes,
    "resources": _resources,
    "securityContext": _security,
    "env": _variables,
    "ports": _ports,
}
_READERS_BY_FIELD: Final[dict[str, _Reader]] = {
    "volumeMounts": _mounts,
    "nodeSelector": _selector,
    "nodeSelectorTerms": _affinity,
    "tolerations": _tolerations,
    "args": _arguments,
    "command": _arguments,
    QUEUE: _text(QUEUE),
}
_READ: Final = frozenset(_READERS)
_READ_BY_FIELD: Final = frozenset(_READERS_BY_FIELD)
_PLAIN: Final = names(
    "annotations args capabilities command data env labels limits matchLabels metadata nodeSelector ports requests "
    "resources securityContext selector tolerations topologySpreadConstraints volumeMounts volumes"
)
"""Fields with texts and numbers, which are most of an object, and fields that are read as a whole."""


def restrictions(body: Body) -> dict[tuple[str, str], frozenset[str]]:
    """Limits that pods set for themselves, by the role of the pod and the name of the container.

    A container has those of its pod, unless it sets the field itself.
    """
    found: dict[tuple[str, str], frozenset[str]] = {}
    for one in (body, *_steps(body)):
        for _, template in templates_by_shape(one.get("spec")):
            spec, role = template["spec"], str(at(template, "metadata", "labels", COMPONENT) or "")
            found[role, ""] = frozenset(_of_pod(spec))
            containers = [*_listed(spec, "containers"), *_listed(spec, "initContainers")]
            for container in containers:
                common, own = at(spec, "securityContext"), container.get("securityContext")
                both = {**(common if isinstance(common, dict) else {}), **(own if isinstance(own, dict) else {})}
                found[role, str(container.get("name"))] = frozenset(_of_container(both))
    return found


def _steps(body: Body) -> Iterator[Body]:
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    if resource is not None and resource.steps:
        yield from graph_of(resource).objects(body)


def _listed(spec: Body, field: str) -> list[Body]:
    return as_mappings(spec.get(field))


def _of_pod(spec: Body) -> Iterator[str]:
    for field in ("automountServiceAccountToken", "hostUsers"):
        if spec.get(field) is False:
            yield f"{field}: false"
    if spec.get("runtimeClassName"):
        yield f"runtimeClassName: {spec['runtimeClassName']}"
    yield from (f"nodeSelector {key}={value}" for key, value in as_mapping(spec.get("nodeSelector")).items())


def _of_container(context: Body) -> Iterator[str]:
    for field, safe in (("runAsNonRoot", True), ("readOnlyRootFilesystem", True), ("allowPrivilegeEscalation", False)):
        if context.get(field) is safe:
            yield f"{field}: {str(safe).lower()}"
    for field in ("runAsUser", "runAsGroup"):
        if context.get(field):
            yield f"{field}: {context[field]}"
    yield from (f"capabilities.drop: {name}" for name in as_list(at(context, "capabilities", "drop")))
    for field in ("seccompProfile", "appArmorProfile"):
        if at(context, field, "type") not in (None, "Unconfined"):
            yield f"{field}: {_json(context[field])}"
    if context.get("seLinuxOptions"):
        yield f"seLinuxOptions: {_json(context['seLinuxOptions'])}"
