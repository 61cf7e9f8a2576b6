"""The files that a script writes, and that the programs of its job read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.importers.draft import JobDraft, literal
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import MARKED, RUN, RUN_ID, Value, is_known, source_text, sources
from gen.importers.slurm.programs import VARIABLE, AnyStep, DroppedPart, Step, joined, needed_steps
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import CONDA, MODULES, OF_HOSTS, OF_KIND, OWN_ENVIRONMENT, carry_values_of_file

_FOLDER: Final = "/etc/job"
"""Folder of files that the script writes into its working directory."""
_PATTERNS: Final = regex(r"(?<![^\s\"'=(])(?<!>)(?<!> )[\w./${}+,-]*[*?][\w./${}+,*?-]+|(?<![^\s\"'=(])[\w./-]+/\*")
"""Patterns of files, other than behind `>`."""


def _names(texts: Iterable[str], path: str) -> bool:
    """Whether a text has the path of a file, other than behind `>`."""
    path = source_text(path).removeprefix("./")
    name = re.escape(path)
    wanted = regex(rf"(?<![\w./-])(?<!>)(?<!> )(?<!> \")(?:\./)*{name}(?![\w-])")
    return any(
        wanted.search(one) or any(fnmatchcase(path, word.removeprefix("./")) for word in _PATTERNS.findall(one))
        for one in texts
    )


_OF_BATCH_PART: Final = ("gen writes no files of the batch part", "write it as a file in `files`, or in `command`")
_LISTS_NODES: Final = regex(r"\bscontrol\s+show\s+hostnames?\b")


class WrittenFiles:
    """The files that a script writes, for the programs of its job."""

    def __init__(
        self,
        written: Mapping[str, tuple[str | None, Location]],
        variables: Mapping[str, Value],
        words_of: Callable[[Any], Sequence[str]],
        links: Collection[str] = (),
        folders: Collection[str] = (),
    ) -> None:
        """`written` has the contents that are known, and `words_of` returns the words that a program of the job has.
        `links` are those to logs of Slurm, in `folders`.
        """
        self._without = {*written, *links}
        self._of_logs = {posixpath.normpath(one) for one in folders}
        self._written, self._variables, self._words_of = written, variables, words_of
        self.files: dict[str, tuple[str, Location]] = {}
        """Files that programs of the job read."""
        self.missing: list[tuple[Location, str, str]] = []
        """Those that no pod can have: the place, the problem and the remedy."""
        self.left: list[DroppedPart] = []

    def _texts(self, step: Step) -> list[str]:
        values = (value for _, value in step.assigned)
        text = step.text.replace(RUN[1:-1], f"${RUN_ID}")
        return [text, *map(source_text, (*self._words_of(step), step.input, *values))]

    def carried(self, steps: Sequence[AnyStep]) -> list[AnyStep]:
        """The programs, with the outputs and the files that later ones read."""
        made: list[AnyStep] = []
        texts: list[str] = []
        logs = {*self._of_logs}
        for step in reversed(steps):
            env = [str(value) for one in (step, *made[:1]) for value in one.exported.values()]
            of_logs = step.words[:1] == ("mkdir",) and self._is_of_logs(step, logs, [*texts, *env])
            if of_logs or (step.words[:1] == ("rm",) and {*step.words[1:]} - {"-f"} <= self._without):
                made[-1:] = [replace(one, joined=one.joined and step.joined) for one in made[-1:]]
                continue
            if step.makes and self._reads_lost(step.text) and not _names(texts, step.makes):
                what, why = f"the file `{cut(source_text(step.makes))}`", "it is made of one that no pod has"
                self._drop(step.place, what, why, "write it in `command`, if you need it")
                made[-1:] = [replace(one, joined=False) for one in made[-1:]]
                continue
            if step.writes and not _names(texts, step.writes):
                self._drop(step.place, f"the file `{cut(source_text(step.writes))}`", *_OF_BATCH_PART)
                made[-1:] = [replace(one, joined=False) for one in made[-1:]]
                continue
            is_log = step.output[1] and not _names(texts, step.output[1])
            if is_log and any(_LISTS_NODES.search(one) for one in step.words[1:]):
                what, hint = f"the list of nodes of `{cut(step.words[0])}`", "remove it: the launchers have the hosts"
                self._drop(step.place, what, "no program of the job reads it", hint)
                made[-1:] = [replace(one, joined=one.joined and step.joined) for one in made[-1:]]
                continue
            if is_log:
                hint = "read the logs with `gen logs`, or redirect the output in `command`"
                orders = str(self._variables.get("SLURM_HOSTFILE", "")).endswith(step.output[1])
                reason = OF_HOSTS if orders else ("the cluster keeps the logs", hint)
                self._drop(step.place, "the redirection of the output", *reason)
                logs.add(joined(step.folder, posixpath.dirname(step.output[1])))
            made.append(replace(step, output=("", "")) if is_log else step)
            texts += self._texts(step)
        made = needed_steps(made[::-1], self._words_of)
        texts = [text for one in made for text in self._texts(one)]
        why, hint = _OF_BATCH_PART
        for path, (content, place) in self._written.items():
            name = cut(source_text(path))
            if not _names(texts, path):
                self._drop(place, f"the file `{name}`", why, hint)
            elif content is None:
                self.missing.append((place, f"no pod has the file `{name}`, which the script writes here", hint))
            else:
                self.files[path] = content, place
        return made

    def _is_of_logs(self, step: Step, logs: set[str], texts: Sequence[str]) -> bool:
        """Whether a program makes folders that only the logs have."""
        paths = [one for one in step.words[1:] if not one.startswith("-")]
        around = [one for path in paths for one in (path, posixpath.dirname(path)) if one.strip("./")]
        return {joined(step.folder, one) for one in paths} <= logs and not any(_names(texts, one) for one in around)

    def _reads_lost(self, text: str) -> bool:
        """Whether a text reads a file that no pod has."""
        lost = [path for path, (content, _) in self._written.items() if content is None]
        read = {name: self._variables.get(name) for name in VARIABLE.findall(text)}
        return any(_names([text], path) or path in read.values() for path in lost)

    def _drop(self, place: Location, what: str, why: str, hint: str) -> None:
        self.left.append(DroppedPart(place, what, why, hint))


def matched(steps: Iterable[Step], files: Mapping[str, tuple[str, Location]]) -> Iterator[DroppedPart]:
    """Patterns of programs that match a file of the script, which the job has in another folder."""
    names = [MARKED.sub("", posixpath.normpath(path)) for path in files if not path.startswith("/")]
    for step in steps:
        for pattern in (MARKED.sub(r"\1", word) for word in step.words if {"*", "?"} & {*sources(word)}):
            if any(fnmatchcase(name, posixpath.normpath(pattern)) for name in names):
                hint = "write the path below `/etc/job` that the file has in `files` of the job"
                what, why = f"the match of `{cut(pattern)}`", "a file of the script is in another folder"
                yield DroppedPart(step.place, what, why, hint)


_SETS_UP: Final = regex(rf"\s*(?:(?:{'|'.join(sorted(MODULES | CONDA))})\s|(?:source|\.)\s+\S*activate\b)")
_OF_SLURM: Final = regex(r"\$\{?(SLURM_\w+)\b(?!:?[-=+?])")
_VALUE: Final = regex(r"\\\$|\$(?:\{(SLURM_\w+)(?::?-[^{}\n]{0,99})?\}|(SLURM_\w+))")


def follow_tasks(script: BatchScript, readers: Sequence[tuple[Sequence[Step], Mapping[str, str]]]) -> None:
    """Write the variables of the tasks into the files that they read, as pods or `mpirun` have them, and name the lines
    that need a machine of Slurm. `readers` has the programs of each `srun` with the variables of its tasks; a variable
    on which they do not agree stays.
    """
    for path, (content, place) in script.files.items():
        name = path.rpartition("/")[2]
        tasks = [
            own for steps, own in readers if name in (word.rpartition("/")[2] for one in steps for word in one.words)
        ]
        agreed = {*tasks[0].items()}.intersection(*(own.items() for own in tasks)) if tasks else set()
        text = _with_values(content, dict(agreed))
        script.files[path] = text, place
        for number, line in enumerate(text.split("\n"), place.line + 1):
            at = replace(place, line=number, column=1)
            if _SETS_UP.match(line):
                script.left.append(DroppedPart(at, f"`{line.strip()[:60]}`", *OWN_ENVIRONMENT))
            elif (asked := _OF_SLURM.search(line)) is not None and not line.lstrip().startswith("#"):
                what = f"only Slurm sets `{asked[1]}`, which `{path[-40:]}` reads"
                script.refuse(at, what, "pass it as an argument")


def _with_values(text: str, own: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda match: source_text(own.get(match[1] or match[2], match[0])), text)


def carry_files(draft: JobDraft, script: BatchScript, runs: list[AnyStep]) -> list[AnyStep]:
    """The files that the script writes as `files`, and the programs with their paths there."""
    reported = set[Location]()
    for path, (content, place) in script.files.items():
        name = re.sub(r"[._-]*\ue000[^\ue001]*\ue001", "", path).rpartition("/")[2]
        target = path if path.startswith("/") and is_known(path) else f"{_FOLDER}/{name}"
        if not is_known(content) or not re.fullmatch(r"[\w.-]+", name):
            shown = cut(MARKED.sub(r"\1", path)[::-1])[::-1]  # with its end
            message = f"the script writes `{shown}` with values that are known only on the machines"
            if place not in reported:
                draft.cannot_run(place, message, "write the file into the image, or as `files` of the job")
            reported.add(place)
            continue
        if re.search(r"\bsrun\b", re.sub(r"(?m)^\s*#.*$", "", content)):
            message = f"`srun` in `{cut(name)}` does not work in a pod"
            draft.cannot_run(place, message, "write its commands in the place where the script starts it")
        draft.set(literal(content), "files", target, place=place)
        known = {*script.exported, *script.variables, *OF_KIND}
        carry_values_of_file(draft, name, content, script.constants, known, place)
        written = regex(rf"(?<![\w/.-])(?:\./)*{re.escape(path.removeprefix('./'))}(?![\w-])")
        start = re.match(r"#!\s*(?:/\S*/)?(?:env +)?(\S+)", content)  # no file of a job is executable
        inner = start[1] if start is not None else "bash"
        for one in runs:
            if re.search(rf">\s*[\"']?{written.pattern}", f"{one.text} {''.join(one.output)}"):
                message = f"`{cut(name)}` is a file of the job, which no program can change"
                draft.cannot_run(one.place, message, "write all of it in `command`, or in the script")
        runs = [_with_path(one, written, target, inner) for one in runs]
        env = {name: script.variables.get(name) for name in script.exported}
        script.variables |= {name: written.sub(target, one) for name, one in env.items() if isinstance(one, str)}
        runs = [one for one in runs if one.words[:1] != ("chmod",) or {*one.words[2:]} != {target}]
        runs = [one for one in runs if one.words[:1] != ("rm",) or {*one.words[1:]} - {"-f"} != {target}]
        runs = [replace(one, words=(inner, *one.words)) if one.words[:1] == (target,) else one for one in runs]
    return runs


_START: Final = r"(?:^|[;&|({!\n]|\b(?:then|do|else|if|while|until|time)\b)[ \t]*"


def _with_path(run: AnyStep, written: re.Pattern[str], target: str, program: str) -> AnyStep:
    """A program with the path of a file in the job, which a construct of the shell starts with `program`."""

    def own(text: str) -> str:
        return written.sub(target, text)

    text = re.sub(rf"({_START}){written.pattern}", lambda match: f"{match[1]}{program} {target}", run.text)
    return replace(
        run,
        words=tuple(map(own, run.words)),
        text=own(text),
        input=own(run.input),
        assigned=tuple((name, own(value)) for name, value in run.assigned),
        exported={name: own(value) if isinstance(value, str) else value for name, value in run.exported.items()},
    )
