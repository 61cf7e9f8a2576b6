"""What Argo CD's own settings lack: health checks of training kinds, and notifications of runs that end.

They are parts of ConfigMaps that belong to Argo CD, to be merged into them by a server-side apply. So they carry no
label but the one by which Argo CD knows its settings, and no engine may prune or delete them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes import Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.gitops.base import Workload

RUN_FAILED, RUN_SUCCEEDED, SYNC_FAILED = "gen-run-failed", "gen-run-succeeded", "gen-sync-failed"
RUN_ENDED = (RUN_FAILED, RUN_SUCCEEDED)

# once for each revision that was applied; `app.status.sync.revision` changes with every commit of the repository
_ONCE = "app.status?.operationState?.syncResult?.revision"
_TRIGGERS = {
    RUN_FAILED: ("app.status.health.status == 'Degraded'", "its run failed"),
    RUN_SUCCEEDED: ("app.status.health.status == 'Healthy'", "its run succeeded, or is retired"),
    SYNC_FAILED: ("app.status?.operationState?.phase in ['Error', 'Failed']", "its files could not be applied"),
}
"""When something is told, and what. An Application is one job, so its health is the run's."""
_LINK = "{{.context.argocdUrl}}/applications/{{.app.metadata.namespace}}/{{.app.metadata.name}}"


def health_settings(namespace: str, workloads: Iterable[Workload]) -> Body:
    """Health checks, without which a run counts as healthy as soon as its object is there."""
    checks = {
        f"resource.customizations.health.{workload.group}_{workload.kind}": health_check(workload)
        for workload in workloads
        if not workload.known
    }
    return _settings("argocd-cm", namespace, checks)


def health_check(workload: Workload) -> str:
    """A Lua script over `obj`. Terminal conditions come first, since older ones may still be there."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - 40 ms that most runs do not need

    environment: Any = Environment(  # noqa: S701 - the result is no HTML
        loader=PackageLoader("gen"), keep_trailing_newline=True, undefined=StrictUndefined
    )
    text: str = environment.get_template("health.lua.j2").render(workload=workload)
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
