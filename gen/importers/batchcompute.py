"""`gen import batchcompute`: `SubmitJob` and `CreateComputeEnv` requests of Tencent BatchCompute, as JSON or YAML.

Fields from `tencentcloud/batch/v20170312/models.py` of the SDK. Each task becomes an indexed Job: its program, its
machines, its inputs as volumes, its outputs and logs as copies to object stores of the overlay. Nothing is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

from gen.base import Findings, Location, Route, as_list, as_texts, regex
from gen.base.codes.imports import INVALID_MANIFEST, NEEDS_SECRET, NOT_CARRIED
from gen.importers import ImportedJob, Importer, ImportInput
from gen.importers.draft import JobDraft, label, literal, literals, opened_container
from gen.importers.manifests.placeholders import START
from gen.kubernetes import quantity
from gen.kubernetes.manifests.read import read_manifests

_COUNT: Final = regex(r"[0-9]{1,9}")


class Record:
    """Fields of a mapping, with the places of their values. A value of another type than expected stays unread."""

    def __init__(self, data: object, place: Callable[[Route], Location], route: Route = ()) -> None:
        self._data = data if isinstance(data, dict) else {}
        self._place, self._route = place, route
        self._read: set[str] = set()
        self._inner: list[Record] = []

    def place(self, *route: str | int) -> Location:
        return self._place((*self._route, *route))

    def take(self, name: str) -> object:
        """A value; None if it is missing."""
        self._read.add(name)
        return self._data.get(name)

    def _taken(self, name: str, *, fits: Callable[[Any], bool]) -> Any:
        value = self._data.get(name)
        return self.take(name) if fits(value) else None

    def text(self, name: str) -> str:
        """A string or a number as text; empty for other types."""
        value = self._taken(name, fits=lambda one: isinstance(one, str | int | float) and not isinstance(one, bool))
        return str(value) if value is not None else ""

    def number(self, name: str) -> int | None:
        """A number that is not negative, which may be written as text."""
        text = str(self._taken(name, fits=lambda value: _COUNT.fullmatch(str(value)) is not None))
        return int(text) if text.isdecimal() else None

    def record(self, name: str) -> Record:
        """A mapping, which is empty if it is missing."""
        return self._added(self._taken(name, fits=lambda value: isinstance(value, dict)), name)

    def records(self, name: str) -> list[Record]:
        """The mappings of a list."""
        every = self._taken(name, fits=_list_of(dict))
        return [self._added(one, name, number) for number, one in enumerate(as_list(every))]

    def texts(self, name: str) -> list[str]:
        return as_texts(self._taken(name, fits=_list_of(str)))

    def has(self, name: str) -> bool:
        return self._data.get(name) not in (None, "", [], {})

    def _added(self, value: object, *route: str | int) -> Record:
        inner = Record(value, self._place, (*self._route, *route))
        self._inner.append(inner)
        return inner

    def own_unread(self) -> Iterator[tuple[str, Location]]:
        """`unread`, without the values of inner mappings."""
        for name, value in self._data.items():
            if name not in self._read and value not in (None, "", [], {}):
                yield str(name), self.place(str(name))

    def unread(self) -> Iterator[tuple[str, Location]]:
        """Names of values that nothing has read, with their places."""
        yield from self.own_unread()
        for inner in self._inner:
            yield from inner.unread()

    def report(self, draft: JobDraft, reasons: dict[str, tuple[str, str]]) -> None:
        """Report each value that nothing has read; `reasons` has the reason and the remedy by its name."""
        for name, place in self.unread():
            why, hint = reasons.get(name, ("it has no field", "check whether the job needs it"))
            draft.drop(place, f"`{name}`", why, hint)


def _list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(one, kind) for one in value)


_COS: Final = regex(r"cos://(?P<bucket>[a-z0-9.-]+)\.cos\.(?P<region>[a-z0-9-]+)\.myqcloud\.com(?P<path>/.*)?")
_CFS: Final = regex(r"cfs://(?P<host>[A-Za-z0-9.-]+)(?P<path>/.*)?")
_ACCOUNT: Final = "create a Secret `cos` with the keys `SecretId` and `SecretKey` in the namespace"


def carry_storage(draft: JobDraft, task: Record) -> None:
    """Set `data`, `outputs` and `logs`."""
    for number, entry in enumerate(task.records("InputMappings")):
        _input(draft, entry, number)
    for entry in task.records("OutputMappings"):
        place, path = entry.place("DestinationPath"), entry.text("SourcePath")
        target = _store(draft, entry.text("DestinationPath"), place)
        if target is None:
            hint = "write to a volume of the overlay, with `outputs` or `data`"
            draft.drop(place, "`OutputMappings`", "expected a folder in a bucket, `cos://`", hint)
            continue
        draft.set(target, "outputs", literal(path.rstrip("/")), place=place)
        hint = "the files are in a folder with the name of the run below it"
        draft.drop(place, "the exact folder of the output", "each run has its own", hint)
    redirect = task.record("RedirectInfo")
    paths = [redirect.text(name) for name in ("StdoutRedirectPath", "StderrRedirectPath")]
    for path in dict.fromkeys(one for one in paths if one):
        target = _store(draft, path, redirect.place())
        if target is not None and "logs" not in draft.fields:
            draft.set(target, "logs", place=redirect.place())
        else:
            hint = "set `logs` of the job to one folder of an object store or a volume"
            draft.drop(redirect.place(), f"the log folder `{path}`", "a job has one folder for logs", hint)


def _store(draft: JobDraft, url: str, place: Location) -> dict[str, str] | None:
    """The folder of a bucket, as a store of the overlay; None for other places."""
    cos = _COS.fullmatch(url)
    folder = (cos["path"] or "").strip("/") if cos is not None else ""
    if cos is None or not folder:
        return None
    name = label(cos["bucket"], "bucket")
    profile = {"cos": cos["region"], "bucket": cos["bucket"], "secret": "cos"}
    if draft.overlay.get("stores", {}).get(name) != profile:
        draft.need(profile, "stores", name)
        draft.found.warning(NEEDS_SECRET, place, "the account of the bucket is a secret", _ACCOUNT)
    return {"store": name, "path": literal(folder)}


def _input(draft: JobDraft, entry: Record, number: int) -> None:
    """A bucket or a file system as a volume of the overlay."""
    source, path = entry.text("SourcePath"), entry.text("DestinationPath")
    volume = label(path, f"input-{number}")
    if (cos := _COS.fullmatch(source)) is not None:
        profile = {
            "bucket": cos["bucket"],
            "url": f"http://cos.{cos['region']}.myqcloud.com",
            "path": f"/{(cos['path'] or '').strip('/')}",
            "secret": "cos",
        }
        name = draft.volume(volume, {"cos": profile, "size": "1Ti", "readOnly": True})
        place = entry.place("SourcePath")
        draft.found.warning(NEEDS_SECRET, place, "the account of the bucket is a secret", _ACCOUNT)
    elif (cfs := _CFS.fullmatch(source)) is not None:
        profile = {"host": cfs["host"], "path": f"/{(cfs['path'] or '').strip('/')}"}
        name = draft.volume(volume, {"cfs": profile, "size": "1Ti"})
    else:
        hint = "declare the source as a volume of the overlay, and mount it with `data`"
        draft.drop(entry.place("SourcePath"), "`InputMappings`", "expected a source `cos://` or `cfs://`", hint)
        return
    draft.set(literal(path), "data", name, place=entry.place("DestinationPath"))
    if entry.text("MountType") == "GooseFS-Lite" and "cos" in draft.overlay["volumes"][name]:
        draft.overlay["volumes"][name]["cos"]["mounter"] = "goosefs-lite"


_CLUSTER: Final = ("it is a property of the cluster", "ask the platform owner")
_CREDENTIALS: Final = ("credentials do not belong in Git", "create a Secret in the namespace, and revoke the old value")
_LOGS: Final = ("the cluster keeps the logs", "read them with `gen logs`, or redirect the output in `command`")
TASK: Final[dict[str, tuple[str, str]]] = {
    "TaskInstanceNum": ("it is not a number of pods", "set `workers`"),
    "Password": _CREDENTIALS,
    "User": _CREDENTIALS,
    "Authentications": _CREDENTIALS,
    "LoginSettings": _CREDENTIALS,
    "Server": ("the image has the registry in its name", "write the registry into `image`"),
    "DockerRunOption": (
        "a job has no options of Docker",
        "set `sharedMemory`, `data` or another field in place of each",
    ),
    "MaxRetryCountOfImage": ("the node pulls the image again by itself", "remove it"),
    "DelayOnRetry": ("the node pulls the image again by itself", "remove it"),
    "PackagePath": ("gen fetches no packages", "put the program into the image, or fetch it with `code: {git: <URL>}`"),
    "OutputMappingConfigs": ("the overlay configures copies", "remove it"),
    "RedirectLocalInfo": _LOGS,
    "MaxConcurrentNum": ("all instances may run at the same time", "remove it"),
    "FailedAction": ("failed pods are kept", "remove it"),
    "RestartComputeNode": ("nodes belong to the cluster", "remove it"),
    "ResourceMaxRetryCount": ("nodes belong to the cluster", "remove it"),
    "ImageId": ("it is an image of a machine, not of a container", "set `image` of the job"),
    "InstanceChargeType": ("it concerns the billing of machines", "set `placement: {spot: true}` for spot nodes"),
    "InstanceMarketOptions": ("it concerns the billing of machines", "set `placement: {spot: true}` for spot nodes"),
    "AgentRunningMode": ("the image decides about the user", "build an image with this user"),
    "EnvType": _CLUSTER,
    "EnvName": ("an environment has no name of its own in a cluster", "remove it"),
    "EnvDescription": ("an environment has no description", "remove it"),
    "DesiredComputeNodeCount": ("the cluster decides about the number of its nodes", "set a quota in the overlay"),
    **dict.fromkeys(
        ("SystemDisk", "DataDisks", "MountDataDisks", "VirtualPrivateCloud", "SecurityGroupIds", "InternetAccessible"),
        _CLUSTER,
    ),
    **dict.fromkeys(("EnhancedService", "Zones", "ActionIfComputeNodeInactive", "Notifications", "Tags"), _CLUSTER),
}
"""Values that no job has: the reason and the remedy."""
_VARIABLES: Final = {"BATCH_TASK_INSTANCE_INDEX": "JOB_COMPLETION_INDEX", "BATCH_TASK_INSTANCE_NUM": "TASK_COUNT"}
"""Variables of BatchCompute, and those of an array with the same value."""


def carry_task(draft: JobDraft, task: Record, zone: str, environments: dict[str, Record], given: ImportInput) -> None:
    """Set the fields of the job. Values that nothing reads are reported by the caller."""
    meets = _program(draft, task, given)
    instances = task.number("TaskInstanceNum")
    if instances is not None and instances > 1 and "workers" not in draft.fields:
        draft.set(instances, "workers", place=task.place("TaskInstanceNum"))
    if not meets:
        _array(draft, task)
    if retries := task.number("MaxRetryCount"):
        draft.set(retries, "retries", place=task.place("MaxRetryCount"))
    if timeout := task.number("Timeout"):
        draft.set(quantity.duration(timeout), "attemptTimeout", place=task.place("Timeout"))
    for entry in task.records("EnvVars"):
        name, value = entry.text("Name"), entry.text("Value")
        if name:
            draft.variable(name, value, entry.place("Value"))
    carry_storage(draft, task)
    if zone:
        draft.set(literal(zone), "placement", "zone", place=task.place())
    _machine(draft, task, environments)


def _array(draft: JobDraft, task: Record) -> None:
    """Instances are independent: they do not meet, and a failed one is tried again alone."""
    workers = int(draft.fields.get("workers", 1))
    if workers == 1:
        return
    parallel = task.number("MaxConcurrentNum")
    limited = parallel is not None and 0 < parallel < workers
    draft.set({"parallel": parallel} if limited else True, "array", place=task.place("TaskInstanceNum"))


_MEETS: Final = regex(
    r"\btorchrun\b|\btorch\.distributed\b|\bmpirun\b|\$\{?(?:MASTER_ADDR|RANK|WORLD_SIZE)\b|--net(?:work)?[= ]host\b"
)
"""Needs of a program with instances that meet: a launcher, the variables of it, or the network of the machine."""


def _program(draft: JobDraft, task: Record, given: ImportInput) -> bool:
    """Set the command and the image. Returns whether the instances meet."""
    application, image = task.record("Application"), given.image
    commands = [one.text("Command") for one in application.records("Commands")] or application.texts("Commands")
    command = application.text("Command")
    if application.text("DeliveryForm") == "PACKAGE":
        application.take("DeliveryForm")
    if commands:
        cases = "\n".join(f"  {number}) {one} ;;" for number, one in enumerate(commands))
        command = f'case "$JOB_COMPLETION_INDEX" in\n{cases}\nesac\n'
        draft.set(len(commands), "workers", place=application.place("Commands"))
        task.take("TaskInstanceNum")
    meets = bool(_MEETS.search(command))
    command, opened = opened_container(draft, command, application.place("Command"), given.define.get("GPUS", ""))
    used = [name for name in _VARIABLES if re.search(rf"\b{name}\b", command)]
    exports = "".join(f'export {name}="${_VARIABLES[name]}"\n' for name in used)
    if command:
        draft.set(literal(exports + command), "command", place=application.place("Command"))
    docker = application.record("Docker")
    named = docker.text("Image") or opened
    named = "" if image and named.startswith("<") else named  # a placeholder such as `<image-name>`
    docker.take("MaxRetryCount")
    if named.startswith("<"):
        hint = "set `params.image` of the job, or import it again with `--image IMAGE`"
        draft.cannot_run(docker.place("Image"), f"`image` has the placeholder `{named}`", hint)
        draft.set(f"{START}-image", "params", "image", place=docker.place("Image"))
        draft.set("{{ params.image }}", "image", place=docker.place("Image"))
    elif named or image:
        draft.set(literal(named or image), "image", place=docker.place("Image"))
    else:
        hint = "import it again with `--image`"
        draft.drop(application.place(), "the program", "the task has no container image", hint)
    return meets


def _machine(draft: JobDraft, task: Record, environments: dict[str, Record]) -> None:
    """Types of machines, of the task or of the environment that it names."""
    env = task.record("ComputeEnv")
    named = task.text("EnvId")
    if named and named not in environments:
        hint = "import the `CreateComputeEnv` request together with it, or set `placement` and `gpus` of the job"
        draft.drop(task.place("EnvId"), f"environment `{named}`", "the input does not have it", hint)
    elif named:
        env = environments[named].record("ComputeEnv")
    data = env.record("EnvData")
    for holder in (env, data):
        _zone_of(draft, holder.record("Placement"))
    types = [data.text("InstanceType")] if data.has("InstanceType") else data.texts("InstanceTypes")
    if types:
        draft.set(literals(types[0] if len(types) == 1 else types), "placement", "instanceType", place=data.place())
        hint = "set `gpus`, `cpu` and `memory` of the job; Kubernetes does not take them from the type of the machine"
        draft.drop(data.place(), "the size of the machine", "a type of machine is not a request", hint)
    options = data.record("InstanceTypeOptions")
    if cpu := options.number("CPU"):
        draft.set(cpu, "cpu", place=options.place("CPU"))
    if memory := options.number("Memory"):
        draft.set(f"{memory}Gi", "memory", place=options.place("Memory"))
    if named in environments:
        _zone_of(draft, environments[named].record("Placement"))
        env.report(draft, TASK)
        _own_rest(environments[named], draft, _REQUEST)


def _zone_of(draft: JobDraft, placement: Record) -> None:
    """The zone of the environment, if the job has none."""
    zone, known = placement.text("Zone"), draft.fields.get("placement", {}).get("zone")
    if zone and known is None:
        draft.set(literal(zone), "placement", "zone", place=placement.place("Zone"))
    elif zone and literal(zone) != known:
        why = f"the job is in `{known}`"
        draft.drop(placement.place("Zone"), f"the zone `{zone}` of the environment", why, "check which one is meant")
    placement.report(draft, TASK)


_ORDER: Final = "jobs have no order, only steps of a pipeline"
_MESSAGES: Final = (
    "the overlay decides about messages",
    "ask the platform owner for `argocd.notify`, or for `pipelines.argo.notify` if the job is a pipeline",
)
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
    "TaskExecutionDependOn": (
        _ORDER,
        "write the tasks as steps of `kind: pipeline`; `when: ended` of a step also starts it after failures",
    ),
    "StateIfCreateCvmFailed": ("a queue or an autoscaler waits for nodes", "remove it"),
    "Notifications": _MESSAGES,
    "NotificationTarget": _MESSAGES,
    "Tags": ("keys of tags are not always valid labels", "set `labels` of the job"),
}


class BatchComputeImporter(Importer):
    """Requests with tasks."""

    summary: ClassVar[str] = "a file with `SubmitJob` and `CreateComputeEnv` requests of Tencent BatchCompute"
    options: ClassVar[frozenset[str]] = frozenset({"image", "define"})

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
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
    """Requests of all documents, which can be lists."""
    for number, document in enumerate(read.documents):
        for index, one in enumerate(document) if isinstance(document, list) else ((None, document),):
            start = () if index is None else (index,)

            def place(route: Any, number: int = number, start: tuple[int, ...] = start) -> Location:
                found: Location = read.place(number, (*start, *route))
                return found

            yield Record(one, place)


def _environment_keys(request: Record) -> list[str]:
    """The names that tasks use for the environment of a request, which is given its id later."""
    if not request.has("ComputeEnv"):
        return []
    env = request.take("ComputeEnv")
    named = [str(env[key]) for key in ("EnvName", "EnvId") if isinstance(env, dict) and env.get(key)]
    return [*named, request.text("EnvId")] if request.has("EnvId") else named


def _report_unused(requests: list[Record], found: Findings) -> None:
    """Report environments that no task names, because no job has any of their values."""
    used = {task.text("EnvId") for one in requests for task in one.record("Job").records("Tasks")}
    for one in requests:
        if not one.has("Job") and not one.has("ComputeEnv"):
            hint = "name requests of `SubmitJob` and `CreateComputeEnv`"
            message = "a document is not carried: it has neither `Job` nor `ComputeEnv`"
            found.warning(NOT_CARRIED, one.place(), message, hint)
        if one.has("ComputeEnv") and used.isdisjoint(_environment_keys(one)):
            hint = "set `EnvId` of the tasks to its `EnvName`, or set `placement` and `gpus` of the jobs"
            found.warning(
                NOT_CARRIED, one.place("ComputeEnv"), "the environment is not carried: no task names it", hint
            )


def _jobs(
    request: Record, environments: dict[str, Record], given: ImportInput, found: Findings
) -> Iterator[ImportedJob]:
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
        carry_task(draft, task, zone.text("Zone"), environments, given)
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
    for name, place in [*record.own_unread()]:
        record.take(name)  # several tasks can use the environment
        why, hint = reasons.get(name, ("it has no field", "check whether the job needs it"))
        draft.drop(place, f"`{name}`", why, hint)


def _report_order(job: Record, drafts: list[tuple[str, JobDraft]]) -> None:
    """Report dependencies, which jobs of their own do not have."""
    for edge in job.records("Dependences"):
        first, second = edge.text("StartTask"), edge.text("EndTask")
        draft = next((one for own, one in drafts if own == second), drafts[0][1] if drafts else None)
        if draft is not None:
            hint = f"write both as steps of `kind: pipeline`, the later one with `needs: [{label(first, 'step')}]`"
            draft.drop(edge.place(), f"the order of `{first}` and `{second}`", _ORDER, hint)
