"""Whose fault a bad object is: of the patch without which it was good, at the line that has most to do with it."""

from __future__ import annotations

import pytest

from gen.base.findings import BugError, Findings, Location
from gen.kubernetes.schemas.lookup import Kinds
from gen.render.check import check_manifests
from gen.render.patch.provenance import Provenance
from gen.render.results import Manifest, PatchedObjects
from gen.report.findings.text import text
from tests.cases import for_each
from tests.kubernetes.schemas.definition import definition
from tests.support import Repository

HEAD = 'kubernetes: "1.34"\npatches:\n'
JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
POD = "/spec/template/spec"
FIRST = "overlays/dev/overlay.yaml:4:"


@for_each(
    ("patch", "expected"),
    [
        (f"[{{op: remove, path: {POD}/restartPolicy}}]", f"{FIRST}13: error: Job team/demo, spec.template.spec"),
        (f"[{{op: add, path: {POD}/volumes, value: [{{emptyDir: {{}}}}]}}]", "volumes[0].name: `name` is missing"),
        (f"[{{op: add, path: {POD}/containers/0/env/-, value: {{value: a}}}}]", "`name` is missing"),
        (f"[{{op: add, path: {POD}/volumes, value: [{{name: a}}, {{name: a}}]}}]", f"{FIRST}"),
        (f"[{{op: remove, path: {POD}/containers/0/image}}]", "containers[0]"),
        ("[{op: move, from: /spec/template/spec/restartPolicy, path: /spec/x}]", "unknown field `x`"),
        ("{spec: {template: null}}", f"{FIRST}"),
        ("{spec: {parallelism: a}}", f"{FIRST}33: error: Job team/demo, spec.parallelism"),
    ],
)
def test_a_fault_that_came_with_a_patch_is_never_a_bug(repo: Repository, patch: str, expected: str) -> None:
    repo.overlay(HEAD + f"  - target: {{kind: Job}}\n    patch: {patch}\n")
    repo.job(JOB + "env: {A: b}\nworkers: 2\n")
    report, code = repo.render()
    assert code == 1
    assert expected in text(report)


def test_the_patch_that_removed_a_field_is_blamed_and_not_one_that_passed_by(repo: Repository) -> None:
    passing = "  - target: {kind: Job}\n    patch: {spec: {template: {spec: {priorityClassName: a}}}}\n"
    removing = f"  - target: {{kind: Job}}\n    patch: [{{op: remove, path: {POD}/containers/0/image}}]\n"
    repo.overlay(HEAD + passing + removing)
    repo.job(JOB)
    (finding,) = repo.render()[0].findings
    assert finding.place.line == 6


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (
            "{op: remove, path: /spec/selector}",
            "13: error: Deployment team/demo-tensorboard, spec.selector: `selector` is missing",
        ),
        (
            "{op: replace, path: /spec/selector/matchLabels, value: {a: b}}",
            "68: error: Deployment team/demo-tensorboard, spec.selector: the selector does not match",
        ),
        (
            "{op: remove, path: /spec/template/spec/containers/0}",
            "13: error: Deployment team/demo-tensorboard, spec.template.spec.containers",
        ),
    ],
)
def test_what_a_rule_finds_elsewhere_is_the_patchs_fault_too(repo: Repository, operation: str, expected: str) -> None:
    head = HEAD.replace("patches:", "volumes: {data: {claim: data}}\npatches:")
    repo.overlay(head + f"  - target: {{kind: Deployment}}\n    patch: [{operation}]\n")
    repo.job(JOB + "data: {data: /data}\ntensorboard: true\n")
    report, code = repo.render()
    assert code == 1
    assert f"overlays/dev/overlay.yaml:5:{expected}" in text(report)


def test_a_fault_that_was_there_before_a_patch_is_a_bug() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "datta": {}, "data": {"a": "b"}}
    manifest = Manifest(body=body, name="a", source=Location("jobs/team/demo.yaml"), folder="team/demo")
    provenance = Provenance()
    provenance.record(("data",), None, ())  # type: ignore[arg-type] # no place is looked up for a bug
    with pytest.raises(BugError, match="datta"):
        check_manifests(PatchedObjects((manifest,), (manifest,), (provenance,), frozenset()), Kinds("1.34"), Findings())


def test_a_definition_of_the_cluster_counts_before_our_own_schema(repo: Repository) -> None:
    """As in a cluster with a newer operator: it knows a field that ours does not, and lacks one of ours."""
    repo.write("overlays/dev/crds/pytorchjobs.yaml", NEWER)
    repo.overlay(HEAD + "  - target: {kind: PyTorchJob}\n    patch: {spec: {newField: 0}}\n")
    repo.job("kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.place.line, finding.place.column) == ("cel", 4, 30)
    repo.overlay(HEAD + "  - target: {kind: PyTorchJob}\n    patch: {spec: {newField: 1}}\n")
    assert repo.render()[1] == 0


def test_a_changed_definition_counts_in_the_next_run_of_the_process(repo: Repository) -> None:
    repo.overlay(HEAD + "  - target: {kind: PyTorchJob}\n    patch: {spec: {newField: 1}}\n")
    repo.job("kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
    codes = []
    for changed in (NEWER, NEWER.replace("newField", "otherField")):
        repo.write("overlays/dev/crds/pytorchjobs.yaml", changed)
        codes.append([one.code for one in repo.render()[0].findings])
    assert codes == [[], ["undefined-field"]]


NEWER = definition(
    "kubeflow.org",
    "PyTorchJob",
    """\
type: object
properties:
  newField: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}
  pytorchReplicaSpecs: {type: object, x-kubernetes-preserve-unknown-fields: true}
  runPolicy: {type: object, x-kubernetes-preserve-unknown-fields: true}
""",
)
