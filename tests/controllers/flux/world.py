"""A repository with one overlay, its copy on the Git server, and what Flux makes of it in the cluster."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from tests.controllers.applied import Applied, applied
from tests.controllers.flux.flux import NAMESPACE
from tests.controllers.waiting import WAIT_S, wait
from tests.history import History

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.controllers.git_server import GitServer
    from tests.e2e.cluster import Cluster

OVERLAY = """\
kubernetes: "1.34"
gitops: {{flux: {{repoURL: "{url}"}}}}
namespaces: {{{namespaces}}}
"""
BATCH = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
PYTORCH = (
    "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py --lr {lr}\n"
    "workers: 2\ntimeout: 12h\ntensorboard: {{logdir: /data/runs}}\n"
)
DATA = "data: {nas: /data}\n"
VOLUMES = "volumes: {nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}\n"
KUSTOMIZATIONS = f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{NAMESPACE}/kustomizations"
SOURCES = f"/apis/source.toolkit.fluxcd.io/v1/namespaces/{NAMESPACE}/gitrepositories"
_REQUEST = "reconcile.fluxcd.io/requestedAt"
_tokens = itertools.count()


@dataclass
class World:
    """The names of the overlay, and of its first namespace, are the name of the test."""

    name: str
    repo: History
    cluster: Cluster
    git: GitServer
    more: str = ""
    """Fields of the overlay besides its engine and namespaces."""
    namespaces: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, root: Path, cluster: Cluster, git: GitServer, name: str) -> World:
        git.create(name)
        repo = History.at(root)
        shutil.rmtree(root / "overlays/dev")
        repo.git("init", "-q", "-b", "main")
        repo.git("remote", "add", "origin", str(git.folder / f"{name}.git"))
        world = cls(name, repo, cluster, git, namespaces=[name])
        cluster.add_namespaces([name])
        world.overlay()
        return world

    def overlay(self, more: str | None = None) -> None:
        self.more = self.more if more is None else more
        namespaces = ", ".join(f"{namespace}: {{}}" for namespace in self.namespaces)
        text = OVERLAY.format(url=self.git.url(self.name), namespaces=namespaces)
        self.repo.overlay(text + self.more, name=self.name)

    def grant(self, namespace: str) -> None:
        """A namespace that the cluster and the overlay get."""
        self.namespaces.append(namespace)
        self.cluster.add_namespaces([namespace])
        self.overlay()

    def job(self, name: str, text: str, namespace: str = "") -> None:
        self.repo.job(text, name=name, namespace=namespace or self.name)

    def remove(self, name: str, namespace: str = "") -> None:
        (self.repo.root / f"jobs/{namespace or self.name}/{name}.yaml").unlink()

    def push(self, **options: Any) -> None:
        """Render, commit and push, as a merge does."""
        self.repo.commit(**options)
        self.repo.git("push", "-q", "origin", "main")

    def bootstrap(self) -> None:
        """The one apply by hand."""
        for path in sorted((self.repo.root / f"rendered/flux/{self.name}").glob("*-*.yaml")):
            self.cluster.apply(yaml.safe_load(path.read_text("utf-8")), manager="kubectl")

    def start(self, **options: Any) -> None:
        """Push, and apply the bundle."""
        self.push(**options)
        self.bootstrap()
        self.follow()

    def merge(self, **options: Any) -> None:
        """Push, and wait until Flux has applied everything and rests."""
        self.push(**options)
        self.follow()

    def follow(self, seconds: float = WAIT_S) -> None:
        revision = self.repo.git("rev-parse", "HEAD")
        self.poll()
        until(lambda: self._behind(revision), seconds)

    def settle(self) -> list[str]:
        """Wait until Flux has tried the commit everywhere. Returns the Kustomizations that it refuses."""
        revision = self.repo.git("rev-parse", "HEAD")
        self.poll()
        until(lambda: self._behind(revision, refused=True))
        found = [body["metadata"]["name"] for body in self.kustomizations()]
        return [name for name in found if self.ready(name)["status"] != "True"]

    def poll(self) -> None:
        """The interval of the source passes."""
        token = f"t{next(_tokens)}"
        self.cluster.client.merge(f"{SOURCES}/{self.name}", {"metadata": {"annotations": {_REQUEST: token}}})
        until(lambda: self._not_handled(SOURCES, [self.name], token))

    def intervals(self, *names: str, seconds: float = WAIT_S) -> None:
        """The intervals of Kustomizations pass, by default of all."""
        token, names = f"t{next(_tokens)}", names or tuple(one["metadata"]["name"] for one in self.kustomizations())
        for name in names:
            self.cluster.client.merge(f"{KUSTOMIZATIONS}/{name}", {"metadata": {"annotations": {_REQUEST: token}}})
        until(lambda: self._not_handled(KUSTOMIZATIONS, names, token), seconds)

    def kustomizations(self) -> list[Body]:
        items: list[Body] = self.cluster.client.get(KUSTOMIZATIONS).body["items"]
        return [body for body in items if body["spec"]["sourceRef"]["name"] == self.name]

    def source(self) -> Body:
        """Commit of the source in the cluster."""
        spec: Body = self.cluster.client.get(f"{SOURCES}/{self.name}").body["spec"]
        return spec

    def live(self, kind: str, namespace: str = "", group: str = "") -> dict[str, Body]:
        """Objects of a kind that are not being deleted, by name."""
        found = self.cluster.live(group, kind, namespace or self.name)
        return {body["metadata"]["name"]: body for body in found if "deletionTimestamp" not in body["metadata"]}

    def runs(self, namespace: str = "") -> dict[str, str]:
        """Name and uid of every run."""
        live = self.live("PyTorchJob", namespace, "kubeflow.org") | self.live("Job", namespace, "batch")
        return {name: body["metadata"]["uid"] for name, body in live.items()}

    def volumes(self) -> dict[str, Body]:
        own = self.live("PersistentVolume").items()
        return {name: body for name, body in own if body["spec"]["claimRef"]["namespace"] in self.namespaces}

    def bound(self, namespace: str = "") -> set[str]:
        """Names of the claims that are bound."""
        claims = self.live("PersistentVolumeClaim", namespace).items()
        return {name for name, body in claims if body["status"].get("phase") == "Bound"}

    def binds(self, name: str, namespace: str = "") -> None:
        """Wait until a claim is bound."""
        until(lambda: "" if name in self.bound(namespace) else f"{name} is not bound")

    def path(self, kind: str, name: str, group: str = "") -> str:
        version = {"": "v1", "kubeflow.org": "kubeflow.org/v1"}.get(group, f"{group}/v1")
        metadata = {"name": name, "namespace": self.name}
        return self.cluster.path({"apiVersion": version, "kind": kind, "metadata": metadata})

    def delete(self, kind: str, name: str, group: str = "") -> None:
        """Delete an object by hand, and wait until it is gone."""
        path = self.path(kind, name, group)
        before = self.cluster.client.get(path).body["metadata"]["uid"]
        assert self.cluster.client.delete(path).status == 200

        def there() -> str:
            response = self.cluster.client.get(path)
            return path if response.status == 200 and response.body["metadata"]["uid"] == before else ""

        until(there)

    def seen(self) -> Applied:
        return applied(self.cluster, self.namespaces, "kustomize-controller")

    def rests(self, seconds: float = WAIT_S) -> None:
        """That nothing changes while all intervals pass again."""
        before = self.seen()
        self.intervals(seconds=seconds)
        self.poll()
        assert self.seen() == before

    def _behind(self, revision: str, *, refused: bool = False) -> str:
        """Differences between the cluster and the commit, possibly without what the cluster refuses."""
        folder = self.repo.root / f"rendered/flux/{self.name}"
        expected = {
            yaml.safe_load(path.read_text("utf-8"))["metadata"]["name"] for path in folder.glob("kustomization-*")
        }
        live = {body["metadata"]["name"]: body for body in self.kustomizations()}
        if live.keys() != expected:
            ready = [_ready(body) for body in live.values()]
            return f"Kustomizations {sorted(live)}, expected {sorted(expected)}: {ready}"
        waiting = [
            f"{name}: {_ready(body)}" for name, body in live.items() if not _applied(body, revision, refused=refused)
        ]
        return "\n".join(waiting)

    def ready(self, name: str) -> Body:
        """The condition of a Kustomization, of its current revision or an earlier one."""
        conditions = self.cluster.client.get(f"{KUSTOMIZATIONS}/{name}").body.get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == "Ready"), {"status": "Unknown", "message": ""})

    def _not_handled(self, folder: str, names: Iterable[str], token: str) -> str:
        bodies = [self.cluster.client.get(f"{folder}/{name}") for name in names]
        waiting = [one.body for one in bodies if one.status == 200]
        waiting = [body for body in waiting if body.get("status", {}).get("lastHandledReconcileAt") != token]
        return "\n".join(f"{body['metadata']['name']}: {_ready(body)}" for body in waiting)


def until(reason: Callable[[], str], seconds: float = WAIT_S) -> None:
    """Until every reason to wait is gone."""
    last = ""

    def done() -> bool:
        nonlocal last
        last = reason()
        return not last

    try:
        wait(done, "rest", seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}: {last}") from None


def _ready(body: Body) -> str:
    conditions = body.get("status", {}).get("conditions", [])
    return "; ".join(f"{one['type']}={one['status']} {one['message']}" for one in conditions)


def _applied(body: Body, revision: str, *, refused: bool) -> bool:
    status = body.get("status", {})
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    if refused and conditions.get("Ready") == "False":
        return bool(status.get("lastAttemptedRevision", "").endswith(revision))
    ready = conditions.get("Ready") == "True"
    current = status.get("observedGeneration") == body["metadata"]["generation"]
    return ready and current and str(status.get("lastAppliedRevision", "")).endswith(revision)
