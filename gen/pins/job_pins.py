"""Pins of jobs: questions for servers, findings about their replies, and new locks.

ruamel.yaml writes locks, so that comments are kept.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from msgspec import Struct

from gen.base import Findings, Location
from gen.base.codes.pins import MIRRORS_DIFFER, MOVED_PIN, WRONG_PLATFORM
from gen.base.repository.layout import JobFile
from gen.base.yaml.user_text import round_trip, written
from gen.job.scalars import shown
from gen.pins.git import comparison
from gen.pins.http import RemoteError
from gen.pins.lock import CODE, IMAGES, UPDATES, CodeKey, Pins
from gen.pins.resolve import CodeQuestion, ImageQuestion, Question, Reply, Resolution


def lock_text(job: str, images: Mapping[str, str], commits: Mapping[CodeKey, str], old: str, *, updates: bool) -> str:
    """The lock of a job with these pins; `old` is its text before, or empty. Empty without any pin and any comment."""
    code: dict[str, dict[str, str]] = {}
    for (url, ref), commit in sorted(commits.items()):
        code.setdefault(url, {})[ref] = commit
    pins = {image: f"{image}@{digest}" for image, digest in sorted(images.items())}
    wanted: dict[str, Any] = {name: value for name, value in ((IMAGES, pins), (CODE, code)) if value}
    data = _read(old) if old else None
    if data is None:
        header = f"# Written by `gen pin {job}`. Each image and ref has the content that is named here.\n"
        return header + (f"{UPDATES}: true\n" if updates else "") + written(wanted) if wanted else ""
    for name in (IMAGES, CODE):
        _update(data, name, wanted.get(name, {}))
    stream = io.StringIO()
    round_trip().dump(data, stream)
    return stream.getvalue()


def _read(text: str) -> object:
    """The text with its comments; None if this reader refuses a text that gen accepts, such as a tab in a name."""
    from ruamel.yaml.error import YAMLError

    try:
        return round_trip().load(text)
    except YAMLError:
        return None


def _update(data: Any, name: str, wanted: Mapping[str, Any]) -> None:
    """Set an entry of a mapping. Equal values keep their comments."""
    if not wanted:
        data.pop(name, None)
        return
    known: Any = data.get(name)
    if known is None:
        data[name] = dict(wanted)
        return
    for key in [key for key in known if key not in wanted]:
        del known[key]
    for place, (key, value) in enumerate(wanted.items()):
        if key not in known:
            known.insert(place, key, value)
        elif isinstance(value, dict):
            _update(known, key, value)
        elif known[key] != value:
            known[key] = value


Key = TypeVar("Key")


class JobPins(Struct, frozen=True, kw_only=True):
    """A job with the images and refs that it can pin, and the text of its lock."""

    job: JobFile
    pins: Pins
    text: str


class PinChange(Struct, frozen=True, kw_only=True):
    """A pin before and after; empty where there is none."""

    name: str
    old: str
    new: str
    link: str = ""


class LockChange(Struct, frozen=True, kw_only=True):
    """A lock to write."""

    job: JobFile
    text: str
    moved: tuple[PinChange, ...]

    @property
    def file(self) -> str:
        return self.job.lock


def questions(jobs: Iterable[JobPins], *, update: bool, check: bool) -> Iterator[Question]:
    """The questions for `lock_changes` or `check_pins`."""
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


def lock_changes(
    jobs: Sequence[JobPins],
    replies: Mapping[Question, Reply],
    platforms: Sequence[str],
    found: Findings,
    *,
    update: bool,
) -> list[LockChange]:
    """The locks that change. An image or a ref without a reply is a finding, and keeps its pin."""
    done = [_pinned(one, replies, platforms, found, update=update) for one in jobs]
    return [one for one in done if one is not None]


def _pinned(
    one: JobPins, replies: Mapping[Question, Reply], platforms: Sequence[str], found: Findings, *, update: bool
) -> LockChange | None:
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
        *(PinChange(name=name, old=old, new=new) for name, old, new in _differences(lock.images, images)),
        *(
            PinChange(name=f"{git} {ref}", old=old, new=new, link=comparison(git, old, new) if old and new else "")
            for (git, ref), old, new in _differences(lock.commits, commits)
        ),
    )
    return LockChange(job=one.job, text=text, moved=moved) if moved or (text != one.text and text) else None


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


def check_pins(
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


def _usable(reply: Reply, place: Location, found: Findings) -> TypeGuard[Resolution]:
    if isinstance(reply, RemoteError):
        _report(reply, place, found)
        return False
    return True


def _has(name: str, reply: Resolution, platforms: frozenset[str], place: Location, found: Findings) -> bool:
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
