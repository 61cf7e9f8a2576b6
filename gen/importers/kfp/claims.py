"""Settings of a pipeline on Kubernetes: the claims that it creates and the workspace of its runs as volumes of the
overlay; those of pods, and others, which no job has.

They are in `kubernetes_platform/proto` of kubeflow/pipelines; `extendPodSpecPatch` in `backend/src/v2/driver/k8s.go`
makes a pod of them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, Route, as_list, as_mapping, as_texts, at, replaced, with_texts
from gen.base.codes.imports import NOT_CARRIED
from gen.importers import Fields, ImportedJob
from gen.importers.kfp.graph import OUTPUT, PARAMETER, Leaf, items_of, number_of, of_ir, whole, with_defaults
from gen.importers.manifests.pods import script_place
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body, present

VOLUME: Final = "pipeline"
"""Volume with the outputs of steps, in a folder for each run and each step."""
WORKSPACE: Final = "/kfp-workspace"
"""Folder of the workspace of a run; its claim has this name, too: `backend/src/v2/component/constants.go`."""
PLATFORM: Final = ("platforms", "kubernetes")
"""Route of the settings of a pipeline of version 2 on Kubernetes."""
_CLAIM: Final = "PersistentVolumeClaim"


def claim_in(manifest: str) -> Body:
    """The fields of a PersistentVolumeClaim; none for another object."""
    read = read_manifests(manifest.encode("utf-8", "replace"), "", Findings()) if _CLAIM in manifest else None
    body = read.documents[0] if read is not None and len(read.documents) == 1 else None
    if at(body, "kind") != _CLAIM:
        return {}
    fields = {**present(**{name: at(body, "metadata", name) for name in _NAMES}), **as_mapping(at(body, "spec"))}
    return {
        "name": str(at(body, "metadata", "name") or ""),
        "size": str(at(body, "spec", "resources", "requests", "storage") or ""),
        "storageClass": str(at(body, "spec", "storageClassName") or ""),
        "accessModes": json.dumps(as_texts(at(body, "spec", "accessModes"))),
        "others": " ".join(name for name, one in fields.items() if name not in OF_CLAIM and one not in _PLAIN),
    }


OF_CLAIM: Final = frozenset(
    {"pvc_name", "pvc_name_suffix", "size", "storage_class", "storage_class_name", "access_modes"}  # of version 2
    | {"resources", "storageClassName", "accessModes"}
)
"""Fields of claims that volumes of an overlay have."""
_NAMES: Final = ("annotations", "labels")
_PLAIN: Final = (None, "", "Filesystem")


_PLATFORMS: Final[tuple[Route, ...]] = ((), ("pipeline_spec", "platform_spec"), ("spec", "platformSpec"))
"""Routes of the settings for platforms in a file of the compiler, a run or a version, and a `PipelineVersion`."""


def on_platform(documents: Sequence[object]) -> tuple[int, Route, object]:
    """The settings of a pipeline on Kubernetes, with the number of their document and the route to all platforms."""
    every = ((number, route) for number in range(len(documents)) for route in _PLATFORMS)
    known = ((number, route, at(documents[number], *route, *PLATFORM)) for number, route in every)
    return next((one for one in known if one[2]), (0, (), None))


def with_claim(pod: Body, name: str, path: str) -> Body:
    """A pod whose only container mounts a claim."""
    (container,) = pod["containers"]
    mounts = [*as_list(container.get("volumeMounts")), {"name": name, "mountPath": path}]
    claim = {"name": name, "persistentVolumeClaim": {"claimName": name}}
    volumes = [*as_list(pod.get("volumes")), claim]
    return {**pod, "volumes": volumes, "containers": [{**container, "volumeMounts": mounts}]}


def with_workspace(leaf: Leaf, made: Leaf, values: Mapping[str, str], before: Collection[tuple[str, Body]]) -> Leaf:
    """A component with its files, and the workspace of the run, as `needsWorkspaceMount` in `backend/src/v2/driver` of
    kubeflow/pipelines decides: an input is a path there, which can be an output of a task that has it. `before` are the
    tasks before it with their pods.
    """
    types = as_mapping(at(leaf.component, "inputDefinitions", "parameters"))
    texts = [values.get(name, "") for name, one in types.items() if at(one, "parameterType") in (None, "STRING")]
    makers = {one[1] for text in texts for one in OUTPUT.finditer(text) if one[2] == "parameters"}
    tasks = {task for task, _ in before}
    sharing = {
        task for task, pod in before if WORKSPACE[1:] in (at(one, "name") for one in as_list(pod.get("volumes")))
    }
    makers = sharing & makers if makers <= tasks else sharing  # of a graph, any of its tasks can be the maker
    known = any(WORKSPACE in one for one in (*values.values(), *leaf.words))
    return (
        replace(made, pod=with_claim(made.pod, WORKSPACE[1:], WORKSPACE))
        if made is not leaf and (known or makers)
        else made
    )


def volume_of(claim: Mapping[str, str]) -> Fields:
    """The volume of an overlay that creates a claim; none without a StorageClass, which only the cluster knows, or
    with fields that decide which data are on it.
    """
    if not claim["storageClass"] or not claim["size"] or not set(claim.get("others", "").split()) <= {*_NAMES}:
        return {}
    return present(size=claim["size"], storageClass=claim["storageClass"], accessModes=_modes(claim))


def of_claim(claim: Mapping[str, str], task: str, mounted: Collection[str]) -> tuple[str, str]:
    """The finding about a claim that a task creates, and its remedy. `mounted` are the volumes of all jobs."""
    name, others = claim["name"], [f"`{one}`" for one in claim["others"].split()]
    given, hint = PARAMETER.fullmatch(claim["unknown"]), ""
    named = "a claim" if claim["unknown"] else f"the claim `{name}`"
    message = f"step `{task}` creates {named} in each run, and gen never deletes data"
    if claim["unknown"]:
        why = f"the parameter `{given[1]}` has no value" if given else "only a run of the pipeline has it"
        message = f"{message}; its name is not carried: {why}"
        hint = f"add `--define {given[1]}=VALUE` to give it one; " if given else ""
    if others:
        message = f"{message}; the overlay sets no {' and no '.join(others)} of it"
    if name not in mounted:
        return message, f"{hint}create the claim if other programs use it; no step mounts it"
    use = f"the jobs mount the volume `{name}` of the overlay"
    if not volume_of(claim):
        use = f"create the claim{f' `{name}`' if others or hint else ''}{_form_of(claim)}"
        use += f" and with {' and '.join(others)}" if others else ", or set `size` and `storageClass` of its volume"
        use += "" if others else " in the overlay"
    return message, f"{hint}{use}; runs share it, so write to folders `{{{{ run.id }}}}` on it"


def with_volumes(overlay: Fields, volumes: Mapping[str, Fields]) -> Fields:
    """The fields of an overlay that creates the claims that its pipelines created."""
    known = overlay.get("volumes", {})
    made = {
        name: volumes.get(name, profile) if set(profile) == {"claim"} else profile for name, profile in known.items()
    }
    return {**overlay, "volumes": made} if made else overlay


def _form_of(claim: Mapping[str, str]) -> str:
    """The size and the access modes of a claim in words, as far as they are known."""
    size = f" of {claim['size']}" if claim["size"] else ""
    return f"{size} with {' '.join(modes)}" if (modes := _modes(claim)) else size


def _modes(claim: Mapping[str, str]) -> list[str]:
    return [one for one in items_of(claim["accessModes"]) or () if isinstance(one, str)]


_OF_CONFIG: Final = {
    "mutexName": (
        "runs of gen do not wait for it",
        "start one run at a time, or put the runs in a queue",
    ),
    "semaphoreKey": ("runs of gen do not wait for it", "limit their number with a queue"),
    "resourceTtl": ("gen never deletes runs by time", "remove it; set `state: finished` in the job after its end"),
}
"""Fields of the settings of a pipeline that a job does not have, with the reason and the remedy."""
_OF_WORKSPACE: Final = ({"size", "kubernetes"}, {"pvcSpecPatch"}, {"accessModes", "storageClassName"})


def with_config(
    jobs: list[ImportedJob], config: object, place: Callable[[Route], Location], found: Findings
) -> list[ImportedJob]:
    """The jobs with the workspace of a pipeline as a volume of the overlay. Other settings of its runs are reported."""
    route: Route = (*PLATFORM, "pipelineConfig")
    for name, value in as_mapping(config).items():
        if name != "workspace" and value not in (None, "", 0):
            why, hint = _OF_CONFIG.get(name, ("gen does not know it", "check whether the pipeline needs it"))
            found.warning(NOT_CARRIED, place((*route, name)), f"`{name}` of the pipeline is not carried: {why}", hint)
    workspace, route = at(config, "workspace"), (*route, "workspace")
    if workspace is None or not jobs:
        return jobs
    settings = workspace
    for known, inner in zip(_OF_WORKSPACE, ("kubernetes", "pvcSpecPatch", ""), strict=True):
        for name in as_mapping(settings).keys() - known:
            message = f"`{name}` of the workspace is not carried: the overlay sets no such field of a claim"
            found.warning(NOT_CARRIED, place((*route, name)), message, "set it in the claim, if it is needed")
        settings, route = at(settings, inner), (*route, inner)
    patch, name = as_mapping(at(workspace, "kubernetes", "pvcSpecPatch")), WORKSPACE[1:]
    claim = {"size": str(at(workspace, "size") or ""), "storageClass": str(patch.get("storageClassName") or "")}
    claim["accessModes"] = json.dumps(as_texts(patch.get("accessModes")))
    own = volume_of(claim)
    made = [
        replace(job, overlay=replaced(job.overlay, ("volumes", name), own))
        if own and name in job.overlay.get("volumes", {})
        else job
        for job in jobs
    ]
    message = "each run of the pipeline has a workspace, and runs of the job share one"
    hint = "write to a folder `{{ run.id }}` on it, and remove old ones"
    if not any(name in job.overlay.get("volumes", {}) for job in jobs):
        message, hint = "the workspace of the pipeline is not carried: no step uses it", "remove it"
    elif made == jobs:
        needed = f"create the claim `{name}`{_form_of(claim)}, or set `size` and `storageClass` of its volume"
        hint = f"{needed} in the overlay; {hint}"
    found.warning(NOT_CARRIED, place(route[:4]), message, hint)
    return made


def with_folder(words: Mapping[str, list[str]], folder: str) -> dict[str, list[str]]:
    """A program that finds the folder of its outputs: in its own script, or in one that starts it. A text that is known
    later has no quotes of a script.
    """
    made, program = f"mkdir -p {folder}", [*words["command"], *words["args"]]
    if (place := script_place(program)) is not None:
        script = program[place].rstrip("\n")
        program[place] = f"{made}\n{script}\n"
        return {"command": program, "args": []}
    if any("{{" in one for one in program):
        return {**words, "command": ["sh", "-c", f'{made} && exec "$0" "$@"', *words["command"]]}
    return {"command": ["sh", "-c", f"{made} &&\n{shlex.join(program)}"], "args": []}


_OF_PODS: Final = frozenset(
    {"pvcMount", "secretAsEnv", "configMapAsEnv", "secretAsVolume", "configMapAsVolume", "nodeSelector", "tolerations"}
    | {"imagePullPolicy", "fieldPathAsEnv", "podMetadata", "imagePullSecret", "activeDeadlineSeconds", "nodeAffinity"}
    | {"genericEphemeralVolume", "emptyDirMounts", "enabledSharedMemory", "securityContext", "initContainers"}
)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class Around(Struct, frozen=True, kw_only=True):
    """The inputs of the graph around a task: values, those without a value, and the parameters of the pipeline."""

    values: Mapping[str, str]
    absent: frozenset[str]
    parameters: Mapping[str, str]


def on_kubernetes(leaf: Leaf, around: Around) -> Leaf:
    """A component with its settings for Kubernetes. Settings that no pod has stay as they are, so that the comparison
    with the object of gen finds them.
    """
    if not leaf.settings or not leaf.pod:
        return leaf
    settings: Body = {}
    set_by: dict[str, str] = {}
    fixed: list[str] = []
    for name, value in leaf.settings.items():
        used: dict[str, bool] = {}
        settings[str(name)] = _resolved(value, around, str(name), used)
        set_by |= dict.fromkeys(used, str(name))
        fixed += [parameter for parameter, is_fixed in used.items() if is_fixed]
    container = leaf.pod["containers"][0]
    volumes = list(_volumes(settings))
    names = {known: name for known, name, _, _ in volumes}
    own = present(
        imagePullPolicy=settings.get("imagePullPolicy"),
        env=[*as_list(container.get("env")), *_variables(settings)],
        volumeMounts=[present(name=name, **mount) for _, name, _, mount in volumes],
        securityContext=_security(settings.get("securityContext")),
    )
    selector = at(settings, "nodeSelector", "nodeSelectorJson") or {}
    labels = _json(selector) if selector else at(settings, "nodeSelector", "labels")
    of_pod = present(
        nodeSelector=labels,
        nodeSelectorJson=selector if labels is None else None,
        volumes=[{"name": name, **source} for _, name, source, _ in volumes],
        tolerations=[toleration for one in as_list(settings.get("tolerations")) for toleration in _tolerations(one)],
        affinity=present(nodeAffinity=_affinity(as_list(settings.get("nodeAffinity")))),
        imagePullSecrets=[{"name": _name(one, "secret")} for one in as_list(settings.get("imagePullSecret"))],
        initContainers=[_before(as_mapping(one), names) for one in as_list(settings.get("initContainers"))],
    )
    others = {str(name): value for name, value in settings.items() if name not in _OF_PODS}
    seconds = number_of(settings.get("activeDeadlineSeconds")) or leaf.seconds
    pod = {**leaf.pod, **others, "containers": [{**container, **own}], **of_pod}
    metadata = as_mapping(settings.get("podMetadata"))
    return replace(leaf, pod=pod, metadata=metadata, seconds=seconds, fixed=tuple(fixed), set_by=set_by)


def _resolved(value: object, around: Around, name: str, used: dict[str, bool]) -> Any:
    """A setting with constants in place of inputs of the graph, as `resolveInputParameter` in
    `backend/src/v2/driver/resolve.go` of kubeflow/pipelines does; None if an input has no value. Each claim needs one.
    `used` gets the parameters of the pipeline that it has, and whether their value is in its place.
    """
    if isinstance(value, list):
        every = (_resolved(one, around, name, used) for one in value)
        return [one for one in every if one is not None]
    if not isinstance(value, dict):
        return value
    made = {str(key): _resolved(one, around, str(key), used) for key, one in value.items()}
    if any(made[key] is None and value[key] is not None for key in made):
        return None
    if isinstance(outer := value.get("componentInputParameter"), str):
        if outer in around.absent and not name.startswith("pvc"):
            return None
        text = around.values.get(outer, f"{{{{workflow.parameters.{outer}}}}}")
        constant = _structure(text, around) if name.endswith("Json") else text
        if constant is not None:
            made["runtimeValue"] = {"constant": constant}
            used |= {one[1]: constant is not text for one in PARAMETER.finditer(text)}
    return made


def _structure(text: str, around: Around) -> Any:
    """The object or the list of a text in JSON; None for another text."""
    try:
        made = json.loads(with_defaults(text, around.parameters))
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict | list) else None


def _variables(settings: Body) -> Iterator[Body]:
    for field_name, source, key in (
        ("secretAsEnv", "secret", "secretKey"),
        ("configMapAsEnv", "configMap", "configMapKey"),
    ):
        for one in as_list(settings.get(field_name)):
            more = {"name": _name(one, source), **present(optional=at(one, "optional") or None)}
            for pair in as_list(at(one, "keyToEnv")):
                yield {"name": at(pair, "envVar"), "valueFrom": {f"{source}KeyRef": {**more, "key": at(pair, key)}}}
    for one in as_list(settings.get("fieldPathAsEnv")):
        yield {"name": at(one, "name"), "valueFrom": {"fieldRef": {"fieldPath": at(one, "fieldPath")}}}


def _volumes(settings: Body) -> Iterator[tuple[str, str, Body, Body]]:
    """For each volume: its name for init containers, its name in the pod, its source and its mount."""
    for field_name, source, key in (
        ("pvcMount", "pvc", "claimName"),
        ("secretAsVolume", "secret", "secretName"),
        ("configMapAsVolume", "configMap", "name"),
    ):
        for number, one in enumerate(as_list(settings.get(field_name))):
            named = "persistentVolumeClaim" if source == "pvc" else source
            named_object = _name(one, source)
            made = {key: named_object, **present(optional=at(one, "optional") or None)}
            mount = present(mountPath=at(one, "mountPath"), subPath=at(one, "subPath"))
            yield named_object, f"{source.lower()}-{number}", {named: made}, mount
    for one in as_list(settings.get("genericEphemeralVolume")):
        spec = present(
            accessModes=at(one, "accessModes"),
            resources={"requests": {"storage": at(one, "size")}},
            storageClassName=None if at(one, "defaultStorageClass") else at(one, "storageClassName"),
        )
        template = present(metadata=at(one, "metadata"), spec=spec)
        yield _volume(one, {"ephemeral": {"volumeClaimTemplate": template}}, at(one, "mountPath"))
    for one in as_list(settings.get("emptyDirMounts")):
        directory = present(medium=at(one, "medium"), sizeLimit=at(one, "sizeLimit"))
        yield _volume(one, {"emptyDir": directory}, at(one, "mountPath"))
    if one := settings.get("enabledSharedMemory"):
        directory = present(medium="Memory", sizeLimit=at(one, "size"))
        yield _volume(one, {"emptyDir": directory}, "/dev/shm")  # noqa: S108 - the mount path in the pod


def _volume(one: object, source: Body, path: object) -> tuple[str, str, Body, Body]:
    name = str(at(one, "volumeName"))
    return name, name, source, {"mountPath": path}


def _before(container: Body, names: Mapping[str, str]) -> Body:
    """An init container, with the names that its volumes have in the pod."""
    mounts = [
        {"name": names.get(name := str(at(one, "volumeName")), name), "mountPath": at(one, "mountPath")}
        for one in as_list(container.get("volumeMounts"))
    ]
    return {**container, **present(volumeMounts=mounts)}


def _security(context: object) -> Body:
    """The security context of the container; the driver drops all capabilities then."""
    numbers = {name: number_of(value) for name, value in as_mapping(context).items() if name.startswith("runAs")}
    kept = {name: as_mapping(context)[name] if number is None else number for name, number in numbers.items()}
    return {**kept, "capabilities": {"drop": ["ALL"]}} if isinstance(context, dict) else {}


def _tolerations(one: object) -> Iterator[object]:
    if (parameter := at(one, "tolerationJson")) is None:
        seconds = number_of(at(one, "tolerationSeconds"))
        yield {**as_mapping(one), "tolerationSeconds": seconds} if seconds is not None else one
        return
    known = _json(parameter)
    yield from [one] if known is None else known if isinstance(known, list) else [known] if known else []


def _affinity(terms: list[Any]) -> Body:
    required: list[Any] = []
    preferred: list[Any] = []
    for one in terms:
        known = _json(parameter) if (parameter := at(one, "nodeAffinityJson")) is not None else {}
        required += as_list(at(known, _REQUIRED, "nodeSelectorTerms"))
        preferred += as_list(at(known, _PREFERRED)) if known is not None else [one]  # no pod has it
        term = present(matchExpressions=at(one, "matchExpressions"), matchFields=at(one, "matchFields"))
        if parameter is None and term:
            weight = at(one, "weight")
            preferred += [{"weight": whole(weight), "preference": term}] if weight is not None else []
            required += [term] if weight is None else []
    made = {_REQUIRED: {"nodeSelectorTerms": required}} if required else {}
    return {**made, **present(**{_PREFERRED: preferred})}


def _json(parameter: object) -> Any:
    """The constant of a parameter; None for a value that only a run has. All numbers of pods are whole."""
    constant = at(parameter, "runtimeValue", "constant")
    return whole(constant) if isinstance(constant, dict | list) else None


def _name(one: object, source: str) -> str:
    """The name of an object: a constant, an input of the component, or the output of a task."""
    given = at(one, f"{source}NameParameter") or one
    if isinstance(
        plain := at(given, "runtimeValue", "constant") or at(given, "constant") or at(given, f"{source}Name"), str
    ):
        return plain
    if isinstance(outer := at(given, "componentInputParameter"), str):
        return f"{{{{inputs.parameters.{outer}}}}}"
    output = at(given, "taskOutputParameter")
    return f"{{{{tasks.{at(output, 'producerTask')}.outputs.parameters.{at(output, 'outputParameterKey')}}}}}"


def _amounts(resources: object) -> dict[str, Body]:
    """Limits and requests by name; older compilers write numbers, of memory in units of 10^9 bytes: `getPodResource` in
    `backend/src/v2/driver/driver.go` of kubeflow/pipelines.
    """
    found: dict[str, Body] = {}
    for part in ("Limit", "Request"):
        amounts: Body = {}
        for name, unit in (("cpu", ""), ("memory", "G")):
            old = at(resources, f"{name}{part}")
            old = f"{whole(old)}{unit}" if old and isinstance(old, int | float) else old
            if amount := at(resources, f"resource{name.title()}{part}") or old:
                amounts[name] = str(amount)
        found[f"{part.lower()}s"] = amounts
    device = at(resources, "accelerator", "resourceType") or at(resources, "accelerator", "type")
    number = at(resources, "accelerator", "resourceCount") or at(resources, "accelerator", "count")
    if isinstance(device, str) and number:
        found["limits"][device] = str(number)
    return found


def pod_of(container: Any, words: tuple[str, ...]) -> Body:
    """The pod of a container of the IR with this command."""
    if not isinstance(at(container, "image"), str):
        return {}
    count = len(as_texts(at(container, "command")))
    made = present(
        name="main",
        image=of_ir(container["image"]),
        command=list(words[:count]),
        args=list(words[count:]),
        env=at(container, "env"),
        resources=present(**_amounts(with_texts(at(container, "resources"), of_ir))),
    )
    return {"containers": [made]}
