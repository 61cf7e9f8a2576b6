"""An Experiment of Katib, which searches values for the parameters of a job: its trials are runs.

The run was patched and checked as one of its kind. Katib names its trials, so `TRIAL` and the placeholders of
parameters become those of Katib here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Self

import orjson
from msgspec.structs import replace

from gen.base import as_mapping, at, did_you_mean
from gen.base.codes.grants import NOT_GRANTED
from gen.base.codes.jobs import INVALID_SEARCH, INVALID_VALUE, NO_EFFECT
from gen.base.placeholders import MARKED_PARAMETER, TRIAL, parameter
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.metric import KnownMetric, known_metrics
from gen.job.plan import Plan, PodPlan
from gen.job.queue import QueueProfile
from gen.job.search import Search, SearchAlgorithm, Space, long_algorithm
from gen.kubernetes.facts.base import Resource, Trial
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.facts.katib import (
    EXPERIMENT,
    OF_TRIAL,
    RANDOM_PART,
    TRIAL_NAME,
    TRIAL_RESOURCES,
    condition,
    trial_resource,
    with_trial_parameters,
)
from gen.kubernetes.objects import COMPONENT, METRICS, Body, present
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import Workload
from gen.render.emit import SEARCH
from gen.render.parts.context import Context, first_pod
from gen.render.parts.data import report_shared
from gen.render.parts.metadata import metrics_annotation, run_metadata
from gen.render.results import Manifest
from gen.render.starters import algorithms, base, start_values


class Experiment(base.Starter, frozen=True, kw_only=True):
    name: ClassVar[str] = EXPERIMENT.kind
    field: ClassVar[str] = SEARCH
    inner: ClassVar[bool] = True
    named_later: ClassVar[bool] = True
    admitted: ClassVar[bool] = False
    run: ClassVar[str] = "trial"
    whole: ClassVar[str] = SEARCH
    decisive: ClassVar[frozenset[str]] = frozenset({"metrics"})
    permission: ClassVar[str] = SEARCH
    unit: ClassVar[str] = "trial"
    dispensable: ClassVar[bool] = True

    wanted: Search
    metrics: tuple[KnownMetric, ...]
    """The metrics to collect, the one that decides first."""
    spaces: Mapping[str, Space]
    algorithm: SearchAlgorithm
    stopper: SearchAlgorithm | None
    first: str
    """Role of the pod with the metrics in its log."""
    primary: Mapping[str, str]
    """Labels of that pod."""
    succeeded: str
    """Condition of a trial that has succeeded."""
    failed: str

    @classmethod
    def resource(cls, facts: Resource) -> Resource:
        return EXPERIMENT

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource.holds is not None

    @classmethod
    def params(cls, data: Mapping[str, Data]) -> Mapping[str, str | None]:
        search = data[SEARCH]
        return {str(name): parameter(str(name)) for name in as_mapping(at(search, "params"))}

    @classmethod
    def suffix(cls, suffix: str, room: int, *, aside: bool) -> tuple[str, int]:
        return f"-<trial>{suffix}", room + RANDOM_PART

    @classmethod
    def queue_fault(cls, profile: QueueProfile, facts: Resource, api_version: str) -> str:
        by_operator = profile.operator_group(facts, api_version) is not None
        made = profile.suspends or by_operator  # each object gets a group of its own without gen
        return "" if made else f"it groups the pods of one run, and a `{SEARCH}` has many trials"

    @classmethod
    def plan(cls, context: Context, api_version: str, pods: Sequence[PodPlan]) -> Self | None:
        job, wanted = context.job, context.job.search
        if wanted is None:
            return None
        before = len(context.found.items)
        succeeded, failed = condition(job.facts.status), condition(job.facts.status, failed=True)
        if job.facts.trial is None or succeeded is None or failed is None:
            return None  # an unsupported field, which is reported
        _check_grant(context, wanted)
        _check_job(context, wanted)
        start_values.check_places(context)
        _check_use(context, wanted, pods)
        metrics = _metrics(context, wanted)
        algorithm = algorithms.check_algorithm(context, wanted)
        first = first_pod(job.facts, pods)
        _check_watched(context, api_version)
        if first is None or len(context.found.items) > before:
            return None
        stopper = wanted.early_stopping
        return cls(
            facts=EXPERIMENT,
            at_once=wanted.parallel_trials,
            wanted=wanted,
            metrics=metrics,
            spaces=wanted.spaces,
            algorithm=algorithm,
            stopper=long_algorithm(stopper) if stopper is not None else None,
            primary=_labels(job.facts.trial, first),
            first=first.role.name,
            succeeded=succeeded,
            failed=failed,
        )

    @classmethod
    def check(cls, context: Context, pods: Iterable[PodPlan], storage: Iterable[str]) -> None:
        """Warn about volumes that trials can write to in the same directory, if no text has the name of the trial."""
        if TRIAL.encode() in orjson.dumps(dict(context.given.data)):
            return
        report_shared(pods, storage, "trials of the search", context.given, context.found)

    def adapted(self, pods: tuple[PodPlan, ...]) -> tuple[PodPlan, ...]:
        """The pods, with the command of the first one in a form that Katib can append a redirection to."""
        return tuple(_logged(pod) if pod.role.name == self.first else pod for pod in pods)

    def check_plan(self, context: Context, companions: Iterable[Body]) -> None:
        """Katib makes only one object for each trial."""
        for body in companions:
            message = f"{context.job.facts.noun} with several pods needs a {body['kind']}, which trials cannot have"
            hint = "remove `workers`, or use a kind with an operator, such as `kind: pytorch`"
            context.error(INVALID_SEARCH, ("workers",), message, hint)

    def around(self, workload: Manifest, plan: Plan, facts: Resource) -> tuple[Manifest, ...]:
        """The search with the object as its trial."""
        trial, references = _trial(workload.body)
        metadata = run_metadata(plan, plan.run, plan.kind)
        metadata["annotations"] = {**metadata.get("annotations", {}), METRICS: metrics_annotation(plan)}
        body = {
            "apiVersion": self.facts.api_version(self.facts.served[0]),
            "kind": self.facts.kind,
            "metadata": metadata,
            "spec": _spec(self, plan.container, trial, references),
        }
        return (replace(workload, body=body, suspend=(), queue=None),)

    @classmethod
    def health(cls, overlay: Overlay, rendered: set[str]) -> Iterator[Workload]:
        if str(EXPERIMENT) in rendered or any(grant.search for grant in overlay.fields.namespaces.values()):
            yield Workload(api_version=EXPERIMENT.api_version(EXPERIMENT.served[0]), resource=EXPERIMENT)

    @classmethod
    def counted(cls, job: Job, workers: int, demand: Demand) -> tuple[int, Demand]:
        if job.search is None:
            return workers, demand
        at_once = job.search.parallel_trials
        return at_once * workers, demand.repeated(at_once, job.search.max_trials)

    @classmethod
    def granted(cls, grant: Grant) -> bool:
        return grant.search is not None

    @classmethod
    def started(cls, resource: Resource, body: Body) -> Iterator[Body]:
        if resource.holds is not None:
            yield at(body, *resource.holds.route)

    @classmethod
    def progress(cls, resource: Resource, live: Body, ended: Sequence[bool]) -> tuple[int, int] | None:
        if resource.holds is None:
            return None
        numbers = [at(live, *route) for route in resource.holds.ended]
        total = at(live, *resource.holds.in_all)
        done = sum(one for one in numbers if isinstance(one, int) and not isinstance(one, bool))
        return (done, total) if isinstance(total, int) else None


def _labels(trial: Trial, first: PodPlan) -> Mapping[str, str]:
    """Labels of the pod with rank 0. gen cannot label pods with templates in the cluster."""
    if trial.role_label:
        return {trial.role_label: first.role.replica_type, **trial.index}
    return {COMPONENT: first.role.name, **(trial.index if first.role.most > 1 else {})}


def _logged(pod: PodPlan) -> PodPlan:
    """A command in a shell of its own: Katib joins the words of a command, and redirects only its last line.

    From `wrapWorkerContainer` in `pkg/webhook/v1beta1/pod/inject_webhook.go`. In a subshell, `exit` and `exec` do not
    skip what Katib appends.
    """
    shell = pod.command[:2] == ("sh", "-c") and len(pod.command) > 2 and not pod.args  # noqa: PLR2004 - and a text
    text = pod.command[2] if shell else shlex.join((*pod.command, *pod.args))
    return replace(pod, command=("sh", "-c", f"(\n{text.rstrip()}\n)"), args=())


def _check_grant(context: Context, wanted: Search) -> None:
    namespace, overlay, grant = context.given.namespace, context.overlay.name, context.grant.search
    route = f"namespaces.{namespace}.search"
    if grant is None:
        message = f"namespace `{namespace}` may not run searches in overlay `{overlay}`"
        limits = f"{{maxTrials: {wanted.max_trials}, parallelTrials: {wanted.parallel_trials}}}"
        hint = f"add `search: {limits}` to `namespaces.{namespace}` of the overlay"
        context.error(NOT_GRANTED, (SEARCH,), message, hint, key=True)
        return
    for field, asked, most in (
        ("maxTrials", wanted.max_trials, grant.max_trials),
        ("parallelTrials", wanted.parallel_trials, grant.parallel_trials),
    ):
        if asked > most:
            message = (
                f"`{field}` is {asked}; a search of namespace `{namespace}` may have {most} in overlay `{overlay}`"
            )
            context.error(NOT_GRANTED, (SEARCH, field), message, f"reduce it, or raise `{route}.{field}`")


def _check_job(context: Context, wanted: Search) -> None:
    """Fields that exclude each other, and numbers that contradict each other."""
    job = context.job
    for field, given in (("schedule", job.schedule), ("sweep", job.sweep)):
        if given is not None:
            message = f"a job has either a `{SEARCH}` or a `{field}`"
            context.error(INVALID_SEARCH, (field,), message, "remove one of the two", key=True)
    for field, copied in (("outputs", bool(job.outputs)), ("logs", job.logs is not None)):
        if copied:
            message = f"trials cannot have `{field}`: Katib replaces the command that would copy"
            hint = "write to a volume in `data`, below `{{ run.id }}`"
            context.error(INVALID_SEARCH, (field,), message, hint, key=True)
    if job.independent:
        message = "a trial of a `search` cannot be an array: Katib reads the metrics of one pod"
        context.error(INVALID_VALUE, ("array",), message, "remove `array` or `search`", key=True)
    for field, number in (("parallelTrials", wanted.parallel_trials), ("maxFailedTrials", wanted.max_failed_trials)):
        if number is not None and number > wanted.max_trials:
            message = f"`{field}` is {number}, which is more than `maxTrials` ({wanted.max_trials})"
            context.error(INVALID_SEARCH, (SEARCH, field), message, "reduce it, or raise `maxTrials`")
    if not (context.given.left_out or job.command is not None or _role_commands(context)):
        message = "a search needs a `command`: Katib would read that of the image from its registry"
        context.error(INVALID_SEARCH, (), message, "add `command`, with the entrypoint of the image", key=True)


def _role_commands(context: Context) -> bool:
    roles = context.given.data.get("roles")
    return isinstance(roles, dict) and any(isinstance(role, dict) and "command" in role for role in roles.values())


def _check_use(context: Context, wanted: Search, pods: Sequence[PodPlan]) -> None:
    """Katib fails if a trial does not use a parameter, and nothing else can set it."""
    written = orjson.dumps([[pod.command, pod.args, pod.env] for pod in pods]).decode()
    complete = not context.given.left_out
    for name in wanted.params:
        if name in context.overlay.fields.params or name in context.job.params:
            where = f"overlay `{context.overlay.name}`" if name in context.overlay.fields.params else "the job"
            message = f"`params` of {where} sets `{name}` to one value"
            context.error(NO_EFFECT, (SEARCH, "params", name), message, "remove one of the two", key=True)
        elif complete and parameter(name) not in written:
            hint = f"use it, such as in `command`: `{{{{ params.{name} }}}}`; or remove it"
            context.error(INVALID_SEARCH, (SEARCH, "params", name), f"no trial uses `{name}`", hint, key=True)


def _metrics(context: Context, wanted: Search) -> tuple[KnownMetric, ...]:
    """The metrics that Katib collects, the objective first."""
    known = known_metrics(context.job.metrics)
    names = [metric.name for metric in known]
    if "metrics" not in context.given.left_out and wanted.objective not in names:
        message = f"`{wanted.objective}` is not one of the `metrics` of the job"
        hint = did_you_mean(wanted.objective, names, otherwise=f"add `metrics: [{wanted.objective}]`")
        context.error(INVALID_SEARCH, (SEARCH, wanted.direction), message, hint)
    for index, metric in enumerate(known):
        if not metric.named_first:
            message = f"the pattern of `{metric.name}` has no `{{name}}` before `{{value}}`, and Katib needs the name"
            hint = "print the name before the value, with a pattern such as `{name} is {value}`"
            context.error(INVALID_SEARCH, ("metrics", index, "pattern"), message, hint)
    return tuple(sorted(known, key=lambda metric: metric.name != wanted.objective))


def _check_watched(context: Context, api_version: str) -> None:
    """Katib starts trials of the kinds that its configuration names."""
    name = trial_resource(context.job.facts.kind, api_version)
    if name not in TRIAL_RESOURCES and name not in context.overlay.fields.katib.trial_resources:
        message = f"the KatibConfig as shipped has no trials of {context.job.facts.kind} of {api_version}"
        hint = f"add `{name}` to `trialResources` of the KatibConfig, and to `katib.trialResources` of the overlay"
        context.error(INVALID_SEARCH, ("kind",), message, hint)


def _spec(search: Experiment, container: str, trial: Body, references: dict[str, str]) -> Body:
    wanted = search.wanted
    first, *others = search.metrics
    return {
        "objective": present(
            type=wanted.direction,
            goal=_number(wanted.goal) if wanted.goal is not None else None,
            objectiveMetricName=first.name,
            additionalMetricNames=[metric.name for metric in others],
        ),
        "algorithm": _algorithm(search.algorithm),
        **present(earlyStopping=_algorithm(search.stopper) if search.stopper is not None else None),
        "parallelTrialCount": wanted.parallel_trials,
        # without it, a completed experiment starts again (`experiment_controller.go`)
        "maxTrialCount": wanted.max_trials,
        "maxFailedTrialCount": wanted.most_failed,
        # an edited search is another experiment, so nothing resumes this one
        "resumePolicy": "Never",
        "parameters": [_parameter(name, search.spaces[name]) for name in sorted(search.spaces)],
        "metricsCollectorSpec": {
            "collector": {"kind": "StdOut"},
            "source": {"filter": {"metricsFormat": [metric.regex for metric in search.metrics]}},
        },
        "trialTemplate": {
            "retain": True,  # otherwise Katib removes a trial with its logs when it ends
            "primaryContainerName": container,
            "primaryPodLabels": dict(search.primary),
            "successCondition": search.succeeded,
            "failureCondition": search.failed,
            "trialParameters": [{"name": name, "reference": references[name]} for name in sorted(references)],
            "trialSpec": trial,
        },
    }


def _number(text: str) -> float:
    """A whole number is an integer, as the API server writes it."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _trial(run: Body) -> tuple[Body, dict[str, str]]:
    """The run as Katib makes it for each trial, and the references of the placeholders in it."""
    metadata = {key: value for key, value in run["metadata"].items() if key not in ("name", "namespace")}
    text = orjson.dumps({**run, "metadata": metadata}).decode()
    references = {name: name for name in MARKED_PARAMETER.findall(text)}
    if TRIAL in text:
        references[OF_TRIAL] = TRIAL_NAME
    trial: Body = orjson.loads(with_trial_parameters(text))
    return trial, references


def _algorithm(algorithm: SearchAlgorithm) -> Body:
    settings = [{"name": name, "value": value} for name, value in sorted(algorithm.settings.items())]
    return present(algorithmName=algorithm.name, algorithmSettings=settings)


def _parameter(name: str, space: Space) -> Body:
    feasible = present(
        min=space.min, max=space.max, step=space.step, list=list(space.values or ()), distribution=space.distribution
    )
    return {"name": name, "parameterType": space.kind, "feasibleSpace": feasible}
