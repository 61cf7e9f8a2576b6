"""The state of runs as one JSON document. `version` changes when a field is removed or its meaning changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.report.json import finding_data
from gen.report.sanitize import escape_json

if TYPE_CHECKING:
    from gen.cluster.model import ClusterStatus, Progress, RunStatus
    from gen.report.live.view import View


def as_json(view: View[ClusterStatus]) -> str:
    status = view.data
    document = {
        "version": 1,
        "time": status.time,
        "changed": status.changed,
        "runs": [_row(run) for run in status.runs],
        "findings": [finding_data(finding) for finding in status.findings],
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _row(run: RunStatus) -> dict[str, Any]:
    return {
        "overlay": run.overlay,
        "context": run.context,
        "namespace": run.namespace,
        "job": run.job,
        "file": run.file or None,
        "manifest": run.rendered or None,
        "kind": run.kind,
        "run": run.name,
        "values": json.loads(run.values) if _is_json(run.values) else None,
        "git": run.wanted,
        "phase": run.phase.value,
        "reason": run.reason or None,
        "message": run.message or None,
        "pods": {"running": run.running, "total": run.pods},
        "restarts": run.restarts,
        "created": run.created or None,
        "gpus": run.gpus,
        "accelerators": dict(run.accelerators),
        "queue": run.queue or None,
        "position": run.position,
        "drift": list(run.drift),
        "parent": run.parent or None,
        "step": run.step or None,
        "progress": _progress(run.progress),
    }


def _progress(progress: Progress | None) -> dict[str, Any] | None:
    return None if progress is None else {"done": progress.done, "total": progress.total, "unit": progress.unit}


def _is_json(text: str) -> bool:
    """Anybody who may edit the object can change the annotation."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
