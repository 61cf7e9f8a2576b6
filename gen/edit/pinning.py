"""The pins of jobs and the replies of servers: questions to ask, findings, and new locks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from gen.edit.lock_text import lock_text
from gen.findings.pins import MIRRORS_DIFFER, MOVED_PIN, WRONG_PLATFORM
from gen.model.scalars import shown
from gen.pins.links import comparison
from gen.pins.lock import CODE, IMAGES
from gen.remote.errors import RemoteError
from gen.remote.resolve import CodeQuestion, Found, ImageQuestion
from gen.render.plan.lookups import Pins
from gen.repository.layout import JobFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from gen.diagnostics import Findings, Location
    from gen.remote.resolve import Question, Reply

Key = TypeVar("Key")


class JobPins(Struct, frozen=True, kw_only=True):
    """A job with the images and refs that it can pin, and the text of its lock."""

    job: JobFile
    pins: Pins
    text: str


class Moved(Struct, frozen=True, kw_only=True):
    """A pin before and after; empty where there is none."""

    name: str
    old: str
    new: str
    link: str = ""


class Pinned(Struct, frozen=True, kw_only=True):
    """A lock to write."""

    job: JobFile
    text: str
    moved: tuple[Moved, ...]

    @property
    def file(self) -> str:
        return self.job.lock


def questions(jobs: Iterable[JobPins], *, update: bool, check: bool) -> Iterator[Question]:
    """The questions for `pinned` or `checked`."""
    for one in jobs:
        pins, lock = one.pins, one.pins.lock
        for image, names in pins.images.items():
            pin = lock.images.get(image, "")
            if update or check or not pin:
                yield from (ImageQuestion(image=name, pin=pin if check else "") for name in names)
        for git, ref in pins.code:
            pin = lock.commits.get((git, ref), "")
            if update or check or not pin:
                yield CodeQuestion(git=git, ref=ref, pin=pin if check else "")
        if check:
            yield from (ImageQuestion(image=image) for image in pins.fixed_images)
            yield from (CodeQuestion(git=git, pin=commit) for git, commit in pins.fixed_code)


def pinned(
    jobs: Sequence[JobPins],
    replies: Mapping[Question, Reply],
    platforms: Sequence[str],
    found: Findings,
    *,
    update: bool,
) -> list[Pinned]:
    """The locks that change. An image or a ref without a reply is a finding, and keeps its pin."""
    done = [_pinned(one, replies, platforms, found, update=update) for one in jobs]
    return [one for one in done if one is not None]


def _pinned(
    one: JobPins, replies: Mapping[Question, Reply], platforms: Sequence[str], found: Findings, *, update: bool
) -> Pinned | None:
    pins, lock = one.pins, one.pins.lock
    images = {image: pin for image, pin in lock.images.items() if image in pins.images}
    commits = {key: pin for key, pin in lock.commits.items() if key in pins.code}
    for image, names in pins.images.items():
        if update or image not in images:
            asked = [(name, replies[ImageQuestion(image=name)]) for name in names]
            digest = _digest(asked, _needed(pins, platforms), pins.places[image](), found)
            images |= {image: digest} if digest else {}
    for (git, ref), placed in pins.code.items():
        if update or (git, ref) not in commits:
            reply = replies[CodeQuestion(git=git, ref=ref)]
            if isinstance(reply, RemoteError):
                _report(reply, placed(), found)
            else:
                commits[git, ref] = reply.content
    text = lock_text(one.job.key, images, commits, one.text, updates=lock.updates)
    moved = (
        *(Moved(name=name, old=old, new=new) for name, old, new in _differences(lock.images, images)),
        *(
            Moved(name=f"{git} {ref}", old=old, new=new, link=comparison(git, old, new) if old and new else "")
            for (git, ref), old, new in _differences(lock.commits, commits)
        ),
    )
    return Pinned(job=one.job, text=text, moved=moved) if moved or (text != one.text and text) else None


def _digest(asked: Sequence[tuple[str, Reply]], platforms: frozenset[str], place: Location, found: Findings) -> str:
    """The digest that all mirrors of an image have; empty with a finding."""
    known: dict[str, str] = {}
    for name, reply in asked:
        if isinstance(reply, RemoteError):
            _report(reply, place, found)
        elif not _has(name, reply, platforms, place, found):
            return ""
        else:
            known.setdefault(reply.content, name)
    if len(known) > 1:
        names = ", ".join(f"`{name}`" for name in list(known.values())[:3])
        message = f"{names} have different digests, so no pin is right for all overlays"
        found.error(MIRRORS_DIFFER, place, message, "copy the image with its digest, such as with `crane copy`")
        return ""
    failed = any(isinstance(reply, RemoteError) for _, reply in asked)
    return "" if failed else next(iter(known), "")


def checked(
    jobs: Iterable[JobPins], replies: Mapping[Question, Reply], platforms: Sequence[str], found: Findings
) -> None:
    """Report pins that moved, and images and commits that do not exist, or not for the platforms."""
    for one in jobs:
        pins, lock = one.pins, one.pins.lock
        needed = _needed(pins, platforms)
        pins.report_unused(found)
        for image, names in pins.images.items():
            pin = lock.images.get(image, "")
            place = lock.place((IMAGES, image)) if pin else pins.places[image]()
            for name in names:
                reply = replies[ImageQuestion(image=name, pin=pin)]
                if _usable(reply, place, found) and _has(name, reply, needed, place, found) and pin:
                    _check_moved(f"tag of {shown(name)}", pin, reply.content, "", place, one.job, found)
        for (git, ref), placed in pins.code.items():
            pin = lock.commits.get((git, ref), "")
            where = lock.place((CODE, git, ref)) if pin else placed()
            reply = replies[CodeQuestion(git=git, ref=ref, pin=pin)]
            if _usable(reply, where, found) and pin:
                link = comparison(git, pin, reply.content)
                _check_moved(f"ref {shown(ref)}", pin, reply.content, link, where, one.job, found)
        for image, placed in pins.fixed_images.items():
            reply = replies[ImageQuestion(image=image)]
            if _usable(reply, placed(), found):
                _has(image, reply, needed, placed(), found)
        for (git, commit), placed in pins.fixed_code.items():
            _usable(replies[CodeQuestion(git=git, pin=commit)], placed(), found)


def _check_moved(what: str, pin: str, now: str, link: str, place: Location, job: JobFile, found: Findings) -> None:
    if now == pin:
        return
    hint = f"run `gen pin --update {job.key}`, which starts new runs, or keep the pin"
    if not now:
        found.warning(MOVED_PIN, place, f"the {what} does not exist any more; the pin does", hint)
        return
    message = f"the {what} moved from `{pin}` to `{now}`"
    found.warning(MOVED_PIN, place, f"{message}{f': {link}' if link else ''}", hint)


def _usable(reply: Reply, place: Location, found: Findings) -> TypeGuard[Found]:
    if isinstance(reply, RemoteError):
        _report(reply, place, found)
        return False
    return True


def _has(name: str, reply: Found, platforms: frozenset[str], place: Location, found: Findings) -> bool:
    """Whether an image has all platforms that are needed. Some registries do not know the platform of old images."""
    missing = sorted(platforms - reply.platforms) if reply.platforms else []
    if missing:
        has = ", ".join(f"`{one}`" for one in sorted(reply.platforms)[:6])
        message = f"image {shown(name)} is not for `{missing[0]}`, but for {has}"
        hint = "push the image for this platform, or choose nodes by `kubernetes.io/arch`, or set `--platform`"
        found.error(WRONG_PLATFORM, place, message, hint)
    return not missing


def _needed(pins: Pins, platforms: Sequence[str]) -> frozenset[str]:
    return frozenset(platforms) or frozenset(f"linux/{one}" for one in pins.architectures or {"amd64"})


def _report(error: RemoteError, place: Location, found: Findings) -> None:
    found.error(error.code, place, error.message, error.hint)


def _differences(old: Mapping[Key, str], new: Mapping[Key, str]) -> Iterator[tuple[Key, str, str]]:
    for key in {**old, **new}:
        if old.get(key, "") != new.get(key, ""):
            yield key, old.get(key, ""), new.get(key, "")
