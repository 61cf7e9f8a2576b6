"""Every write that Python makes, as it is made."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHANGES = {
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.utime": ((0, 3),),
}
"""Audit events that change a file system: which arguments are paths, and which the folders they are relative to."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_QUESTIONS = (
    ["cat-file", "--batch"],
    ["rev-parse", "--is-shallow-repository", "--is-inside-work-tree", "--show-prefix"],
)
"""Commands of Git with which a render reads the last commit. They write nothing, and run nothing of the repository."""

_heard: list[list[str]] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _heard or _is_harmless(event, args):
        return
    if event == "open" and not isinstance(args[0], int) and args[2] & _WRITES:  # a number was opened before
        _heard[-1].append(_path(args[0], -1))
    elif event in _CHANGES:
        _heard[-1].extend(_path(args[at], -1 if fd is None else args[fd]) for at, fd in _CHANGES[event])
    elif event in ("subprocess.Popen", "os.exec", "os.system", "os.posix_spawn"):
        _heard[-1].append(f"process: {args[0]}")
    elif event in ("socket.connect", "socket.getaddrinfo", "socket.bind"):
        _heard[-1].append(f"network: {event}")


def _is_harmless(event: str, args: tuple[Any, ...]) -> bool:
    if event == "subprocess.Popen":
        command = list(args[1])
        return command[:3] == ["git", "--no-optional-locks", "-C"] and command[4:] in _QUESTIONS
    return event == "open" and args[0] == os.devnull


# a hook cannot be taken away again, so there is one for all tests
sys.addaudithook(_hook)


def _path(path: object, folder: int) -> str:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return f"handle {path!r}"
    base = os.getcwd() if folder == -1 else os.readlink(f"/proc/self/fd/{folder}")  # noqa: PTH109, PTH115 - may be removed
    return os.path.normpath(os.path.join(base, os.fsdecode(path)))  # noqa: PTH118


@contextmanager
def watched() -> Iterator[list[str]]:
    """Paths that are written, made or removed meanwhile, and processes and connections that are begun."""
    heard: list[str] = []
    cached = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # a module that is imported for the first time would be heard
    _heard.append(heard)
    try:
        yield heard
    finally:
        _heard.pop()
        sys.dont_write_bytecode = cached
