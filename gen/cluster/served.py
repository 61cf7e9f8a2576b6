"""Which API versions and resources a cluster serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.cluster.errors import NotFoundError

if TYPE_CHECKING:
    from gen.cluster.client import Api


class Served:
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
