"""`gen import manifests`: runs and schedules in YAML and JSON files, from Git or from `kubectl get -o yaml`.

The original of the proof omits values that the job has in another form: secrets, variables of the kind, default
policies.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from gen.base import Findings, Location, Route, as_list, as_mapping, at, contained, follow, replaced, with_field
from gen.base.codes.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers import IMPORTERS, Fields, ImportedJob, Importer, ImportInput, Original
from gen.importers.cleaning import cleaned, without_unknown
from gen.importers.comparison import without_defaults
from gen.importers.draft import JobDraft, is_secret, texts_in, validated, with_hosts
from gen.importers.manifests.container_names import with_names_in_job
from gen.importers.manifests.objects import (
    Item,
    Template,
    container_route,
    items,
    main_index,
    reference_of,
    templates,
)
from gen.importers.manifests.others import group_of, kind_of, report_none, report_others
from gen.importers.manifests.own_names import of_kubectl, rename_object
from gen.importers.manifests.placeholders import START, filled, report_placeholders, with_params
from gen.importers.manifests.pods import (
    as_program,
    carry_metadata,
    has_default_policy,
    modern_pod,
    queue_of,
    without_metadata,
)
from gen.importers.manifests.run import read_run, reserved
from gen.importers.manifests.runtimes import with_nodes
from gen.importers.manifests.searches import is_search, read_search, with_source
from gen.importers.manifests.volumes import (
    FileVolumes,
    boards,
    file_volumes,
    has_idle_ports,
    maps_of,
    report_ports,
    report_services,
    report_variables,
    separate,
    set_board,
    with_selectors,
    without_files,
)
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.base import Job
from gen.job.kinds.declared import DeclaredJob
from gen.job.names import DNS_SUBDOMAIN
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body, present

_POLICY: Final = "concurrencyPolicy"
_NUMBERS: Final = {
    "successfulJobsHistoryLimit": ("history", "succeeded"),
    "failedJobsHistoryLimit": ("history", "failed"),
}


def as_schedule(draft: JobDraft, item: Item, body: Body) -> Body:
    """Set `schedule` from a CronJob. By default, its runs may overlap, for which a job needs a time limit. Returns the
    object without a policy that is not carried.
    """
    spec = body["spec"]
    values: Fields = {"cron": spec.get("schedule", "")}
    if "timeZone" in spec:
        values["timeZone"] = spec["timeZone"]
    policy = spec.get(_POLICY, "Allow")
    if is_lost := policy == "Allow" and "timeout" not in draft.fields:
        place = item.place("spec", _POLICY if _POLICY in spec else "schedule")
        hint = "set `timeout`, and `concurrency: Allow` of `schedule`"
        draft.drop(place, "the policy `Allow`", "runs that overlap need a time limit", hint)
    elif policy != "Forbid":
        values["concurrency"] = policy
    for name, (outer, inner) in _NUMBERS.items():
        if isinstance(spec.get(name), int):
            values.setdefault(outer, {})[inner] = spec[name]
    if isinstance(deadline := spec.get("startingDeadlineSeconds"), int):
        values["deadline"] = quantity.duration(deadline)
    draft.set(values if len(values) > 1 else values["cron"], "schedule", place=item.place("spec", "schedule"))
    return with_field(body, ("spec", _POLICY), None) if is_lost else body


def without_secrets(spec: Body, job: str, gone: frozenset[str], model: type[Job], main: int = 0) -> Body:
    """A pod with a reference in place of each secret variable, as the job has it. The training container, at index
    `main`, has no variables `gone`, and no ports that only document.
    """
    changed = dict(spec)
    for field in ("containers", "initContainers"):
        if isinstance(spec.get(field), list):
            trains = main if field == "containers" else None
            changed[field] = [
                _container(one, job, gone, model, trains=index == trains) for index, one in enumerate(spec[field])
            ]
    return changed


def _container(container: Any, job: str, gone: frozenset[str], model: type[Job], *, trains: bool) -> Any:
    if trains and isinstance(container, dict):
        container = as_program(container)
        if has_idle_ports(container, model):
            container = {key: value for key, value in container.items() if key != "ports"}
    if isinstance(container, dict) and has_default_policy(container):
        container = {key: value for key, value in container.items() if key != "imagePullPolicy"}
    entries = at(container, "env")
    if not isinstance(entries, list):
        return container
    last = {str(at(one, "name")): number for number, one in enumerate(entries)}  # of two with a name, it counts
    entries = [one for number, one in enumerate(entries) if last[str(at(one, "name"))] == number]
    kept = [_variable(one, job) for one in entries if not trains or str(at(one, "name")) not in gone]
    return {**{key: value for key, value in container.items() if key != "env"}, **({"env": kept} if kept else {})}


def _report_secrets(draft: JobDraft, item: Item, pods: Sequence[Template], facts: Resource) -> None:
    """Report secrets of other containers, which patches read from the Secret of the job."""
    for one, field in product(pods, ("containers", "initContainers")):
        trains = main_index(one.spec, facts.container) if field == "containers" else None
        for index, container in enumerate(as_list(one.spec.get(field))):
            for number, entry in enumerate(as_list(at(container, "env")) if index != trains else ()):
                if _variable(entry, item.name) is not entry:
                    place = item.place(*one.route, "spec", field, index, "env", number, "value")
                    value = str(entry["value"])
                    draft.hidden(entry["name"], value, place, given=not value.startswith(START))


def _variable(entry: object, job: str) -> Any:
    name, value = at(entry, "name"), at(entry, "value")
    is_given = isinstance(name, str) and value is not None and at(entry, "valueFrom") is None
    if not is_given or not is_secret(str(name), str(value)):
        return entry
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": f"{job}-env", "key": name}}}


_TTL: Final = "remove it; set `state: finished` in the job after its end. gen never deletes runs by time"


class ManifestsImporter(Importer):
    """Objects of Kubernetes."""

    summary: ClassVar[str] = "files and folders of Kubernetes objects, or the output of `kubectl get -o yaml`"
    reads_files: ClassVar[bool] = True
    options: ClassVar[frozenset[str]] = frozenset({"define"})
    defines_names: ClassVar[bool] = True

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        every = items(given, found)
        pipelines = [one for one in every if _is_pipeline(one)]
        files = dict.fromkeys(one.place().file for one in pipelines)
        jobs = [job for file in files for job in _pipelines(given, file, found)]
        every = [one for one in every if not _is_pipeline(one)]
        runs = [(one, known) for one in every if (known := kind_of(one.body)) is not None]
        searches = [one for one in every if is_search(one)]
        if not runs and not searches and not pipelines and not found.failed():
            report_none(every, given, found)
        used: dict[int, bool] = {}  # by object: whether no run needs it beside its job
        for item, known in runs:
            with contained(found, item.place(), f"import {item.body['kind']} `{item.name}`"):
                jobs += _imported(item, known, every, given, found, used)
        for item in searches:
            with contained(found, item.place(), f"import {item.body['kind']} `{item.name}`"):
                namespace = given.namespace_of(item.namespace)
                search = with_source(item, every, used)
                jobs += read_search(
                    search, namespace, lambda trial, known: _imported(trial, known, every, given, found, used), found
                )
        if runs or searches or pipelines:
            report_others(every, [*(item for item, _ in runs), *searches], used, found)
        return jobs


def _is_pipeline(item: Item) -> bool:
    """Whether the object has the templates of a workflow of Argo or names them, and is not in a list of objects."""
    spec = item.body.get("spec")
    known = any(isinstance(at(one, "templates"), list) for one in (spec, at(spec, "workflowSpec")))
    known = known or reference_of(item.body) is not None
    return item.at == () and group_of(item) == ALL_KINDS["pipeline"].facts.group and known


def _pipelines(given: ImportInput, file: str, found: Findings) -> Sequence[ImportedJob]:
    """The jobs of the workflows in a file, which pipelines are compiled to, too."""
    raw = next(raw for name, raw in given.files if name == file)
    return IMPORTERS["kfp"]().read(replace(given, file=file, text="", files=((file, raw),)), found)


def _imported(
    item: Item,
    known: tuple[str, Resource],
    every: list[Item],
    given: ImportInput,
    found: Findings,
    used: dict[int, bool],
) -> Iterator[ImportedJob]:
    kind, facts = known
    item, placeholders = filled(item)
    place = item.place("metadata")
    namespace = given.namespace_of(item.namespace)
    if not item.name or not namespace:
        missing = "namespace" if item.name else "name"
        hint = "choose the namespace of all jobs with `--namespace`" if item.name else "add `metadata.name`"
        found.error(INVALID_MANIFEST, place, f"`metadata.{missing}` is missing", hint)
        return
    if not isinstance(item.body.get("spec"), dict):
        what = "empty" if "spec" in item.body and not item.body["spec"] else "missing"
        place = item.manifests.place(item.document, (*item.at, "spec"), key=True)
        found.error(INVALID_MANIFEST, place, f"`spec` is {what}", "add its fields, or remove the document")
        return
    model = ALL_KINDS[kind]
    if facts.nodes is None and (
        problem := _without_pods(item, kind, templates(facts, _modern_body(item, model, facts)))
    ):
        found.error(INVALID_MANIFEST, *problem)
        return
    draft = JobDraft(item.name, kind, namespace, place, found)
    body = with_nodes(draft, item, _modern(draft, item, model, facts), facts, every)
    routes = [one.route for one in templates(facts, body) if one.spec and facts.nodes is None]
    body = body if given.as_is else without_unknown(draft, item, body, routes)
    for route in routes:
        body = replaced(body, (*route, "spec"), modern_pod(follow(body, (*route, "spec"))))
        body = body if given.as_is else _without_effect(draft, item, body, route)
    body = with_names_in_job(draft, item, body, model, facts)
    body = with_selectors(body, item, facts, draft.name) if facts is model.facts else body
    pods = templates(facts, body)
    maps = _maps(every, item) if facts is model.facts else {}  # a job with a schedule has no files
    files = file_volumes(pods, maps)
    carry_metadata(draft, item, body, facts)
    holders = read_run(draft, item, body, model, facts, files)
    body = as_schedule(draft, item, body) if facts is not model.facts else body
    separate(draft, holders, [one for one in every if one.namespace in ("", item.namespace)])
    report_ports(draft, item, pods, model)
    report_services(draft, item, every)
    _report_secrets(draft, item, pods, facts)
    _lose_ttl(draft, item, body, facts)
    maps_used = maps_of(pods, files)
    for one in (one for one in every if _is_map(one, maps_used, item)):
        used[id(one)] = maps_used[one.name] and used.get(id(one), True)
    board = next((one for one in boards(every, item) if id(one[0]) not in used), None)
    if board is not None:
        used.update(dict.fromkeys(set_board(draft, board), True))
    gone = reserved(model, draft.fields)
    if facts is model.facts:
        body = _with_hosts(draft, item, body, pods, model)
    plain, draft.fields = validated(model, draft.fields), with_params(draft.fields, placeholders)
    mains = [container_route(one, model.facts.container) for one in pods]
    report_placeholders(draft, item, placeholders, draft.fields.get("params", {}), mains)
    report_variables(draft, item, pods, given, placeholders, plain)
    original = _original(item, body, facts, model, files, gone)
    made = draft.finished(f"Imported from {facts.kind} {item.name}.", (original,))
    if made is not None:
        yield made


def _without_effect(draft: JobDraft, item: Item, body: Body, template: Route) -> Body:
    """The object without pull secrets that cannot exist, in one of its templates. The kubelet pulls without these."""
    route = (*template, "spec", "imagePullSecrets")
    kept = []
    for number, one in enumerate(as_list(follow(body, route))):
        if isinstance(name := at(one, "name"), str) and not DNS_SUBDOMAIN.fullmatch(name):
            hint = "remove it, or name the Secret with the credentials of the registry"
            draft.drop(item.place(*route, number), f"`{name}`", "no Secret can have this name", hint)
        else:
            kept.append(one)
    own = {name: value for name, value in follow(body, route[:-1]).items() if name != route[-1]}
    return as_mapping(replaced(body, route[:-1], {**own, **present(imagePullSecrets=kept)}))


_OF_PROGRAM: Final = frozenset({"command", "args", "env"})
"""Fields of a container."""
_SUBDOMAIN: Final = ("spec", "network", "subdomain")


def _with_hosts(draft: JobDraft, item: Item, body: Body, pods: Sequence[Template], model: type[Job]) -> Body:
    """The object with the host names that pods of a run have in a job of its name, which has names with the hash of the
    run in commands, variables and files. Those of other containers are reported: only a patch has them.
    """
    job = validated(model, draft.fields)
    own = job is not None and any(role.subdomain is not None for role in job.replica_roles(draft.name))
    routes: dict[Route, str | None] = {
        (*one.route, "spec", "subdomain"): item.name for one in pods if "subdomain" in one.spec and own
    }
    if at(body, *_SUBDOMAIN) is not None:
        routes[_SUBDOMAIN] = None
    services = [str(follow(body, route)) for route in routes]
    hosts = draft.rename_hosts(item.name, body, item.namespace, services)
    if hosts is None or job is None:
        return body
    rename_object(draft, item, job, services)
    command = of_kubectl(item.name, job)
    mains = [container_route(one, model.facts.container) for one in pods]
    for route, text in texts_in(body["spec"], ("spec",)):
        of_job = any((*main, name) == route[: len(main) + 1] for main in mains for name in _OF_PROGRAM)
        of_job = of_job or route in model.copied.values() or _is_name(route[-1])
        if not of_job and (found := hosts.form.search(text)):
            what = "the host name of a pod, and the pods of a run have" if found["pod"] else "the object, and a run has"
            message = f"`{found[0]}` is {what} another name"
            hint = f"write `{{{{ run.id }}}}{found['pod']}` in a program of the job, which no patch can do"
            draft.cannot_run(item.place(*route), message, hint)
        elif not of_job and (words := command.search(text)):
            hint = "write `{{ run.id }}` in a program of the job, which no patch can do"
            draft.cannot_run(item.place(*route), f"`{words[0]}` names the object, and a run has another name", hint)
    for route, service in routes.items():
        if follow(body, route) != item.name:
            why = "the pods of a run have a Service with its name"
            what = f"`subdomain: {follow(body, route)}`"
            known = ", as the job does" if any("{{ run.id }}" in text for _, text in texts_in(draft.fields)) else ""
            hint = f"use host names with `{{{{ run.id }}}}`{known}"
            draft.drop(item.place(*route), what, why, hint)
        body = replaced(body, route, service) if service is not None else with_field(body, _SUBDOMAIN, None)
    return {**body, "spec": with_hosts(body["spec"], hosts, item.name, draft.namespace)}


_SELECTOR: Final = "clusterSelector"


def _is_name(field: str | int) -> bool:
    """Whether a field names a container, a volume or another object, and no host."""
    return str(field).endswith(("name", "Name")) and field != "hostname"


def _without_pods(item: Item, kind: str, pods: Sequence[Template]) -> tuple[Location, str, str] | None:
    """The place, the problem and the remedy of an object without pods for a job; None if it has some."""
    is_declared = issubclass(ALL_KINDS[kind], DeclaredJob)
    if not pods:
        hint = "write the job by hand; a run that uses pods of another object has no form in gen"
        if is_declared:
            hint = f"set `image` of the pods in `kinds.{kind}` of the overlay to a field of the object"
        cluster = [_SELECTOR] if at(item.body, "spec", _SELECTOR) is not None else []
        message = "the object has no pod template"
        return item.place("spec", *cluster), f"`{_SELECTOR}`: {message}" if cluster else message, hint
    if is_declared and not any(one.spec for one in pods):
        message = f"`{'.'.join(map(str, pods[0].route))}` is not a pod template: it has no `spec`"
        hint = f"name templates with `spec` in `kinds.{kind}` of the overlay; gen builds no pods without one"
        return item.place(*pods[0].route), message, hint
    return None


def _modern(draft: JobDraft, item: Item, model: type[Job], facts: Resource) -> Body:
    """The object in the current version of its kind."""
    body = _modern_body(item, model, facts)
    for route, message, hint in model.changes({"spec": {}, **item.body}):
        draft.found.warning(NOT_CARRIED, item.place(*route), message, hint)
    for route, message, hint in model.obstacles({"spec": {}, **item.body}):
        draft.cannot_run(item.place(*route), message, hint)
    version = str(body["apiVersion"])
    if version in facts.versions:
        if version != next(iter(facts.versions)):
            draft.need(version, "operators", draft.fields["kind"])
        return body
    current = next(iter(facts.versions))
    hint = f"check that the cluster serves {current}; the proof compares the job with the same object in that version"
    message = f"{version} becomes {current}{f', for which {model.since_retired}' if model.since_retired else ''}"
    draft.found.warning(NOT_CARRIED, item.place("apiVersion"), message, hint)
    return {**body, "apiVersion": current}


def _modern_body(item: Item, model: type[Job], facts: Resource) -> Body:
    body = cleaned(item.body)
    body = model.modern({**body, "spec": body.get("spec", {})})
    return without_defaults(body, facts)


def _maps(every: list[Item], run: Item) -> dict[str, Body]:
    return {
        one.name: one.body
        for one in every
        if one.body["kind"] == "ConfigMap" and one.namespace in ("", run.namespace) and "binaryData" not in one.body
    }


def _is_map(one: Item, names: Container[str], run: Item) -> bool:
    return one.body["kind"] == "ConfigMap" and one.name in names and one.namespace in ("", run.namespace)


def _lose_ttl(draft: JobDraft, item: Item, body: Body, facts: Resource) -> None:
    if facts.ttl is not None and follow(body, facts.ttl) is not None:
        draft.drop(item.place(*facts.ttl), f"`{facts.ttl[-1]}`", "a GitOps engine would start the run again", _TTL)


def _original(
    item: Item, body: Body, facts: Resource, model: type[Job], files: FileVolumes, gone: frozenset[str]
) -> Original:
    """The object without the values that the report has named."""
    if facts.ttl is not None:
        body = with_field(body, facts.ttl, None)
    for route in dict.fromkeys((("metadata",), facts.run_metadata)):
        body = with_field(body, route, without_metadata(as_mapping(follow(body, route))))
    if facts.suspend is not None and not facts.is_schedule and queue_of(item.body, facts):
        body = with_field(body, facts.suspend, None)  # the queue suspends and resumes the run
    for one in templates(facts, body):
        if one.pods is not None:
            main = main_index(one.spec, facts.container)
            spec = without_secrets(without_files(one, files), item.name, gone, model, main)
            if spec.get("schedulerName") == facts.scheduler:
                spec = {key: value for key, value in spec.items() if key != "schedulerName"}
            whole = {**as_mapping(follow(body, one.route)), "metadata": without_metadata(one.metadata), "spec": spec}
            body = replaced(body, one.route, present(**whole))
        else:
            pod = without_secrets({"containers": [follow(body, one.route)]}, item.name, gone, model)
            body = replaced(body, one.route, pod["containers"][0])
    return Original(body=body, place=item.place(), find=item.find)
