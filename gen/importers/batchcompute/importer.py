"""`gen import batchcompute`: `SubmitJob` and `CreateComputeEnv` requests of Tencent BatchCompute, as JSON or YAML.

Fields from `tencentcloud/batch/v20170312/models.py` of the SDK. Each task becomes a job; nothing is sent anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from gen.diagnostics import Location
from gen.findings.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers.base import Given, ImportedJob, Importer
from gen.importers.batchcompute.task import TASK, carry_task
from gen.importers.draft import JobDraft, label
from gen.importers.record import Record
from gen.load.manifests import read_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.diagnostics import Findings

_IN_GIT: Final = "keep the description in the pull request"
_REQUEST: Final = {
    "ClientToken": ("each run has a name of its own", "remove it"),
    "Version": ("it concerns the client", "remove it"),
    "Region": ("an overlay is one cluster", "choose the overlay with `clusters` of the job"),
    "Action": ("it concerns the client", "remove it"),
    "ProjectId": ("it concerns the billing of machines", "set a label for it on the nodes"),
    "HostIds": ("a job runs on any node with its labels", "set `placement.nodeSelector` of the job"),
}
_JOB: Final = {
    "JobDescription": ("a job has no description", _IN_GIT),
    "Priority": ("a PriorityClass is not a number", "set `priority` to a PriorityClass that the overlay grants"),
    "TaskExecutionDependOn": ("jobs do not wait for each other", "start the later job when the earlier one has ended"),
    "StateIfCreateCvmFailed": ("a queue or an autoscaler waits for nodes", "remove it"),
    "Notifications": ("gen sends no messages", "set up notifications of Argo CD or Flux"),
    "NotificationTarget": ("gen sends no messages", "set up notifications of Argo CD or Flux"),
    "Tags": ("keys of tags are not always valid labels", "set `labels` of the job"),
}


class BatchComputeImporter(Importer):
    """Requests with tasks."""

    summary: ClassVar[str] = "a file with `SubmitJob` and `CreateComputeEnv` requests of Tencent BatchCompute"

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
        read = read_manifests(given.text.encode("utf-8", "replace"), given.file, found)
        requests = list(_requests(read)) if read is not None else []
        environments = {key: one for one in requests for key in _environment_keys(one)}
        jobs = [job for one in requests if one.has("Job") for job in _jobs(one, environments, given, found)]
        _report_unused(requests, found)
        if not jobs and not found.failed():
            hint = "name a file with a `SubmitJob` request, which has `Job` and `Tasks`"
            found.error(INVALID_MANIFEST, Location(given.file), "no request with tasks found", hint)
        return jobs


def _requests(read: Any) -> Iterator[Record]:
    """Requests of all documents; a document can be a list of them."""
    for number, document in enumerate(read.documents):
        for index, one in enumerate(document) if isinstance(document, list) else ((None, document),):
            start = () if index is None else (index,)

            def place(route: Any, number: int = number, start: tuple[int, ...] = start) -> Location:
                found: Location = read.place(number, (*start, *route))
                return found

            yield Record(one, place)


def _environment_keys(request: Record) -> list[str]:
    """The names by which tasks refer to the environment of a request, which is given its id later."""
    if not request.has("ComputeEnv"):
        return []
    env = request.take("ComputeEnv")
    named = [str(env[key]) for key in ("EnvName", "EnvId") if isinstance(env, dict) and env.get(key)]
    return [*named, request.text("EnvId")] if request.has("EnvId") else named


def _report_unused(requests: list[Record], found: Findings) -> None:
    """Report environments that no task names, because no job has any of their values."""
    used = {task.text("EnvId") for one in requests for task in one.record("Job").records("Tasks")}
    for one in requests:
        if one.has("ComputeEnv") and used.isdisjoint(_environment_keys(one)):
            hint = "set `EnvId` of the tasks to its `EnvName`, or set `placement` and `gpus` of the jobs"
            found.warning(
                NOT_CARRIED, one.place("ComputeEnv"), "the environment is not carried: no task names it", hint
            )


def _jobs(request: Record, environments: dict[str, Record], given: Given, found: Findings) -> Iterator[ImportedJob]:
    job = request.record("Job")
    zone = request.record("Placement")
    name, tasks = job.text("JobName"), job.records("Tasks")
    namespace = given.namespace_of("")
    if not name or not namespace:
        what = "the request names no namespace" if name else "`JobName` is missing"
        hint = "choose the namespace of all jobs with `gen import --namespace`" if name else "add `JobName`"
        found.error(INVALID_MANIFEST, job.place(), what, hint)
        return
    drafts = []
    for task in tasks:
        own = task.text("TaskName")
        whole = label(f"{name}-{own}" if len(tasks) > 1 else name, "job")
        draft = JobDraft(whole, "batch", namespace, task.place(), found)
        carry_task(draft, task, zone.text("Zone"), environments, given.image)
        task.report(draft, TASK)
        drafts.append((own, draft))
    _report_order(job, drafts)
    for _, draft in drafts[:1]:
        for record, reasons in ((job, _JOB), (zone, _REQUEST), (request, _REQUEST)):
            _own_rest(record, draft, reasons)
    for own, draft in drafts:
        made = draft.finished(f"Imported from task {own or '1'} of the BatchCompute job {name}.")
        if made is not None:
            yield made


def _own_rest(record: Record, draft: JobDraft, reasons: dict[str, tuple[str, str]]) -> None:
    """Report values of a record itself; those of its tasks have been reported."""
    for name, place in record.own_unread():
        why, hint = reasons.get(name, ("it has no field", "check whether the job needs it"))
        draft.drop(place, f"`{name}`", why, hint)


def _report_order(job: Record, drafts: list[tuple[str, JobDraft]]) -> None:
    """Jobs start on their own: report what has to wait."""
    names = {own: draft.name for own, draft in drafts}
    for edge in job.records("Dependences"):
        first, second = edge.text("StartTask"), edge.text("EndTask")
        draft = next((one for own, one in drafts if own == second), drafts[0][1] if drafts else None)
        if draft is not None:
            hint = (
                f"keep `state: suspended` in `{names.get(second, second)}` until `{names.get(first, first)}` has ended"
            )
            draft.drop(edge.place(), f"the order of `{first}` and `{second}`", "jobs start on their own", hint)
