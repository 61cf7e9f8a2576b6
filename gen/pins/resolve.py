"""Ask registries and Git servers for many images and refs at the same time, with limits for each host."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from gen.base.codes.pins import MISSING_IMAGE, REMOTE_UNREACHABLE
from gen.pins.git import commit_of, host_of, require_commit
from gen.pins.http import AT_ONCE, Reference, RemoteError, require_client
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
