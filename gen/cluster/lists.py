"""Lists of objects, read page by page, and watches that go on where they were cut off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import orjson
from msgspec import Struct

from gen.cluster.errors import ClusterError, ExpiredError, NotFoundError
from gen.findings.clusters import CLUSTER_ANSWER, CLUSTER_FORBIDDEN
from gen.kubernetes import Body, at

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from gen.cluster.client import Api

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


class Listed(Struct, frozen=True):
    """All objects of a collection, and the version of the list, from which a watch goes on."""

    items: list[Body]
    version: str


def list_objects(api: Api, collection: Collection, keep: Callable[[Body], Body] = lambda body: body) -> Listed:
    """All objects, each reduced by `keep` as it comes. A list that expires between two pages goes on as it is now."""
    items: list[Body] = []
    token = ""
    while True:
        query = {**collection.query, "limit": str(PAGE), **({"continue": token} if token else {})}
        try:
            page = api.get(collection.path, query)
        except ExpiredError as expired:
            if not expired.fresh:
                items.clear()
            token = expired.fresh
            continue
        items += [keep(body) for body in page.get("items") or () if isinstance(body, dict)]
        token = str(at(page, "metadata", "continue") or "")
        if not token:
            return Listed(items, str(at(page, "metadata", "resourceVersion") or ""))


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


def _changes(api: Api, collection: Collection, version: str) -> Iterator[dict[str, Any]]:
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
