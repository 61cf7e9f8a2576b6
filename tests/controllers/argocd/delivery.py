"""A repository that a real Argo CD delivers, installed as in `docs/gitops.md`."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gen.job.kinds import KINDS
from tests.controllers.applied import Applied, applied
from tests.controllers.argocd.applications import applied_at, errors, state
from tests.controllers.argocd.argo_cd import NAMESPACE, ArgoCD
from tests.controllers.waiting import give_time, wait
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.controllers.git_server import GitServer

T = TypeVar("T")

GROUPS = ("batch", "kubeflow.org", "ray.io")
"""API groups of the runs of these tests."""
WAIT_S = 90
QUIET_S = 12
"""Two intervals of Argo CD: later changes are not expected."""
_API = f"/apis/argoproj.io/v1alpha1/namespaces/{NAMESPACE}"

OVERLAY = """\
kubernetes: "1.34"
gitops: {{argocd: {{repoURL: "{url}", notify: {{slack: training}}}}}}
namespaces:
{namespaces}
{settings}
"""
DATA = "data: {nas: /data}\n"
GIVEN = "{nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}"
"""Volumes of an overlay."""
JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


@dataclass(frozen=True)
class Delivery:
    """A repository with one overlay, which has its name, and one namespace, which also has it."""

    name: str
    argo: ArgoCD
    repository: Repository
    git: GitServer
    messages: list[str]
    namespaces: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """Other fields of the overlay."""

    @classmethod
    def at(cls, root: Path, name: str, argo: ArgoCD, git: GitServer, messages: list[str]) -> Delivery:
        repository = Repository.at(root)
        shutil.rmtree(root / "overlays/dev")
        git.create(name)
        _git(root, "init", "--quiet", "--initial-branch=main")
        _git(root, "remote", "add", "origin", str(git.folder / f"{name}.git"))
        made = cls(name, argo, repository, git, messages)
        made.grant(name)
        return made

    def grant(self, namespace: str, grants: str = "{}", *, create: bool = True) -> None:
        """Name a namespace in the overlay, and create it."""
        self.namespaces[namespace] = grants
        self.write_overlay()
        if create:
            self.argo.cluster.add_namespaces([namespace])

    def write_overlay(self) -> None:
        namespaces = "\n".join(f"  {one}: {grants}" for one, grants in self.namespaces.items())
        settings = "\n".join(f"{key}: {value}" for key, value in self.settings.items())
        url = self.git.url(self.name)
        self.repository.overlay(OVERLAY.format(url=url, namespaces=namespaces, settings=settings), self.name)

    def job(self, text: str, name: str = "demo", namespace: str = "") -> None:
        self.repository.job(text, name, namespace or self.name)

    def change(self, **settings: str) -> None:
        """Change other fields of the overlay."""
        self.settings.update(settings)
        self.write_overlay()

    def remove(self, name: str = "demo", namespace: str = "") -> None:
        (self.repository.root / f"jobs/{namespace or self.name}/{name}.yaml").unlink()

    def commit(self, **options: Any) -> str:
        """Render, commit and push."""
        report, code = self.repository.render(**options)
        assert code == 0, report
        return self.push()

    def push(self) -> str:
        """Commit everything as it is. Returns the revision."""
        root = self.repository.root
        _git(root, "add", "--all")
        _git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "change")
        _git(root, "push", "--quiet", "origin", "main")
        return _git(root, "rev-parse", "HEAD").strip()

    def start(self, **options: bool) -> None:
        """Commit, install, and wait until everything is applied."""
        self.commit(**options)
        self.install()
        self.follow()

    def merge(self, **options: bool) -> None:
        """Commit, and wait until everything is applied."""
        self.commit(**options)
        self.follow()

    @property
    def bundle(self) -> Path:
        return self.repository.root / "rendered/argocd" / self.name

    def install(self, namespace: str = NAMESPACE) -> None:
        """The commands of the documentation, for the namespace of Argo CD."""
        for patch in sorted((self.bundle / "settings").glob("*.patch")):
            patched = ("patch", "configmap", patch.stem, "--namespace", namespace, "--type=merge")
            self.argo.kubectl(*patched, f"--patch-file={patch}")
        self.apply()

    def apply(self) -> None:
        self.argo.kubectl("apply", "--server-side", "-f", str(self.bundle))

    def application(self, job: str = "demo", namespace: str = "") -> Body | None:
        return self.get("applications", f"{self.name}.{namespace or self.name}.{job}")

    def get(self, plural: str, name: str) -> Body | None:
        """An object of Argo CD."""
        response = self.argo.cluster.client.get(f"{_API}/{plural}/{name}")
        return response.body if response.status == 200 else None

    def run(self, job: str = "demo", namespace: str = "") -> Body | None:
        """The run of a job in the cluster, by its label, that is not being deleted."""
        for resource in (kind.facts for kind in KINDS.values() if kind.facts.group in GROUPS):
            for body in self.argo.cluster.live(resource.group, resource.kind, namespace or self.name):
                labels = body["metadata"].get("labels", {})
                if labels.get("gen/job") == job and not deleted(body):
                    return body
        return None

    def runs(self, namespace: str = "") -> dict[str, str]:
        """Name and uid of every run."""
        kinds = (("kubeflow.org", "PyTorchJob"), ("batch", "Job"))
        live = [body for kind in kinds for body in self.argo.cluster.live(*kind, namespace or self.name)]
        return {body["metadata"]["name"]: body["metadata"]["uid"] for body in live if not deleted(body)}

    def claim(self) -> Body | None:
        found = self.argo.cluster.live("", "PersistentVolumeClaim", self.name)
        return found[0] if found else None

    def bound(self) -> bool:
        """Whether the claim of the namespace is bound."""
        return bool((self.claim() or {}).get("status", {}).get("phase") == "Bound")

    def live(self, body: Body) -> Body:
        """An object as it is now."""
        response = self.argo.cluster.client.get(self.argo.cluster.path(body))
        assert response.status == 200, response.message
        return response.body

    def patch(self, body: Body, change: Body, *, status: bool = False) -> None:
        """A change of an object by another client."""
        path = self.argo.cluster.path(body) + ("/status" if status else "")
        response = self.argo.cluster.client.merge(path, change)
        assert response.status == 200, response.message

    def delete(self, body: Body) -> None:
        assert self.argo.cluster.client.delete(self.argo.cluster.path(body)).status == 200

    def wait_for_run(self, job: str = "demo", namespace: str = "") -> Body:
        return self.wait(lambda: self.run(job, namespace), f"run of {job}")

    def settles(self, health: str, job: str = "demo", namespace: str = "", seconds: float = WAIT_S) -> Body:
        """The Application, once it is in sync with this health and its last operation has succeeded."""

        def found() -> Body | None:
            body = self.application(job, namespace)
            return body if body and state(body) == (health, "Synced", "Succeeded") else None

        return self.wait(found, f"{health} and Synced of {job}", seconds)

    def follow(self, seconds: float = WAIT_S) -> None:
        """Wait until Argo CD has applied the last commit everywhere."""
        revision = _git(self.repository.root, "rev-parse", "HEAD").strip()
        self.wait(lambda: self._follows(revision), "state of the last commit", seconds)

    def _follows(self, revision: str) -> bool:
        live = {body["metadata"]["name"]: body for body in self.applications()}
        return live.keys() == self._expected() and all(applied_at(body, revision) for body in live.values())

    def _expected(self) -> set[str]:
        """Names of the Applications."""
        tree = self.repository.root / "rendered" / self.name
        jobs = {f"{self.name}.{folder.parent.name}.{folder.name}" for folder in tree.glob("jobs/*/*")}
        storage = {f"{self.name}-storage.{folder.name}" for folder in tree.glob("storage/*")}
        return {f"{self.name}-root", *jobs, *storage}

    def rests(self) -> None:
        """That nothing changes in two intervals, and everything is in sync."""
        before = self.seen()
        quiet()
        assert self.seen() == before
        assert {state(body)[1] for body in self.applications()} == {"Synced"}, self.describe()

    def seen(self) -> Applied:
        return applied(self.argo.cluster, list(self.namespaces), "argocd-controller")

    def wait(self, found: Callable[[], T | None], what: str, seconds: float = WAIT_S) -> T:
        """The first result that is not false."""
        try:
            return wait(found, what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.describe()}") from None

    def applications(self) -> list[Body]:
        items = self.argo.cluster.client.get(f"{_API}/applications").body["items"]
        prefixes = (f"{self.name}-root", f"{self.name}-storage.", f"{self.name}.")
        return [body for body in items if body["metadata"]["name"].startswith(prefixes)]

    def describe(self) -> str:
        """States of all Applications, for a message."""
        states = {body["metadata"]["name"]: [*state(body), *errors(body)] for body in self.applications()}
        return json.dumps(states, indent=1)


def deleted(body: Body) -> bool:
    """Whether it is deleted, and kept by finalizers."""
    return "deletionTimestamp" in body["metadata"]


def quiet(seconds: float = QUIET_S) -> None:
    """Wait long enough for a forbidden change by Argo CD."""
    give_time(seconds)


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout
