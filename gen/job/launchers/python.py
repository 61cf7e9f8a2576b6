"""The interpreter of Python, which starts one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gen.base import regex
from gen.base.shell_words import Word
from gen.job.launchers.base import Launch, Launcher

_PROGRAM: Final = regex(r"python(?:[23](?:\.[0-9]{1,2})?)?")
_FLAGS: Final = regex(r"-[bBdEhiIOPqsSuvx]+")
_WITH_VALUE: Final = frozenset({"-X", "-W"})


class Python(Launcher, frozen=True, kw_only=True):
    """Its options are letters, and end with the script, `-m` or `-c`."""

    def read(self, words: Sequence[Word]) -> Launch:
        at = 1
        while at < len(words) and words[at].unknown is None:
            text = words[at].text
            if text in _WITH_VALUE:
                at += 1
            elif text == "-c":
                return Launch(launcher=self, word=words[0])
            elif text == "-m" or (text.endswith("m") and _FLAGS.fullmatch(text[:-1])):
                return Launch(launcher=self, word=words[0], program=tuple(words[at + 1 :]), is_module=True)
            elif _FLAGS.fullmatch(text) is None and not text.startswith(("-X", "-W")):
                unread = words[at] if text.startswith("-") else None
                program = tuple(words[at:]) if unread is None else ()
                return Launch(launcher=self, word=words[0], program=program, unread=unread)
            at += 1
        return Launch(launcher=self, word=words[0], unread=words[at] if at < len(words) else None)


LAUNCHER: Final = Python(name="python", programs=frozenset({"python", "python2", "python3"}))


def is_python(program: str) -> bool:
    """Whether a program is called like an interpreter, such as `python3.12`."""
    return program.startswith("python") and _PROGRAM.fullmatch(program) is not None
