"""Additions to the settings of Argo CD: health checks of training kinds, and notifications about runs.

They are parts of ConfigMaps that belong to Argo CD, and a server-side apply merges them. So their only label is the
one that Argo CD requires, and no engine may prune or delete them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes import Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.resources.base import Resource, Status

RUN_FAILED, RUN_SUCCEEDED, SYNC_FAILED = "gen-run-failed", "gen-run-succeeded", "gen-sync-failed"
RUN_ENDED = (RUN_FAILED, RUN_SUCCEEDED)

# once for each revision that was applied; `app.status.sync.revision` changes with every commit of the repository
_ONCE = "app.status?.operationState?.syncResult?.revision"
_TRIGGERS = {
    RUN_FAILED: ("app.status.health.status == 'Degraded'", "its run failed"),
    RUN_SUCCEEDED: ("app.status.health.status == 'Healthy'", "its run succeeded, or is retired"),
    SYNC_FAILED: ("app.status?.operationState?.phase in ['Error', 'Failed']", "its files could not be applied"),
}
"""Condition and message of each trigger. An Application is one job, so its health is that of the run."""
_LINK = "{{.context.argocdUrl}}/applications/{{.app.metadata.namespace}}/{{.app.metadata.name}}"


def health_settings(namespace: str, resources: Iterable[Resource]) -> Body:
    """Health checks. Without one, a run is healthy as soon as its object exists."""
    checks = {
        f"resource.customizations.health.{resource.group}_{resource.kind}": health_check(resource.status)
        for resource in resources
        if resource.status is not None
    }
    return _settings("argocd-cm", namespace, checks)


def health_check(status: Status) -> str:
    """A Lua script over `obj`. Final states come first, because older conditions can still be true."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - 40 ms that most runs do not need

    states = (("Degraded", status.failed), ("Healthy", status.succeeded), ("Suspended", status.suspended))
    signs: dict[str, list[tuple[Any, str]]] = {"conditions": [], "phases": []}
    for health, sign in states:
        if isinstance(sign, str):
            signs["conditions"].append((sign, health))
        else:
            signs["phases"] += [(phase, health) for phase in sign or ()]
    environment: Any = Environment(  # noqa: S701 - the result is not HTML
        loader=PackageLoader("gen"),
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    text: str = environment.get_template("health.lua.j2").render(signs)
    return text


def notification_settings(namespace: str) -> Body:
    data = {}
    for name, (when, what) in _TRIGGERS.items():
        data[f"template.{name}"] = f"message: '{{{{.app.metadata.name}}}}: {what}. {_LINK}'\n"
        data[f"trigger.{name}"] = f"- when: {when}\n  oncePer: {_ONCE}\n  send: [{name}]\n"
    return _settings("argocd-notifications-cm", namespace, dict(sorted(data.items())))


def _settings(name: str, namespace: str, data: Mapping[str, str]) -> Body:
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {"app.kubernetes.io/part-of": "argocd"},
        "annotations": {
            "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
            "argocd.argoproj.io/sync-options": "Prune=false,Delete=false,ServerSideApply=true",
        },
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}
