"""Kinds that overlays declare: every guard holds for them, and a job sets only permitted fields."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import ALL_KINDS, KINDS
from gen.kubernetes.facts import RESOURCES
from tests import history as histories
from tests.support import OVERLAY, Repository
from tests.test_costs import gen

if TYPE_CHECKING:
    from tests.history import History

KEY = ("acme.example.com", "Robot")
ROBOT: dict[str, Any] = {
    "apiVersion": "acme.example.com/v1",
    "kind": "Robot",
    "pods": {
        "lead": {"template": "spec.lead.template", "trains": False, "runs": False},
        "arm": {"template": "spec.arms.template", "replicas": "spec.arms.count"},
    },
    "status": {"phase": "status.phase", "succeeded": ["Done"], "failed": ["Broken"], "suspended": ["Asleep"]},
    "spec": {"speed": "fast", "arms": {"reach": 2}},
    "fields": ["color", "arms.reach", "joints"],
    "suspend": "spec.paused",
    "deadline": "spec.seconds",
    "container": "brain",
}
JOB = "kind: robot\nimage: a:1\ncommand: move\nworkers: 3\ngpus: 2\ntimeout: 1h\n"


def definition(**spec: Any) -> str:
    template = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    fields = {
        "speed": {"type": "string"},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "paused": {"type": "boolean"},
        "seconds": {"type": "integer"},
        "joints": {"type": "array", "items": {"type": "object", "properties": {"angle": {"type": "integer"}}}},
        "lead": {"type": "object", "properties": {"template": template}},
        "arms": {
            "type": "object",
            "properties": {"template": template, "count": {"type": "integer"}, "reach": {"type": "integer"}},
        },
    }
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": fields, **spec}, "status": status},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Robot", "listKind": "RobotList", "plural": "robots", "singular": "robot"}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "robots.acme.example.com"},
        "spec": {"group": "acme.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    return json.dumps(body)


def overlay(more: str = "", **changed: Any) -> str:
    return OVERLAY + yaml.safe_dump({"kinds": {"robot": {**ROBOT, **changed}}}) + more


@pytest.fixture
def robots(repo: Repository) -> Repository:
    repo.write("overlays/dev/crds/robot.yaml", definition())
    repo.overlay(overlay())
    repo.job(JOB)
    return repo


def test_a_plan_that_removes_an_overlay_knows_the_kinds_of_the_others(history: History) -> None:
    history.write("overlays/dev/crds/robot.yaml", definition())
    history.overlay(overlay())
    history.overlay(OVERLAY, name="old")
    history.job(JOB + "clusters: [dev]\n", name="robot")
    history.job(histories.JOB)
    histories.branch(history)
    shutil.rmtree(history.root / "overlays/old")
    history.rendering()
    review = history.plan()
    assert {run.pair.before.key.scope for run in review.stopping if run.pair.before} == {"old"}
    assert KEY in RESOURCES


def messages(repo: Repository) -> list[str]:
    return [f"{one.place}: {one.message}" for one in repo.render()[0].findings if one.severity.value == "error"]


def test_it_renders_pods_of_the_job_and_fields_of_the_overlay(robots: Repository) -> None:
    robots.job(JOB + "spec: {color: red, arms: {reach: 5}, joints: [{angle: 90}]}\n")
    spec = robots.one("Robot")["spec"]
    assert (spec["speed"], spec["color"], spec["joints"]) == ("fast", "red", [{"angle": 90}])
    assert (spec["arms"]["count"], spec["arms"]["reach"], spec["seconds"]) == (3, 5, 3600)
    (brain,) = spec["arms"]["template"]["spec"]["containers"]
    assert (brain["name"], brain["command"][-1]) == ("brain", "move")
    assert brain["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    (lead,) = spec["lead"]["template"]["spec"]["containers"]
    assert "command" not in lead
    assert "resources" not in lead
    assert robots.check()[1] == 0


def test_roles_have_values_of_their_own(robots: Repository) -> None:
    robots.job(JOB + "roles: {arm: {replicas: 5, memory: 4Gi}, lead: {command: [lead]}}\n")
    spec = robots.one("Robot")["spec"]
    assert spec["arms"]["count"] == 5
    assert spec["arms"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"] == "4Gi"
    assert spec["lead"]["template"]["spec"]["containers"][0]["command"] == ["lead"]


def test_a_field_has_the_image_of_its_pods(robots: Repository) -> None:
    """Some operators do not read it in the template. Registries limit it there, too."""
    arm = {**ROBOT["pods"]["arm"], "image": "spec.color"}
    robots.overlay(overlay(pods={**ROBOT["pods"], "arm": arm}, fields=["joints"]))
    robots.write("overlays/dev/crds/robot.yaml", definition().replace('"enum": ["red", "blue"]', '"minLength": 1'))
    robots.job(JOB + "roles: {lead: {image: 'b:1'}}\n")
    assert robots.one("Robot")["spec"]["color"] == "a:1"
    robots.job(JOB + "spec: {color: 'evil:1'}\n")
    (finding,) = robots.render()[0].findings
    assert (finding.message, finding.hint) == ("a job may not set `spec.color`", "set `image`")
    robots.overlay(overlay(pods={**ROBOT["pods"], "arm": arm}))
    assert any("a job must not set `color`, because gen sets `spec.color`" in one for one in messages(robots))


def test_a_suspended_job_is_suspended(robots: Repository) -> None:
    robots.job(JOB + "state: suspended\n")
    assert robots.one("Robot")["spec"]["paused"] is True


RENAME = "[{op: replace, path: /spec/arms/template/spec/containers/0/name, value: x}]"


def test_no_patch_renames_its_container(robots: Repository) -> None:
    robots.overlay(overlay(f"patches: [{{target: {{kind: Robot}}, patch: '{RENAME}'}}]\n"))
    assert robots.codes() == ["patch-breaks"]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("spec: {colour: red}\n", "jobs/team/demo.yaml:7:8: a job may not set `spec.colour`"),
        ("spec: {arms: {count: 9}}\n", "jobs/team/demo.yaml:7:15: a job may not set `spec.arms.count`"),
        ("spec: {paused: true}\n", "jobs/team/demo.yaml:7:8: a job may not set `spec.paused`"),
        ("spec: {arms: 9}\n", "jobs/team/demo.yaml:7:8: a job may not set `spec.arms`"),
        ("spec: {color: green}\n", "jobs/team/demo.yaml:7:15: Robot team/demo, spec.color: `green` is not allowed"),
        ("spec: {joints: [{angle: right}]}\n", "jobs/team/demo.yaml:7:25: Robot team/demo, spec.joints[0].angle: "),
        ("spec: {color: null}\n", "jobs/team/demo.yaml:7:7: `spec`: a field is null"),
        ("roles: {leg: {memory: 1Gi}}\n", "jobs/team/demo.yaml:7:9: unknown field `roles.leg`"),
        ("roles: {lead: {replicas: 2}}\n", "jobs/team/demo.yaml:7:16: unknown field `roles.lead.replicas`"),
        ("retries: 1\n", "jobs/team/demo.yaml:7:1: `retries` is not supported for `kind: robot`"),
    ],
)
def test_a_job_sets_only_what_the_overlay_permits(robots: Repository, job: str, expected: str) -> None:
    robots.job(JOB + job)
    (message,) = messages(robots)
    assert message.startswith(expected)


@pytest.mark.parametrize(
    "pod",
    [
        "{template: {spec: {containers: [{name: x, image: b:1}]}}}",
        "{template: {spec: {initContainers: [{name: x, image: b:1}]}}}",
        "{podSpec: {containers: [{name: x, image: b:1}], hostNetwork: true}}",
    ],
)
def test_no_pod_template_is_smuggled_in(robots: Repository, pod: str) -> None:
    """Not even below a field that the overlay permits."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    text = definition().replace('"angle": {"type": "integer"}', f'"{pod[1:].partition(":")[0]}": {json.dumps(free)}')
    robots.write("overlays/dev/crds/robot.yaml", text)
    robots.job(JOB + f"spec: {{joints: [{pod}]}}\n")
    (message,) = messages(robots)
    assert "jobs/team/demo.yaml:7:" in message
    assert "`spec` cannot contain a pod template" in message


def test_rules_of_the_definition_are_placed_in_the_job(robots: Repository) -> None:
    rule = {"rule": "self.color != 'red' || self.speed == 'slow'", "message": "red robots are slow"}
    robots.write("overlays/dev/crds/robot.yaml", definition(**{"x-kubernetes-validations": [rule]}))
    robots.job(JOB + "spec: {color: red}\n")
    (message,) = messages(robots)
    assert message == "jobs/team/demo.yaml:7:7: Robot team/demo, spec: red robots are slow"


DECLARATIONS: list[tuple[dict[str, Any], str]] = [
    ({"fields": ["arms"]}, "a job must not set `arms`, because gen sets `spec.arms.template`"),
    ({"spec": {"arms": {"count": 9}}}, "`spec` has a value at `spec.arms.count`, which gen sets"),
    ({"spec": {"lead": 9}}, "`spec` has a value at `spec.lead.template`, which gen sets"),
    ({"spec": {"lead": {"template": {"spec": {}}}}}, "`spec` has a value at `spec.lead.template`, which gen sets"),
    ({"spec": {"paused": False}}, "`spec` has a value at `spec.paused`, which gen sets"),
    ({"fields": ["paused"]}, "a job must not set `paused`, because gen sets `spec.paused`"),
    ({"deadline": "spec.arms.template.seconds"}, "`spec.arms.template.seconds` and `spec.arms.template` overlap"),
    ({"suspend": "metadata.annotations.x"}, "expected a route of a field, got `metadata.annotations.x`"),
    ({"status": {"succeeded": ["A", "B"], "failed": ["C"]}}, "a state has one condition"),
    ({"apiVersion": "v1", "kind": "Pod"}, "expected an API version of a custom resource, got `v1`"),
    ({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}, "kubeflow.org/PyTorchJob is known"),
    ({"kind": "Rover"}, "no definition of Rover in acme.example.com/v1 found"),
    ({"pods": {}}, "expected at least 1"),
]


@pytest.mark.parametrize(("changed", "expected"), DECLARATIONS, ids=[expected for _, expected in DECLARATIONS])
def test_a_declaration_is_checked(robots: Repository, changed: dict[str, Any], expected: str) -> None:
    robots.overlay(overlay(**changed))
    found = [message for message in messages(robots) if message.startswith("overlays/")]
    assert len(found) == 1
    assert expected in found[0]


def test_a_name_of_gen_is_taken(robots: Repository) -> None:
    robots.overlay(OVERLAY + yaml.safe_dump({"kinds": {"pytorch": ROBOT}}))
    assert "overlays/dev/overlay.yaml:21:3: gen has a kind `pytorch`" in messages(robots)


def test_overlays_declare_a_kind_in_the_same_way(robots: Repository) -> None:
    robots.overlay(overlay(container="other"), name="second")
    robots.write("overlays/second/crds/robot.yaml", definition())
    (message,) = messages(robots)
    assert "the kind `robot` differs from that of overlay `dev`" in message
    robots.overlay("extends: dev\ncluster: second\n", name="second")
    (robots.root / "overlays/second/crds/robot.yaml").unlink()
    assert messages(robots) == []


def test_a_kind_is_only_for_overlays_that_declare_it(robots: Repository) -> None:
    robots.overlay('kubernetes: "1.34"\n', name="second")
    assert messages(robots) == ["jobs/team/demo.yaml:1:7: overlay `second` does not declare the kind `robot`"]


def test_a_kind_does_not_outlive_its_overlay(robots: Repository) -> None:
    assert robots.render()[1] == 0
    assert "robot" in ALL_KINDS
    assert "robot" not in KINDS
    assert KEY in RESOURCES
    robots.overlay(OVERLAY)
    assert "unknown-kind" in robots.codes()
    assert "robot" not in ALL_KINDS
    assert KEY not in RESOURCES


def test_the_plan_counts_its_pods_and_gpus(history: History) -> None:
    history.git("switch", "--quiet", "--create", "topic")
    history.write("overlays/dev/crds/robot.yaml", definition())
    history.overlay(overlay())
    history.job(JOB)
    (run,) = history.report()["runs"]
    assert (run["after"]["gpus"], run["after"]["pods"], run["after"]["gpuHours"]) == (6, 4, 6.0)


def test_engines_know_its_health_and_permit_it(robots: Repository) -> None:
    urls = "{repoURL: https://a.example/b.git}"
    robots.overlay(overlay(f"gitops: {{argocd: {urls}, flux: {urls}}}\n"))
    assert robots.render()[1] == 0
    files = robots.rendered()
    assert "health.acme.example.com_Robot" in files["argocd/dev/settings/argocd-cm.patch"]
    assert "kind: Robot" in files["argocd/dev/appproject-dev-jobs.yaml"]
    assert "status.phase in ['Broken']" in files["flux/dev/kustomization-dev.jobs.team.demo.yaml"]


def test_commands_without_overlays_know_it(robots: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robots.root)
    robots.overlay(OVERLAY)
    assert robots.codes() == ["unknown-kind"]
    robots.overlay(overlay())
    assert '"robot"' in gen("schema", "job")
    gen("new", "robot", "second", "--namespace", "team")
    assert robots.render()[1] == 0
    assert "second" in gen("list", "--kind", "robot")
    gen("set", "team/second", "spec.color=red")
    assert "color: red" in (robots.root / "jobs/team/second.yaml").read_text("utf-8")
