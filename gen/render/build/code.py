"""The init container that fetches source code: git-sync version 4, or rsync.

git-sync's settings are those of its version 4 (kubernetes/git-sync, `v3-to-v4.md` and `docs/kubernetes.md`). Its
old names are silently ignored by some releases, so none is ever written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import GITSYNC_REF, GITSYNC_REPO, Body, present
from gen.render.build.parts import resources
from gen.render.plan.code import CODE, CREDENTIALS

if TYPE_CHECKING:
    from gen.kinds.plan import CodePlan

_ROOT = "/code"
_SECRET = "/etc/git-secret"  # noqa: S105 - git-sync's own default directory
_GIT_SYNC_USER = 65533


def code_container(code: CodePlan) -> Body:
    mounts: list[Body] = [{"name": CODE, "mountPath": _ROOT}]
    if code.credentials is not None:
        mounts.append({"name": CREDENTIALS, "mountPath": _SECRET, "readOnly": True})
    return present(
        name="git-sync" if code.git else "rsync",
        image=code.image,
        command=None if code.git else ["rsync", "-a", str(code.rsync), f"{_ROOT}/"],
        env=_environment(code) if code.git else None,
        resources=resources(code.resources),
        securityContext=_security(code),
        volumeMounts=mounts,
    )


def _environment(code: CodePlan) -> list[Body]:
    settings = {
        GITSYNC_REPO: code.git,
        GITSYNC_REF: code.ref,
        "GITSYNC_ROOT": _ROOT,
        "GITSYNC_LINK": code.name,
        "GITSYNC_ONE_TIME": "true",
        "GITSYNC_DEPTH": str(code.depth),
        "GITSYNC_SUBMODULES": code.submodules,
    }
    entries: list[Body] = [{"name": name, "value": value} for name, value in settings.items()]
    if code.credentials is not None and not code.ssh:
        user = {"secretKeyRef": {"name": code.credentials, "key": "username"}}
        entries.append({"name": "GITSYNC_USERNAME", "valueFrom": user})
        entries.append({"name": "GITSYNC_PASSWORD_FILE", "value": f"{_SECRET}/password"})
    if code.credentials is not None and code.ssh:
        entries.append({"name": "GITSYNC_SSH_KEY_FILE", "value": f"{_SECRET}/ssh"})
        entries.append({"name": "GITSYNC_SSH_KNOWN_HOSTS_FILE", "value": f"{_SECRET}/known_hosts"})
    return entries


def _security(code: CodePlan) -> Body:
    """git-sync's image runs as a user of its own; nothing is known of an rsync image."""
    if not code.git:
        return {"allowPrivilegeEscalation": False}
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": _GIT_SYNC_USER,
    }
