"""Which objects a patch is for."""

from __future__ import annotations

from gen.base.findings import Location
from gen.overlay.patch import Target, fits, may_fit, selected
from gen.render.results import Manifest
from tests.cases import for_each

LABELS = {"gen/job": "demo", "tier": "a"}
JOB = Manifest(
    body={
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "demo-1234abcd", "namespace": "team", "labels": LABELS},
    },
    name="demo",
    source=Location("jobs/team/demo.yaml"),
    folder="team/demo",
)


@for_each(
    ("target", "expected"),
    [
        (Target(), True),
        (Target(kind="PyTorchJob", name="demo", namespace="team", group="kubeflow.org", version="v1"), True),
        (Target(name="de*"), True),
        (Target(name="demo-1234abcd"), False),
        (Target(kind="TFJob"), False),
        (Target(group=""), False),
        (Target(version="v2"), False),
        (Target(namespace="other"), False),
        (Target.model_validate({"labelSelector": "gen/job=demo"}), True),
        (Target.model_validate({"annotationSelector": "x"}), False),
    ],
)
def test_all_conditions_of_a_target_must_match(target: Target, expected: bool) -> None:
    assert fits(target, JOB.body, JOB.name) is expected


@for_each(
    ("selector", "expected"),
    [
        ("tier=a", True),
        ("tier==a", True),
        ("tier!=a", False),
        ("tier!=b,gen/job=demo", True),
        ("tier in (a, b)", True),
        ("tier notin (a,b)", False),
        ("tier", True),
        ("!tier", False),
        ("!absent,tier in (a,b),gen/job", True),
        ("absent!=a", True),
        ("absent notin (a)", True),
        ("(tier", False),
    ],
)
def test_selectors_are_kubectls(selector: str, expected: bool) -> None:
    assert selected(selector, LABELS) is expected


def test_a_job_that_failed_may_have_been_the_match() -> None:
    assert may_fit(Target(kind="PyTorchJob", name="de*"), "PyTorchJob", "team", "demo")
    assert may_fit(Target(kind="Service", name="whatever"), "PyTorchJob", "team", "demo")
    assert may_fit(Target(kind="PyTorchJob"), None, "team", "demo")
    assert not may_fit(Target(kind="TFJob"), "PyTorchJob", "team", "demo")
    assert not may_fit(Target(kind="PyTorchJob", name="other"), "PyTorchJob", "team", "demo")
    assert not may_fit(Target(kind="PyTorchJob", namespace="other"), "PyTorchJob", "team", "demo")
