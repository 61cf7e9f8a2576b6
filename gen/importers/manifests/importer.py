"""`gen import manifests`: runs in YAML and JSON files, as they are in Git or as `kubectl get -o yaml` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from gen.diagnostics import Location
from gen.findings.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers.base import Given, ImportedJob, Importer, Original
from gen.importers.draft import JobDraft
from gen.importers.manifests.metadata import carry_metadata, without_metadata
from gen.importers.manifests.objects import cleaned, items
from gen.importers.manifests.run import queue_of, read_run, reserved
from gen.importers.manifests.schedule import as_schedule
from gen.importers.manifests.secrets import without_secrets
from gen.importers.manifests.templates import templates
from gen.importers.manifests.tensorboard import boards, set_board
from gen.importers.manifests.volumes import config_maps, without_files
from gen.kinds import KINDS
from gen.kubernetes import present, with_field
from gen.resources import RESOURCES
from gen.resources.pods import follow, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gen.diagnostics import Findings
    from gen.importers.manifests.objects import Item
    from gen.kinds import Job
    from gen.kubernetes import Body
    from gen.resources.base import Resource

_TTL: Final = "remove it; set `state: finished` in the job after its end. gen never deletes runs by time"
_KEPT: Final = "keep the manifest where it is applied today, and check it with `gen validate`"
_BY_CLAIM: Final = frozenset({"PersistentVolume", "PersistentVolumeClaim"})


class ManifestsImporter(Importer):
    """Objects of Kubernetes."""

    summary: ClassVar[str] = "files and folders of Kubernetes objects, or the output of `kubectl get -o yaml`"
    reads_files: ClassVar[bool] = True

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
        every = items(given, found)
        runs = [(one, known) for one in every if (known := _kind_of(one.body)) is not None]
        if not runs and not found.failed():
            place = every[0].place() if every else Location(given.files[0][0] if given.files else given.file)
            hint = f"name files with objects of these kinds: {', '.join(sorted(_kinds()))}"
            found.error(INVALID_MANIFEST, place, "no object of a kind that gen has", hint)
        used: set[int] = set()
        jobs = [job for item, known in runs for job in _imported(item, known, every, given, found, used)]
        _report_others(every, [item for item, _ in runs], used, found)
        return jobs


def _kinds() -> dict[str, str]:
    """Kinds of gen by their Kubernetes kinds."""
    return {model.facts.kind: name for name, model in KINDS.items()}


def _kind_of(body: Body) -> tuple[str, Resource] | None:
    """The kind of job, and the facts of the object, which may be a schedule. Groups of old versions differ."""
    group, _, _ = body["apiVersion"].rpartition("/")
    for name, model in KINDS.items():
        for facts in (model.facts, model.facts.scheduled_by):
            if facts is None or facts.kind != body["kind"]:
                continue
            if facts.group == group or body["apiVersion"] in facts.retired:
                return name, facts
    return None


def _imported(
    item: Item, known: tuple[str, Resource], every: list[Item], given: Given, found: Findings, used: set[int]
) -> Iterator[ImportedJob]:
    kind, facts = known
    place = item.place("metadata")
    namespace = given.namespace_of(item.namespace)
    if not item.name or not namespace:
        missing = "namespace" if item.name else "name"
        hint = "choose the namespace of all jobs with `--namespace`" if item.name else "add `metadata.name`"
        found.error(INVALID_MANIFEST, place, f"`metadata.{missing}` is missing", hint)
        return
    if not isinstance(item.body.get("spec"), dict):
        found.error(INVALID_MANIFEST, item.place(), "`spec` is missing", "add it, or remove the document")
        return
    if facts.nodes is None and not templates(facts, _modern_body(item, KINDS[kind])):
        hint = "write the job by hand; a run that uses pods of another object has no form in gen"
        found.error(INVALID_MANIFEST, item.place("spec"), "the object has no pod template", hint)
        return
    model = KINDS[kind]
    draft = JobDraft(item.name, kind, namespace, place, found)
    body = _modern(draft, item, model, facts)
    maps = _maps(every, item)
    carry_metadata(draft, item, body)
    if facts is not model.facts:
        as_schedule(draft, item, body)
    read_run(draft, item, body, model, facts, maps)
    _lose_ttl(draft, item, body, facts)
    mounted = {name for one in templates(facts, body) for name in config_maps(one.spec) if name in maps}
    used.update(id(one) for one in every if _is_map(one, mounted, item))
    board = next(iter(boards(every, item)), None)
    if board is not None:
        used.update(set_board(draft, board))
    gone = reserved(model, draft.fields)
    job = draft.finished(f"Imported from {facts.kind} {item.name}.", (_original(item, body, facts, maps, gone),))
    if job is not None:
        yield job


def _modern(draft: JobDraft, item: Item, model: type[Job], facts: Resource) -> Body:
    """The object in the current version of its kind."""
    body = _modern_body(item, model)
    version = str(body["apiVersion"])
    if version in facts.versions:
        if version != next(iter(facts.versions)):
            draft.need(version, "operators", draft.fields["kind"])
        return body
    current = next(iter(facts.versions))
    hint = f"check that the cluster serves {current}; the proof compares the job with the same object in that version"
    message = f"{version} becomes {current}"
    draft.found.warning(NOT_CARRIED, item.place("apiVersion"), message, hint)
    return {**body, "apiVersion": current}


def _modern_body(item: Item, model: type[Job]) -> Body:
    body = cleaned(item.body)
    return model.modern({**body, "spec": body.get("spec", {})})


def _maps(every: list[Item], run: Item) -> dict[str, Body]:
    return {
        one.name: one.body
        for one in every
        if one.body["kind"] == "ConfigMap" and one.namespace in ("", run.namespace) and "binaryData" not in one.body
    }


def _is_map(one: Item, names: set[str], run: Item) -> bool:
    return one.body["kind"] == "ConfigMap" and one.name in names and one.namespace in ("", run.namespace)


def _lose_ttl(draft: JobDraft, item: Item, body: Body, facts: Resource) -> None:
    if facts.ttl is not None and follow(body, facts.ttl) is not None:
        draft.drop(item.place(*facts.ttl), f"`{facts.ttl[-1]}`", "a GitOps engine would start the run again", _TTL)


def _original(item: Item, body: Body, facts: Resource, maps: Mapping[str, Body], gone: frozenset[str]) -> Original:
    """The object without the values that the report has named."""
    if facts.ttl is not None:
        body = with_field(body, facts.ttl, None)
    body = {**body, "metadata": without_metadata(body["metadata"])}
    if facts.suspend is not None and queue_of(item.body):
        body = with_field(body, facts.suspend, None)  # the queue suspends and resumes the run
    for one in templates(facts, body):
        if one.pods is not None:
            spec = without_secrets(without_files(one.spec, maps), item.name, gone)
            if spec.get("schedulerName") == facts.scheduler:
                spec = {key: value for key, value in spec.items() if key != "schedulerName"}
            body = replaced(body, one.route, present(metadata=without_metadata(one.metadata), spec=spec))
        else:
            pod = without_secrets({"containers": [follow(body, one.route)]}, item.name, gone)
            body = replaced(body, one.route, pod["containers"][0])
    return Original(body=body, place=item.place())


def _report_others(every: list[Item], runs: list[Item], used: set[int], found: Findings) -> None:
    """Objects that no job stands for."""
    for item in every:
        if id(item) in used or any(item is run for run in runs):
            continue
        what = f"{item.body['kind']} `{item.name}`"
        if item.body["kind"] in _BY_CLAIM:
            why = "jobs use the claim by its name, so that its data stay where they are"
        else:
            why = "gen renders no such object from a job"
        if item.body["kind"] in _BY_CLAIM or RESOURCES.get((_group(item), item.body["kind"])) is None:
            found.warning(NOT_CARRIED, item.place(), f"{what} is not carried: {why}", _KEPT)
        else:
            found.warning(NOT_CARRIED, item.place(), f"{what} is not carried: gen has no kind of job for it", _KEPT)


def _group(item: Item) -> str:
    return str(item.body["apiVersion"].rpartition("/")[0])
