"""Additions to the settings of Argo CD: health checks of training kinds, and notifications about runs.

They are keys of ConfigMaps that belong to whoever installed Argo CD. An apply of an object with these keys alone would
remove all others: kubectl and Argo CD hand the fields of a client-side apply over to the server-side one
(`client-go/util/csaupgrade`). So they are rendered as merge patches, which no `apply` or `delete` accepts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gen.gitops.base import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Template

    from gen.resources.base import Resource, Status

RUN_FAILED, RUN_SUCCEEDED, SYNC_FAILED = "gen-run-failed", "gen-run-succeeded", "gen-sync-failed"
RUN_ENDED = (RUN_FAILED, RUN_SUCCEEDED)

_RETRIES = 5
"""Failed attempts, which take about three minutes, before a message: namespaces and quotas are often late."""
# once for each revision that was applied; `app.status.sync.revision` changes with every commit of the repository
_ONCE = "app.status?.operationState?.syncResult?.revision"
# health is that of what is in the cluster, so it can be of an earlier run until the files are applied; an Application
# whose files cannot be read is Healthy
_APPLIED = "app.status?.sync?.status == 'Synced' and app.status?.operationState?.phase == 'Succeeded'"
# Argo CD tries again for ever, so an operation that fails stays `Running`
_REFUSED = (
    "app.status?.operationState?.phase in ['Error', 'Failed'] or (app.status?.operationState?.phase == 'Running' "
    f"and (app.status?.operationState?.retryCount ?? 0) >= {_RETRIES})"
)
_TRIGGERS = {
    RUN_FAILED: (f"app.status?.health?.status == 'Degraded' and {_APPLIED}", "its run failed"),
    RUN_SUCCEEDED: (f"app.status?.health?.status == 'Healthy' and {_APPLIED}", "its run succeeded, or is retired"),
    SYNC_FAILED: (_REFUSED, "its files could not be applied"),
}
"""Condition and message of each trigger. An Application is one job, so its health is that of the run."""
# the context has no URL unless Argo CD is configured with one
_LINK = (
    "{{ with .context }}{{ with .argocdUrl }} "
    "{{ . }}/applications/{{ $.app.metadata.namespace }}/{{ $.app.metadata.name }}{{ end }}{{ end }}"
)


def health_settings(resources: Iterable[Resource]) -> Settings:
    """Health checks. Without one, a run is healthy as soon as its object exists."""
    checks = {
        f"resource.customizations.health.{resource.group}_{resource.kind}": health_check(resource.status)
        for resource in resources
        if resource.status is not None
    }
    return Settings(config_map="argocd-cm", data=checks)


def health_check(status: Status) -> str:
    """A Lua script over `obj`. Final states come first, because older conditions can still be true."""
    states = (("Degraded", status.failed), ("Healthy", status.succeeded), ("Suspended", status.suspended))
    signs: dict[str, list[tuple[Any, str]]] = {"conditions": [], "phases": []}
    for health, sign in states:
        if isinstance(sign, str):
            signs["conditions"].append((sign, health))
        else:
            signs["phases"] += [(phase, health) for phase in sign or ()]
    return _template().render(signs)


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - 40 ms that most runs do not need

    environment = Environment(  # noqa: S701 - the result is not HTML
        loader=PackageLoader("gen"),
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("health.lua.j2")


def notification_settings() -> Settings:
    data = {}
    for name, (when, what) in _TRIGGERS.items():
        data[f"template.{name}"] = f"message: '{{{{ .app.metadata.name }}}}: {what}.{_LINK}'\n"
        data[f"trigger.{name}"] = f'- when: "{when}"\n  oncePer: {_ONCE}\n  send: [{name}]\n'
    return Settings(config_map="argocd-notifications-cm", data=dict(sorted(data.items())))
