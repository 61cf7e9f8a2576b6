"""Pins: digests of images and commits of refs, which a run looks up in the lock of its job. Reports unpinned ones."""

from __future__ import annotations

from functools import partial
from typing import Literal

from gen.base import Route, regex
from gen.base.codes.pins import MUTABLE_REF
from gen.base.engines import RECORDS
from gen.base.placeholders import RUN, TRIAL
from gen.base.repository.layout import job_key
from gen.job.fields import Code
from gen.job.plan import NodePlan
from gen.job.scalars import shown
from gen.kubernetes.objects import ARCHITECTURE
from gen.pins.lock import CODE, is_full_commit, is_full_digest, name_of
from gen.render.parts.context import Context

Part = Literal["run", "not the run", "platform"]
"""Owner of an image: the run, another object of the job, or a container that gen adds."""
_SHORT_COMMIT = regex(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,39}")
"""With digits and letters: numbers and words are names of branches and tags, too."""
_SAME = "use a name that is the same for all runs"


def digest_of(context: Context, image: str, pulled: str, route: Route, part: Part) -> str:
    """`@sha256:…` for an image with a pin, and an empty text for others."""
    pins = context.pins.shared
    if pins is None or not image:
        return ""
    if is_full_digest(image):
        pins.fixed_images.setdefault(pulled, partial(context.given.place, *route))
        return ""
    if "@" in image:
        message = f"image {shown(image)} has a digest of another form than those that runtimes check"
        _report(context, route, message, "write `@sha256:` with 64 digits in lower case", image=True)
        return ""
    if RUN in image or TRIAL in image:
        message = f"image {shown(image)} cannot be pinned, because its name depends on the run"
        _report(context, route, message, _SAME, image=True)
        return ""
    if part != "platform":
        pins.origins.setdefault(name_of(image), []).append(partial(context.given.place, *route))
    pins.images.setdefault(image, {})[pulled] = None
    pins.places.setdefault(image, partial(context.given.place, *route))
    digest = pins.lock.images.get(image, "")
    if not digest:
        if _is_reported(context, image=True):
            own = part != "platform" and context.set_by_job(route)
            pinned, command = f"`{image}@sha256:…` into the", f"run `gen pin {_job(context)}`"
            hint = f"{command}, or write {pinned} job" if own else f"write {pinned} overlay, or {command}"
            message = f"image {shown(image)} has no pin, so its tag can move to another image"
            _report(context, route, message, hint, image=True)
        return ""
    if part == "run" and context.set_by_job(route):
        context.pins.own[image] = digest
    return f"@{digest}"


def pinned_ref(context: Context, code: Code) -> str:
    """The commit of a ref with a pin; other refs as they are."""
    pins = context.pins.shared
    route = (CODE, "ref") if "ref" in code.model_fields_set else (CODE,)
    if pins is None:
        return code.ref
    if code.git is None:
        message = "code from rsync cannot be pinned, so pods of one run can get different files"
        _report(context, (CODE, "rsync"), message, "use `git` with a pin or a full commit hash")
        return code.ref
    if is_full_commit(code.ref):
        pins.fixed_code.setdefault((code.git, code.ref), partial(context.given.place, *route))
        return code.ref
    if any(mark in text for mark in (RUN, TRIAL) for text in (code.git, code.ref)):
        _report(context, route, "the code cannot be pinned, because its name depends on the run", _SAME)
        return code.ref
    key = (code.git, code.ref)
    pins.origins.setdefault(code.git, []).append(partial(context.given.place, CODE, "git"))
    pins.code.setdefault(key, partial(context.given.place, *route))
    commit = pins.lock.commits.get(key, "")
    if not commit:
        hint = f"run `gen pin {_job(context)}`, or write a full hash: `ref: <commit>`"
        message = f"ref {shown(code.ref)} has no pin, so pods of one run can get different commits"
        if _SHORT_COMMIT.fullmatch(code.ref):
            message = f"{shown(code.ref)} looks like a short commit hash, which Git cannot fetch"
            hint = "write the full hash, of 40 digits"
        _report(context, route, message, hint)
        return code.ref
    if context.set_by_job((CODE, "git")):
        context.pins.own[f"{code.git} {code.ref}"] = commit
    return commit


def note_architecture(context: Context, nodes: NodePlan) -> None:
    """Remember the architectures of the nodes that a role chooses, for which its images must be built."""
    if context.pins.shared is not None:
        context.pins.shared.architectures.update(nodes.labels.get(ARCHITECTURE, ()))


def _report(context: Context, route: Route, message: str, hint: str, *, image: bool = False) -> None:
    demand = context.overlay.fields.pins
    if not _is_reported(context, image=image):
        return
    report = context.found.error if demand == "required" else context.found.warning
    report(MUTABLE_REF, context.place(*route), message, hint)


def _is_reported(context: Context, *, image: bool) -> bool:
    """Whether content that can change is reported. A finished job is a record, which `gen pin` leaves alone."""
    ignored = {"off", "code"} if image else {"off"}
    return context.overlay.fields.pins not in ignored and context.job.state not in RECORDS


def _job(context: Context) -> str:
    return job_key(context.given.source.file)
