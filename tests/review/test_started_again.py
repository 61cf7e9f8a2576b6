"""Suspended and finished runs that a merge starts again are judged by the overlay of today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from gen.render.emit import HEADER, digest_of, header
from tests.history import History, branch
from tests.support import OVERLAY

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 2\n"
DEFAULT = "defaults: {network: host}\n"
REVOKED = OVERLAY.replace("allow: [hostNetwork, hostPath]", "allow: [hostPath]")
QUEUED = 'defaults: {queue: gold}\nnamespaces: {"*": {queues: [gold]}}\n'
STORES = "stores: {models: {bucket: models, secret: key, s3: {}}}\n"


def patch(fields: str) -> str:
    """A patch of all pods."""
    return f"patches: [{{target: {{pods: {{}}}}, patch: {{spec: {{{fields}}}}}}}]\n"


NON_ROOT = patch("securityContext: {runAsNonRoot: true}")
CODE = "kept-run-not-granted"


def revoked(history: History, state: str, overlay: str = REVOKED + NON_ROOT) -> Path:
    """A run on the host network with a state; then the overlay takes the network back."""
    history.overlay(OVERLAY + DEFAULT)
    history.job(JOB + f"state: {state}\n")
    history.commit("a job")
    history.overlay(overlay)
    branch(history)
    return history.file("pytorchjob")


def pods(path: Path) -> dict[str, object]:
    spec = yaml.safe_load(path.read_text("utf-8"))["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def forge(path: Path, pattern: str) -> None:
    """Take lines out of a rendered file, and write a first line that fits."""
    first, _, text = path.read_text("utf-8").partition("\n")
    match = HEADER.match(first + "\n")
    assert match is not None
    changed = re.sub(pattern, "", text, flags=re.MULTILINE)
    assert changed != text
    path.write_text(header(match["source"], digest_of(changed), match["record"] or "") + changed, "utf-8")


def errors(history: History) -> tuple[list[str], list[str]]:
    """Codes of errors of a check and of a plan."""
    check = [one.code for one in history.check()[0].findings if one.is_error]
    return check, [one.code for one in history.plan().findings if one.is_error]


def test_a_finished_run_starts_again_as_the_platform_is_today(history: History) -> None:
    path = revoked(history, "finished")
    assert pods(path)["hostNetwork"] is True, "the record is what ran"
    before = path.read_text("utf-8")
    history.job(JOB)
    history.rendering()
    assert "hostNetwork" not in pods(path)
    assert pods(path)["securityContext"] == {"runAsNonRoot": True}
    assert path.read_text("utf-8") != before
    (run,) = history.plan().starting
    assert run.action.value == "replaced"
    assert errors(history) == ([], [])


@pytest.mark.parametrize("state", ["active", "suspended"])
def test_a_record_that_was_edited_into_a_run_is_refused(history: History, state: str) -> None:
    path = revoked(history, "finished")
    history.job(JOB + f"state: {state}\n")
    marks = "^    (argocd.argoproj.io/hook: Skip|kustomize.toolkit.fluxcd.io/ssa: Ignore)\n"
    forge(path, marks)
    forge(path, "^  annotations:\n")
    if state == "suspended":
        history.rendering()
    assert errors(history) == ([CODE], [CODE])


def test_a_suspended_run_does_not_go_on_with_revoked_rights(history: History) -> None:
    path = revoked(history, "suspended")
    assert errors(history) == ([], []), "nothing runs"
    history.job(JOB)
    report, code = history.render()
    (finding,) = [one for one in report.findings if one.is_error]
    assert (code, finding.code, finding.place.file) == (1, CODE, path.relative_to(history.root).as_posix())
    assert "`hostNetwork`" in finding.message
    assert "no `runAsNonRoot: true`" in finding.message
    assert "gen render --restart jobs/team/demo.yaml" in finding.hint
    forge(path, r"^    suspend: true\n")
    assert errors(history) == ([CODE], [CODE]), "the render in the work tree cannot know the base; check and plan do"
    history.rendering(restart=True)
    assert errors(history) == ([], [])


def test_a_suspended_run_goes_on_with_what_is_still_granted(history: History) -> None:
    path = revoked(history, "suspended", OVERLAY)
    history.job(JOB)
    history.rendering()
    assert pods(path)["hostNetwork"] is True
    assert errors(history) == ([], [])
    (run,) = history.plan().starting
    assert run.action.value == "resumed"


def test_a_run_that_goes_on_is_a_warning(history: History) -> None:
    revoked(history, "active")
    report, code = history.check()
    assert code == 0
    (finding,) = [one for one in report.findings if one.code == CODE]
    assert not finding.is_error
    assert "`hostNetwork`" in finding.message


@pytest.mark.parametrize(
    ("overlay", "today", "what"),
    [
        ("defaults: {data: {nas: /data}}\n", 'namespaces: {"*": {volumes: []}}\n', "claim `nas`"),
        ("defaults: {data: {node: /data}}\nvolumes: {node: {hostPath: {path: /mnt}}}\n", "", "hostPath `/mnt`"),
        ("defaults: {podAnnotations: {example.com/a: b}}\n", 'namespaces: {"*": {}}\n', "metadata `example.com/a`"),
        ("defaults: {placement: {nodeSelector: {pool: a}}}\n", 'namespaces: {"*": {}}\n', "nodeSelector `pool=a`"),
        ("defaults: {placement: {tolerations: [{key: a, operator: Exists}]}}\n", 'namespaces: {"*": {}}\n', "`a`"),
        (
            f"defaults: {{inputs: {{/in: {{store: models, path: x}}}}}}\n{STORES}",
            f'namespaces: {{"*": {{stores: []}}}}\n{STORES}',
            "secret `key`, store `models/x`",
        ),
        (
            "defaults: {network: rdma}\nnetworks: {rdma: {rdma: rdma/hca}}\n",
            'namespaces: {"*": {networks: []}}\nnetworks: {rdma: {rdma: rdma/hca}}\n',
            "capability `IPC_LOCK`, device `rdma/hca`",
        ),
        (
            patch("containers: [{name: $training, securityContext: {privileged: true}}]"),
            "",
            "`privileged`",
        ),
        (
            patch("hostPID: true, hostIPC: true, volumes: [{name: disk, nfs: {server: a, path: /b}}]"),
            "",
            '`hostIPC`, `hostPID`, volume `nfs {"path":"/b","server":"a"}`',
        ),
        (
            "images: [{from: registry.example.com/, to: mirror.example.com/}]\n",
            'namespaces: {"*": {registries: [registry.example.com]}}\n',
            "image `mirror.example.com/train:1`",
        ),
        ("defaults: {podLabels: {tier: batch}}\n", "", "metadata `tier`"),
        (
            f"{QUEUED}queues: {{gold: {{volcano: {{queue: root}}}}}}\n",
            f"{QUEUED}queues: {{gold: {{volcano: {{queue: leaf}}}}}}\n",
            "queue `root`",
        ),
    ],
    ids=[
        *("claim", "path", "annotation", "node", "taint", "store", "fabric", "privileged", "host", "image"),
        *("label", "queue"),
    ],
)
def test_each_kind_of_right_is_read_from_the_object(history: History, overlay: str, today: str, what: str) -> None:
    history.overlay(_with(overlay))
    history.job(JOB + "state: suspended\n")
    history.commit("a job")
    history.overlay(_with(today))
    branch(history)
    history.job(JOB)
    report, _ = history.render()
    (finding,) = [one for one in report.findings if one.is_error]
    assert finding.code == CODE
    assert what in finding.message


def _with(fields: str) -> str:
    """The overlay of the tests with other fields in place of its own."""
    data = yaml.safe_load(OVERLAY)
    for name, value in yaml.safe_load(fields or "{}").items():
        data[name] = {**data[name], **value} if name in ("volumes", "networks") else value
    return str(yaml.safe_dump(data, sort_keys=False))


def test_the_plan_lists_permissions_that_pods_get(history: History) -> None:
    history.job(JOB, name="old")
    branch(history)
    assert "new permissions" not in history.report("markdown")
    history.job(JOB + "network: host\nserviceAccount: trainer\nenv: {TOKEN: {secret: wandb, key: a}}\n")
    history.job(JOB + "network: host\n", name="old")
    report = history.report()
    found = {(one["what"], one["value"]): len(one["runs"]) for one in report["permissions"]}
    assert found == {("hostNetwork", ""): 2, ("secret", "wandb"): 1, ("serviceAccount", "trainer"): 1}
    assert "new permissions: hostNetwork, secret, serviceAccount" in history.report("markdown")
    text = history.report("text")
    assert "  serviceAccount trainer: dev team/demo" in text
    assert "serviceAccount trainer" in history.report("html")
