"""Accelerators as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.report.json import finding_data
from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.cluster.dcgm import DeviceUsage
    from gen.cluster.top import JobUse, NodeUse, Top, Usage
    from gen.report.live.view import View


def as_json(view: View[Top]) -> str:
    document = {
        "version": 1,
        "nodes": [_node(node) for node in view.data.nodes],
        "jobs": [_job(job) for job in view.data.jobs],
        "findings": [finding_data(finding) for finding in view.data.findings],
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _node(node: NodeUse) -> dict[str, Any]:
    return {
        "context": node.context,
        "node": node.name,
        "model": node.model or None,
        "devices": dict(node.devices),
        "total": node.total,
        "allocated": node.allocated,
        "free": node.free,
        "ready": node.ready,
        "schedulable": node.schedulable,
        "usage": _usage(node.usage),
        "gpuUsage": _used(node.used),
    }


def _job(job: JobUse) -> dict[str, Any]:
    return {
        "context": job.context,
        "namespace": job.namespace,
        "job": job.job or None,
        "run": job.run or None,
        "pods": job.pods,
        "nodes": job.nodes,
        "gpus": job.devices,
        "usage": _usage(job.usage),
        "gpuUsage": _used(job.used),
    }


def _used(used: DeviceUsage | None) -> dict[str, Any] | None:
    return None if used is None else {"devices": used.devices, "busy": round(used.ratio, 3), "memory": used.memory}


def _usage(usage: Usage | None) -> dict[str, Any] | None:
    return None if usage is None else {"cpu": round(usage.cpu, 3), "memory": usage.memory}
