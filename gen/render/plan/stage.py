"""The plan stage: decisions about names, sizes, references and grants. Later stages make none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import did_you_mean, with_article
from gen.findings.grants import UNKNOWN_NAMESPACE
from gen.findings.jobs import INVALID_VALUE, NO_EFFECT
from gen.kinds.plan import Plan
from gen.kinds.role import Target
from gen.kubernetes import TRIAL
from gen.model.base import aliases_of, default_of
from gen.model.metric import known_metrics
from gen.queues.base import Gang
from gen.render.parse.job import named_later
from gen.render.plan.context import Context
from gen.render.plan.data import plan_data
from gen.render.plan.grants import check_grants
from gen.render.plan.lookups import RunPins
from gen.render.plan.names import check_metadata, check_name
from gen.render.plan.networks import on_host, plan_network
from gen.render.plan.on_exit import plan_exit
from gen.render.plan.outlasting import check_repeated
from gen.render.plan.placeholders import warn_shared_output
from gen.render.plan.places import plan_places
from gen.render.plan.pods import plan_pods
from gen.render.plan.queues import check_schedulers, plan_queue
from gen.render.plan.reach import check_reach
from gen.render.plan.schedule import check_run_names, plan_schedule
from gen.render.plan.search import check_alone, logged, plan_search
from gen.render.plan.tensorboard import plan_tensorboard

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.job_run import JobRun
    from gen.render.parse.job import JobInput
    from gen.render.plan.lookups import Pins


def make_plan(run: JobRun, overlay: Overlay, found: Findings, pins: Pins | None = None) -> Plan | None:
    """All decisions about a run in an overlay; None if the overlay grants nothing to its namespace."""
    given = run.given
    grant = overlay.grant(given.namespace)
    if grant is None:
        _report_no_grant(given, overlay, found)
        return None
    job = given.job
    # a workflow with the same name would not run again
    stable = overlay.fields.runs.naming == "stable" and not (job.own_fields or run.step)
    stable = stable or job.schedule is not None
    name = run.name if stable else run.hashed
    object_name = TRIAL if named_later(type(job), run.given.data) else name
    context = Context(run, overlay, grant, object_name, found, RunPins(shared=pins))
    served = overlay.fields.operators.get(job.kind, job.facts.served[0])
    api_version = job.facts.api_version(served)
    check_metadata(context)
    check_grants(context)
    network = plan_network(context)
    queue = plan_queue(context, api_version)
    priority = overlay.fields.priorities.get(job.priority or "")
    target = Target(
        api_version=api_version,
        served=served,
        namespace=given.namespace,
        name=run.name,
        run=context.object_name,
        host_network=on_host(network),
        together=queue is not None and isinstance(queue.profile, Gang),
    )
    _check_kind(context, target)
    data = plan_data(context)
    places = plan_places(context)
    pods = plan_pods(context, data, places, network, target) if not job.own_fields else ()
    check_schedulers(context, queue, pods)
    tensorboard = plan_tensorboard(context, data)
    check_reach(context, pods, queue, tensorboard)
    check_name(context, pods)
    search = plan_search(context, api_version, pods)
    check_repeated(context)
    if run.later:
        check_run_names(context)
    warn_shared_output(context, pods, data.storage)
    plan = Plan(
        kind=job.kind,
        container=job.main_container(),
        name=run.name,
        job=given.name,
        run=name,
        object_name=context.object_name,
        namespace=given.namespace,
        source=given.source.file,
        overlay=overlay.name,
        kubernetes=overlay.kubernetes,
        api_version=api_version,
        served=served,
        pods=pods if search is None else logged(search, pods),
        files=data.files if not job.own_fields else {},
        storage=tuple(sorted({*data.storage, *places.volumes})),
        tensorboard=tensorboard,
        queue=queue,
        priority=priority.class_name if priority is not None else job.priority,
        preemption_policy=priority.preemption_policy if priority is not None else None,
        service_account=job.service_account,
        pull_secrets=tuple(dict.fromkeys(job.image_pull_secrets)),
        retries=job.retries,
        timeout=job.timeout,
        state=job.state,
        schedule=plan_schedule(context),
        on_exit=plan_exit(context),
        search=search,
        attempt=job.attempt,
        metrics=known_metrics(job.metrics),
        values=given.values,
        can_suspend=context.object_facts.suspend is not None,
        suspend_stops=context.object_facts.suspend_stops,
        stable=stable,
        arena=job.arena if overlay.fields.compat.arena and not run.step else "",
        engines=overlay.engines,
        labels=job.labels,
        annotations=job.annotations,
        step=run.step,
        pins=context.pins.own,
    )
    if search is not None:
        check_alone(context, job.companions(plan))
    return plan


def _report_no_grant(given: JobInput, overlay: Overlay, found: Findings) -> None:
    hint = did_you_mean(given.namespace, (name for name in overlay.fields.namespaces if name != "*"))
    if overlay.is_system(given.namespace):
        hint = "`*` does not include namespaces of Kubernetes and of GitOps engines"
    message = f"overlay `{overlay.name}` has no grant for namespace `{given.namespace}`"
    remedy = f"add it to `namespaces` of the overlay, move the file, or exclude it in `select`; {hint}"
    found.error(UNKNOWN_NAMESPACE, given.place(key=True), message, remedy)


def _check_kind(context: Context, target: Target) -> None:
    """What depends on the kind and the operator that serves it."""
    job = context.job
    policies = job.facts.versions[target.api_version]
    if job.restart is not None and job.restart not in policies:
        hint = did_you_mean(job.restart, policies)
        message = f"{job.facts.kind} of {target.api_version} cannot restart with `{job.restart}`"
        context.error(INVALID_VALUE, ("restart",), message, hint)
    if job.state == "suspended" and (facts := context.object_facts).suspend is None:
        message = f"{with_article(facts.kind)} cannot be suspended"
        context.error(INVALID_VALUE, ("state",), message, "remove `state`, or remove the job file to stop the run")
    _check_supported(context)
    for problem in job.problems(target):
        if not problem.no_effect:
            context.error(INVALID_VALUE, problem.route, problem.message, problem.hint, key=problem.key)
        elif context.set_by_job(problem.route):
            context.error(NO_EFFECT, problem.route, problem.message, problem.hint, key=True)


def _check_supported(context: Context) -> None:
    """Refuse fields that the kind cannot express, also if the overlay's defaults set them."""
    job, reasons = context.job, context.job.unsupported_fields()
    if not reasons:
        return
    for name, alias in aliases_of(type(job)).items():
        if alias in reasons and name in job.model_fields_set and getattr(job, name) != default_of(type(job), name):
            message = f"`{alias}` is not supported for `kind: {job.kind}`: {reasons[alias]}"
            hint = f"remove `{alias}`; a default for other kinds belongs in `defaults.kinds` of the overlay"
            context.error(INVALID_VALUE, (alias,), message, hint, key=True)
