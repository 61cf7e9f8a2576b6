"""Lists of objects, read page by page; watches that continue after a cut; discovery of API versions and resources."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

import orjson
from msgspec import UNSET, DecodeError, Raw, Struct, to_builtins
from msgspec.json import Decoder

from gen.base import at
from gen.base.codes.clusters import CLUSTER_ANSWER, CLUSTER_FORBIDDEN
from gen.kubernetes.objects import Body
from gen.live.client import Api, ClusterError, ExpiredError, NotFoundError, parsed

PAGE: Final = 500
_IDLE_S: Final = 90.0
_ASKED_S: Final = 60
"""The server ends a watch after this time, so that a dead connection does not look like a quiet one."""
_PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
_GONE: Final = 410


class Collection(Struct, frozen=True, kw_only=True):
    """Objects of one kind, in one namespace or in all."""

    base: str
    """`/api/v1`, or `/apis/<group>/<version>`."""
    resource: str
    """Plural name."""
    namespace: str = ""
    selector: str = ""
    fields: str = ""

    @property
    def path(self) -> str:
        inside = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"{self.base}{inside}/{self.resource}"

    @property
    def query(self) -> dict[str, str]:
        given = {"labelSelector": self.selector, "fieldSelector": self.fields}
        return {name: value for name, value in given.items() if value}


class ObjectList(Struct, frozen=True):
    """All objects of a collection, and the version of the list, from which a watch goes on."""

    items: list[Body]
    version: str


class Metadata(Struct, gc=False, rename="camel"):
    """The metadata of a run or a pod that is read: without `managedFields`, which can be half of an object."""

    name: object = UNSET
    namespace: object = UNSET
    uid: object = UNSET
    labels: object = UNSET
    annotations: object = UNSET
    owner_references: object = UNSET
    generation: object = UNSET
    resource_version: object = UNSET
    creation_timestamp: object = UNSET
    deletion_timestamp: object = UNSET


Decode = Callable[[bytes], Body]
"""Decodes a page of a list, or only a part of it."""


class Page(Struct):
    """A page of a list. A subclass has its `items`."""

    metadata: dict[str, Any] = {}


class _Objects(Page):
    items: list[dict[str, Raw]] = []


def only(form: type[Page]) -> Decode:
    """Decodes only the fields that a page and its items have."""
    page = Decoder(form)

    def read(raw: bytes) -> Body:
        try:
            answer: Body = to_builtins(page.decode(raw))
        except DecodeError:  # values of other types, which the caller handles
            return parsed(raw)
        return answer

    return read


def with_metadata(form: type[Struct]) -> Decode:
    """Decodes objects of a list, and only some fields of their metadata."""
    page, metadata, whole = Decoder(_Objects), Decoder(form), Decoder()

    def entry(name: str, raw: Raw) -> object:
        return to_builtins(metadata.decode(raw)) if name == "metadata" else whole.decode(raw)

    def read(raw: bytes) -> Body:
        try:
            answer = page.decode(raw)
            items = [{name: entry(name, value) for name, value in one.items()} for one in answer.items]
        except DecodeError:
            return parsed(raw)
        return {"metadata": answer.metadata, "items": items}

    return read


def list_objects(
    api: Api,
    collection: Collection,
    keep: Callable[[Body], Body] = lambda body: body,
    listed: Callable[[int], None] | None = None,
    decode: Decode | None = None,
) -> ObjectList:
    """All objects, each reduced by `keep` as it comes. A list that expires between two pages goes on as it is now.

    `listed` gets the number of objects of each page.
    """
    items: list[Body] = []
    token = ""
    while True:
        query = {**collection.query, "limit": str(PAGE), **({"continue": token} if token else {})}
        try:
            page = api.get(collection.path, query, decode)
        except ExpiredError as expired:
            if not expired.fresh:
                items.clear()
            token = expired.fresh
            continue
        more = [keep(body) for body in page.get("items") or () if isinstance(body, dict)]
        if listed is not None:
            listed(len(more))
        items += more
        token = str(at(page, "metadata", "continue") or "")
        if not token:
            return ObjectList(items, str(at(page, "metadata", "resourceVersion") or ""))


class Event(Struct, frozen=True):
    """A change in a collection."""

    kind: str
    """`ADDED`, `MODIFIED` or `DELETED`; `RELISTED` with all objects after changes that were missed."""
    body: Body
    items: tuple[Body, ...] = ()


def watch_objects(api: Api, collection: Collection, version: str, stopped: Callable[[], bool]) -> Generator[Event]:
    """Changes since a version of the list. After a cut it goes on from the last version that it has seen; if the server
    no longer has that, it lists again.
    """
    failures = 0
    while not stopped():
        try:
            for one in _changes(api, collection, version):
                failures = 0
                version = str(at(one, "object", "metadata", "resourceVersion") or version)
                if one["type"] != "BOOKMARK":
                    yield Event(one["type"], one["object"])
        except ExpiredError:
            listed = list_objects(api, collection)
            version = listed.version
            yield Event("RELISTED", {}, tuple(listed.items))
        except ClusterError as error:
            if error.code is CLUSTER_FORBIDDEN:
                raise
            failures += 1
        except NotFoundError:
            failures += 1
        if not stopped():
            time.sleep(_PAUSES_S[min(failures, len(_PAUSES_S) - 1)])


def _changes(api: Api, collection: Collection, version: str) -> Iterator[Body]:
    query = {
        **collection.query,
        "watch": "1",
        "resourceVersion": version,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(_ASKED_S),
    }
    for line in api.lines(collection.path, query, _IDLE_S):
        try:
            one = orjson.loads(line)
        except ValueError:
            return
        kind, body = at(one, "type"), at(one, "object")
        if kind == "ERROR":
            if at(body, "code") == _GONE:
                raise ExpiredError
            raise ClusterError(CLUSTER_ANSWER, "the watch ended with an error", "run the command again")
        if isinstance(kind, str) and isinstance(body, dict):
            yield one


class Discovery:
    """Discovery of one API server, asked once for each version."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, dict[str, str]] = {}
        self._groups: dict[str, list[str]] | None = None

    def resource(self, version: str, kind: str) -> str | None:
        """Plural name of a kind; None if the cluster does not serve it. ClusterError without an answer."""
        if version not in self._known:
            self._known[version] = self._resources(version)
        return self._known[version].get(kind)

    def versions(self, group: str) -> list[str]:
        """API versions that the cluster serves of a group, the preferred one first."""
        if self._groups is None:
            listed = self._api.get("/apis").get("groups") or ()
            self._groups = {}
            for one in listed:
                preferred = str(one.get("preferredVersion", {}).get("groupVersion") or "")
                names = [str(version["groupVersion"]) for version in one.get("versions") or ()]
                self._groups[str(one.get("name"))] = sorted(names, key=lambda name: name != preferred)
        return self._groups.get(group, [])

    def _resources(self, version: str) -> dict[str, str]:
        try:
            listed = self._api.get(base_of(version)).get("resources") or ()
        except NotFoundError:
            return {}
        # a subresource, such as a status, has the same kind
        return {str(one["kind"]): str(one["name"]) for one in listed if "/" not in one["name"]}


def base_of(version: str) -> str:
    """The path of an API version."""
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
