"""Workflows of Kubeflow Pipelines with few words, and their imports."""

from __future__ import annotations

from typing import Any

from tests.importers.kfp.test_kfp import read


def program(name: str, *words: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "container": {"image": "busybox:1", "command": ["run", *words]}, **more}


def dag(*tasks: dict[str, Any], name: str = "dag", **more: Any) -> dict[str, Any]:
    return {"name": name, "dag": {"tasks": list(tasks)}, **more}


def task(name: str, template: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "template": template or name, **more}


def workflow(*templates: dict[str, Any], **spec: Any) -> dict[str, Any]:
    spec = {"entrypoint": "dag", "templates": list(templates), **spec}
    return {"kind": "Workflow", "metadata": {"generateName": "flow-"}, "spec": spec}


def values(**parameters: str) -> dict[str, Any]:
    return {"arguments": {"parameters": [{"name": name, "value": value} for name, value in parameters.items()]}}


def pipeline(document: Any, *expected: str) -> dict[str, Any]:
    """The steps of the only job, with these findings."""
    (job,), found = read(document)
    assert [item.message for item in found] == list(expected)
    assert job.fields["kind"] == "pipeline"
    return {"": job.fields, **job.fields["steps"]}


def order(steps: dict[str, Any]) -> dict[str, Any]:
    return {name: (step.get("needs", []), step.get("when", "succeeded")) for name, step in steps.items() if name}
