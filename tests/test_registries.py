"""Where the images of a namespace may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases import for_each

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: pytorch\nimage: {image}\ncommand: python train.py\n"
OVERLAY = """\
kubernetes: "1.34"
namespaces: {{"*": {{registries: [{registries}]}}}}
images: [{{from: quay.io/, to: registry.example.com/mirror/}}]
"""


@for_each(
    ("registries", "image"),
    [
        ("registry.example.com", "registry.example.com/team/train:1"),
        ("registry.example.com/team/", "registry.example.com/team/train:1"),
        ("registry.example.com/team/train", "registry.example.com/team/train:1"),
        ("registry.example.com/mirror", "quay.io/team/train:1"),
        ("docker.io/library", "python:3.11"),
        ("other.example.com, docker.io/pytorch", "pytorch/pytorch:2.5.0"),
    ],
)
def test_an_image_of_a_registry_that_is_granted(repo: Repository, registries: str, image: str) -> None:
    repo.overlay(OVERLAY.format(registries=registries))
    repo.job(JOB.format(image=image))
    assert repo.codes() == []


@for_each(
    ("registries", "image"),
    [
        ("registry.example.com", "registry.example.com.evil.org/train:1"),
        ("registry.example.com/team", "registry.example.com/team-b/train:1"),
        ("quay.io", "quay.io/team/train:1"),  # it comes from the mirror
        ("registry.example.com", "python:3.11"),
        ("", "registry.example.com/team/train:1"),
    ],
)
def test_an_image_of_any_other_is_refused_at_its_line(repo: Repository, registries: str, image: str) -> None:
    repo.overlay(OVERLAY.format(registries=registries))
    repo.job(JOB.format(image=image))
    (finding,) = repo.render()[0].findings
    assert (finding.code, str(finding.place)) == ("not-granted", "jobs/team/demo.yaml:2:8")
