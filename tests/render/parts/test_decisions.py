"""Refusals of a plan and their places, and fields without effect on it."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.support import OVERLAY, Repository
from tests.work import is_linear, lines_run

JOB = "kind: {kind}\nimage: a:1\ncommand: x\n"


def findings(repo: Repository, text: str, kind: str = "pytorch") -> list[tuple[str, str]]:
    """Code and place of each finding."""
    repo.job(JOB.format(kind=kind) + text)
    return [(f.code, str(f.place).partition(".yaml:")[2]) for f in repo.render()[0].findings]


@pytest.mark.parametrize(
    "env",
    [
        "{NVIDIA_VISIBLE_DEVICES: all}",
        "{NVIDIA_VISIBLE_DEVICES: ''}",
        "{NVIDIA_VISIBLE_DEVICES: {field: status.podIP}}",
    ],
)
def test_a_job_cannot_give_itself_gpus(repo: Repository, env: str) -> None:
    assert findings(repo, f"env: {env}\n") == [("reserved-env", "4:7")]
    assert findings(repo, f"roles: {{master: {{env: {env}}}}}\n") == [("reserved-env", "4:24")]


def test_gpus_may_be_hidden_and_an_overlay_may_say_what_it_likes(repo: Repository) -> None:
    assert findings(repo, "env: {NVIDIA_VISIBLE_DEVICES: void}\n") == []
    assert findings(repo, "env: {NVIDIA_VISIBLE_DEVICES: none}\n") == []
    repo.overlay(OVERLAY + "defaults: {env: {NVIDIA_VISIBLE_DEVICES: all}}\n")
    assert findings(repo, "") == []


@for_each(
    ("kind", "name"),
    [
        ("batch", "RANK"),
        ("batch", "MASTER_PORT"),
        ("batch", "JOB_COMPLETION_INDEX"),
        ("mpi", "OMPI_MCA_orte_default_hostfile"),
        ("mpi", "K_MPI_JOB_ROLE"),
    ],
)
def test_what_kind_and_operator_set_is_theirs(repo: Repository, kind: str, name: str) -> None:
    assert findings(repo, f"env: {{{name}: x}}\n", kind) == [("reserved-env", "4:7")]


def test_a_job_without_pods_is_a_finding(repo: Repository) -> None:
    assert findings(repo, "roles: {worker: {replicas: 0}}\n", "tensorflow") == [("no-pods", "4:1")]


@for_each(
    ("fields", "place"),
    [
        ("data: {data: /x, nas: /x/}\n", "4:23"),
        ("files: {/x: a, //x: b}\n", "4:9"),
        ("data: {data: /dev/shm}\nsharedMemory: 1Gi\n", "4:14"),
        ("sharedMemory: 1Gi\nfiles: {/dev/shm: a}\n", "5:9"),
        ("data: {data: /root/code}\ncode: {git: 'https://example.com/a.git', ref: " + "c" * 40 + "}\n", "4:14"),
    ],
)
def test_a_conflict_is_placed_at_what_the_author_mounts(repo: Repository, fields: str, place: str) -> None:
    assert findings(repo, fields) == [("mount-conflict", place)]


def test_a_missing_image_of_one_role_is_placed_at_the_role(repo: Repository) -> None:
    repo.job("kind: tensorflow\ncommand: x\nroles:\n  worker: {image: 'a:1'}\n  ps: {}\n")
    assert [str(f.place) for f in repo.render()[0].findings] == ["jobs/team/demo.yaml:5:3"]


@for_each(
    ("one", "other"),
    [
        ("data: {data: /a, nas: /b}\n", "data: {nas: /b, data: /a}\n"),
        ("files: {/a/x: '1', /b/x: '2'}\n", "files: {/b/x: '2', /a/x: '1'}\n"),
        ("labels: {a: x, b: y}\n", "labels: {b: y, a: x}\n"),
        ("podLabels: {a: x, b: y}\n", "podLabels: {b: y, a: x}\n"),
        ("podAnnotations: {a: x, b: y}\n", "podAnnotations: {b: y, a: x}\n"),
        ("placement: {nodeSelector: {a: x, b: y}}\n", "placement: {nodeSelector: {b: y, a: x}}\n"),
    ],
)
def test_order_without_a_meaning_makes_no_difference(repo: Repository, one: str, other: str) -> None:
    assert findings(repo, one) == []
    before = repo.rendered()
    assert findings(repo, other) == []
    assert repo.rendered() == before


def test_the_order_of_variables_means_something_to_those_that_name_each_other(repo: Repository) -> None:
    assert findings(repo, "env: {A: x, B: $(A)}\n") == []
    before = repo.rendered()
    assert findings(repo, "env: {B: $(A), A: x}\n") == []
    assert repo.rendered() != before


@pytest.mark.parametrize("name", ["{n}/x", "x.{n}", "{n}/x.{n}"])
def test_the_work_for_files_is_linear(repo: Repository, name: str) -> None:
    def work(size: int) -> int:
        lines = "".join(f"  /{name.format(n=n)}: a\n" for n in range(size))
        text = "files:\n  /z/x: a\n" + lines
        assert findings(repo, text) == []
        return lines_run(lambda: findings(repo, text), "yaml")

    assert is_linear(work, 200)


@pytest.mark.parametrize(
    ("rule", "image"),
    [
        ("{from: docker.io, to: mirror.example.com/}", "python:3"),
        ("{from: a, to: Mirror/}", "a:1"),
    ],
)
def test_a_rule_that_makes_no_image_is_to_blame(repo: Repository, rule: str, image: str) -> None:
    repo.overlay(OVERLAY + f"images:\n  - {{from: nothing, to: x}}\n  - {rule}\n")
    repo.job(JOB.format(kind="pytorch").replace("a:1", image))
    (found,) = repo.render()[0].findings
    assert (found.code, found.place.file, found.place.line) == ("invalid-image", "overlays/dev/overlay.yaml", 22)


@pytest.mark.parametrize("to", ["https://mirror.example.com/", "a b/", "-x/"])
def test_a_rule_leads_to_the_start_of_an_image(repo: Repository, to: str) -> None:
    repo.overlay(OVERLAY + f"images: [{{from: docker.io/, to: '{to}'}}]\n")
    assert repo.codes() == ["invalid-value"]
