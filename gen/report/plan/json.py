"""A plan as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import to_builtins

from gen.kubernetes.facts.demand import Demand, StepDemand
from gen.overlay.costs import Bill
from gen.render.rendered_object import ObjectKey
from gen.report.escaping import json_document
from gen.report.findings.json import cost_data, finding_data, plain_money, report_data
from gen.report.formats import Planned
from gen.report.plan.phrases import headline, values_of, verdict
from gen.report.plan.sentences import sentences
from gen.review.changes import JobChange
from gen.review.data import DataAction
from gen.review.field_changes import MISSING, FieldChange
from gen.review.gpus_and_costs import Load, NamespaceCost, Spending, Usage
from gen.review.kept_runs import BehindRun
from gen.review.result import ObjectAction, ObjectChange, Review
from gen.review.run_versions import RunVersion
from gen.review.runs import RunAction, RunChange

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts


def as_json(view: Planned) -> str:
    review, live, checked = view.data, view.live, view.checked
    document = {
        "version": 1,
        "headline": f"{verdict(review)}{headline(review, live)}",
        **_blocker(review),
        "changes": list(_changes(review, live)),
        "live": None if live is None else _live(live),
        "base": {"ref": review.base.ref, "commit": review.base.commit},
        "refused": review.refused,
        "tree": review.tree or None,
        "otherChanges": list(review.others),
        "summary": _summary(review),
        "findings": [finding_data(finding) for finding in review.findings],
        "gpus": [_usage(row) for row in review.usage],
        "costs": [_namespace_cost(row) for row in review.costs],
        "runs": [_run(run) for run in review.runs if run.action is not RunAction.KEPT],
        "permissions": [
            {"what": what, "value": value, "runs": [_key(key) for key in runs]}
            for (what, value), runs in review.permissions.items()
        ],
        "data": [
            {"action": data.action.value, **_key(data.pair.object.key)}
            for data in review.data
            if data.action is not DataAction.KEPT
        ],
        "unrendered": [
            {"path": one.path, "object": one.identity, "pods": one.demand.pods, "gpus": one.demand.gpus}
            for one in review.unrendered
        ],
        "objects": [object_data(item) for item in review.objects],
        "pins": [
            {"name": one.name, "before": one.before, "after": one.after, "link": one.link, "objects": one.objects}
            for one in review.pins
        ],
        "behind": [_behind(run) for run in review.behind],
        **({} if checked is None else {"check": report_data(checked)}),
    }
    return json_document(document)


def _blocker(review: Review) -> dict[str, object]:
    """The first error, if there is one."""
    errors = [finding.message for finding in review.findings if finding.is_error]
    return {"blocker": errors[0]} if errors else {}


def _changes(review: Review, live: LiveFacts | None) -> Iterator[dict[str, object]]:
    """Changes in sentences, the most important one first."""
    of_jobs = iter(review.changes)
    for one in sentences(review, live):
        said = {"sentence": one.text(lambda value: f"`{value}`")}
        yield {**said, **_job_change(next(of_jobs))} if one.jobs else dict[str, object](said)


def _job_change(change: JobChange) -> dict[str, object]:
    return {
        "jobs": [{"namespace": namespace, "name": name} for namespace, name in change.jobs],
        "overlays": list(change.overlays),
        "fields": [{"path": edit.path, "before": edit.before, "after": edit.after} for edit in change.edits],
        "starts": len(change.starting),
        "stops": len(change.stopping),
        "gpus": change.gpus,
        "monthCost": {currency: signed_plain_money(amount) for currency, amount in sorted(change.months.items())},
    }


def _live(live: LiveFacts) -> dict[str, object]:
    return {
        "time": live.time,
        "runs": [{**to_builtins(one), "checkpoint": one.checkpoint or None} for one in live.runs],
        "devices": [{**to_builtins(one), "accelerator": one.accelerator or None} for one in live.devices],
        "queues": to_builtins(live.queues),
        "claims": to_builtins(live.claims),
        "missing": list(live.missing),
    }


def signed_plain_money(hundredths: int) -> str:
    return f"{'-' if hundredths < 0 else ''}{plain_money(abs(hundredths))}"


def _summary(review: Review) -> dict[str, object]:
    return {
        "runs": {
            "started": len(review.starting),
            "stopped": len(review.stopping),
            "kept": review.kept,
            **{
                action.value: review.run_actions[action]
                for action in RunAction
                if action not in (RunAction.STARTED, RunAction.STOPPED, RunAction.KEPT)
            },
        },
        "tensorboards": {change.value: review.tensorboards[change] for change in ObjectAction},
        "data": {action.value: sum(item.action is action for item in review.data) for action in DataAction},
        "cost": None if review.bill is None else _bill(review.bill),
        "objects": {
            "before": review.before,
            "after": review.after,
            **{
                change.value: review.object_actions[change]
                for change in ObjectAction
                if change is not ObjectAction.KEPT
            },
        },
    }


def _key(key: ObjectKey) -> dict[str, str]:
    return {"overlay": key.scope, "kind": key.kind, "namespace": key.namespace, "name": key.name}


def _run(run: RunChange) -> dict[str, object]:
    return {
        "action": run.action.value,
        "starts": run.starts,
        "continuesFrom": run.continues or None,
        "startsFromZero": run.starts_over,
        "stops": run.stops,
        **_key(run.key),
        "job": run.job,
        "values": values_of(run.latest.values),
        "before": _side(run.before),
        "after": _side(run.after),
    }


def _side(side: RunVersion | None) -> dict[str, object] | None:
    if side is None:
        return None
    return {
        "name": side.name,
        "state": side.state.value,
        "queue": side.queue or None,
        "preempts": list(side.preempts),
        **_demand(side.demand),
        "cost": None if side.cost is None else cost_data(side.cost),
        "counted": side.counts,
        "steps": [_step(step) for step in side.steps],
    }


def _step(step: StepDemand) -> dict[str, object]:
    return {"name": step.name, "kind": step.kind, "depth": step.depth, **_demand(step.demand)}


def _demand(asked: Demand) -> dict[str, object]:
    return {"pods": asked.pods, "gpus": asked.gpus, "gpuHours": asked.gpu_hours}


def _bill(bill: Bill) -> dict[str, object]:
    return {
        "atMost": {currency: plain_money(amount) for currency, amount in bill.amounts.items()},
        "unboundedRuns": list(bill.unbounded),
        "unpriced": list(bill.unpriced),
    }


def _namespace_cost(row: NamespaceCost) -> dict[str, object]:
    return {
        "overlay": row.overlay,
        "namespace": row.namespace,
        "currency": row.currency,
        "budget": None if row.budget is None else plain_money(row.budget),
        "before": _spending(row.before),
        "after": _spending(row.after),
    }


def _spending(side: Spending) -> dict[str, object]:
    return {"month": plain_money(side.month), "unboundedRuns": list(side.unbounded), "unpriced": sorted(side.unpriced)}


def _usage(row: Usage) -> dict[str, object]:
    place = row.key
    return {
        "overlay": place.overlay,
        "namespace": place.namespace,
        "queue": place.queue or None,
        "limit": row.quota,
        "namespaceGpus": {"before": row.total[0], "after": row.total[1]},
        "before": _load(row.before),
        "after": _load(row.after),
    }


def _load(load: Load) -> dict[str, object]:
    return {"gpus": load.gpus, "gpuHours": load.gpu_hours, "unboundedRuns": load.unbounded}


def object_data(item: ObjectChange) -> dict[str, object]:
    before, after = item.pair.before, item.pair.after
    return {
        "change": item.action.value,
        **_key(item.pair.object.key),
        "path": item.pair.object.path,
        "replaces": before.key.name if before is not None and item.pair.replaced else None,
        "from": before.path if before is not None and after is not None and before.path != after.path else None,
        "fields": [_field(field) for field in item.fields],
    }


def _behind(run: BehindRun) -> dict[str, object]:
    objects = [{**_key(one.key), "fields": [_field(field) for field in one.fields]} for one in run.objects]
    return {**_key(run.key), "job": run.source, "replacedBy": run.replaced_by, "objects": objects}


def _field(field: FieldChange) -> dict[str, object]:
    """A side that has nothing is left out."""
    sides = {"before": field.before, "after": field.after}
    return {"path": field.path, **{name: value for name, value in sides.items() if value is not MISSING}}
