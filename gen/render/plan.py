"""The plan stage: decisions about names, sizes, references and grants. Later stages make none."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from gen.base import Findings, did_you_mean, with_article
from gen.base.codes.grants import UNKNOWN_NAMESPACE
from gen.base.codes.jobs import INVALID_VALUE, NO_EFFECT
from gen.base.placeholders import TRIAL
from gen.job.kinds.role import Target
from gen.job.metric import known_metrics
from gen.job.model import aliases_of, default_of
from gen.job.plan import Plan, PodPlan
from gen.job.queue import Gang
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins, RunPins
from gen.render.job_run import JobInput, JobRun
from gen.render.parts import copies, grants, metadata, names, reach
from gen.render.parts.checkpoints import plan_checkpoints
from gen.render.parts.context import Context
from gen.render.parts.data import plan_data
from gen.render.parts.grants import check_devices, plan_runtime, runtime_demand
from gen.render.parts.network import on_host, plan_network
from gen.render.parts.pods import plan_pods
from gen.render.parts.queue import check_schedulers, plan_queue
from gen.render.parts.tensorboard import plan_tensorboard
from gen.render.starters import starter_of
from gen.render.starters.base import Starter
from gen.render.starters.start_values import check_run_names
from gen.render.starters.workflow import plan_exit


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
    starter = starter_of(type(job), given.data)
    stable = stable or starter.repeats
    name = run.name if stable else run.hashed
    object_name = TRIAL if starter.named_later else name
    context = Context(run, overlay, grant, object_name, found, RunPins(shared=pins), starter)
    served = overlay.fields.operators.get(job.kind, job.facts.served[0])
    api_version = job.facts.api_version(served)
    metadata.check_metadata(context)
    grants.check_grants(context)
    network = plan_network(context)
    queue = plan_queue(context, api_version)
    runtime = plan_runtime(context)
    priority = overlay.fields.priorities.get(job.priority or "")
    target = Target(
        api_version=api_version,
        served=served,
        namespace=given.namespace,
        name=run.name,
        run=context.object_name,
        host_network=on_host(network),
        runtime=runtime,
        together=queue is not None and isinstance(queue.profile, Gang),
    )
    _check_kind(context, target)
    data = plan_data(context)
    saved = plan_checkpoints(context, data.mounts)
    if saved is not None:
        data = replace(data, mounts=(*data.mounts, *saved.mounts), env=saved.env)
    places = copies.plan_places(context)
    pods = plan_pods(context, data, places, network, target) if not job.own_fields else ()
    of_runtime = runtime_demand(job, overlay, *_requested(pods)) if runtime is not None else None
    check_devices(context, of_runtime, _requested(pods)[1])
    if pods and (job.command or any(pod.command for pod in pods)):
        from gen.render.parts.command_checks import check_commands

        check_commands(context, pods)
    check_schedulers(context, queue, pods)
    tensorboard = plan_tensorboard(context, data)
    reach.check_reach(context, pods, queue, tensorboard)
    names.check_name(context, pods)
    started = starter.plan(context, api_version, pods) or Starter(facts=job.facts)
    _check_cleanup(context)
    if run.later is not None:
        check_run_names(context, run.later)
    starter.check(context, pods, data.storage)
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
        pods=started.adapted(pods),
        runtime=runtime,
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
        checkpoints=saved.saved if saved is not None else "",
        resumes=saved.continues if saved is not None else "",
        starter=started,
        on_exit=plan_exit(context),
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
    started.check_plan(context, job.companions(plan))
    return plan


def _requested(pods: tuple[PodPlan, ...]) -> tuple[Mapping[str, str], str]:
    """Resources and accelerator of the nodes of a job with a runtime, which has one role."""
    return (pods[0].resources, pods[0].accelerator) if pods else ({}, "")


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


def _check_cleanup(context: Context) -> None:
    """Report pods that outlive a run of a schedule or a trial of a search: quotas count them until its end."""
    job, starter = context.job, context.starter
    if job.outlasting and starter.whole:
        message = (
            f"`{job.outlasting}` keeps pods after the end of a {starter.run}, "
            f"when the {starter.whole} can start the next one"
        )
        hint = f"remove `{job.outlasting}`: quotas would not count pods of both"
        context.error(INVALID_VALUE, (job.outlasting,), message, hint, key=True)


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
