"""Settings of Argo CD: the health checks of runs, and the messages about their ends.

They are keys of ConfigMaps that belong to the installation of Argo CD. An apply of an object with these keys alone
would remove all others: kubectl and Argo CD hand the fields of a client-side apply over to the server-side one
(`client-go/util/csaupgrade`). So they are rendered as merge patches, which no `apply` or `delete` accepts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import CONFIG_MAP, DEPLOYMENT, INGRESS, RESOURCE_CLAIM_TEMPLATE, SERVICE
from gen.kubernetes.facts.kfp import PIPELINE, PIPELINE_VERSION
from gen.kubernetes.facts.scheduling import POD_GROUP
from gen.kubernetes.objects import MANAGED_BY
from gen.overlay.profiles.engines.base import Settings

if TYPE_CHECKING:
    from jinja2 import Template

RUN_FAILED, RUN_SUCCEEDED, SYNC_FAILED = "gen-run-failed", "gen-run-succeeded", "gen-sync-failed"
RUN_ENDED = (RUN_FAILED, RUN_SUCCEEDED)

_RETRIES = 5
"""Failed attempts, which take about three minutes, before a message: namespaces and quotas are often late."""
# once for each revision that was applied; `app.status.sync.revision` changes with every commit of the repository
_ONCE_PER_SYNC = "app.status?.operationState?.syncResult?.revision"
# a revision would announce a run again after a change of its labels. The runs of a sweep or a schedule, and those with
# the name of the job, differ by the changes of the state
_ONCE_PER_RUN = (
    "len(runs) == 1 and not (app.metadata.name endsWith ('.' + runs[0].name)) "
    "? runs[0].name : app.status?.health?.lastTransitionTime"
)
# health is that of the objects in the cluster, so it can be of an earlier run until the files are applied; an
# Application with unreadable files is Healthy
_APPLIED = "app.status?.sync?.status == 'Synced' and app.status?.operationState?.phase == 'Succeeded'"
# Argo CD retries without a limit, so an operation that fails stays `Running`
_REFUSED = (
    "app.status?.operationState?.phase in ['Error', 'Failed'] or (app.status?.operationState?.phase == 'Running' "
    f"and (app.status?.operationState?.retryCount ?? 0) >= {_RETRIES})"
)
_MESSAGES = {
    RUN_FAILED: "its run failed",
    RUN_SUCCEEDED: "its run succeeded",
    SYNC_FAILED: "its files could not be applied",
}
_BESIDE_RUNS = (
    *(CONFIG_MAP, SERVICE, DEPLOYMENT, INGRESS, RESOURCE_CLAIM_TEMPLATE, POD_GROUP),
    *(CRON_WORKFLOW, PIPELINE, PIPELINE_VERSION),
)
"""Kinds of other objects of jobs, and of objects with runs that Argo CD does not see."""
_HEALTH = {RUN_FAILED: "Degraded", RUN_SUCCEEDED: "Healthy"}
"""An Application is one job, so its health is that of the run."""
# the context has no URL unless Argo CD is configured with one
_LINK = (
    "{{ with .context }}{{ with .argocdUrl }} "
    "{{ . }}/applications/{{ $.app.metadata.namespace }}/{{ $.app.metadata.name }}{{ end }}{{ end }}"
)


def health_settings(resources: Iterable[Resource]) -> Settings:
    """Health checks. Without one, a run is healthy as soon as its object exists."""
    checks = {
        f"resource.customizations.health.{resource.group}_{resource.kind}": check
        for resource in resources
        if (check := health_check(resource)) is not None
    }
    return Settings(config_map="argocd-cm", data=checks)


def health_check(resource: Resource) -> str | None:
    """A Lua script over `obj`. Final states come first, because older conditions can still be true.

    The state of a schedule is that of its last run, and does not change with its suspension.
    """
    if resource.times is not None:
        return _template().render(times=resource.times, label=MANAGED_BY)
    status = resource.status
    if status is None:
        return None
    states = (("Degraded", status.failed), ("Healthy", status.succeeded), ("Suspended", status.suspended))
    signs: dict[str, list[tuple[Any, str]]] = {"conditions": [], "phases": []}
    for health, sign in states:
        if isinstance(sign, str):
            signs["conditions"].append((sign, health))
        else:
            signs["phases"] += [(phase, health) for phase in sign or ()]
    return _template().render(signs, times=None)


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - the result is not HTML
        loader=PackageLoader("gen"), keep_trailing_newline=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("health.lua.j2")


def notification_settings(resources: Iterable[Resource]) -> Settings:
    """Triggers and templates. Overlays share them, so they name kinds without the end of a run in their health.

    Argo CD has no sync status of an object that it skips, so records of runs are not among `runs`.
    """
    silent = {one.kind for one in (*_BESIDE_RUNS, *resources) if one.times is None and one.status is None}
    kinds = ", ".join(f"'{kind}'" for kind in sorted(silent))
    runs = f"let runs = filter(app.status?.resources ?? [], {{.kind not in [{kinds}] and .status == 'Synced'}}); "
    data = {}
    for name, what in _MESSAGES.items():
        when, once = _REFUSED, _ONCE_PER_SYNC
        if name in _HEALTH:
            when = f"{runs}len(runs) > 0 and app.status?.health?.status == '{_HEALTH[name]}' and {_APPLIED}"
            once = f"{runs}{_ONCE_PER_RUN}"
        data[f"template.{name}"] = f"message: '{{{{ .app.metadata.name }}}}: {what}.{_LINK}'\n"
        data[f"trigger.{name}"] = f'- when: "{when}"\n  oncePer: "{once}"\n  send: [{name}]\n'
    return Settings(config_map="argocd-notifications-cm", data=dict(sorted(data.items())))
