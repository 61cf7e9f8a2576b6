"""`gen import kfp`: compiled pipelines. Each step that runs a program or creates a run becomes a step of a job.

One job of kind `pipeline` is assembled from the jobs of the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, Route, at, follow, names, regex, with_field
from gen.base.codes.imports import CANNOT_RUN, INVALID_MANIFEST, NOT_CARRIED
from gen.importers import Fields, ImportedJob, Importer, ImportInput
from gen.importers.draft import literal
from gen.importers.kfp import graph
from gen.importers.kfp.argo import added_to_template, is_template, pipeline_of_argo, with_schedule
from gen.importers.kfp.assembly import ACCOUNT, CallJobs, assembled
from gen.importers.kfp.calls import Reader, claim_of, with_quoted
from gen.importers.kfp.claims import PLATFORM, VOLUME, of_claim, on_platform, volume_of, with_config, with_volumes
from gen.importers.kfp.graph import OUTPUT, Pipeline, number_of, optional_of, without_job
from gen.importers.kfp.ir import pipeline_of_ir
from gen.importers.kfp.losses import (
    HINTS,
    LIMIT,
    Loss,
    decisions,
    losses_of_all,
    lost_field,
    lost_outputs,
    of_steps,
    remedy_of_left,
    with_escapes,
    with_places,
)
from gen.importers.kfp.parts import parts_of
from gen.importers.manifests.objects import reference_of
from gen.importers.manifests.pods import is_carried
from gen.importers.overlay_needs import merge
from gen.job.kinds import ALL_KINDS
from gen.job.search import param_name
from gen.kubernetes.manifests.files import unpacked
from gen.kubernetes.manifests.read import Manifests, as_go_yaml_3, read_manifests
from gen.kubernetes.objects import present

_ACCOUNTS: Final = ("pipelines", "argo", "serviceAccount")
_PYTHON: Final = regex(r"(?m)^(?:import|from) kfp\b|^@(?:kfp\.)?dsl\.\w+")
_OF_SERVER: Final = "pipelines.kubeflow.org/v2_component"
_COMPILE: Final = (
    "compile it with its SDK, and name the result: `kfp dsl compile --py FILE --output pipeline.yaml` (version 2), "
    "`dsl-compile --py FILE --output pipeline.yaml` (version 1), or `python FILE` if it calls the compiler itself"
)


class KfpImporter(Importer):
    """Workflows of Argo, and IR of Kubeflow Pipelines."""

    summary: ClassVar[str] = (
        "a compiled pipeline of Kubeflow Pipelines, also in an archive: an Argo Workflow, or the IR of version 2"
    )

    options: ClassVar[frozenset[str]] = frozenset({"define"})
    defines_names: ClassVar[bool] = True

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        raw = given.files[0][1] if given.files else given.text.encode("utf-8", "replace")
        if given.file.endswith(".py") or _PYTHON.search(given.text):
            found.error(
                INVALID_MANIFEST, Location(given.file), "the file is a program, not a compiled pipeline", _COMPILE
            )
            return ()
        try:
            raw = unpacked(raw)
        except ValueError as error:
            hint = "name an archive of the compiler, which has one YAML file of at most 4 MiB"
            found.error(INVALID_MANIFEST, Location(given.file), f"cannot read the archive: {error}", hint)
            return ()
        raw = as_go_yaml_3(raw) if b"pipelineInfo" in raw else raw  # IR, which the server reads so
        read = read_manifests(raw, given.file, found)
        if read is None:
            return ()
        jobs: list[ImportedJob] = []
        places: list[Location] = []
        on, start, platforms = on_platform(read.documents)

        def of_setting(route: Route) -> Location:
            return read.place(on, (*start, *route))

        for number, document in enumerate(read.documents):
            if at(document, "spec", "podMetadata", "labels", _OF_SERVER) is not None:
                hint = "name the file that the SDK compiled, with `pipelineInfo` and `deploymentSpec`"
                message = "the Workflow is that of the server of Kubeflow Pipelines, and its steps need that server"
                found.error(INVALID_MANIFEST, read.place(number, ("spec", "podMetadata")), message, hint)
                return ()
            pipeline = _pipeline(document, platforms)
            if pipeline is not None:
                pipeline = replace(pipeline, parameters=with_quoted({**pipeline.parameters, **given.define}))
                own = replace(given, otherwise=pipeline.namespace or given.otherwise)
                own_places: list[Location] = []
                jobs += _checked(pipeline, number, read, own, own_places, found, of_setting)
                places += own_places
        _check_references(read, found, has_steps=bool(places))
        if not places and not found.failed():
            hint = "compile the pipeline, and name the YAML file"
            found.error(INVALID_MANIFEST, Location(given.file), "no step of a pipeline found", hint)
        return with_config(jobs, at(platforms, "pipelineConfig"), of_setting, found)


def _pipeline(document: object, platforms: object) -> Pipeline | None:
    if not isinstance(document, dict):
        return None
    return pipeline_of_ir(document, platforms) or pipeline_of_argo(document)


def _check_references(read: Manifests, found: Findings, *, has_steps: bool) -> None:
    """Report workflows that run a WorkflowTemplate: one that the input does not have, and what they add to it."""
    for number, document in enumerate(read.documents):
        if (reference := reference_of(document)) is None:
            continue
        name, route = reference
        if not any(is_template(one, name) for one in read.documents):
            message, hint = f"the file has no WorkflowTemplate `{name}`", "write it into the same file, behind `---`"
            report = found.warning if has_steps else found.error
            report(INVALID_MANIFEST, read.place(number, route), message, hint)
            continue
        for added in added_to_template(document, route):
            hint = f"set it in the job, which is that of the WorkflowTemplate `{name}`, if it is needed"
            message = f"`{'.'.join(map(str, added[1:]))}` of the workflow is not carried: gen reads only its template"
            found.warning(NOT_CARRIED, read.place(number, added), message, hint)


def _checked(
    pipeline: Pipeline,
    number: int,
    read: Manifests,
    given: ImportInput,
    places: list[Location],
    found: Findings,
    of_setting: Callable[[Route], Location],
) -> list[ImportedJob]:
    """The jobs of a pipeline, with an error if it has no entry, or none of its steps is a job."""
    if pipeline.entry and pipeline.entry not in pipeline.templates:
        place, hint = read.place(number, (*pipeline.route, "entrypoint")), "write the name of one of `templates`"
        found.error(INVALID_MANIFEST, place, f"no template has the name `{pipeline.entry}`", hint)
        return []
    jobs = _imported(pipeline, number, read, given, places, found, of_setting)
    if places and not jobs and not found.failed():
        hint = "import its programs by hand; a step becomes a job if it has an image and a command"
        found.error(INVALID_MANIFEST, places[0], "no step can run without the pipeline", hint)
    return jobs


def _imported(
    pipeline: Pipeline,
    number: int,
    read: Manifests,
    given: ImportInput,
    every_place: list[Location],
    found: Findings,
    of_setting: Callable[[Route], Location],
) -> list[ImportedJob]:
    reader = Reader(pipeline)
    every = []
    calls, limit = reader.read(), number_of(at(read.documents[number], *pipeline.route, LIMIT))
    if limit and len(calls) == 1 and calls[0].leaf.pod and not calls[0].retries.limit:
        calls = [replace(calls[0], leaf=replace(calls[0].leaf, seconds=min(limit, calls[0].leaf.seconds or limit)))]
        pipeline = replace(pipeline, lost=tuple(name for name in pipeline.lost if name != LIMIT))
    values = {match[0] for call in calls for text in call.values.values() for match in OUTPUT.finditer(text)}
    calls = [replace(one, lost=(*one.lost, *lost_outputs(one.leaf, one.task, values))) for one in calls]
    said: list[tuple[str, Findings]] = []
    for call in calls:
        place = read.place(number, call.route)
        every_place.append(place)
        said.append((call.name, own := Findings()))
        executor = (*PLATFORM, *call.route[-4:-1])
        places = graph.placed(read.documents[number], call.route, call.values, partial(read.place, number)) | {
            name: of_setting((*executor, setting)) for name, setting in call.leaf.set_by.items()
        }
        parts = parts_of(call, given, place, pipeline.parameters, own, places)
        waited, jobs = any(call.name in one.needs for one in calls), [one.job for one in parts]
        ends = lost_ends(follow(read.documents[number], call.route[:-1]), jobs, waited=waited)
        lost = with_places((*call.lost, *ends), call.route, read.documents[number])
        every.append(CallJobs(call=replace(call, lost=tuple(lost)), place=place, parts=parts))
    found.extend(of_steps(said, several=sum(len(made.parts) for made in every) > 1))
    mounted = {name for made in every for part in made.parts for name in part.job.overlay.get("volumes", {})}
    claims = {one.name: claim_of(one, pipeline.parameters) for one in reader.calls.values() if one.leaf.claim}
    known: dict[Loss, Diagnostic] = {}
    every = [
        replace(made, obstacles=tuple(_report(made, claims, mounted, partial(read.place, number), known, found)))
        for made in every
    ]
    for message, hint, route in _unused(pipeline, reader):
        found.warning(NOT_CARRIED, read.place(number, route), message, hint)
    volumes = {one["name"]: volume for one in claims.values() if (volume := volume_of(one))}
    claim = {"claim": VOLUME}
    uses = (one for one in every if any(at(part.job.overlay, "volumes", VOLUME) == claim for part in one.parts))
    if with_artifacts := [*uses]:
        hint = "create the claim with access from all nodes, or set `size` and `storageClass` of the volume there"
        message = f"the artifacts of the steps are on the volume `{VOLUME}` of the overlay, and its claim must exist"
        found.warning(NOT_CARRIED, with_artifacts[0].place, message, hint)
    if (reader.left or reader.lost) and not every:
        deciding = next((name for names in reader.left.values() for name in names), None)
        hint = "correct the file, or write the job by hand"
        hint = f"give a condition another value with `--define {deciding}=VALUE`" if deciding else hint
        found.error(INVALID_MANIFEST, read.place(number, pipeline.route), "no task of the pipeline is carried", hint)
    jobs = assembled(pipeline, every, read.place(number, pipeline.route), found)
    params = {name for job in jobs for name in job.fields.get("params", {})}
    kept = {name: param for name in pipeline.parameters if (param := param_name(name)) in params}
    others = {name: value for name, value in pipeline.parameters.items() if name not in given.define}
    for what, hint, route in decisions(reader.decided, others, kept) if jobs else ():
        found.warning(NOT_CARRIED, read.place(number, route), what, hint)
    if pipeline.account and any(at(job.overlay, *_ACCOUNTS) not in (None, pipeline.account) for job in jobs):
        message = f"the pods of programs keep the ServiceAccount `{pipeline.account}`, and the pipeline has another one"
        hint = f"create `{ACCOUNT}` in the namespace, with the Role in `docs/pipelines.md`"
        found.warning(NOT_CARRIED, read.place(number, (*pipeline.route, "serviceAccountName")), message, hint)
    jobs = [_with_metadata(replace(job, overlay=with_volumes(job.overlay, volumes)), pipeline) for job in jobs]
    is_argo = "workflowSpec" in pipeline.route
    return [_scheduled(job, number, read, found) if is_argo else with_escapes(job) for job in jobs]


def _unused(pipeline: Pipeline, reader: Reader) -> Iterator[tuple[str, str, Route]]:
    """Messages about parts of a pipeline that no step has, with remedies and routes."""
    yield from losses_of_all(pipeline.lost, pipeline.route, optional_of(pipeline))
    for (what, route), steps in reader.left.items():
        yield what, remedy_of_left(steps), route
    for what, route in reader.lost:
        yield what, "check whether its steps need it", route
    for name, route in pipeline.also.items():
        hint = "import it with a Workflow that has it as its entrypoint, if other workflows call it"
        yield f"the template `{name}` is not carried: the entrypoint does not reach it", hint, route


def _scheduled(job: ImportedJob, number: int, read: Manifests, found: Findings) -> ImportedJob:
    """The job of a CronWorkflow. A workflow of gen starts its runs if no other object can."""
    spec = read.documents[number]["spec"]
    job = with_schedule(job, spec, lambda name: read.place(number, ("spec", name)), found)
    facts, times = ALL_KINDS[job.fields["kind"]].facts.scheduled_by, job.fields.get("schedule")
    if times is None or facts is None:
        return job
    if facts.is_workflow:
        needed: Fields = {"argo": {"serviceAccount": ACCOUNT}}
        return replace(job, overlay={"pipelines": needed, **job.overlay})
    own = {name: spec.get(name) or None for name in ("suspend", "startingDeadlineSeconds")}
    own |= {name: spec.get(name) for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")}
    own |= {"concurrencyPolicy": at(times, "concurrency") or "Forbid", "timeZone": spec.get("timezone")}
    made: Fields = {"apiVersion": facts.api_version(facts.served[0]), "kind": facts.kind}
    made["spec"] = present(schedule=at(times, "cron") or times, **own)
    route = tuple(map(str, facts.pods[0].template[:-1]))
    bodies = (with_field({**made, "metadata": one.body["metadata"]}, route, one.body["spec"]) for one in job.originals)
    originals = tuple(replace(one, body=body) for one, body in zip(job.originals, bodies, strict=True))
    return replace(job, originals=originals)


def _with_metadata(job: ImportedJob, pipeline: Pipeline) -> ImportedJob:
    """The job with the labels and annotations of the document; keys with a prefix need a grant."""
    fields: Fields = {}
    for field, entries in pipeline.metadata.items():
        own = {key: literal(text) for key, text in entries.items() if is_carried(field, key, text, of_pods=False)}
        fields |= {field: {**own, **job.fields.get(field, {})}} if own else {}
    grants: Fields = {}
    merge(grants, job.grants)
    prefixed = [key for entries in fields.values() for key in entries if "/" in key]
    merge(grants, {"metadata": prefixed} if prefixed else {})
    return replace(job, fields={**job.fields, **fields}, grants=grants)


def _report(
    made: CallJobs,
    claims: Mapping[str, Mapping[str, str]],
    mounted: set[str],
    place_of: Callable[..., Location],
    known: dict[Loss, Diagnostic],
    found: Findings,
) -> Iterator[Diagnostic]:
    """Report what no job has of a step; the findings without which it cannot run. `claims` are those that steps create;
    `mounted` are volumes of all jobs; `known` are findings about tasks, which other steps share.
    """
    call = made.call
    if call.name in claims:
        found.warning(NOT_CARRIED, made.place, *of_claim(claims[call.name], call.task, mounted))
        return
    if not made.parts:
        message, hint, needed = without_job(call.leaf, call.task)
        found.warning(CANNOT_RUN if needed else NOT_CARRIED, made.place, message, hint)
        yield from found.items[-1:] if needed else ()
        return
    for lost in dict.fromkeys(call.lost):
        if lost not in known:
            whose = f"task `{lost.task}`" if lost.task else f"step `{call.task}`"
            place = place_of(lost.route, key=not lost.task) if lost.route else made.place
            code = CANNOT_RUN if lost.needed else NOT_CARRIED
            found.warning(code, place, f"{lost.what} of {whose} is not carried", HINTS[lost.reason])
            known |= {lost: found.items[-1]} if lost.task else {}
        yield from [known.get(lost, found.items[-1])] if lost.needed else ()


_MAX_SHOWN: Final = 100
_REQUIREMENT: Final = regex(r"\s*([\w.-]+)\s*(?:(==|=|>|<|!=)\s*([^\s,]+)\s*)?")
_WORDS_OF_END: Final = names("succeeded success complete completed completiontime endtime finished finishedat stopped")
_WORDS_OF_START: Final = names("active ready running starttime created started available initializing")
_NO_NUMBER: Final = 1 << 30


def lost_ends(resource: object, jobs: Iterable[ImportedJob], *, waited: bool) -> Iterator[Loss]:
    """The losses of conditions of an object that a template creates, if they are not those of its end. `waited` is
    whether other steps wait for it. `matchConditions` in `workflow/executor/resource.go` of argo-workflows: it succeeds
    if all requirements hold, or without any as soon as none of failure does.
    """
    success, failure = (str(at(resource, name) or "") for name in ("successCondition", "failureCondition"))
    given = _requirements(success)
    words = set(re.findall(r"\w+", success.lower()))
    for job in jobs if isinstance(at(resource, "manifest"), str) else ():
        body = next((one.body for one in job.originals), {})
        facts = ALL_KINDS[job.fields["kind"]].facts
        total = pods if isinstance(pods := at(body, "spec", "completions"), int) else 1
        early = any(field == "status.succeeded" and _least(sign, value) < total for field, sign, value in given)
        if waited and not success:
            yield Loss(what="the end right after the creation of the object", reason="start", needed=False)
        elif success and (words.isdisjoint(_WORDS_OF_END) or (waited and early)):
            needed = waited and not early and not words.isdisjoint(_WORDS_OF_START)
            yield Loss(what=f"`successCondition: {success[:_MAX_SHOWN]}`", reason="start", needed=needed)
        yield from (lost_field(name) for name in ("flags", "mergeStrategy") if at(resource, name))
        limit = follow(body, facts.retries) if facts.retries is not None else None
        for field, sign, value in _requirements(failure):
            if field == "status.failed" and isinstance(limit, int) and _least(sign, value) <= limit:
                yield Loss(what=f"`failureCondition: {failure[:_MAX_SHOWN]}`", reason="failure", needed=False)


def _requirements(condition: str) -> list[tuple[str, str, str]]:
    """The requirements of a condition, in the form of selectors: fields, signs and values."""
    every = (_REQUIREMENT.fullmatch(one) for one in condition.split(",") if condition)
    return [(one[1], one[2] or "", one[3] or "") for one in every if one is not None]


def _least(sign: str, value: str) -> int:
    """The least number for which a requirement holds."""
    number = int(value) if value.isdecimal() and len(value) < len(str(_NO_NUMBER)) else _NO_NUMBER
    return number + 1 if sign == ">" else number
