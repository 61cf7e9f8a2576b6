"""The command of a role, as it is written and as it is read, and findings inside of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from gen.base import Code, Location, names
from gen.base.shell_words import Word
from gen.job.launchers import launches, script_index, with_inner
from gen.job.launchers.base import Launch
from gen.job.plan import PodPlan
from gen.job.script import SHELLS, Program, Script, read_list, read_script
from gen.kubernetes.check.silence import warn
from gen.render.parts.context import Context

HARMLESS: Final = names(
    "echo eval printf mkdir export ulimit ldconfig set nvidia-smi env date hostname sleep pwd ls which trap wait "
    "unset alias umask cat true : df free rm chmod ps read pkill kill killall screen clear exit nproc whoami id ln "
    "touch printenv lscpu top head tail shopt shift"
)
"""Programs that do not fail, or with a failure that has no effect on the next statement."""


_MOST_OF_A_CODE: Final = 5
"""Warnings of one code in a command that are reported one by one."""


class Command(Struct, frozen=True, dict=True):
    """The command of the pods of a role, as it is written and as it is read."""

    context: Context
    pod: PodPlan
    pods: Sequence[PodPlan]
    """Those of all roles."""
    route: tuple[str | int, ...]
    """The field, or the entry of a list with a script."""
    args: tuple[str | int, ...]
    """The field with the arguments behind the entries of a list."""
    entries: int
    """Number of entries of the list; 0 for a text."""
    text: str
    """The script; empty for a list."""
    script: Script
    shell: str
    """The shell that reads it; empty without one."""

    @cached_property
    def launched(self) -> tuple[tuple[Program, tuple[Launch, ...]], ...]:
        return tuple((program, launches(program.words)) for program in self.script.programs)

    @cached_property
    def said(self) -> str:
        """The words of all programs that may read files."""
        programs = (one for one in self.script.programs if one.name not in HARMLESS and one.name != "tee")
        return "\n".join(word.text or word.raw for one in programs for word in one.words)

    @cached_property
    def env(self) -> Mapping[str, str | None]:
        """Values of the variables of the container; None for those that are not known here."""
        known: dict[str, str | None] = dict.fromkeys(self.context.job.given_env)
        known.update(dict.fromkeys(self.pod.role.reserved_env))
        for entry in self.pod.env:
            known[entry["name"]] = entry.get("value")
        return known

    @cached_property
    def options(self) -> Sequence[str]:
        """The options of the shell in a list."""
        if not self.entries:
            return ()
        return [word for word in self.context.of_role(self.pod.role, "command")[1:] if word != self.text]

    @cached_property
    def flags(self) -> str:
        """The letters of these options."""
        words = (word for word in self.options if word.startswith("-") and not word.startswith("--"))
        return "".join(word.lstrip("-") for word in words)

    def place(self, at: Word | Location) -> Location:
        """The place in the file of a word, or of a line and a column of the command."""
        inner = at.place if isinstance(at, Word) else at
        if self.entries and not self.text:
            index = inner.column - 1
            route = (*self.route, index) if index < self.entries else (*self.args, index - self.entries)
            return self.context.given.layers.place(route)
        word = (at.raw or at.text) if isinstance(at, Word) else ""
        return self.context.given.layers.place_inside(self.route, inner, word)

    @cached_property
    def _warnings(self) -> dict[Code, list[tuple[Location, str, str]]]:
        return {}

    def error(self, code: Code, at: Word | Location, message: str, hint: str) -> None:
        self.context.found.error(code, self.place(at), message, hint)

    def warning(self, code: Code, at: Word | Location, message: str, hint: str) -> None:
        """Something that may be meant. An annotation of the job with the reason makes it a note."""
        self._warnings.setdefault(code, []).append((self.place(at), message, hint))

    def report_warnings(self) -> None:
        """Report the warnings. More than five of one code are reported as one, with their number."""
        for code, several in self._warnings.items():
            more = f" (the first of {len(several)} of this sort)" if len(several) > _MOST_OF_A_CODE else ""
            for place, message, hint in several[: 1 if more else None]:
                warn(self.context.found, self.context.job.annotations, code, place, message + more, hint)


def read_command(context: Context, pods: Sequence[PodPlan], pod: PodPlan) -> Command | None:
    written = context.of_role(pod.role, "command")
    route, args = context.route_of(pod.role, "command"), context.route_of(pod.role, "args")
    if not written:
        return None
    if isinstance(written, str):
        script = read_script(written)
        script = with_inner(script) if "sh" in written else script
        return Command(context, pod, pods, route, args, 0, written, script, "sh")
    words = (*written, *pod.args)
    shell = words[0].rpartition("/")[2]
    at = script_index(words)
    if shell in SHELLS and 0 < at < len(words):
        script = with_inner(read_script(words[at]))
        entry: tuple[str | int, ...] = (*route, at) if at < len(written) else (*args, at - len(written))
        return Command(context, pod, pods, entry, args, len(written), words[at], script, shell)
    return Command(context, pod, pods, route, args, len(written), "", with_inner(read_list(words), listed=True), "")
