"""Warnings about committed runs that rules or grants would refuse today. They run, so they are reported and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location, Severity
from gen.findings.rendered import KEPT_RUN_INVALID, KEPT_RUN_NOT_GRANTED
from gen.kubernetes import QUEUE_LABEL, at, identity_of, queue_in
from gen.render.plan.images import allowed
from gen.resources import held_object, resource_of_object
from gen.resources.pods import pod_sets
from gen.rules.problem import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.diagnostics import Findings
    from gen.kinds.plan import Plan
    from gen.kubernetes import Body
    from gen.overlay.grant import Grant
    from gen.overlay.overlay import Overlay
    from gen.render.committed.read import CommittedRun
    from gen.render.manifest import Manifest, Valid

_MAX_SHOWN = 3


def report_faults(
    kept: Sequence[Manifest], valid: Valid, run: CommittedRun, plan: Plan, overlay: Overlay, found: Findings
) -> None:
    """Report objects of a kept run that do not meet today's rules, and grants that its namespace lost."""
    restart = f"start a new run with `gen render --restart {plan.source}`"
    paths = [run.workload.path, *(one.path for one in run.others)]
    for manifest, path in zip(kept, paths, strict=True):
        faults = list(_faults(manifest.body, overlay))
        if faults:
            shown = "; ".join(faults[:_MAX_SHOWN]) + (" …" if len(faults) > _MAX_SHOWN else "")
            message = f"`{identity_of(manifest.body)}` was kept, but today's rules refuse it: {shown}"
            found.warning(KEPT_RUN_INVALID, Location(path), message, restart)
    grant = overlay.grant(plan.namespace)
    new = set(_granted_values(valid.manifests[0].body, plan.container))
    lost = [
        f"{field} `{value}`"
        for field, value in dict.fromkeys(_granted_values(kept[0].body, plan.container))
        if grant is not None and (field, value) not in new and not _is_granted(field, value, grant, overlay)
    ]
    if lost:
        message = (
            f"`{identity_of(kept[0].body)}` was kept and still uses {', '.join(lost)}, "
            f"which overlay `{overlay.name}` does not grant to namespace `{plan.namespace}` any more"
        )
        found.warning(KEPT_RUN_NOT_GRANTED, Location(run.workload.path), message, f"{restart}, or grant it again")


def _faults(body: Body, overlay: Overlay) -> Iterator[str]:
    from gen.check.objects import check  # noqa: PLC0415 - most renders keep no run
    from gen.rules.catalogue import CATALOGUE  # noqa: PLC0415 - as above

    inner = held_object(body)
    if inner is not None:
        # with a name, which the operator gives it
        yield from _faults({**inner, "metadata": {**inner.get("metadata", {}), "name": "trial"}}, overlay)
    for problem in check(body, overlay.kinds).problems:
        if CATALOGUE[problem.rule].severity_of(body) is Severity.ERROR:
            yield f"{dotted(problem.route) or 'the object'}: {problem.message}"


def _granted_values(body: Body, main_container: str) -> Iterator[tuple[str, str]]:
    """What an object uses and the overlay grants by name: fields of the job with their values."""
    if queue := queue_in(at(body, "metadata", "labels")):
        yield "queue", queue
    if (inner := held_object(body)) is not None:
        yield "permission", "search"
        yield from _granted_values(inner, main_container)
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    for pods in pod_sets(resource, body) if resource is not None else ():
        spec = at(pods.template, "spec") or {}
        named = {"priority": spec.get("priorityClassName"), "serviceAccount": spec.get("serviceAccountName")}
        yield from ((field, str(value)) for field, value in named.items() if value)
        if spec.get("hostNetwork"):
            yield "permission", "hostNetwork"
        if any("hostPath" in volume for volume in spec.get("volumes") or ()):
            yield "permission", "hostPath"
        for container in spec.get("containers") or ():
            if container.get("name") == main_container:
                yield "image", str(container.get("image"))


def _is_granted(field: str, value: str, grant: Grant, overlay: Overlay) -> bool:
    declared = (overlay.fields.queues[name].profile for name in grant.queues if name in overlay.fields.queues)
    declared_classes = overlay.fields.priorities
    classes = [declared_classes[name].class_name if name in declared_classes else name for name in grant.priorities]
    lists = {
        # a run from before they were declared only has the name of the LocalQueue
        "queue": (*grant.queues, *(queue.labels.get(QUEUE_LABEL) for queue in declared)),
        "priority": classes,
        "serviceAccount": grant.service_accounts,
        "permission": (*grant.allow, *(["search"] if grant.search is not None else [])),
    }
    return value in lists[field] if field in lists else allowed(value, grant)
