"""Limits of job files without grants. Each test is named after the hole that it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adversary.bare import HEAD, OVERLAY, codes, granted
from tests.cases import for_each
from tests.support import Repository, set_fields

if TYPE_CHECKING:
    from collections.abc import Iterator


@for_each("namespace", ["kube-system", "kube-public", "flux-system", "argocd", "cd"])
def test_a_star_in_namespaces_never_includes_those_of_the_cluster(repo: Repository, namespace: str) -> None:
    engine = "gitops: {argocd: {repoURL: 'https://git.example.com/a.git', namespace: cd}}\n"
    repo.job(HEAD, namespace=namespace)
    for namespaces in ('namespaces: {"*": {}}\n', ""):
        repo.overlay(f'kubernetes: "1.34"\n{namespaces}{engine}')
        (finding,) = repo.render()[0].findings
        assert finding.code == "unknown-namespace"
        assert "`*` does not include" in finding.hint
    repo.overlay(f'kubernetes: "1.34"\nnamespaces: {{"*": {{}}, {namespace}: {{}}}}\n{engine}')
    assert repo.codes() == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("roles: {ps: {replicas: 2000000000}}\n", True),
        ("roles: {ps: {replicas: 100001}}\n", True),
        ("workers: 60000\nroles: {ps: {replicas: 60000}}\n", True),
        ("workers: 60000\nroles: {ps: {replicas: 30000}}\n", False),
    ],
)
def test_replicas_of_roles_and_pods_of_a_job_are_bounded(bare: Repository, text: str, refused: bool) -> None:
    bare.job(HEAD.replace("pytorch", "tensorflow") + text)
    assert bare.codes() == (["invalid-value"] if refused else [])


def test_pods_of_a_namespace_are_bounded_by_a_grant(bare: Repository) -> None:
    granted(bare, "{pods: 5}")
    bare.job(HEAD + "workers: 3\n", name="a")
    bare.job(HEAD + "workers: 2\n", name="b")
    assert bare.codes() == []
    bare.job(HEAD + "workers: 3\n", name="b")
    (finding,) = bare.render()[0].findings
    assert (finding.code, str(finding.place)) == ("over-quota", "jobs/team/b.yaml:5:10")
    assert "requests 6 pods in overlay `dev`; its quota is 5" in finding.message
    bare.job(HEAD + "workers: 3\nstate: finished\n", name="b")
    assert bare.codes() == []
    bare.overlay(OVERLAY.replace("{}", "{pods: 3}") + "volumes: {data: {claim: data}}\n")
    bare.job(HEAD + "workers: 3\nstate: finished\ndata: {data: /data}\ntensorboard: true\n", name="b")
    assert bare.codes() == ["over-quota"], "a TensorBoard is a pod, also of a finished job"


def test_gen_set_keeps_the_quota_of_pods(bare: Repository) -> None:
    granted(bare, "{pods: 5}")
    bare.job(HEAD + "workers: 3\n")
    report, code = set_fields(bare.root, "team/demo", ("workers=6",))
    assert (code, [finding.code for finding in report.findings]) == (1, ["over-quota"])


@pytest.mark.parametrize("image", ["TEAM/x:2", "Team/x:1", "TEAM/a/b@sha256:" + "0" * 64])
def test_an_image_with_an_upper_case_first_part_is_refused(bare: Repository, image: str) -> None:
    granted(bare, "{registries: [docker.io]}")
    text = HEAD.replace("registry.example.com/train:1", image)
    bare.job(text)
    assert bare.codes() == ["invalid-value"]
    bare.job(text.replace(image, image.lower()))
    assert bare.codes() == []
    bare.job(HEAD)
    bare.overlay(OVERLAY + "images: [{from: registry.example.com/, to: TEAM/}]\n")
    assert bare.codes() == ["invalid-image"]


@pytest.mark.parametrize(
    "url",
    [
        "ssh://-oProxyCommand=id/x",
        "ssh://git@-oProxyCommand=id/x",
        "ssh://-oProxyCommand=id@example.com/x",
        "ssh://%2doProxyCommand=id/x",
        "https://-x/y",
        "git@example.com:-x",
        "ssh:///x",
    ],
)
def test_a_url_of_code_cannot_be_an_option(bare: Repository, url: str) -> None:
    assert codes(bare, f"code: {{git: '{url}', name: a}}\n") == ["invalid-value"]
    source = f"rsync://{url.partition('://')[2]}"
    assert codes(bare, f"code: {{rsync: '{source}', name: a}}\n") == ["invalid-value"]


@pytest.mark.parametrize(
    "url",
    [
        "ssh://git@example.com:22/a-b.git",
        "https://example.com/-/a.git",
        "https://[::1]:80/a@b.git",
        "ssh://a%40b@example.com/x",
        "git@example.com:a.git",
    ],
)
def test_ordinary_urls_of_code_are_accepted(bare: Repository, url: str) -> None:
    code = f"{{git: '{url}', ref: {'c' * 40}, name: a, credentials: key}}"
    bare.job(HEAD.replace("train.py", "code/a/train.py") + f"code: {code}\n")
    assert bare.codes() == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("pytorch", "a-master-0"), ("pytorch", "a-worker-12"), ("tensorflow", "a-ps-0"), ("mpi", "a-launcher")],
)
def test_a_job_named_like_a_service_of_another_operator_is_refused_under_stable_names(
    bare: Repository, kind: str, name: str
) -> None:
    head = HEAD.replace("pytorch", kind)
    if kind == "mpi":
        head = head.replace("python", "mpirun python")
    bare.job(head, name="a")
    bare.job(HEAD.replace("pytorch", "batch"), name=name)
    bare.job(HEAD, name="a-master-x")
    assert bare.codes() == [], "hashes keep the names apart"
    bare.overlay(OVERLAY + "runs: {naming: stable}\n")
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("duplicate-job", f"jobs/team/{name}.yaml")
    bare.job(head + "name: b\n", name="a")
    assert bare.codes() == []


def test_no_pod_joins_a_service_of_its_namespace(bare: Repository) -> None:
    """A Service selects pods by labels of any form, mostly without a prefix."""
    bare.job(HEAD + "podLabels: {app: api}\n")
    (finding,) = bare.render()[0].findings
    assert finding.code == "not-granted"
    assert finding.hint.startswith("add it to `namespaces.team.metadata` of the overlay, or move it to `labels`")
    granted(bare, "{metadata: [app]}")
    assert bare.codes() == []
    bare.overlay(OVERLAY + "defaults: {podLabels: {app: b}}\n")
    bare.job(HEAD)
    assert bare.codes() == []


def test_registries_are_for_the_images_of_jobs(bare: Repository) -> None:
    """Those that gen and the overlay choose need no grant, as the reference of the overlay documents."""
    volumes = "volumes: {data: {claim: data}}\n"
    code = f"code: {{git: 'https://example.com/a.git', ref: {'c' * 40}}}\n"
    text = HEAD.replace("train.py", "code/a/train.py") + code + "data: {data: /data}\ntensorboard: true\n"
    bare.overlay(OVERLAY.replace("{}", "{registries: [registry.example.com]}") + volumes)
    bare.job(text)
    images = {one["image"].partition("/")[0] for body in bare.objects() for one in _containers(body)}
    assert images == {"registry.example.com", "registry.k8s.io", "tensorflow"}
    bare.job(text.replace("tensorboard: true", "tensorboard: {image: evil/tensorboard:1}"))
    assert bare.codes() == ["not-granted"], "one that the job chooses"


def _containers(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield from (*value.get("containers", ()), *value.get("initContainers", ()))
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _containers(one)
