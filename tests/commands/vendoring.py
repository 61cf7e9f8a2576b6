"""A repository of a platform on a Git server, and repositories of teams that extend its overlays."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gen.commands import vendor
from tests.pins.servers import git, git_server
from tests.support import Repository, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.report.formats import Report

BASE = """\
abstract: true
kubernetes: "1.34"
namespaces: {"*": {}}
params: {release: one}
patches:
  - path: patches/owner.yaml
    target: {kind: PyTorchJob}
"""
OWNER = "metadata: {annotations: {example.com/owner: platform}}\n"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-latest}
spec:
  matchConstraints:
    resourceRules:
      - {apiGroups: [kubeflow.org], apiVersions: ["*"], operations: [CREATE], resources: [pytorchjobs]}
  validations:
    - expression: "!object.spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image.endsWith(':latest')"
      message: name a version
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-latest}
spec: {policyName: no-latest, validationActions: [Deny]}
"""
TEMPLATE = """\
# fine-tune a language model
kind: pytorch
image: registry.example.com/llm:2.1
command: python finetune.py
workers: 2
"""
JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\nworkers: 2\n"
FILES = {
    "overlays/base/overlay.yaml": BASE,
    "overlays/base/patches/owner.yaml": OWNER,
    "overlays/base/policies/no-latest.yaml": POLICY,
    "overlays/a100/overlay.yaml": "extends: base\nlabels: {gpu: a100}\n",
    "overlays/other/overlay.yaml": "kubernetes: '1.33'\n",
    "templates/llm-finetune.yaml": TEMPLATE,
    "README.md": "# Platform\n",
}


class Platform:
    """A working copy of the platform's repository, and its address."""

    def __init__(self, work: Path, url: str) -> None:
        self.work, self.url = work, url

    def release(self, tag: str, **files: str) -> str:
        """Push files and a tag; the commit. A path is written with `__` for `/` and `_` for `.`."""
        return self.push(tag, {path.replace("__", "/").replace("_", "."): text for path, text in files.items()})

    def push(self, tag: str, files: dict[str, str], *, force: bool = False) -> str:
        for path, text in files.items():
            target = self.work / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        git("add", "--all", folder=self.work)
        git("commit", "--quiet", "--allow-empty", "-m", tag, folder=self.work)
        git("tag", *(["--force"] if force else []), "-m", tag, tag, folder=self.work)
        git("push", "--quiet", "--force", "origin", "main", tag, folder=self.work)
        return git("rev-parse", "HEAD", folder=self.work)


@contextmanager
def platform_at(folder: Path) -> Iterator[Platform]:
    """A platform with the tag `v1.0`."""
    bare = folder / "git/platform.git"
    bare.mkdir(parents=True)
    git("init", "--quiet", "--bare", "--initial-branch=main", bare)
    git("clone", "--quiet", bare, folder / "platform")
    git("checkout", "--quiet", "-B", "main", folder=folder / "platform")
    with git_server(folder / "git") as address:
        platform = Platform(folder / "platform", f"{address}/platform.git")
        platform.push("v1.0", FILES)
        yield platform


def extends(platform: Platform, ref: str = "v1.0", path: str = "overlays/a100") -> str:
    return f"# our cluster\nextends:\n  git: {platform.url}\n  ref: {ref} # moved by CI\n  path: {path}\n"


def team_at(root: Path, platform: Platform, name: str = "team", **origin: str) -> Repository:
    """A repository of a team with one overlay and one job, not vendored yet."""
    repo = Repository.at(root)
    repo.overlay(extends(platform, **origin))
    repo.job(JOB, namespace=name)
    return repo


def vendored(repo: Repository, *overlays: str, **options: Any) -> tuple[Report, int]:
    return opened(vendor.run(vendor.Request(root=repo.root, overlays=overlays, request_timeout=10, **options)))
