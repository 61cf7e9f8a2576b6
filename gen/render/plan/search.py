"""The search of a job: its limits, its metrics, and the pods that Katib reads them from."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from gen.diagnostics import did_you_mean, with_article
from gen.findings.grants import NOT_GRANTED
from gen.findings.jobs import NO_EFFECT
from gen.findings.search import INVALID_SEARCH
from gen.kinds.plan import SearchPlan
from gen.kubernetes import COMPONENT, parameter
from gen.model.metric import known_metrics
from gen.model.search import long_algorithm
from gen.render.plan.placeholders import check_places
from gen.render.plan.search_algorithm import check_algorithm
from gen.render.record import SEARCH
from gen.resources.katib import EXPERIMENT, TRIAL_RESOURCES, condition, trial_resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gen.diagnostics import Route
    from gen.kinds.plan import PodPlan
    from gen.kubernetes import Body
    from gen.model.metric import KnownMetric
    from gen.model.search import Search
    from gen.render.plan.context import Context
    from gen.resources.base import Resource
    from gen.resources.trials import Trial


def plan_search(context: Context, api_version: str, pods: Sequence[PodPlan]) -> SearchPlan | None:
    """None for a job without a search, and for a search that Katib cannot run, which is reported."""
    job, wanted = context.job, context.job.search
    if wanted is None:
        return None
    before = len(context.found.items)
    succeeded, failed = condition(job.facts.status), condition(job.facts.status, failed=True)
    if job.facts.trial is None or succeeded is None or failed is None:
        return None  # an unsupported field, which is reported
    _check_grant(context, wanted)
    _check_job(context)
    check_places(context)
    _check_use(context, wanted, pods)
    metrics = _metrics(context, wanted)
    algorithm = check_algorithm(context, wanted)
    first = first_pod(job.facts, pods)
    _check_watched(context, api_version)
    if first is None or len(context.found.items) > before:
        return None
    stopper = wanted.early_stopping
    return SearchPlan(
        facts=EXPERIMENT,
        wanted=wanted,
        metrics=metrics,
        spaces=wanted.spaces,
        algorithm=algorithm,
        stopper=long_algorithm(stopper) if stopper is not None else None,
        primary=_labels(context, job.facts.trial, first),
        first=first.role.name,
        succeeded=succeeded,
        failed=failed,
    )


def _labels(context: Context, trial: Trial, first: PodPlan) -> Mapping[str, str]:
    """Labels of the pod with rank 0. gen cannot label pods with templates in the cluster."""
    own = {COMPONENT: first.role.name} if context.job.facts.pods else {}
    return {**own, **(trial.index if first.role.most > 1 or not own else {})}


def first_pod(facts: Resource, pods: Sequence[PodPlan]) -> PodPlan | None:
    """The pods with the one that has rank 0, whose log has the metrics."""
    running = [pod for pod in pods if pod.role.runs]
    roles = facts.trial.roles if facts.trial is not None else ()
    ranked = [pod for role in roles for pod in running if pod.role.replica_type == role]
    return next(iter([*ranked, *running]), None)


def logged(search: SearchPlan, pods: Iterable[PodPlan]) -> tuple[PodPlan, ...]:
    """The pods, with the command of the first one in a form that Katib can append a redirection to."""
    return tuple(_logged(pod) if pod.role.name == search.first else pod for pod in pods)


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


def _check_job(context: Context) -> None:
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
    wanted = job.search
    for field, number in (
        ("parallelTrials", wanted.parallel_trials if wanted is not None else 0),
        ("maxFailedTrials", (wanted.max_failed_trials or 0) if wanted is not None else 0),
    ):
        if wanted is not None and number > wanted.max_trials:
            message = f"`{field}` is {number}, which is more than `maxTrials` ({wanted.max_trials})"
            context.error(INVALID_SEARCH, (SEARCH, field), message, "reduce it, or raise `maxTrials`")
    without = [] if context.given.left_out else _without_command(context)
    for route in without:
        message = "a search needs a `command`: Katib would read that of the image from its registry"
        context.error(INVALID_SEARCH, route, message, "add `command`, with the entrypoint of the image", key=True)


def _without_command(context: Context) -> list[Route]:
    return [()] if context.job.command is None and not _role_commands(context) else []


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


def check_alone(context: Context, companions: Iterable[Body]) -> None:
    """Katib makes only one object for each trial."""
    for body in companions:
        message = (
            f"{with_article(context.job.facts.kind)} with several pods needs a {body['kind']}, which trials cannot have"
        )
        hint = "remove `workers`, or use a kind with an operator, such as `kind: pytorch`"
        context.error(INVALID_SEARCH, ("workers",), message, hint)
