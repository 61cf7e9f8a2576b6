"""Source code that an init container fetches before the training container starts: git-sync version 4, or rsync.

git-sync's settings are those of its version 4 (kubernetes/git-sync, `v3-to-v4.md` and `docs/kubernetes.md`). Its
old names are silently ignored by some releases, so none is ever written.
"""

from __future__ import annotations

from gen.base import regex
from gen.base.codes.jobs import INVALID_VALUE, NO_CREDENTIALS, NO_EFFECT, NO_RSYNC
from gen.base.placeholders import with_hash
from gen.job.fields import Code
from gen.job.names import URL_HOST, is_git_url
from gen.job.plan import CodePlan, MountPlan, VolumePlan
from gen.job.scalars import shown
from gen.kubernetes.objects import GITSYNC_REF, GITSYNC_REPO, Body, present
from gen.overlay.secrets import CODE as CREDENTIALS_FIELD
from gen.render.parts import containers, grants, pins
from gen.render.parts.context import Context

CODE = "code"
CREDENTIALS = "code-credentials"
DEFAULT_WORKING_DIR = "/root"
_GIT_ONLY = frozenset({"ref", "depth", "submodules", "credentials", "name"})

_NAME = regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_RSYNC = regex(rf"rsync://{URL_HOST}|[A-Za-z0-9][A-Za-z0-9.-]*::[^\s]+")
_REF = regex(r"[^-\s][^\s]*")
"""A leading `-` would make it an option of the command."""


def plan_code(context: Context) -> CodePlan | None:
    """The code of the job, which is the same for all roles."""
    code = context.job.code
    if code is None or not _checked(context, code):
        return None
    sync = context.overlay.fields.code_sync
    image = sync.rsync_image if code.rsync else sync.git_image
    url = code.git or code.rsync or ""
    name = code.name or url.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1].removesuffix(".git")
    if image is None:
        hint = "use `git`, or add `codeSync.rsyncImage` to the overlay"
        context.error(NO_RSYNC, ("code", "rsync"), f"overlay `{context.overlay.name}` does not support rsync", hint)
        return None
    if code.git is not None and not _NAME.fullmatch(with_hash(name)):
        context.error(
            INVALID_VALUE, ("code",), f"`{name}` is not a valid directory name for the code", "add `name` to `code`"
        )
        return None
    if code.credentials is not None:
        grants.check_secret(context, code.credentials, ("code", "credentials"), CREDENTIALS_FIELD)
    plan = CodePlan(
        image=grants.of_platform(context, image, "code"),
        git=code.git,
        rsync=code.rsync,
        ref=pins.pinned_ref(context, code),
        depth=code.depth,
        submodules=code.submodules,
        credentials=code.credentials,
        name=name,
        resources={"cpu": sync.cpu, "memory": sync.memory},
    )
    if plan.ssh and plan.credentials is None:
        hint = "add `credentials`, a Secret with the keys `ssh` and `known_hosts`, or use the https URL"
        message = "ssh needs a key, and `code` has no `credentials`"
        context.found.warning(NO_CREDENTIALS, context.place("code", "git"), message, hint)
    return plan


def _checked(context: Context, code: Code) -> bool:
    if (code.git is None) == (code.rsync is None):
        context.error(INVALID_VALUE, ("code",), "`code` needs either `git` or `rsync`", "set exactly one of the two")
    elif code.git is not None and not is_git_url(code.git):
        hint = "use a form like `https://example.com/team/project.git` or `git@example.com:team/project.git`"
        context.error(INVALID_VALUE, ("code", "git"), f"`{code.git}` is not a valid URL of a Git repository", hint)
    elif not _REF.fullmatch(code.ref):
        hint = "name a branch, a tag or a full commit hash"
        context.error(INVALID_VALUE, ("code", "ref"), f"{shown(code.ref)} is not a valid Git ref", hint)
    elif code.rsync is not None and not _RSYNC.fullmatch(code.rsync):
        hint = "use a form like `host::module/path` or `rsync://host/module/path`"
        context.error(INVALID_VALUE, ("code", "rsync"), f"`{code.rsync}` is not a valid rsync source", hint)
    else:
        _check_git_only(context, code)
        return True
    return False


def _check_git_only(context: Context, code: Code) -> None:
    """Report fields of the job file that only `git` has. rsync copies the whole source without them."""
    for field in sorted(code.model_fields_set & _GIT_ONLY) if code.git is None else ():
        if context.set_by_job(("code", field)):
            message = f"`{field}` has no effect together with `rsync`"
            context.error(NO_EFFECT, ("code", field), message, f"remove `{field}`, or use `git`", key=True)


def code_volumes(code: CodePlan) -> tuple[VolumePlan, ...]:
    """The volume for the code, and the volume with the credentials, which only the init container mounts."""
    volumes = [VolumePlan(name=CODE, source={"emptyDir": {}})]
    if code.credentials is not None:
        # ssh rejects keys that others can read; the pod's fsGroup makes this 0440 for the user of git-sync
        secret = present(secretName=code.credentials, defaultMode=0o400 if code.ssh else None)
        volumes.append(VolumePlan(name=CREDENTIALS, source={"secret": secret}))
    return tuple(volumes)


def code_mount(working_dir: str | None) -> MountPlan:
    """Mounts the whole volume: git-sync links to a directory next to the link, which a `subPath` would exclude."""
    path = f"{(working_dir or DEFAULT_WORKING_DIR).rstrip('/')}/code"
    return MountPlan(volume=CODE, path=path, route=("code",))


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
        resources=containers.resources(code.resources),
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
