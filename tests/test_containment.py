"""An exception about one object is one finding, the findings of others remain, and the exit code is 3."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import INTERNAL_ERROR, Findings, Location, UsageError, contained
from gen.cli.command import make_command
from gen.kubernetes.check.objects import check
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Kinds
from tests.history import History, reported
from tests.support import OVERLAY, PROJECT, Repository, validated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
QUOTED = "a value of a Secret"


def raises_about(what: str, function: Callable[..., Any], part: str = "") -> Callable[..., Any]:
    """The function, with an exception for arguments that contain a text, or a part of one of them."""

    def changed(*args: Any, **options: Any) -> Any:
        parts = [getattr(one, part, "") for one in args] if part else (args, options)
        if what in repr(parts):
            raise LookupError(QUOTED)
        return function(*args, **options)

    return changed


@pytest.mark.parametrize(
    ("module", "name", "stage"),
    [
        ("gen.render.stages", "selects", "load"),
        ("gen.render.stages", "read_job", "model"),
        ("gen.render.expand", "expand", "expand"),
        ("gen.render.stages", "make_plan", "plan"),
        ("gen.render.build", "build", "build"),
        ("gen.render.stages", "apply_patches", "patch"),
        ("gen.render.stages", "check_manifests", "check"),
        ("gen.render.seal", "seal", "seal"),
        ("gen.render.stages", "files_of", "emit"),
    ],
)
def test_a_stage_that_fails_costs_its_job(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, module: str, name: str, stage: str
) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB, "broken")
    repo.job(JOB + "labels: {a: b c}\n", "wrong")
    place = import_module(module)
    monkeypatch.setattr(place, name, raises_about("broken", getattr(place, name)))
    report, code = repo.render()
    assert [(one.code, one.place.file) for one in report.findings] == [
        (INTERNAL_ERROR, "jobs/team/broken.yaml"),
        ("invalid-label", "jobs/team/wrong.yaml"),
    ]
    assert f"gen failed to {stage} the job: LookupError in tests.test_containment:" in report.findings[0].message
    assert QUOTED not in str(report), "the text of an exception can quote a secret"
    assert (code, repo.rendered()) == (1, {})


@pytest.mark.parametrize(
    ("module", "name", "file"),
    [
        ("gen.render.run", "crosscheck", "jobs"),
        ("gen.render.run", "render_storage", "overlays/dev/overlay.yaml"),
        ("gen.render.run", "check_manifests", "overlays/dev/overlay.yaml"),
        ("gen.overlay.read", "merged_fields", "overlays/dev/overlay.yaml"),
        ("gen.render.pipeline", "_job_result", "jobs/team/demo.yaml"),
    ],
)
def test_a_step_after_the_jobs_costs_its_overlay(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, module: str, name: str, file: str
) -> None:
    repo.overlay(OVERLAY + "gitops: {argocd: {repoURL: https://git.example.com/jobs.git, cluster: prod}}\n")
    repo.job(JOB)
    repo.job(JOB + "labels: {a: b c}\n", "wrong")
    place = import_module(module)
    monkeypatch.setattr(place, name, raises_about("", getattr(place, name)))
    found = {(one.code, one.place.file) for one in repo.render()[0].findings}
    assert (INTERNAL_ERROR, file) in found
    if name not in {"merged_fields", "_job_result"}:
        assert ("invalid-label", "jobs/team/wrong.yaml") in found


def failing(find: Callable[..., Any]) -> Callable[..., Any]:
    def fails(view: Any) -> Any:
        yield from find(view)
        raise RecursionError(QUOTED)

    return fails


def test_a_rule_that_fails_costs_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": []}}
    before = check(body, Kinds("1.34")).problems
    rule = RULES["services"]
    monkeypatch.setattr(
        "gen.kubernetes.check.objects.rules_for",
        lambda *_: tuple(Failing(rule) if one is rule else one for one in RULES.values() if one.is_for("", "Service")),
    )
    after = check(body, Kinds("1.34")).problems
    assert [one for one in after if one.rule != INTERNAL_ERROR] == list(before) != []
    assert next(one.message for one in after if one.rule == INTERNAL_ERROR).startswith(
        "gen failed to apply rule `services`: RecursionError in "
    )


class Failing:
    """A rule that raises after its findings."""

    def __init__(self, rule: Any) -> None:
        self._rule, self.find = rule, failing(rule.find)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rule, name)


def test_no_annotation_silences_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations = {"gen/ignore-internal-error": "because", "gen/ignore-rule-failed": "because"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": annotations}}
    monkeypatch.setattr("gen.kubernetes.check.objects.retired", raises_about("", check))
    checked = check(body, Kinds("1.34"))
    assert INTERNAL_ERROR in [one.rule for one in checked.problems]
    assert checked.silenced == ()


POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {0}}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}}]
  validations: [{{expression: "false", message: refused by {0}}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {0}}}
spec: {{policyName: {0}, validationActions: [Deny]}}
"""
OBJECTS = {
    "service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: {}, ports: [{port: 80}]}\n",
    "limits.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    "spec: {containers: [{name: a, image: b, resources: {limits: 3}}]}\n",
    "requests.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    "spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1}, requests: 3}}]}\n",
    "strategy.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {strategy: a}\n",
    "containers.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: 3, initContainers: 4}\n",
    "labels.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: 3}\nspec: {containers: []}\n",
    "valid.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
}


def test_values_of_other_types_are_findings_with_policies_too(tmp_path: Path) -> None:
    (policies := tmp_path / "policies.yaml").write_text(POLICY.format("none"), "utf-8")
    for name, text in OBJECTS.items():
        (tmp_path / "objects").mkdir(exist_ok=True)
        (tmp_path / "objects" / name).write_text(text, "utf-8")
    report, code = validated(tmp_path / "objects", policies=(policies,))
    assert code == 1
    files = {finding.place.file.rpartition("/")[2] for finding in report.findings if finding.is_error}
    assert files == OBJECTS.keys()
    assert [one for one in report.findings if one.code == INTERNAL_ERROR] == []


def test_a_policy_that_fails_costs_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (policies := tmp_path / "policies.yaml").write_text(POLICY.format("one") + "---\n" + POLICY.format("two"), "utf-8")
    (tmp_path / "a.yaml").write_text(OBJECTS["valid.yaml"], "utf-8")
    module = import_module("gen.kubernetes.policies.policy_set")

    def fails_for_one(spec: Any) -> Any:
        if "one" in str(spec):
            raise ZeroDivisionError
        return compiled(spec)

    compiled = module.compiled
    monkeypatch.setattr(module, "compiled", fails_for_one)
    report, _ = validated(tmp_path / "a.yaml", policies=(policies,))
    assert [one.code for one in report.findings] == [INTERNAL_ERROR, "policy-denied"]
    assert "apply policy `one` to ConfigMap default/a" in report.findings[0].message.replace(
        "ConfigMap a", "ConfigMap default/a"
    )


def test_an_importer_that_fails_costs_its_object(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = import_module("gen.importers.manifests.importer")
    monkeypatch.setattr(module, "read_run", raises_about("broken", module.read_run, "name"))
    run = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {0}, namespace: team}}\n"
        "spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: b, command: [c]}}]}}}}}}\n"
    )
    repo.overlay(OVERLAY)
    (tmp_path / "runs.yaml").write_text("---\n".join(map(run.format, ("broken", "sound"))), "utf-8")
    command = import_module("gen.commands.import")
    request = command.Request(importer="manifests", source=(str(tmp_path / "runs.yaml"),), root=repo.root)
    found = command.run(request).output.findings
    assert [one.message.partition(":")[0] for one in found if one.code == INTERNAL_ERROR] == [
        "gen failed to import Job `broken`"
    ]


def test_a_plan_shows_the_other_runs(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = history
    repo.overlay(OVERLAY)
    repo.job(JOB, "first")
    history.commit()
    for name in ("broken", "sound"):
        repo.job(JOB, name)
    repo.render()
    module = import_module("gen.review.runs")
    version = vars(module)["version_of"]
    monkeypatch.setattr(module, "version_of", raises_about("broken", version, "key"))
    review = history.plan(base="HEAD")
    assert [run.key.name.rpartition("-")[0] for run in review.starting] == ["sound"]
    assert [one.code for one in review.findings if one.is_error] == [INTERNAL_ERROR]
    assert "internal-error" in reported("markdown", review)


def test_a_report_that_fails_leaves_the_findings(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB + "labels: {a: b c}\n", "wrong")
    from gen.report import formats

    monkeypatch.setitem(formats.REPORTERS, "json", raises_about("", str))
    monkeypatch.setitem(formats.PLAN_REPORTERS, "json", raises_about("", str))
    command = import_module("gen.commands.list")
    monkeypatch.setitem(command.FORMATS, "json", raises_about("", str))
    assert make_command("list")(["--root", str(repo.root), "--output", "json"], standalone_mode=False) == 3
    assert "gen failed to write the report as json" in capsys.readouterr().out


def test_the_exit_code_is_that_of_a_bug(repo: Repository, tmp_path: Path) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB, "broken")
    repo.job(JOB + "labels: {a: b c}\n", "wrong")
    (tmp_path / "run.py").write_text(
        "import sys, gen.render.stages as stages\n"
        "plan = stages.make_plan\n"
        "def make(run, *args): \n    return 1 // 0 if run.name == 'broken' else plan(run, *args)\n"
        "stages.make_plan = make\n"
        "from gen.__main__ import main\nmain()\n",
        "utf-8",
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "run.py", "render", "--root", repo.root],
        capture_output=True, text=True, check=False, cwd=PROJECT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")
    assert "[internal-error]" in done.stdout
    assert "[invalid-label]" in done.stdout


def test_mistakes_of_users_are_not_bugs() -> None:
    found = Findings()
    for error in (UsageError("no"), OSError("no"), KeyboardInterrupt()):
        with pytest.raises(type(error)), contained(found, Location("a"), "b"):
            raise error
    assert found.items == []
