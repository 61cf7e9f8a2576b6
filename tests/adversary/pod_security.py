"""A judge of rendered objects without code of gen: Kubernetes' Pod Security Standards, and an overlay as YAML.

It reads every pod in an object of any kind, and compares its permissions with the text of the overlay.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPS = {
    "argocd": ("argocd.argoproj.io/hook", "Skip"),
    "flux": ("kustomize.toolkit.fluxcd.io/ssa", "Ignore"),
}
"""The annotation with which each engine leaves an object alone, from their documentation."""
SUSPENSION = {"JobSet": ("suspend",), "Job": ("suspend",), "RayJob": ("suspend",), "TrainJob": ("suspend",)}
"""Fields below `spec` that suspend a run; the kinds of Kubeflow have `runPolicy.suspend`."""
KUBEFLOW = {"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"}
BASELINE_VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
MACHINE = {"node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "kubernetes.io/arch", "kubernetes.io/os"}


def runs(body: Any, engine: str) -> bool:
    """Whether an engine that applies the object starts its pods."""
    key, value = SKIPS[engine]
    metadata = body.get("metadata") or {}
    if any((metadata.get(field) or {}).get(key) == value for field in ("annotations", "labels")):
        return False
    spec = body.get("spec") or {}
    if body["kind"] in KUBEFLOW:
        return (spec.get("runPolicy") or {}).get("suspend") is not True
    return all(spec.get(field) is not True for field in SUSPENSION.get(body["kind"], ()))


def pods(value: Any) -> Iterator[Any]:
    """Every mapping with containers, also in manifests that are texts."""
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for key, inner in value.items():
            if key == "manifest" and isinstance(inner, str):
                yield from pods(yaml.safe_load(inner))
            else:
                yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


class Rights:
    """The rights of a namespace, from the text of the overlay."""

    def __init__(self, overlay: Any, namespace: str) -> None:
        names = overlay["namespaces"]
        self.grant = names.get(namespace, names.get("*")) or {}
        self.overlay = overlay
        self.allow = set(self.grant.get("allow") or ())
        self.patch = [one["patch"].get("spec") or {} for one in overlay.get("patches") or ()]
        self.patched = {key for spec in self.patch for key in spec}
        self.networks = self._of("networks")
        self.volumes = self._of("volumes")
        self.stores = self._of("stores")

    def _of(self, field: str) -> dict[str, Any]:
        declared, listed = self.overlay.get(field) or {}, self.grant.get(field)
        return {name: one for name, one in declared.items() if listed is None or name in listed}

    def host_network(self) -> bool:
        granted = any(one.get("hostNetwork") for one in self.networks.values())
        return (granted and "hostNetwork" in self.allow) or "hostNetwork" in self.patched

    def paths(self) -> set[str]:
        own = {one["hostPath"]["path"] for one in self.volumes.values() if "hostPath" in one}
        return (own if "hostPath" in self.allow else set()) | {
            volume["hostPath"]["path"]
            for spec in self.patch
            for volume in spec.get("volumes") or ()
            if "hostPath" in volume
        }

    def claims(self) -> set[str]:
        return {one.get("claim", name) for name, one in self.volumes.items()}

    def capabilities(self) -> set[str]:
        return {"IPC_LOCK"} if any("rdma" in one for one in self.networks.values()) else set()

    def devices(self) -> set[str]:
        own = {one["rdma"] for one in self.networks.values() if "rdma" in one}
        return {*own, "nvidia.com/gpu"}

    def secret(self, name: str) -> bool:
        owners = [key for key, one in (self.overlay.get("stores") or {}).items() if one.get("secret") == name]
        owned = [
            key
            for key, one in (self.overlay.get("volumes") or {}).items()
            if name in ((one.get("csi") or {}).get("stageSecret"), (one.get("juicefs") or {}).get("secret"))
        ]
        free = not owners and not owned
        return free or any(one in self.stores for one in owners) or any(one in self.volumes for one in owned)

    def image(self, image: str) -> bool:
        registries = self.grant.get("registries")
        of_gen = image.startswith(("registry.k8s.io/git-sync/", "docker.io/rclone/", "tensorflow/tensorflow"))
        return registries is None or of_gen or any(image.startswith((f"{one}/", f"{one}:")) for one in registries)

    def required(self) -> dict[str, Any]:
        """Values that the patches of the overlay set in each pod."""
        return {key: value for spec in self.patch for key, value in (spec.get("securityContext") or {}).items()}

    def of_defaults(self, field: str) -> list[Any]:
        placement = (self.overlay.get("defaults") or {}).get("placement") or {}
        found = placement.get(field) or {}
        return list(found.items()) if isinstance(found, dict) else [(one.get("key"), one.get("value")) for one in found]


def escapes(body: Any, overlay: Any) -> Iterator[str]:
    """Permissions of the pods of an object that the overlay does not grant their namespace."""
    namespace = body["metadata"]["namespace"]
    rights = Rights(overlay, namespace)
    names = overlay["namespaces"]
    if namespace not in names and "*" not in names:
        yield "namespace without a grant"
    queue = (body["metadata"].get("labels") or {}).get("kueue.x-k8s.io/queue-name")
    if queue and queue not in (rights.grant.get("queues") or ()):
        yield f"queue {queue}"
    for runtime in _values(body, "runtimeRef"):
        if runtime["name"] not in (overlay.get("runtimes") or {}):
            yield f"runtime {runtime['name']}"
    for pod in pods(body):
        yield from _pod(pod, rights)
        if body["kind"] not in ("TrainJob", "Deployment"):  # whose pods a patch of pods does not reach
            yield from _without(pod, rights)


def _pod(pod: Any, rights: Rights) -> Iterator[str]:  # noqa: C901 - a list of checks
    if pod.get("hostNetwork") and not rights.host_network():
        yield "hostNetwork"
    for field in ("hostPID", "hostIPC"):
        if pod.get(field) and field not in rights.patched:
            yield field
    account = pod.get("serviceAccountName")
    if account and account not in (rights.grant.get("serviceAccounts") or ()):
        yield f"account {account}"
    priority = pod.get("priorityClassName")
    if priority and priority not in (rights.grant.get("priorities") or ()):
        yield f"priority {priority}"
    yield from _nodes(pod, rights)
    for volume in pod.get("volumes") or ():
        (source,) = (key for key in volume if key != "name")
        if source == "hostPath" and volume[source]["path"] not in rights.paths():
            yield f"hostPath {volume[source]['path']}"
        if source not in BASELINE_VOLUMES | {"hostPath"}:
            yield f"volume {source}"
        if source == "persistentVolumeClaim" and volume[source]["claimName"] not in rights.claims():
            yield f"claim {volume[source]['claimName']}"
    for secret in _secrets(pod):
        if not rights.secret(secret):
            yield f"secret {secret}"
    for container in (*pod["containers"], *(pod.get("initContainers") or ())):
        yield from _container(pod, container, rights)


def _nodes(pod: Any, rights: Rights) -> Iterator[str]:
    granted = [pattern.partition("=") for pattern in rights.grant.get("nodeLabels") or ()]
    for key, value in (pod.get("nodeSelector") or {}).items():
        known = key in MACHINE or (key, value) in rights.of_defaults("nodeSelector")
        if not known and not any(
            fnmatchcase(key, one) and (not sign or fnmatchcase(value, v)) for one, sign, v in granted
        ):
            yield f"node {key}={value}"
    taints = [pattern.partition("=") for pattern in rights.grant.get("taints") or ()]
    for one in pod.get("tolerations") or ():
        key, value = one.get("key"), one.get("value")
        known = key == "nvidia.com/gpu" or (key, value) in rights.of_defaults("tolerations")
        if not known and not any(fnmatchcase(str(key), pattern) for pattern, _, _ in taints):
            yield f"taint {key}"


def _container(pod: Any, container: Any, rights: Rights) -> Iterator[str]:
    context = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    if context.get("privileged") and not any("privileged" in str(spec) for spec in rights.patch):
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
    for container in (*pod["containers"], *(pod.get("initContainers") or ())):
        context = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
        for key, value in rights.required().items():
            if context.get(key) != value:
                yield f"without {key}: {value}"


def _secrets(pod: Any) -> Iterator[str]:
    for reference in _values(pod, "secretKeyRef"):
        yield reference["name"]
    yield from _values(pod, "secretName")
    yield from (one["name"] for one in pod.get("imagePullSecrets") or ())


def _values(value: Any, wanted: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == wanted:
                yield inner
            yield from _values(inner, wanted)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, wanted)
