"""Commands that start a container on a machine, opened: their image and inner command belong to the pod."""

from __future__ import annotations

import re
from typing import Final

from gen.base import Location, regex
from gen.importers.draft import JobDraft, literal

_RUN: Final = regex(r"(?:sudo\s+)?(?:nvidia-)?(?:docker|podman)\s+run\b")
_DAEMON: Final = regex(
    r"(?:sudo\s+)?(?:(?:service|systemctl)\b.*\bdocker\b|docker\s+(?:pull|login|load)\b).*|set\s+[-+]x"
)
_SWITCHES: Final = frozenset(
    ["-t", "-i", "-it", "-ti", "-d", "--rm", "--tty", "--interactive", "--init", "--detach", "--privileged"]
)
"""Options of `docker run` without a value."""


def opened_container(draft: JobDraft, command: str, place: Location) -> tuple[str, str]:
    """The command inside of the only `docker run` of a command on the machine, and its image. Another command stays as
    it is, without an image.
    """
    parts = [one.strip() for one in re.split(r"&&|;|\n", command)]
    outer = [one for one in parts if _RUN.match(one)]
    if len(outer) != 1 or any(not _DAEMON.fullmatch(one) for one in parts if one and one not in outer):
        return command, ""
    text = _RUN.sub("", outer[0], count=1)
    words = text.split()
    if text.count("'") % 2 or text.count('"') % 2:
        return command, ""  # a quote that is not closed
    lost = [one for one in parts if one and one not in outer]
    while words and words[0].startswith("-"):
        word = words.pop(0)
        value = "" if word in _SWITCHES or "=" in word or not words else words.pop(0)
        _carry(draft, word, value, lost, place)
    if not words:
        return command, ""
    hint = "the pod is the container, and the overlay decides about its network and devices"
    for one in lost:
        draft.drop(place, f"`{one}`", "it starts or configures the container", hint)
    return " ".join(words[1:]), words[0]


def _carry(draft: JobDraft, word: str, value: str, lost: list[str], place: Location) -> None:
    """Set a field to an option of `docker run`, or note it."""
    name, equals, inline = word.partition("=")
    value = inline if equals else value
    if name in ("-e", "--env") and "=" in value:
        draft.variable(value.partition("=")[0], value.partition("=")[2], place)
    elif name in ("-w", "--workdir") and value.startswith("/"):
        draft.set(literal(value), "workingDir", place=place)
    elif name == "--gpus" and value.isdecimal():
        draft.set(int(value[:4]), "gpus", place=place)
    elif name not in _SWITCHES or name == "--privileged":
        lost.append(f"{word} {value}".strip() if not equals else word)
