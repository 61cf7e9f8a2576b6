"""Accelerators as text and as JSON: by model, by node, and the jobs that use them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from gen.live.top import DeviceUsage, JobUse, NodeUse, Top, Usage
from gen.report.escaping import json_document
from gen.report.findings.json import finding_data
from gen.report.findings.text import wrapped_findings
from gen.report.terminal import Column, Terminal, View, column, table_lines

_UNKNOWN = "?"
OTHERS = "(others)"


def as_text(view: View[Top]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(top: Top, terminal: Terminal) -> Iterator[str]:
    several = len({node.context for node in top.nodes} | {job.context for job in top.jobs}) > 1
    parts = [
        *([list(_models(top.nodes, several=several))] if top.nodes else []),
        *([list(_nodes(top.nodes, several=several))] if top.nodes else []),
        *([list(_jobs(top.jobs, several=several))] if top.jobs else []),
    ]
    for number, columns in enumerate(parts):
        yield from [""] if number else []
        yield from table_lines(columns, terminal, {})
    if not top.nodes and not top.findings:
        yield "no node has accelerators"
    yield from wrapped_findings(top.findings, terminal)


def _models(nodes: Sequence[NodeUse], *, several: bool) -> Iterator[Column]:
    groups: dict[tuple[str, str], list[NodeUse]] = defaultdict(list)
    for node in nodes:
        groups[node.context if several else "", node.model or ", ".join(sorted(node.devices))].append(node)
    rows = sorted(groups.items())
    yield column("CONTEXT", (context for (context, _), _ in rows), 3)
    yield column("MODEL", (model for (_, model), _ in rows), 0, cut=True)
    yield _number("NODES", (len(own) for _, own in rows), 4)
    yield _number("TOTAL", (sum(node.total for node in own) for _, own in rows), 1)
    yield _number("ALLOCATED", (_sum(node.allocated for node in own) for _, own in rows), 2)
    yield _number("FREE", (_sum(node.free for node in own) for _, own in rows), 1)


def _nodes(nodes: Sequence[NodeUse], *, several: bool) -> Iterator[Column]:
    yield column("CONTEXT", (node.context if several else "" for node in nodes), 3)
    yield column("NODE", (node.name for node in nodes), 0, cut=True)
    yield column("MODEL", (node.model for node in nodes), 4, cut=True)
    yield column("STATE", (_state(node) for node in nodes), 2)
    yield _number("TOTAL", (node.total for node in nodes), 1)
    yield _number("ALLOCATED", (node.allocated for node in nodes), 3)
    yield _number("FREE", (node.free for node in nodes), 1)
    yield from _used(node.used for node in nodes)
    yield from _usage(node.usage for node in nodes)


def _jobs(jobs: Sequence[JobUse], *, several: bool) -> Iterator[Column]:
    yield column("CONTEXT", (job.context if several else "" for job in jobs), 3)
    yield column("NAMESPACE", (job.namespace for job in jobs), 1)
    yield column("JOB", (job.job or OTHERS for job in jobs), 0, cut=True)
    yield column("RUN", (job.run for job in jobs), 4)
    yield _number("PODS", (job.pods for job in jobs), 3)
    yield _number("NODES", (job.nodes for job in jobs), 4)
    yield _number("GPUS", (job.devices for job in jobs), 1)
    yield from _used(job.used for job in jobs)
    yield from _usage(job.usage for job in jobs)


def _used(given: Iterable[DeviceUsage | None]) -> Iterator[Column]:
    """Utilization of GPUs and their memory."""
    known = list(given)
    yield column("BUSY", (f"{one.ratio:.0%}" if one is not None else "" for one in known), 4, right=True)
    yield _memory("GPU MEMORY", known)


def _usage(given: Iterable[Usage | None]) -> Iterator[Column]:
    known = list(given)
    yield column("CPU", (f"{one.cpu:.1f}" if one is not None else "" for one in known), 5, right=True)
    yield _memory("MEMORY", known)


def _memory(name: str, known: Iterable[DeviceUsage | Usage | None]) -> Column:
    texts = (f"{one.memory / (1 << 30):.0f}Gi" if one is not None else "" for one in known)
    return column(name, texts, 5, right=True)


def _state(node: NodeUse) -> str:
    return "ready" if node.ready and node.schedulable else "cordoned" if node.ready else "not ready"


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = list(numbers)
    return None if None in known else sum(number or 0 for number in known)


def _number(name: str, values: Iterable[int | None], rank: int) -> Column:
    return column(name, (_UNKNOWN if value is None else str(value) for value in values), rank, right=True)


def as_json(view: View[Top]) -> str:
    document = {
        "version": 1,
        "nodes": [_node(node) for node in view.data.nodes],
        "jobs": [_job(job) for job in view.data.jobs],
        "findings": [finding_data(finding) for finding in view.data.findings],
    }
    return json_document(document)


def _node(node: NodeUse) -> dict[str, object]:
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
        "usage": _usage_numbers(node.usage),
        "gpuUsage": _used_numbers(node.used),
    }


def _job(job: JobUse) -> dict[str, object]:
    return {
        "context": job.context,
        "namespace": job.namespace,
        "job": job.job or None,
        "run": job.run or None,
        "pods": job.pods,
        "nodes": job.nodes,
        "gpus": job.devices,
        "usage": _usage_numbers(job.usage),
        "gpuUsage": _used_numbers(job.used),
    }


def _used_numbers(used: DeviceUsage | None) -> dict[str, object] | None:
    return None if used is None else {"devices": used.devices, "busy": round(used.ratio, 3), "memory": used.memory}


def _usage_numbers(usage: Usage | None) -> dict[str, object] | None:
    return None if usage is None else {"cpu": round(usage.cpu, 3), "memory": usage.memory}
