"""A cluster as gen's objects need it: their definitions and their namespaces, and nothing that runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.client import Client, Response

DRY_RUN = {"dryRun": "All", "fieldValidation": "Strict"}

_ESTABLISHED_S = 60
_POLL_S = 0.1
_NOT_FOUND = 404


@dataclass(frozen=True)
class Cluster:
    """One API server. Objects are only tried, so that nothing stays, except those of the engine in `engine.py`."""

    client: Client
    _resources: dict[str, dict[str, Body]] = field(default_factory=dict)

    def install(self, definitions: Iterable[Body]) -> None:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        installed = []
        for body in definitions:
            response = self.client.create(path, body)
            # 409: another test has installed it
            assert response.status in {201, 409}, response.message
            installed.append(body["metadata"]["name"])
        for name in installed:
            self._wait_until_established(f"{path}/{name}")
        # the versions of a group may serve more kinds now
        self._resources.clear()

    def add_namespaces(self, names: Iterable[str]) -> None:
        for name in names:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            response = self.client.create("/api/v1/namespaces", body)
            # 409: the server makes some itself
            assert response.status in {201, 409}, response.message

    def try_to_create(self, body: Body) -> Response:
        return self.client.create(self._collection(body), body, **DRY_RUN)

    def try_to_create_in(self, body: Body, namespace: str) -> Response:
        """For objects with any metadata: a namespace is only needed for kinds that have one."""
        version, metadata = body["apiVersion"], body.get("metadata")
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self._resources_of(base)[body["kind"]]
        own = metadata.get("namespace") if isinstance(metadata, dict) else None
        folder = (
            f"/namespaces/{quote(own) if isinstance(own, str) and own else namespace}" if resource["namespaced"] else ""
        )
        return self.client.create(f"{base}{folder}/{resource['name']}", body, **DRY_RUN)

    def try_to_create_file(self, body: Body, text: bytes) -> Response:
        """The server parses the text; `body` is its content, for the path of the request."""
        return self.client.create(self._collection(body), text, **DRY_RUN)

    def apply(self, body: Body, manager: str = "test") -> Body:
        """Server-side apply of an object, which must succeed."""
        response = self.client.apply(self.path(body), body, fieldManager=manager, force="true")
        assert response.status in {200, 201}, f"{body['kind']} {body['metadata']['name']}: {response.message}"
        return response.body

    def path(self, body: Body) -> str:
        """Where an object is, or would be."""
        return f"{self._collection(body)}/{body['metadata']['name']}"

    def live(self, group: str, kind: str, namespace: str) -> list[Body]:
        """The objects of a kind, in the first version of its group that has it; all of a kind without namespaces."""
        for version in self._versions(group):
            base = f"/apis/{version}" if group else f"/api/{version}"
            if kind in self._resources_of(base):
                body = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace}}
                listed = self.listed(self._collection(body))
                return [{"apiVersion": version, "kind": kind, **item} for item in listed]
        raise AssertionError(f"the server knows no {kind} of {group}")

    def resource(self, base: str, kind: str) -> Body | None:
        """The server's description of a kind of an API version that it serves; None for an unknown kind."""
        return self._resources_of(base).get(kind)

    def listed(self, path: str) -> list[Body]:
        """The objects of a collection. The store of a new resource may need a moment more (429)."""
        deadline = time.monotonic() + _ESTABLISHED_S
        while (response := self.client.get(path)).status == 429:
            assert time.monotonic() < deadline, response.message
            time.sleep(_POLL_S)
        assert response.status == 200, response.message
        items: list[Body] = response.body["items"]
        return items

    def _versions(self, group: str) -> list[str]:
        if not group:
            return ["v1"]
        return [one["groupVersion"] for one in self.client.get(f"/apis/{group}").body["versions"]]

    def _collection(self, body: Body) -> str:
        version, metadata = body["apiVersion"], body["metadata"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self._resources_of(base)[body["kind"]]
        namespace = f"/namespaces/{metadata['namespace']}" if resource["namespaced"] else ""
        return f"{base}{namespace}/{resource['name']}"

    def _resources_of(self, base: str) -> dict[str, Body]:
        if base not in self._resources:
            # a group is served some moments after its first definition is established
            deadline = time.monotonic() + _ESTABLISHED_S
            while (response := self.client.get(base)).status == _NOT_FOUND and time.monotonic() < deadline:
                time.sleep(_POLL_S)
            assert response.status == 200, f"the server knows no {base}: {response.message}"
            # a subresource, such as a status, has the same kind
            found = [one for one in response.body["resources"] if "/" not in one["name"]]
            self._resources[base] = {one["kind"]: one for one in found}
        return self._resources[base]

    def _wait_until_established(self, path: str) -> None:
        deadline = time.monotonic() + _ESTABLISHED_S
        while not _is_established(self.client.get(path).body):
            assert time.monotonic() < deadline, f"{path} is not established"
            time.sleep(_POLL_S)


def read_definitions(folder: Path) -> Iterator[Body]:
    """All CRDs below a folder. Files that define the same resource become one CRD that serves all their versions.

    Two operators define MPIJob, each in a version of its own, and a cluster takes a name once. Versions have a schema
    each, and a dry run meets that of its own version only, so one server can stand for the clusters of both.
    """
    merged: dict[str, Body] = {}
    for path in sorted(folder.rglob("*.yaml")):
        body = yaml.load(path.read_bytes(), yaml.CSafeLoader)
        first = merged.setdefault(body["metadata"]["name"], body)
        if first is not body:
            first["spec"]["versions"] += [{**version, "storage": False} for version in body["spec"]["versions"]]
    yield from merged.values()


def _is_established(body: Body) -> bool:
    conditions: list[dict[str, Any]] = body.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
