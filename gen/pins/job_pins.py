"""Pins of jobs: questions for registries and Git servers, findings about their replies, and new locks.

Many images and refs are requested at the same time, with limits for each host. ruamel.yaml writes locks, so that
comments are kept.
"""

from __future__ import annotations

import io
import queue
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard, TypeVar

from msgspec import Struct

from gen.base import Findings, Location, quoted
from gen.base.codes.pins import MIRRORS_DIFFER, MISSING_IMAGE, MOVED_PIN, REMOTE_UNREACHABLE, WRONG_PLATFORM
from gen.base.repository.layout import JobFile
from gen.base.yaml.user_text import round_trip, written
from gen.job.scalars import shown
from gen.pins.git import commit_of, comparison, host_of, require_commit
from gen.pins.http import AT_ONCE, Reference, RemoteError, require_client
from gen.pins.lock import CODE, IMAGES, UPDATES, CodeKey, Pins
from gen.pins.registry import DockerConfig, Registry

_GIT_AT_ONCE: Final = 4
_HOSTS_AT_ONCE: Final = 16
"""Hosts that are asked at the same time: a job can name thousands, and each has threads of its own."""
_LIMIT: Final = 6
"""How many times longer than one answer all answers about one image may take, with pauses that a server asks for."""
_TURN_S: Final = 0.01


class ImageQuestion(Struct, frozen=True, kw_only=True):
    """An image as an overlay pulls it, and its pin if that is to be checked."""

    image: str
    pin: str = ""

    @property
    def host(self) -> str:
        return Reference.of(self.image).host


class CodeQuestion(Struct, frozen=True, kw_only=True):
    """A ref of a repository, and its pin if that is to be checked; without a ref, a commit of the job itself."""

    git: str
    ref: str = ""
    pin: str = ""

    @property
    def host(self) -> str:
        return f"git {host_of(self.git)}"


Question = ImageQuestion | CodeQuestion


class Resolution(Struct, frozen=True, kw_only=True):
    """Current content of a tag or ref."""

    content: str
    """Digest or commit of the tag or ref; empty if it does not exist any more, but its pin does."""
    platforms: frozenset[str] = frozenset()
    """Platforms of the pin if there is one, otherwise of the content."""


Reply = Resolution | RemoteError


def ask(questions: Iterable[Question], seconds: float) -> Mapping[Question, Reply]:
    """The reply to each question. An error of a server that does not answer is the reply to all questions for it."""
    require_client()
    by_host: dict[str, list[Question]] = {}
    for question in dict.fromkeys(questions):
        by_host.setdefault(question.host, []).append(question)
    config = DockerConfig.read() if any(not host.startswith("git ") for host in by_host) else DockerConfig({}, "")
    hosts = [_Host(name, asked, config, seconds) for name, asked in by_host.items()]
    return _collected(hosts)


def _collected(hosts: list[_Host]) -> dict[Question, Reply]:
    """Wait for all replies. Each has a limit."""
    waiting, asked = deque(hosts), list[_Host]()
    while waiting or asked:
        while waiting and len(asked) < _HOSTS_AT_ONCE:
            asked.append(waiting.popleft())
            asked[-1].start()
        asked = [host for host in asked if not host.finished()]
        for host in asked:
            host.end_late()
        time.sleep(_TURN_S if asked else 0)
    return {question: reply for host in hosts for question, reply in host.replies.items()}


class _Host:
    """The questions for one host, and the threads that ask it: daemons, which cannot keep gen from ending."""

    def __init__(self, name: str, questions: list[Question], config: DockerConfig, seconds: float) -> None:
        self.name, self._seconds = name, seconds
        self._all = questions
        self._todo = deque(questions)
        self._begun: dict[Question, float] = {}
        self._done: queue.SimpleQueue[tuple[Question, Reply]] = queue.SimpleQueue()
        self.replies: dict[Question, Reply] = {}
        self._registry = Registry(name, config, seconds)

    def start(self) -> None:
        most = _GIT_AT_ONCE if self.name.startswith("git ") else AT_ONCE
        for _ in range(min(most, len(self._all))):
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                question = self._todo.popleft()
            except IndexError:
                return
            self._begun[question] = time.monotonic()
            try:
                reply = self._reply(question)
            except RemoteError as error:
                reply = error
            except Exception as error:  # noqa: BLE001 - a thread must not end without a reply
                message = f"`{self.name}` sends an answer that gen cannot read ({type(error).__name__})"
                reply = RemoteError(REMOTE_UNREACHABLE, message, "check the name of the server")
            self._done.put((question, reply))

    def _reply(self, question: Question) -> Reply:
        if isinstance(question, CodeQuestion):
            return self._commit(question)
        image, deadline = Reference.of(question.image), time.monotonic() + self._seconds * _LIMIT
        if not question.pin:
            digest = image.tag if ":" in image.tag else self._registry.digest(image, deadline)
            return Resolution(content=digest, platforms=self._registry.image(image, digest, deadline).platforms)
        platforms = self._registry.image(image, question.pin, deadline).platforms
        try:
            return Resolution(content=self._registry.digest(image, deadline), platforms=platforms)
        except RemoteError as error:
            if error.code is not MISSING_IMAGE:
                raise
            return Resolution(content="", platforms=platforms)

    def _commit(self, question: CodeQuestion) -> Reply:
        if not question.ref:
            require_commit(question.git, question.pin, self._seconds)
            return Resolution(content=question.pin)
        commit = commit_of(question.git, question.ref, self._seconds)
        if question.pin and question.pin != commit:
            require_commit(question.git, question.pin, self._seconds)
        return Resolution(content=commit)

    def finished(self) -> bool:
        """Take the replies that came; true if none is missing. A host that does not answer is not asked again."""
        while not self._done.empty():
            question, reply = self._done.get()
            self.replies.setdefault(question, reply)
            if isinstance(reply, RemoteError) and reply.silent:
                self._give_up(reply)
        return len(self.replies) == len(self._all)

    def end_late(self) -> None:
        now = time.monotonic()
        for question, begun in list(self._begun.items()):
            if question not in self.replies and now - begun > self._seconds * (_LIMIT + 1):
                message = f"`{self.name}` did not answer within {self._seconds * _LIMIT:g} s"
                self.replies[question] = late = RemoteError(REMOTE_UNREACHABLE, message, "run the command again later")
                self._give_up(late)

    def _give_up(self, error: RemoteError) -> None:
        while self._todo:
            try:
                self.replies.setdefault(self._todo.popleft(), error)
            except IndexError:
                return


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


def _update(data: Any, name: str, wanted: Mapping[str, object]) -> None:
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
        names = quoted(list(known.values())[:3])
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
        has = quoted(sorted(reply.platforms)[:6])
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
