"""Source code that an init container fetches before the training container starts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gen.findings.jobs import INVALID_VALUE, NO_CREDENTIALS, NO_EFFECT, NO_RSYNC
from gen.kinds.mounts import MountPlan, VolumePlan
from gen.kinds.plan import CodePlan
from gen.kubernetes import present, with_hash
from gen.model.scalars import shown
from gen.regex import regex
from gen.render.plan.images import of_platform
from gen.render.plan.pins import pinned_ref

if TYPE_CHECKING:
    from gen.model.job import Code
    from gen.render.plan.context import Context

CODE = "code"
CREDENTIALS = "code-credentials"
DEFAULT_WORKING_DIR = "/root"
_GIT_ONLY = frozenset({"ref", "depth", "submodules", "credentials", "name"})

_NAME = regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_HOST = r"(?:[^\s@/%-][^\s@/]*@)*[^\s@/%-][^\s@/]*(?:/\S*)?"
"""Users and host of a URL. `ssh` and `rsync` would take a leading `-`, which `%2d` also stands for, for an option."""
_GIT = regex(rf"(?:https?|ssh)://{_HOST}|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s-]\S*")
_RSYNC = regex(rf"rsync://{_HOST}|[A-Za-z0-9][A-Za-z0-9.-]*::[^\s]+")
_REF = regex(r"[^-\s][^\s]*")
"""A leading `-` would make it an option of the command."""


@lru_cache(maxsize=1024)  # jobs have the same code
def is_git_url(url: str) -> bool:
    """Whether Git can fetch from a URL by https, http or ssh, and takes no part of it for an option."""
    return _GIT.fullmatch(url) is not None


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
            INVALID_VALUE,
            ("code",),
            f"`{name}` is not a valid directory name for the code",
            "add `name` to `code`",
        )
        return None
    plan = CodePlan(
        image=of_platform(context, image, "code"),
        git=code.git,
        rsync=code.rsync,
        ref=pinned_ref(context, code),
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
