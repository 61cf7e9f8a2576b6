"""Claims that a pipeline creates and the workspace of its runs as volumes of the overlay; and its other settings on
Kubernetes, which no job has.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Mapping
from typing import Final

from msgspec.structs import replace

from gen.base import Findings, Location, Route, as_list, as_mapping, as_texts, at, replaced
from gen.base.codes.imports import NOT_CARRIED
from gen.importers import Fields, ImportedJob
from gen.importers.kfp.graph import OUTPUT, Leaf, items_of
from gen.importers.manifests.pods import script_place
from gen.kubernetes.objects import Body, present

VOLUME: Final = "pipeline"
"""Volume with the outputs of steps, in a folder for each run and each step."""
WORKSPACE: Final = "/kfp-workspace"
"""Folder of the workspace of a run; its claim has this name, too: `backend/src/v2/component/constants.go`."""
PLATFORM: Final = ("platforms", "kubernetes")
"""Route of the settings of a pipeline of version 2 on Kubernetes."""


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
    """The volume of an overlay that creates a claim; none without a StorageClass, which only the cluster knows."""
    if not claim["storageClass"] or not claim["size"]:
        return {}
    return present(size=claim["size"], storageClass=claim["storageClass"], accessModes=_modes(claim))


def form_of(claim: Mapping[str, str]) -> str:
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
        needed = f"create the claim `{name}`{form_of(claim)}, or set `size` and `storageClass` of its volume"
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
