"""The program that a launcher starts, by its words on a command line. Each launcher is a table of its options.

A value that only running the command gives is unknown, and none of its meanings is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import names
from gen.base.shell_words import Word


class Setting(Struct, frozen=True):
    """The value of an option."""

    value: str | None
    """None if it is unknown."""
    word: Word
    """The option as it is written, with its place."""

    @property
    def number(self) -> int | None:
        """The value, if it is a number."""
        return int(self.value) if self.value is not None and self.value.isdecimal() and self.value.isascii() else None


class Launch(Struct, frozen=True, kw_only=True):
    """A launcher with its options, and the program that it starts."""

    launcher: Launcher
    word: Word
    """The word that names the launcher."""
    options: Mapping[str, Setting] = {}
    """By the name of the option, with `_` between its words and without the dashes before it."""
    program: tuple[Word, ...] = ()
    """The program or the script, and its arguments."""
    is_module: bool = False
    """Whether it names a Python module."""
    unread: Word | None = None
    """The first word before the program that is not understood."""

    def get(self, name: str) -> Setting | None:
        """The setting of one of the `roles` of options."""
        options = self.options
        for one in self.launcher.roles.get(name, ()) if options else ():
            if one in options:
                return options[one]
        return None

    def option(self, setting: Setting) -> str:
        """The option of a setting, with its dashes."""
        name = next((name for name, one in self.options.items() if one is setting), "")
        return f"--{name}" if len(name) > 2 else f"-{name}"  # noqa: PLR2004 - such as `-np`


PROCESSES: Final = "processes"
"""Processes on each pod."""
PODS: Final = "pods"
"""Pods that train together."""
ALL_PROCESSES: Final = "all-processes"
"""Processes on all pods together."""
ADDRESS: Final = "address"
"""Host, or host and port, at which the pods meet."""
RANK: Final = "rank"
"""Number of the pod among them."""
DEVICES: Final = "devices"
"""GPUs of the pod that are used."""
PORT: Final = "port"
"""Port at which they meet."""
ALONE: Final = "alone"
"""That the pod meets no others."""
HOSTS: Final = "hosts"
"""The hosts, or the file with them."""
CONFIG: Final = "config"
"""File with more settings."""


class Launcher(Struct, frozen=True, kw_only=True):
    """A program that starts others."""

    name: str
    programs: frozenset[str]
    modules: frozenset[str] = frozenset()
    """Modules of Python that are the same program."""
    before: tuple[str, ...] = ()
    """Words behind the program before its options, such as `launch`."""
    values: frozenset[str] = frozenset()
    """Options with one value."""
    pairs: frozenset[str] = frozenset()
    """Options with two values."""
    flags: frozenset[str] = frozenset()
    """Options without a value."""
    short: Mapping[str, str] = {}
    """Names of options by their short forms."""
    roles: Mapping[str, tuple[str, ...]] = {}
    """Options by the value that they set: `PROCESSES` and the others."""
    module_flag: str = ""
    """The option that makes the program the name of a module."""
    variables: Mapping[str, str] = {}
    """Environment variables that replace missing options, by the value that they set."""
    mistaken: Mapping[str, str] = {}
    """Names that Python cannot run as modules, with those that are meant."""
    no_numbers: Mapping[str, str] = {}
    """Values that it refuses as a number of processes, with the remedies."""
    alone: str = "start it with `torchrun`"
    """Remedy for several pods, if it starts processes on its own pod only."""
    single_dash: bool = False
    """Whether its long options can have one dash, such as `-np`."""
    starts_programs: bool = False
    """Whether it starts any program, and not a script of Python."""

    def read(self, words: Sequence[Word]) -> Launch | None:
        """The program that it starts; the first word is its own. None if it is another command of the same program."""
        behind = 1 + len(self.before)
        known = tuple(word.text for word in words[1:behind]) == self.before
        return self.read_options(words, behind) if known else None

    def read_options(self, words: Sequence[Word], behind: int) -> Launch:
        """The programs that it starts, by the options behind a number of words."""
        options, rest, unread = self._options(words[behind:])
        module = self.module_flag in options
        return Launch(launcher=self, word=words[0], options=options, program=rest, is_module=module, unread=unread)

    def _options(self, words: Sequence[Word]) -> tuple[dict[str, Setting], tuple[Word, ...], Word | None]:
        """The options, the words behind them, and the first word that is not understood."""
        options: dict[str, Setting] = {}
        at = 0
        while at < len(words):
            word = words[at]
            text = word.text if word.unknown is None else _start(word)
            if text == "--":
                return options, tuple(words[at + 1 :]), None
            if not text.startswith("-") or text == "-":
                return (options, tuple(words[at:]), None) if word.unknown is None else (options, (), word)
            written, sign, value = text.lstrip("-").partition("=")
            name = self.name_of(written)
            if not (self.single_dash or text.startswith("--") or len(written) == 1 or written in self.short):
                return options, (), word
            if name in self.flags and not sign:
                options[name] = Setting("", word)
            elif name in self.values:
                at += 0 if sign else 1
                known = words[at] if at < len(words) else None
                text = value if sign else (known.text if known is not None else "")
                unknown = word.unknown is not None if sign else known is None or known.unknown is not None
                options[name] = Setting(None if unknown else text, word if sign or known is None else known)
            elif name in self.pairs:
                at += 1 if at + 1 < len(words) and "=" in words[at + 1].text else 2
            else:
                return options, (), word
            at += 1
        return options, (), None

    def name_of(self, written: str) -> str:
        """The full name of an option, which authors may shorten."""
        name = self.short.get(written) or written.replace("-", "_")
        if name in self.values or name in self.flags or name in self.pairs:
            return name
        near = [one for names in (self.values, self.flags) for one in names if one.startswith(name)]
        return near[0] if len(near) == 1 and len(name) > 1 else name


def _start(word: Word) -> str:
    """The known text of an option with an unknown value, such as `--nnodes=$N`; empty for other words."""
    name, sign, _ = word.raw.partition("=")
    return f"{name}=" if sign and name.startswith("--") and name.lstrip("-").replace("-", "").isidentifier() else ""


PROGRAMS: Final = names("srun sbatch salloc scontrol squeue sinfo sacct sattach scancel")
