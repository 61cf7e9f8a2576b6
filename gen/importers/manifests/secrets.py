"""Pods without values that a job has in another form: secrets, variables of the kind, default policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.importers.draft import is_secret
from gen.importers.manifests.pods import has_default_policy
from gen.kubernetes import at

if TYPE_CHECKING:
    from gen.kubernetes import Body


def without_secrets(spec: Body, job: str, gone: frozenset[str]) -> Body:
    """A pod with a reference in place of each secret variable, as the job has it, and without the variables `gone`."""
    changed = dict(spec)
    for field in ("containers", "initContainers"):
        if isinstance(spec.get(field), list):
            changed[field] = [_container(one, job, gone) for one in spec[field]]
    return changed


def _container(container: Any, job: str, gone: frozenset[str]) -> Any:
    if isinstance(container, dict) and has_default_policy(container):
        container = {key: value for key, value in container.items() if key != "imagePullPolicy"}
    entries = at(container, "env")
    if not isinstance(entries, list):
        return container
    return {**container, "env": [_variable(one, job) for one in entries if at(one, "name") not in gone]}


def _variable(entry: Any, job: str) -> Any:
    name, value = at(entry, "name"), at(entry, "value")
    if not isinstance(name, str) or value is None or not is_secret(name, str(value)):
        return entry
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": f"{job}-env", "key": name}}}
