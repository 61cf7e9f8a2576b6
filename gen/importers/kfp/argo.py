"""Workflows of Argo, which Kubeflow Pipelines of version 1 compiles.

From `pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from gen.base import Findings, Location, Route, as_list, as_mapping, as_mappings, as_texts, at, follow, regex
from gen.base.codes.imports import NOT_CARRIED
from gen.importers import ImportedJob
from gen.importers.draft import literals, texts_in
from gen.importers.kfp.argo_tasks import others, task_of, tasks_of_dag, tasks_of_steps, values_of
from gen.importers.kfp.claims import claim_in
from gen.importers.kfp.graph import (
    Group,
    Leaf,
    Pipeline,
    number_of,
    retries_of_template,
)
from gen.importers.manifests.objects import RUN_TEMPLATE
from gen.importers.manifests.pods import without_metadata
from gen.job.kinds import ALL_KINDS
from gen.kubernetes import quantity
from gen.kubernetes.facts.builtin import POD_LIST_KEYS
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body, present

_POD_OF_BOTH: Final = (
    *("nodeSelector", "tolerations", "affinity", "schedulerName", "serviceAccountName"),
    *("automountServiceAccountToken", "securityContext"),
)
"""Fields of pods that a template has, or the workflow for all of them: `workflow/controller/workflowpod.go`."""
_POD_OF_WORKFLOW: Final = (*_POD_OF_BOTH, "imagePullSecrets", "hostNetwork", "dnsPolicy", "dnsConfig")
_PRIORITY: Final = "podPriorityClassName"  # of all pods of a workflow
_PATCH: Final = "podSpecPatch"
_DEFAULTS: Final = "templateDefaults"
_OF_TEMPLATE: Final = frozenset(
    {"name", "inputs", "container", "script", "resource", "dag", "steps", "activeDeadlineSeconds"}
    | {"volumes", "retryStrategy", "hostAliases", "initContainers", "priorityClassName", _PATCH, *_POD_OF_BOTH}
)
_TYPES: Final = frozenset({"container", "script", "resource", "dag", "steps"})
_OTHER_TYPES: Final = ("containerSet", "http", "plugin", "data", "manifestFrom")
_OF_GROUP: Final = frozenset({"name", "inputs", "outputs", "dag", "steps", "metadata"})  # it has no pod
_OF_WORKFLOW: Final = frozenset(
    {"entrypoint", "templates", "arguments", "onExit", "volumes", "podGC", "ttlStrategy"}
    | {"schedules", "workflowSpec", "hostAliases", "podMetadata", _PRIORITY, _PATCH, *_POD_OF_WORKFLOW}
    | {"retryStrategy", _DEFAULTS}
)
"""The object of gen has its own `podGC`, and no time to live."""
_OF_RUNS: Final = "workflowMetadata"
"""Labels and annotations of the Workflows of a template or a schedule, which `updateWorkflowMetadata` sets."""
_STAGED: Final = "/argo/staging/script"
_SHELLS: Final = regex(r"(?:.*/)?(?:sh|ash|bash|dash|zsh|python[0-9.]*)")


def pipeline_of_argo(document: Body) -> Pipeline | None:
    """The pipeline of a Workflow, a WorkflowTemplate or a CronWorkflow."""
    route: Route = ("spec", "workflowSpec") if isinstance(at(document, "spec", "workflowSpec"), dict) else ("spec",)
    spec = at(document, *route)
    if not isinstance(at(spec, "templates"), list):
        return None
    names = [at(one, "metadata", "name") for one in as_list(spec.get("volumeClaimTemplates"))]
    claims = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names if isinstance(name, str)]
    spec = {**spec, "volumes": [*as_list(spec.get("volumes")), *claims]}
    templates = {
        one["name"]: _template(_with_defaults(one, spec), spec, (*route, "templates", number))
        for number, one in enumerate(spec["templates"])
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    }
    account, at_end, hook = at(spec, "serviceAccountName"), str(at(spec, "onExit") or ""), at(spec, "hooks", "exit")
    if not at_end and [*as_mapping(spec.get("hooks"))] == ["exit"] and {*as_mapping(hook)} <= {"template", "arguments"}:
        at_end, own = "hooks.exit", {**as_mapping(hook), "name": str(at(hook, "template"))}
        templates[at_end] = Group(tasks=(task_of(own, (*route, "hooks", "exit"), (), "succeeded", ()),))
        spec = {name: value for name, value in spec.items() if name != "hooks"}
    of_runs = [at(one, _OF_RUNS) for one in (document["spec"], spec)]
    of_workflow = _OF_WORKFLOW if any(at(one, "labelsFrom") for one in of_runs) else _OF_WORKFLOW | {_OF_RUNS}
    return Pipeline(
        name=_name(document),
        route=route,
        entry=str(at(spec, "entrypoint") or ""),
        templates=templates,
        parameters=values_of(spec),
        at_end=at_end or None,
        account=account if isinstance(account, str) else "",
        lost=_others(spec, of_workflow),
        also=_uncalled(document, route),
        namespace=str(at(document, "metadata", "namespace") or ""),
        metadata=without_metadata(_own_metadata(document.get("metadata"), *of_runs)),
    )


_OF_SCHEDULE: Final = frozenset(
    {"schedule", "schedules", "timezone", "suspend", "concurrencyPolicy", "startingDeadlineSeconds", "workflowSpec"}
    | {_OF_RUNS}
    | {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
)
_SCHEDULE: Final = "schedule"


def with_schedule(job: ImportedJob, spec: Body, place: Callable[[str], Location], found: Findings) -> ImportedJob:
    """The job with the times of a CronWorkflow, as far as its kind has them. Its runs overlap by default."""

    def lose(field: str, what: str, why: str, hint: str) -> None:
        found.warning(NOT_CARRIED, place(field), f"{what} is not carried: {why}", hint)

    model = ALL_KINDS[job.fields["kind"]]
    fields: Body = {**job.fields, **({"state": "suspended"} if spec.get("suspend") is True else {})}
    times = [(name, one) for name in (_SCHEDULE, "schedules") for one in as_list(spec.get(name)) or [spec.get(name)]]
    times = [(name, one) for name, one in times if isinstance(one, str)]
    for name in _others(spec, _OF_SCHEDULE):
        lose(name, f"`{name}` of the schedule", "a job has no such field", "check whether it is needed")
    for name, one in times[1:]:
        lose(name, f"the time `{one}`", "a schedule has one", "write a second job for it")
    facts = model.facts.scheduled_by
    why, hint = model.unsupported_fields().get(_SCHEDULE, ""), "set `state: suspended`, and start it at these times"
    if facts is not None and not facts.is_workflow and "{{ run.id }}" in json.dumps(fields):
        why, hint = "its runs have no `{{ run.id }}`", "set `schedule`, and write `$(JOB_NAME)` in its place"
    if not times or facts is None or why:
        why = f"{why}, and the job starts with each change of its file" if times else "it has no time"
        lose(times[0][0] if times else _SCHEDULE, f"`{_SCHEDULE}`", why, hint)
        return replace(job, fields=fields)
    policy, zone = spec.get("concurrencyPolicy") or "Allow", spec.get("timezone")
    if policy == "Allow" and (model.own_fields or "timeout" not in fields):
        why, hint = "runs that overlap need a time limit", "set `timeout`, and `concurrency: Allow` of `schedule`"
        if model.own_fields:
            why, hint = "runs of a pipeline do not overlap", "set `concurrency: Replace` to end the earlier run"
        lose("concurrencyPolicy", "the policy `Allow`", why, hint)
        policy = "Forbid"
    seconds = number_of(spec.get("startingDeadlineSeconds"))
    history = {"succeeded": spec.get("successfulJobsHistoryLimit"), "failed": spec.get("failedJobsHistoryLimit")}
    if policy == "Replace" and facts.is_workflow and history.pop("failed"):
        lose("failedJobsHistoryLimit", "`failedJobsHistoryLimit`", "a run that was replaced would go on", "remove it")
    wanted = {"cron": times[0][1], **present(timeZone=zone, history=present(**history))}
    wanted |= {} if policy == "Forbid" else {"concurrency": policy}
    wanted |= {"deadline": quantity.duration(seconds)} if seconds else {}
    fields[_SCHEDULE] = literals(wanted if len(wanted) > 1 else wanted["cron"])
    return replace(job, fields=fields, places={**job.places, _SCHEDULE: place(times[0][0])})


def is_template(document: object, name: str) -> bool:
    return at(document, "metadata", "name") == name and isinstance(at(document, "spec", "templates"), list)


def added_to_template(document: object, reference: Route) -> Iterator[Route]:
    """Values of a workflow beside the WorkflowTemplate that it runs."""
    for holder in dict.fromkeys((("spec",), reference[:-1])):
        for name in others(as_mapping(follow(document, holder)), frozenset({RUN_TEMPLATE, "workflowSpec"})):
            if name != "arguments" or at(document, *holder, name, "parameters"):
                yield (*holder, name)


def _uncalled(document: Body, route: Route) -> dict[str, Route]:
    """Templates that only other workflows may call, since the entry does not reach them, with their routes."""
    spec = follow(document, route)
    own = {str(at(one, "name")): number for number, one in enumerate(spec["templates"])}
    if not str(document.get("kind")).endswith("Template") or not spec.get("entrypoint"):
        return {}
    reached, calls = set[str](), [str(value) for key, value in spec.items() if key in {"entrypoint", "onExit"}]
    calls += _calls_in(spec.get("hooks"))
    while calls:
        if (name := calls.pop()) in own and name not in reached:
            reached.add(name)
            calls += _calls_in(spec["templates"][own[name]])
    return {name: (*route, "templates", number) for name, number in own.items() if name not in reached}


def _calls_in(value: object) -> list[str]:
    """The templates that a part of a workflow names."""
    return [text for route, text in texts_in(value, ()) if route[-1:] in (("template",), ("onExit",))]


def _name(document: Body) -> str:
    metadata = at(document, "metadata")
    compiled = _json(at(metadata, "annotations", f"{_OF_COMPILER}pipeline_spec"))
    name = at(compiled, "name") or at(metadata, "name") or at(metadata, "generateName")
    return name if isinstance(name, str) else ""


def _others(data: Body, known: frozenset[str]) -> tuple[str, ...]:
    """Fields that no job has; metadata of the compiler is not about pods."""
    return tuple(name for name in others(data, known) if name != "metadata" or _own_metadata(data[name]))


_OF_COMPILER: Final = "pipelines.kubeflow.org/"


def _own_metadata(*metadata: object) -> Body:
    """Labels and annotations, each from the last that has it, without those of the compiler: its own keys, and what
    describes a component, such as its author.
    """
    made: Body = {}
    for field in ("labels", "annotations"):
        own = {str(key): text for one in metadata for key, text in as_mapping(at(one, field)).items()}
        described = as_mapping(at(_json(own.get(f"{_OF_COMPILER}component_spec")), "metadata", field))
        kept = (key for key in own if not key.startswith(_OF_COMPILER) and described.get(key) != own[key])
        made |= present(**{field: {key: own[key] for key in kept}})
    return made


def _json(text: object) -> Any:
    try:
        return json.loads(str(text or "{}"))
    except (ValueError, RecursionError):
        return {}


def _with_defaults(data: Body, spec: Body) -> Body:
    """A template with the defaults of its workflow, as `mergedTemplateDefaultsInto` of argo-workflows merges them."""
    defaults = {**{name: spec[name] for name in ("retryStrategy",) if name in spec}, **as_mapping(spec.get(_DEFAULTS))}
    return as_mapping(_merged({key: one for key, one in defaults.items() if {key} - _TYPES or key in data}, data, ""))


def _template(data: Body, spec: Body, route: Route) -> Leaf | Group:
    for field, read in (("dag", tasks_of_dag), ("steps", tasks_of_steps)):
        if field in data:
            tasks, more = tuple(read(data[field], (*route, field))), as_mapping(data[field])
            own = as_list(spec.get("templates"))[int(route[-1])]
            lost = [(name, (*(route if name in own else route[:-2]), name)) for name in _others(data, _OF_GROUP)]
            lost += [(name, (*route, field, name)) for name in _others(more, frozenset({"tasks", "target"}))]
            texts = ((f"`{name}` of template `{data['name']}` is not carried", place) for name, place in lost)
            target = str(more.get("target") or "")
            return Group(tasks=tasks, defaults=values_of(data, "inputs"), target=target, lost=tuple(texts))
    return _leaf(data, spec, route)


def _leaf(data: Body, spec: Body, route: Route) -> Leaf:
    limit = data.get("activeDeadlineSeconds")
    lost = (*_others(data, _OF_TEMPLATE), *(("activeDeadlineSeconds",) if limit and not number_of(limit) else ()))
    given = as_list(at(data, "inputs", "artifacts"))
    texts = {one["path"]: one["raw"]["data"] for one in as_mappings(given) if _is_text(one)}
    leaf = Leaf(
        name=data["name"],
        route=route,
        defaults=values_of(data, "inputs"),
        seconds=number_of(limit) or None,
        retries=retries_of_template(data),
        lost=(*lost, *(("inputs.artifacts",) if len(texts) < len(given) else ())),
    )
    if isinstance(manifest := at(data, "resource", "manifest"), str):
        made = (action := at(data, "resource", "action")) in (None, "create", "apply")
        outputs = as_mappings(at(data, "outputs", "parameters"))
        named = tuple(str(one.get("name")) for one in outputs if at(one, "valueFrom", "jsonPath") == "{.metadata.name}")
        lost = tuple(one for one in leaf.lost if one != "outputs")  # a ResourceOp always has some
        does = "" if made or claim_in(manifest) else f"the action `{action}` of an object"
        leaf = replace(leaf, route=(*route, "resource", "manifest"), named=named, lost=lost, does=does)
        claim = claim_in(manifest) if made else {}
        return replace(leaf, claim=claim, manifest=manifest if made and not claim else "")
    for field in ("container", "script"):
        if isinstance(container := at(data, field), dict):
            container = _script(container) if field == "script" else container
            lost = tuple(one for one in leaf.lost if one != "metadata")
            metadata = _own_metadata(spec.get("podMetadata"), data.get("metadata"))
            pod = _pod(container, data, spec)
            if (patched := _patched(pod, spec.get(_PATCH), data.get(_PATCH))) is None:
                lost = (*lost, _PATCH)
            words = (*as_texts(at(container, "command")), *as_texts(at(container, "args")))
            files = {**texts, **({_STAGED: str(at(data, field, "source") or "")} if _STAGED in words[-1:] else {})}
            lost = (*lost, *_of_executor((*words, *files.values()), container))
            leaf = replace(leaf, words=words, pod=patched or pod, metadata=metadata, files=files, lost=lost)
            return replace(leaf, route=(*route, field))
    known = data.keys() | as_mapping(data.get("resource")).keys()
    return replace(leaf, does=next((f"`{name}`" for name in _OTHER_TYPES if name in known), ""))


def _of_executor(texts: Iterable[str], container: Body) -> tuple[str, ...]:
    """The variables of the executor in a program, in their order: `workflow/common/common.go` of argo-workflows."""
    own = {str(at(one, "name")) for one in as_list(container.get("env"))}
    used = [match[1] or match[2] for text in texts for match in _VARIABLE.finditer(text)]
    return tuple(f"${name}" for name in dict.fromkeys(used) if name not in own)


_OF_EXECUTOR: Final = (
    r"ARGO_(?:CONTAINER_NAME|DEADLINE_SECONDS|INCLUDE_SCRIPT_OUTPUT|INSTANCE_ID|NODE_ID|POD_NAME|POD_UID|TEMPLATE"
    r"|PROGRESS_(?:FILE|FILE_TICK_DURATION|PATCH_TICK_DURATION)|WORKFLOW_(?:NAME|UID))\b"
)
_VARIABLE: Final = regex(rf"\$\{{?({_OF_EXECUTOR})|(?:environ|getenv)\W{{1,8}}({_OF_EXECUTOR})")


def _is_text(artifact: Body) -> bool:
    """Whether the text of an artifact is in the document, so that it is a file."""
    known = isinstance(artifact.get("path"), str) and isinstance(at(artifact, "raw", "data"), str)
    return known and artifact.keys() <= {"name", "path", "raw"}


def _script(script: Body) -> Body:
    """The container of a script. Its program gets a file with the source, as an argument of the container."""
    container = {key: value for key, value in script.items() if key != "source"}
    command = as_texts(script.get("command"))
    if command and _SHELLS.fullmatch(command[0]):
        return {**container, "command": [*command, "-c", str(script.get("source") or "")]}
    return {**container, "args": [*as_texts(script.get("args")), _STAGED]}


def _pod(container: Body, template: Body, spec: Body) -> Body:
    if not isinstance(container.get("image"), str):
        return {}
    volumes, aliases = ([*as_list(spec.get(key)), *as_list(template.get(key))] for key in ("volumes", "hostAliases"))
    mounts = as_list(container.get("volumeMounts"))
    before = [_with_mounts(one, mounts) for one in as_mappings(template.get("initContainers"))]
    mounted = [at(one, "name") for holder in (container, *before) for one in as_list(holder.get("volumeMounts"))]
    kept: Body = {key: spec[key] for key in _POD_OF_WORKFLOW if key in spec}
    kept |= present(priorityClassName=template.get("priorityClassName") or spec.get(_PRIORITY))
    kept |= {key: template[key] for key in _POD_OF_BOTH if template.get(key) not in (None, "", [], {})}
    used = [one for one in volumes if at(one, "name") in mounted]
    kept["containers"] = [{**container, "name": "main"}]
    return {**kept, **present(initContainers=before, volumes=used, hostAliases=aliases)}


def _patched(pod: Body, *patches: object) -> Body | None:
    """A pod with patches, as `ApplyPodSpecPatch` in `workflow/util` of argo-workflows merges them; None for one that
    cannot be read, removes items, or has other containers. gen has no containers of the executor.
    """
    for text in map(str, filter(None, patches)) if pod else ():
        read = read_manifests(text.encode("utf-8", "replace"), "", Findings()) if "$patch" not in text else None
        patch = read.documents[0] if read is not None and len(read.documents) == 1 else None
        own = [one for one in as_list(at(patch, "containers")) if at(one, "name") not in ("wait", "init")]
        if not isinstance(patch, dict) or any(at(one, "name") != "main" for one in own):
            return None
        pod = _merged(pod, {**patch, **present(containers=own)}, "")
    return pod


def _merged(value: Any, patch: Any, name: str) -> Any:
    """A value with the fields of a patch; items of lists have keys."""
    if isinstance(value, dict) and isinstance(patch, dict):
        made = {**value, **{key: _merged(value.get(key), inner, str(key)) for key, inner in patch.items()}}
        return {key: inner for key, inner in made.items() if inner is not None}
    if (key := POD_LIST_KEYS.get(name)) and isinstance(value, list) and isinstance(patch, list):
        of_patch = {at(one, key): one for one in patch}
        kept = [_merged(one, of_patch.pop(at(one, key), {}), "") for one in value]
        return [*kept, *of_patch.values()]
    return patch


def _with_mounts(container: Body, others: list[Body]) -> Body:
    """An init container with the mounts of the main one, if it asks for them."""
    own = {name: value for name, value in container.items() if name != "mirrorVolumeMounts"}
    mounts = [*(others if container.get("mirrorVolumeMounts") is True else ()), *as_list(own.get("volumeMounts"))]
    return {**own, **present(volumeMounts=mounts)}
