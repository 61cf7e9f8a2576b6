"""Differences between a file and an object."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from gen.base.engines import name_in_cluster
from gen.kubernetes.facts.kubeflow import PYTORCHJOB
from gen.kubernetes.objects import QUEUE_LABEL
from gen.live.desired import desired_run
from gen.live.status import WrittenText, drift
from gen.render.emit import header
from gen.render.rendered_object import RenderedObject, generated_object, workload
from tests.cases import for_each
from tests.support import PROJECT


def run(queue: str = "") -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"gen/job": "demo"}},
        "spec": {
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "pytorch",
                    "args": ["a", "b"],
                    "env": [{"name": "A", "value": "1"}],
                    "resources": {"limits": {"cpu": "1", "memory": "1024Mi"}},
                }
            ],
        },
    }
    labels = {"gen/job": "demo", **({QUEUE_LABEL: queue} if queue else {})}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {
            "name": "demo",
            "labels": labels,
            "annotations": {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent", "team": "a"},
        },
        "spec": {
            "elasticPolicy": {"maxReplicas": 4},
            "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template}},
        },
    }


def changed(route: tuple[Any, ...], value: Any, queue: str = "") -> list[Any]:
    live = deepcopy(run(queue))
    holder = live
    for step in route[:-1]:
        holder = holder[step]
    if value is None:
        del holder[route[-1]]
    else:
        holder[route[-1]] = value
    return [".".join(map(str, found)) for found in drift(PYTORCHJOB, run(queue), live)]


WORKER = ("spec", "pytorchReplicaSpecs", "Worker")
SPEC = (*WORKER, "template", "spec")
CONTAINER = (*SPEC, "containers", 0)


@for_each(
    ("route", "value"),
    [
        ((*CONTAINER, "args"), ["a"]),
        ((*CONTAINER, "args", 1), "c"),
        ((*CONTAINER, "env", 0, "value"), "2"),
        ((*CONTAINER, "name"), None),
        ((*CONTAINER, "resources", "limits", "cpu"), "2"),
        ((*SPEC, "tolerations"), []),
        (("metadata", "labels", "gen/job"), "other"),
        (("metadata", "annotations", "team"), None),
    ],
)
def test_another_value_is_drift(route: tuple[Any, ...], value: Any) -> None:
    assert changed(route, value) == [".".join(map(str, route))]


@for_each(
    ("route", "value"),
    [
        ((*CONTAINER, "imagePullPolicy"), "Always"),
        ((*CONTAINER, "resources", "limits", "cpu"), "1000m"),
        ((*CONTAINER, "resources", "limits", "memory"), "1Gi"),
        (("metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa"), None),
        (("metadata", "uid"), "1"),
        (("status",), {"conditions": []}),
        ((*WORKER, "replicas"), 4),
    ],
)
def test_defaults_forms_and_autoscalers_are_not(route: tuple[Any, ...], value: Any) -> None:
    assert changed(route, value) == []


def test_kueue_changes_only_runs_in_a_queue() -> None:
    tolerations = [{"key": "spot", "operator": "Exists"}, {"key": "gpu", "operator": "Exists"}]
    assert changed((*SPEC, "tolerations"), tolerations, "research") == []
    assert changed((*SPEC, "tolerations"), tolerations) != []


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a value: a holder and a key or index."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


def rendered_runs() -> list[RenderedObject]:
    """The runs of all golden files."""
    found = []
    for path in sorted((PROJECT / "tests/golden").glob("*/rendered/**/*.yaml")):
        one = generated_object(path.read_bytes(), f"rendered/dev/{path.name}")
        if one is not None and workload(one) is not None:
            found.append(one)
    return found


def test_the_identity_of_a_run_is_read_without_its_content() -> None:
    for one in rendered_runs():
        run = desired_run(one, "dev", None)
        if run is not None:
            found = (run.job, run.run, run.version, run.name)
            assert run.state != "active" or "body" not in vars(one)
            assert found == (one.job, one.run, one.body["apiVersion"], name_in_cluster(one.metadata))


@pytest.mark.slow
def test_a_text_agrees_with_an_object_that_has_no_other_value() -> None:
    """Whatever the cluster adds. Every other value, at every place of every run, is found."""
    runs = rendered_runs()
    assert all(WrittenText(one.text).agrees({**one.body, "status": {"active": 1}}) for one in runs)
    kinds = {one.key.kind: one for one in runs}
    changes = missed = 0
    for one in kinds.values():
        live = deepcopy(one.body)
        for holder, key in [*places(live)]:
            kept = holder[key]
            typed = kept[:-1] if isinstance(kept, list) else str(kept) if not isinstance(kept, str) else kept == "true"
            for other in (None, [kept], f"{kept}x", *([typed] if typed != kept else [])):
                holder[key] = other
                changes += 1
                missed += WrittenText(one.text).agrees(live)
            holder[key] = kept
    assert (missed, len(kinds) > 10, changes > 5_000) == (0, True, True)


@for_each("text", ["", "a", "a:", "a:\n- b", "a: |\n", "  a: b\n", "- a\n", ": \n", '"a: b\n', "a:\n  - b\n", " "])
def test_a_text_of_another_form_is_left_to_the_parser(text: str) -> None:
    assert not WrittenText(header("jobs/a/b.yaml", "0" * 12) + text).agrees({"a": {"b": 1}})
