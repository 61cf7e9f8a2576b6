"""Every guard holds for a new kind of job: a class, its facts, its schema and a line in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jq
import pytest
import yaml
from msgspec.structs import replace

from gen.job import kinds
from gen.kubernetes import facts as resources
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.pods import pod_sets
from gen.render.rendered_object import generated_object, workload
from tests.job.kinds.foreign import FOREIGN, definition
from tests.overlay.profiles.engines.test_health import cel_health, lua_health
from tests.support import OVERLAY, Repository

URL = "https://git.example.com/ml/training.git"
ENGINES = f"gitops: {{argocd: {{repoURL: {URL}}}, flux: {{repoURL: {URL}}}}}\n"
JOB = (
    "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 3\ngpus: 2\n"
    "cpu: 1\nmemory: 1Gi\n"
)
TEMPLATES = {
    "headed": "/spec/cluster/groups/0/template",
    "replicated": "/spec/jobs/0/template/spec/template",
}
TTL = {"headed": "deleteAfter", "replicated": "ttl"}


@pytest.fixture(params=sorted(FOREIGN))
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, repo: Repository) -> str:
    """The whole registration of a kind."""
    name = str(request.param)
    model = FOREIGN[name]
    monkeypatch.setitem(kinds.KINDS, name, model)
    monkeypatch.setitem(resources.RESOURCES, model.facts.key, model.facts)
    repo.write("overlays/dev/crds/kind.yaml", definition(model.facts))
    repo.job(JOB.format(kind=name))
    return name


def patched(repo: Repository, kind: str, patch: str) -> list[tuple[str, str]]:
    target = f"{{kind: {FOREIGN[kind].facts.kind}}}"
    repo.overlay(OVERLAY + f"patches:\n  - target: {target}\n    patch: {patch}\n")
    report, _ = repo.render()
    return [(finding.code, finding.message) for finding in report.findings if finding.severity == "error"]


def bundle(repo: Repository) -> dict[str, dict[str, Any]]:
    repo.overlay(OVERLAY + ENGINES)
    assert repo.render()[1] == 0
    files = {path: yaml.safe_load(text) for path, text in repo.rendered().items() if not path.startswith("dev/")}
    return {
        f"settings {Path(path).stem}" if path.endswith(".patch") else f"{body['kind']} {body['metadata']['name']}": body
        for path, body in files.items()
    }


def test_it_renders(repo: Repository, kind: str) -> None:
    facts = FOREIGN[kind].facts
    body = repo.one(facts.kind)
    names = [pods.template["spec"]["containers"][0]["name"] for pods in pod_sets(facts, body)]
    assert set(names) == {facts.container or "trainer"}


@pytest.mark.parametrize(
    "operation",
    ["{{op: replace, path: {}/spec/containers/0/name, value: main}}", "{{op: remove, path: {}/spec/containers}}"],
)
def test_no_patch_renames_or_removes_the_training_container(repo: Repository, kind: str, operation: str) -> None:
    ((code, message), *_) = patched(repo, kind, f"[{operation.format(TEMPLATES[kind])}]")
    assert code == "patch-breaks"
    assert f"the container `{FOREIGN[kind].main_container()}`" in message


def test_no_patch_changes_the_labels_of_its_pods(repo: Repository, kind: str) -> None:
    ((code, message), *_) = patched(repo, kind, f"[{{op: remove, path: {TEMPLATES[kind]}/metadata/labels/gen~1job}}]")
    assert (code, "`gen/job`" in message) == ("patch-breaks", True)


def test_a_strategic_patch_merges_the_containers_of_its_pods(repo: Repository, kind: str) -> None:
    if kind == "headed":
        side = "{spec: {cluster: {head: {template: {spec: {containers: [{name: side, image: 'x:1'}]}}}}}}"
        assert patched(repo, kind, side) == []
        (template, *_) = (pods.template for pods in pod_sets(FOREIGN[kind].facts, repo.one("HeadedJob")))
        assert [container["name"] for container in template["spec"]["containers"]] == ["trainer", "side"]


def test_a_run_that_deletes_itself_is_refused(repo: Repository, kind: str) -> None:
    assert [code for code, _ in patched(repo, kind, f"{{spec: {{{TTL[kind]}: 60}}}}")] == ["self-deletion"]


def test_a_run_in_a_queue_is_not_suspended_in_git(repo: Repository, kind: str) -> None:
    repo.job(JOB.format(kind=kind) + "queue: research\n")
    assert [code for code, _ in patched(repo, kind, "{spec: {suspend: true}}")] == ["suspend-with-queue"]


def test_an_invalid_queue_name_is_refused(repo: Repository, kind: str) -> None:
    patch = "{metadata: {labels: {kueue.x-k8s.io/queue-name: A_b}}}"
    assert "kueue-queue-name" in [code for code, _ in patched(repo, kind, patch)]


def test_a_run_without_a_deadline_is_advised_only_if_its_kind_has_one(repo: Repository, kind: str) -> None:
    assert ("no-deadline" in repo.codes()) == (kind == "headed")


def test_a_suspended_job_is_suspended(repo: Repository, kind: str) -> None:
    repo.job(JOB.format(kind=kind) + "state: suspended\n")
    assert repo.one(FOREIGN[kind].facts.kind)["spec"]["suspend"] is True


def test_the_plan_counts_its_pods_and_gpus(repo: Repository, kind: str) -> None:
    deadline = "timeout: 1h\n" if kind == "headed" else ""
    repo.job(JOB.format(kind=kind) + deadline)
    assert repo.render()[1] == 0
    facts = FOREIGN[kind].facts
    ((path, text),) = [(path, text) for path, text in repo.rendered().items() if f"\nkind: {facts.kind}\n" in text]
    item = generated_object(text.encode(), f"rendered/{path}")
    assert item is not None
    assert workload(item) is facts
    found = demand(item.body, facts, {})
    expected = (4, 6, 3600) if kind == "headed" else (3, 6, None)
    assert (found.pods, found.gpus, found.seconds) == expected


STATUSES: dict[str, list[tuple[dict[str, Any] | None, str]]] = {
    "headed": [
        ({"phase": "Running"}, "Progressing"),
        ({"phase": "Running", "program": "a text"}, "Progressing"),
        ({"phase": "Suspended", "message": "in a queue"}, "Suspended"),
        ({"phase": "Complete"}, "Healthy"),
        ({"phase": "Invalid", "message": "no head"}, "Degraded"),
        ({"phase": "Complete", "program": {"state": "FAILED", "reason": "OOM"}}, "Degraded"),
        ({}, "Progressing"),
        (None, "Progressing"),
    ],
    "replicated": [
        ({"conditions": [{"type": "Completed", "status": "True"}]}, "Healthy"),
        ({"conditions": [{"type": "Broken", "status": "True", "message": "no nodes"}]}, "Degraded"),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, "Suspended"),
        ({"conditions": [{"type": "Suspended", "status": "False"}]}, "Progressing"),
        (None, "Progressing"),
    ],
}


def test_engines_know_its_health(repo: Repository, kind: str) -> None:
    facts = FOREIGN[kind].facts
    objects = bundle(repo)
    script = objects["settings argocd-cm"]["data"][f"resource.customizations.health.example.com_{facts.kind}"]
    (expressions,) = objects["Kustomization dev.jobs.team.demo"]["spec"]["healthCheckExprs"]
    assert (expressions["apiVersion"], expressions["kind"]) == ("example.com/v1", facts.kind)
    for status, health in STATUSES[kind]:
        found, message = lua_health(script, status)
        assert found == health, status
        assert message
        assert cel_health(expressions, status) == ("Progressing" if health == "Suspended" else health), status


def test_the_message_of_a_phase_is_read_from_the_same_mapping(repo: Repository, kind: str) -> None:
    if kind == "headed":
        key = "resource.customizations.health.example.com_HeadedJob"
        script = bundle(repo)["settings argocd-cm"]["data"][key]
        assert lua_health(script, {"phase": "Invalid", "message": "no head"}) == ("Degraded", "no head")
        assert lua_health(script, {"program": {"state": "FAILED", "reason": "OOM"}}) == ("Degraded", "OOM")
        assert lua_health(script, {"phase": "Complete"}) == ("Healthy", "Complete")


def test_argo_cd_ignores_what_a_queue_changes(repo: Repository, kind: str) -> None:
    facts = FOREIGN[kind].facts
    repo.job(JOB.format(kind=kind) + "queue: research\n")
    application = bundle(repo)["ApplicationSet dev-jobs"]["spec"]["template"]["spec"]
    every = application["ignoreDifferences"]
    (ignored,) = (one for one in every if (one["group"], one["kind"]) == facts.key)
    body = repo.one(facts.kind)
    live = yaml.safe_load(yaml.safe_dump(body))
    live["spec"]["suspend"] = False
    for pods in pod_sets(facts, live):
        pods.template["spec"] |= {"nodeSelector": {"zone": "a"}, "tolerations": [{"operator": "Exists"}]}
    assert live != body
    for expression in ignored["jqPathExpressions"]:
        live, body = (jq.compile(f"del({expression})").input_value(one).first() for one in (live, body))
    assert live == body


def test_its_project_permits_it(repo: Repository, kind: str) -> None:
    spec = bundle(repo)["AppProject dev-jobs"]["spec"]
    assert spec["namespaceResourceWhitelist"] == [
        {"group": "", "kind": "ConfigMap"},
        {"group": "", "kind": "Service"},
        {"group": "apps", "kind": "Deployment"},
        *({"group": "argoproj.io", "kind": name} for name in ("CronWorkflow", "Workflow")),  # of its `pipelines`
        {"group": "example.com", "kind": FOREIGN[kind].facts.kind},
    ]


def test_a_kind_that_no_job_uses_changes_no_bundle(
    repo: Repository, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.job(JOB.format(kind="pytorch"))
    with monkeypatch.context() as without:
        without.delitem(kinds.KINDS, kind)
        before = bundle(repo)
    assert bundle(repo) == before


@pytest.mark.parametrize(("field", "value"), [("timeout", "1h"), ("retries", "3")])
def test_a_field_that_a_kind_cannot_express_is_refused_where_it_is_set(
    repo: Repository, kind: str, field: str, value: str
) -> None:
    repo.job(JOB.format(kind=kind) + f"{field}: {value}\n")
    found = [(one.code, str(one.place)) for one in repo.render()[0].findings if one.severity == "error"]
    assert found == ([] if kind == "headed" else [("invalid-value", "jobs/team/demo.yaml:8:1")])
    repo.job(JOB.format(kind=kind))
    repo.overlay(OVERLAY + f"defaults: {{kinds: {{{kind}: {{{field}: {value}}}}}}}\n")
    files = [one.place.file for one in repo.render()[0].findings if one.severity == "error"]
    assert files == ([] if kind == "headed" else ["overlays/dev/overlay.yaml"])


def test_a_kind_without_suspend_cannot_be_suspended(
    repo: Repository, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FOREIGN[kind], "facts", replace(FOREIGN[kind].facts, suspend=None))
    repo.job(JOB.format(kind=kind) + "state: suspended\n")
    found = [(one.code, str(one.place)) for one in repo.render()[0].findings]
    assert ("invalid-value", "jobs/team/demo.yaml:8:8") in found
