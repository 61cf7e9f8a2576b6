"""A judge of rendered objects without code of gen: Kubernetes' Pod Security Standards, and an overlay as data.

It reads every pod in an object of any kind, and compares its permissions with the fields of the overlay.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SKIPS = {
    "argocd": ("argocd.argoproj.io/hook", "Skip"),
    "flux": ("kustomize.toolkit.fluxcd.io/ssa", "Ignore"),
}
"""The annotation with which each engine leaves an object alone, from their documentation."""
KUBEFLOW = {"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"}
"""Kinds that are suspended by `spec.runPolicy.suspend`."""
SUSPENSION = {"Robot": "paused", "Swarm": "paused"}
"""Fields below `spec` that suspend a run of a kind; `suspend` for others."""
QUEUE = "kueue.x-k8s.io/queue-name"
HARMLESS = {"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret", "ephemeral"}
MACHINE = {
    *("node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "kubernetes.io/arch", "kubernetes.io/os"),
    "nvidia.com/gpu.product",
}
"""Labels that only describe a machine."""
OF_GEN = ("registry.k8s.io/git-sync/", "docker.io/rclone/", "tensorflow/tensorflow", "mirror.example.com/rclone/")
"""Images that gen chooses, also after the overlay has replaced their registry."""
SYSTEM = (
    "hive.acme.example.com/",
    "gen/",
    "app.kubernetes.io/",
    "training.kubeflow.org/",
    "kueue.x-k8s.io/",
    "volcano.sh/",
    "scheduling.",
)
"""Keys that gen and operators set on pods."""
OF_PLATFORM = {"Workflow", "CronWorkflow", "PipelineVersion", "Deployment"}
"""Kinds with pods that run programs of gen, and hold the objects of steps."""
_REMOTE = re.compile(r"S[0-9]+:([^/]+(?:/.*)?)")


class Cluster:
    """An overlay: its fields, its other files, and what its policy restricts."""

    def __init__(self, data: Any, files: Mapping[str, str] = {}, rule: str | None = None) -> None:
        self.data, self.rule = data, rule
        self.engines = tuple(data["gitops"])
        runtimes = [text for path, text in files.items() if "/runtimes/" in path]
        self.strong = {body["metadata"]["name"]: body for body in map(json.loads, runtimes)}
        self.rights: dict[str, Rights] = {}

    def of(self, namespace: str) -> Rights | None:
        names = self.data["namespaces"]
        if namespace not in names and "*" not in names:
            return None
        if namespace not in self.rights:
            self.rights[namespace] = Rights(self.data, names.get(namespace, names.get("*")) or {})
        return self.rights[namespace]


def runs(body: Any, engine: str) -> bool:
    """Whether an engine that applies the object starts its pods, at once or once a queue admits it."""
    key, value = SKIPS[engine]
    metadata = body.get("metadata") or {}
    if any((metadata.get(field) or {}).get(key) == value for field in ("annotations", "labels")):
        return False
    if (metadata.get("labels") or {}).get(QUEUE):
        return True
    spec = body.get("spec") or {}
    if body["kind"] in KUBEFLOW:
        return (spec.get("runPolicy") or {}).get("suspend") is not True
    return spec.get(SUSPENSION.get(body["kind"], "suspend")) is not True


def inner(value: Any) -> Any:
    """The object with the manifests in its texts."""
    if isinstance(value, dict):
        return {key: inner(one) for key, one in value.items()}
    if isinstance(value, list):
        return [inner(one) for one in value]
    if isinstance(value, str) and "\nspec:" in value and "apiVersion:" in value:
        return _parsed(value)
    if isinstance(value, str) and value.startswith('{"') and "apiVersion" in value:
        return _parsed(value)
    return value


@lru_cache(maxsize=2000)
def _parsed(text: str) -> Any:
    try:
        found = list(yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError:
        return text
    return [inner(one) for one in found]


def pods(value: Any, metadata: Any = None) -> Iterator[tuple[Any, Any]]:
    """Every mapping with containers, with the metadata next to it."""
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value, metadata or {}
        for key, one in value.items():
            yield from pods(one, value.get("metadata") if key == "spec" else None)
    elif isinstance(value, list):
        for one in value:
            yield from pods(one)


class Rights:
    """The rights of a namespace."""

    def __init__(self, overlay: Any, grant: Any) -> None:
        self.overlay, self.grant = overlay, grant
        self.allow = set(grant.get("allow") or ())
        patches = [one for one in overlay.get("patches") or () if "pods" in one["target"]]
        self.patches = [one["patch"].get("spec") or {} for one in patches]
        self.labels = {key for one in patches for key in (one["patch"].get("metadata") or {}).get("labels") or ()}
        self.patched = {key for spec in self.patches for key in spec}
        self.networks, self.volumes, self.stores = map(self._of, ("networks", "volumes", "stores"))
        self.defaults = overlay.get("defaults") or {}
        self.required = {k: v for spec in self.patches for k, v in (spec.get("securityContext") or {}).items()}
        self.tokens = any(spec.get("automountServiceAccountToken") is False for spec in self.patches)

    def _of(self, field: str) -> dict[str, Any]:
        declared, listed = self.overlay.get(field) or {}, self.grant.get(field)
        return {name: one for name, one in declared.items() if listed is None or name in listed}

    def listed(self, field: str) -> set[str]:
        return set(self.grant.get(field) or ())

    def host_network(self) -> bool:
        granted = any(one.get("hostNetwork") for one in self.networks.values())
        return (granted and "hostNetwork" in self.allow) or "hostNetwork" in self.patched

    def paths(self) -> set[str]:
        own = {one["hostPath"]["path"] for one in self.volumes.values() if "hostPath" in one}
        patched = [volume for spec in self.patches for volume in spec.get("volumes") or ()]
        added = {one["hostPath"]["path"] for one in patched if "hostPath" in one}
        return (own if "hostPath" in self.allow else set()) | added

    def claims(self) -> dict[str, bool]:
        """Claims, and whether pods may write to them."""
        return {
            one.get("claim", name): not one.get("readOnly")
            for name, one in self.volumes.items()
            if "local" not in one or "local" in self.allow
        }

    def capabilities(self) -> set[str]:
        return {"IPC_LOCK"} if any("rdma" in one for one in self.networks.values()) else set()

    def devices(self) -> set[str]:
        return {
            *(one["rdma"] for one in self.networks.values() if "rdma" in one),
            "nvidia.com/gpu",
            "acme.example.com/abacus",
        }

    def priorities(self) -> set[str]:
        declared = self.overlay.get("priorities") or {}
        return {declared.get(name, {}).get("className", name) for name in self.listed("priorities")}

    def queues(self, *kinds: str) -> set[str]:
        """Queues of a scheduler by their names in the cluster."""
        declared = self.overlay.get("queues") or {}
        found = set()
        for name in self.listed("queues"):
            for kind, own in (declared.get(name) or dict.fromkeys(kinds, name)).items():
                if kind in kinds:
                    found.add(own if isinstance(own, str) else own.get("localQueue") or own.get("queue"))
        return found

    def secret(self, name: str) -> bool:
        stores = {key for key, one in (self.overlay.get("stores") or {}).items() if one.get("secret") == name}
        volumes = {
            key
            for key, one in (self.overlay.get("volumes") or {}).items()
            if name == (one.get("csi") or {}).get("stageSecret")
        }
        return not (stores or volumes) or bool(stores & self.stores.keys() or volumes & self.volumes.keys())

    def image(self, image: str) -> bool:
        registries = self.grant.get("registries")
        tools = {one.get("reader") or one.get("image") for one in (self.overlay.get("pipelines") or {}).values()}
        if registries is None or image.startswith(OF_GEN) or image in tools:
            return True
        full = (
            image
            if "." in image.partition("/")[0] and "/" in image
            else f"docker.io/{image if '/' in image else 'library/' + image}"
        )
        return any(full.startswith((f"{one}/", f"{one}:", f"{one}@")) for one in registries)

    def reads(self, place: str) -> Iterator[tuple[str, bool]]:
        """The granted stores that hold a place, and whether jobs may write to them."""
        for name, one in self.stores.items():
            root = "/".join(part for part in (one["bucket"], one.get("prefix")) if part)
            if place == root or place.startswith(f"{root}/"):
                yield name, not one.get("readOnly")

    def placement(self, field: str) -> list[Any]:
        """Selectors or tolerations of the overlay itself."""
        found = [(self.defaults.get("placement") or {}).get(field) or {}]
        spot = self.overlay.get("spot") or {}
        found.append(spot.get("nodeLabels" if field == "nodeSelector" else "tolerations") or {})
        accelerators = self.overlay.get("accelerators") or {}
        granted = self.grant.get("accelerators")
        if field == "nodeSelector":
            found += [
                one.get("nodeLabels") or {} for name, one in accelerators.items() if granted is None or name in granted
            ]
        if field == "nodeSelector" and "plugins" in self.overlay:
            found.append({"acme.example.com/beads": "wood"})
        return [
            pair
            for one in found
            for pair in (one.items() if isinstance(one, dict) else ((t.get("key"), t.get("value")) for t in one))
        ]


def escapes(body: Any, cluster: Cluster) -> Iterator[str]:  # noqa: C901, PLR0912 - a list of checks
    """Permissions of the pods of an object that the overlay does not grant their namespace."""
    rights = cluster.of(body["metadata"]["namespace"])
    if rights is None:
        yield "namespace without a grant"
        return
    body = inner(body)
    labels = body["metadata"].get("labels") or {}
    for queue in {labels.get(QUEUE), *_values(body, QUEUE)} - {None}:
        if queue not in rights.queues("kueue"):
            yield f"queue {queue}"
    for queue in _queues_of_volcano(body):
        if queue not in rights.queues("volcano"):
            yield f"queue {queue} of Volcano"
    for runtime in _values(body, "runtimeRef"):
        yield from _runtime(runtime["name"], rights, cluster)
    kind = body["kind"]
    if kind == "Experiment" and not rights.grant.get("search"):
        yield "a search"
    if kind == "Experiment" and body["spec"].get("maxTrialCount", 0) > (rights.grant.get("search") or {}).get(
        "maxTrials", 0
    ):
        yield "trials"
    if kind in ("PipelineVersion", "Pipeline") and not rights.grant.get("kfp"):
        yield "a pipeline of Kubeflow Pipelines"
    for secret in {*_secrets(body)}:
        if not rights.secret(secret):
            yield f"secret {secret}"
    yield from _stores(body, rights)
    for pod, metadata in pods(body):
        yield from _pod(pod, metadata, rights, kind)
    for pod, _ in pods(_without_trainjobs(body)):
        if kind != "Deployment":
            yield from _without(pod, rights)
    if cluster.rule is not None and kind in ("Job", "PyTorchJob"):
        yield from _refused(body, cluster.rule)


def _without_trainjobs(value: Any) -> Any:
    """The object without those whose pods a patch does not reach: a runtime of the cluster has them."""
    if isinstance(value, dict):
        return {} if value.get("kind") == "TrainJob" else {key: _without_trainjobs(one) for key, one in value.items()}
    return [_without_trainjobs(one) for one in value] if isinstance(value, list) else value


def _runtime(name: str, rights: Rights, cluster: Cluster) -> Iterator[str]:
    granted, own = rights.grant.get("runtimes"), cluster.strong.get(name)
    if name not in (rights.overlay.get("runtimes") or {}) and own is None:
        yield f"runtime {name}"
    if granted is not None and name not in granted:
        yield f"runtime {name}, which is not listed"
    if own is not None and granted is None:  # its privileges are only for namespaces that name it
        for pod, _ in pods(own["spec"]):
            if pod.get("hostNetwork") and not rights.host_network():
                yield f"hostNetwork of runtime {name}"
            if any(volume["hostPath"]["path"] not in rights.paths() for volume in pod.get("volumes") or ()):
                yield f"hostPath of runtime {name}"
            if any((one.get("securityContext") or {}).get("privileged") for one in pod["containers"]):
                yield f"privileged runtime {name}"


def _queues_of_volcano(body: Any) -> set[str]:
    found = {one["queue"] for one in _values(body, "schedulingPolicy") if isinstance(one, dict) and "queue" in one}
    if str(body.get("apiVersion")).startswith(("batch.volcano.sh/", "scheduling.volcano.sh/")):
        found |= {one for one in (body["spec"].get("queue"),) if one not in (None, "default")}
    return found


def _refused(body: Any, rule: str) -> Iterator[str]:
    """Objects that the policy of the cluster refuses."""
    for pod, _ in pods(body):
        if rule == "hostNetwork" and pod.get("hostNetwork"):
            yield "the policy about hostNetwork"
        if rule == "images" and not all(one["image"].startswith("registry.example.com/") for one in pod["containers"]):
            yield "the policy about images"


def _pod(pod: Any, metadata: Any, rights: Rights, kind: str) -> Iterator[str]:  # noqa: C901, PLR0912 - a list of checks
    if pod.get("hostNetwork") and not rights.host_network():
        yield "hostNetwork"
    for field in ("hostPID", "hostIPC"):
        if pod.get(field) and field not in rights.patched:
            yield field
    account = pod.get("serviceAccountName") or pod.get("serviceAccount")
    default = (rights.defaults.get("kinds") or {}).get("batch", {}).get("serviceAccount")
    if account and account not in rights.listed("serviceAccounts") | {default}:
        yield f"account {account}"
    priority = pod.get("priorityClassName")
    if priority and priority not in rights.priorities():
        yield f"priority {priority}"
    if pod.get("nodeName"):
        yield "nodeName"
    yield from _nodes(pod, rights)
    claims, frozen = rights.claims(), set()
    for volume in pod.get("volumes") or ():
        (source,) = (key for key in volume if key != "name")
        if source == "hostPath" and volume[source]["path"] not in rights.paths():
            yield f"hostPath {volume[source]['path']}"
        if source not in HARMLESS | {"hostPath"}:
            yield f"volume {source}"
        if source == "persistentVolumeClaim":
            claim = volume[source]["claimName"]
            if claim not in claims:
                yield f"claim {claim}"
            elif not claims[claim]:
                frozen.add(volume["name"])
    for container in (*pod["containers"], *(pod.get("initContainers") or ())):
        yield from _container(pod, container, rights)
        for mount in container.get("volumeMounts") or ():
            if mount["name"] in frozen and not mount.get("readOnly"):
                yield f"writes to {mount['name']}"
    granted = [*rights.listed("metadata"), *rights.labels, *(rights.defaults.get("podLabels") or ())]
    for key in metadata.get("labels") or {}:
        if not key.startswith(SYSTEM) and not any(fnmatchcase(key, one) for one in granted) and kind not in OF_PLATFORM:
            yield f"label {key}"
    for key in metadata.get("annotations") or {}:
        own = key.startswith(
            (*SYSTEM, "sidecar.istio.io/", "cluster-autoscaler.kubernetes.io/", "batch.kubernetes.io/")
        )
        own = own or (key == "acme.example.com/mesh" and "mesh" in rights.networks)
        if not own and not any(fnmatchcase(key, one) for one in rights.listed("metadata")):
            yield f"annotation {key}"


def _nodes(pod: Any, rights: Rights) -> Iterator[str]:
    granted = [pattern.partition("=") for pattern in rights.listed("nodeLabels")]
    required = ((pod.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = (required or {}).get("nodeSelectorTerms") or ()
    chosen = [(key, value) for key, value in (pod.get("nodeSelector") or {}).items()]
    chosen += [
        (one["key"], v) for term in terms for one in term.get("matchExpressions") or () for v in one.get("values") or ()
    ]
    for key, value in chosen:
        if key in MACHINE or (key, value) in rights.placement("nodeSelector"):
            continue
        if not any(fnmatchcase(key, one) and (not sign or fnmatchcase(value, v)) for one, sign, v in granted):
            yield f"node {key}={value}"
    taints = [pattern.partition("=") for pattern in rights.listed("taints")]
    for one in pod.get("tolerations") or ():
        key, value = one.get("key"), one.get("value")
        known = key == "nvidia.com/gpu" or (key, value) in rights.placement("tolerations")
        if not known and not any(fnmatchcase(str(key), pattern) for pattern, _, _ in taints):
            yield f"taint {key}"


def _container(pod: Any, container: Any, rights: Rights) -> Iterator[str]:
    context = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    if context.get("privileged") and not any("privileged" in str(spec) for spec in rights.patches):
        yield "privileged"
    for name in (context.get("capabilities") or {}).get("add") or ():
        if name not in rights.capabilities():
            yield f"capability {name}"
    if context.get("procMount") not in (None, "Default"):
        yield "procMount"
    if any(port.get("hostPort") for port in container.get("ports") or ()):
        yield "hostPort"
    if "image" in container and not rights.image(container["image"]):
        yield f"image {container['image']}"
    for name in (container.get("resources") or {}).get("limits") or {}:
        if "/" in name and name not in rights.devices():
            yield f"device {name}"


def _without(pod: Any, rights: Rights) -> Iterator[str]:
    if rights.tokens and pod.get("automountServiceAccountToken") is not False:
        yield "without automountServiceAccountToken: false"
    for container in (*pod["containers"], *(pod.get("initContainers") or ())):
        context = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
        for key, value in rights.required.items():
            if context.get(key) != value:
                yield f"without {key}: {value}"


def _stores(body: Any, rights: Rights) -> Iterator[str]:
    """Places of object stores in the arguments of containers, which read and write them."""
    for pod, _ in pods(body):
        for container in (*pod["containers"], *(pod.get("initContainers") or ())):
            for one in (*(container.get("args") or ()), *(container.get("command") or ())):
                match = _REMOTE.fullmatch(str(one))
                if match is None:
                    continue
                found = dict(rights.reads(match[1]))
                if not found:
                    yield f"store {match[1]}"
                elif container["name"] != "copy" and not any(found.values()):
                    yield f"writes to store {match[1]}"


def _secrets(value: Any) -> Iterator[str]:
    for key in ("secretKeyRef", "secretRef", "nodePublishSecretRef", "nodeStageSecretRef"):
        yield from (one["name"] for one in _values(value, key) if isinstance(one, dict) and "name" in one)
    yield from (one for one in _values(value, "secretName") if isinstance(one, str))
    for found in _values(value, "imagePullSecrets"):
        yield from (one["name"] for one in found)
    for found in _values(value, "secret"):
        if isinstance(found, dict) and isinstance(found.get("name"), str):
            yield found["name"]


def _values(value: Any, wanted: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, one in value.items():
            if key == wanted:
                yield one
            yield from _values(one, wanted)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one, wanted)
