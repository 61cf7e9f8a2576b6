"""The interface for Python: repositories with their jobs, findings, files and plans, as on the command line.

Each method is a command: it makes its `Request`, runs it, and returns an `Answer`, which formats write as the command
line does for a file or a pipe. Nothing here decides anything. See `docs/python.md`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Location, Severity, UsageError, has_internal_error
from gen.base.findings import BUG
from gen.base.repository.layout import overlay_file
from gen.commands.common import DEFAULT_FORMAT, formatted, repository
from gen.commands.environment import documentation

if TYPE_CHECKING:
    from gen.render.write.compare import Change

__all__ = ["Answer", "Diagnostic", "Location", "Repository", "Severity", "UsageError"]

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
"""A value of a field: `True` is written as `true`, and sequences and mappings in brackets."""
Verb = Literal["stop", "rerun", "suspend", "resume", "finish"]
_TURN: Final = RLock()
"""Calls of several threads take turns: caches belong to the process."""


class Answer(Struct, frozen=True, kw_only=True):
    """The result of a command."""

    command: str
    exit_code: int
    """As on the command line: 0 without errors and differences, 1 otherwise, 3 for a bug of gen."""
    findings: tuple[Diagnostic, ...]
    files: tuple[Change, ...] = ()
    """Files below `rendered/` that a render has changed, or that a check would change: `path`, `old` and `new`.

    A render of 1,000 jobs or more keeps no texts.
    """
    _output: Any

    def __str__(self) -> str:
        return self.text()

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    def text(self, output: str = DEFAULT_FORMAT) -> str:
        """The output of the command with `--output`. UsageError for a format that it does not have."""
        from gen.overlay.plugins import REPORTS
        from gen.report.formats import REPORTERS

        formats: Mapping[str, Callable[[Any], str]] = getattr(_module(self.command), "FORMATS", REPORTERS)
        if output not in formats and (formats is not REPORTERS or output not in REPORTS):
            raise UsageError(f"`{self.command}` has no format `{output}`; expected one of {', '.join(formats)}")
        return formatted(self._output, formats, output, documentation())

    def data(self) -> Any:
        """The values of `--output json`."""
        return json.loads(self.text("json"))


class Repository:
    """A repository of jobs and overlays.

    UsageError if the folder is not a repository, or requires another version of gen.

    Arguments that name jobs are those of the command line: names, files, folders or patterns.
    """

    def __init__(self, folder: Path | str = ".") -> None:
        self.root: Final = repository(Path(folder))

    def list(
        self,
        *jobs: str,
        namespaces: Iterable[str] = (),
        overlays: Iterable[str] = (),
        kinds: Iterable[str] = (),
        states: Iterable[str] = (),
    ) -> Answer:
        """`gen list`: the jobs, or those that filters accept."""
        filters = {"namespace": namespaces, "overlay": overlays, "kind": kinds, "state": states}
        return self._run("list", jobs=jobs, **{name: tuple(values) for name, values in filters.items()})

    def new(
        self, name: str, *, kind: str | None = None, template: str | None = None, namespace: str | None = None
    ) -> Path:
        """`gen new`: write the file of a job of a kind, or of a copy of a template, and return its path.

        The namespace can be left out if the repository has only one.

        Raises:
            UsageError: a name is not valid, no overlay grants the namespace, or the file exists.

        """
        from gen.commands.new import create
        from gen.overlay import load_extensions

        with _TURN:
            load_extensions(self.root)
            return self.root / create(self.root, name, kind, template, namespace).file

    def set(self, jobs: str, fields: Mapping[str, Value | None], *, dry_run: bool = False) -> Answer:
        """`gen set`: change fields of all jobs that `jobs` names, or of none if one would become invalid.

        A field is named as on the command line, such as `env.DEBUG`. None removes it. `args+` adds to a list.
        """
        assigned = tuple(f"{name}={_written(value)}" for name, value in fields.items() if value is not None)
        unset = tuple(name for name, value in fields.items() if value is None)
        return self._run("set", jobs=jobs, assignments=assigned, unset=unset, dry_run=dry_run)

    def change(self, verb: Verb, *jobs: str, when: Mapping[str, str] | None = None, dry_run: bool = False) -> Answer:
        """`gen stop`, `rerun`, `suspend`, `resume` or `finish`. `when` chooses runs of a sweep by their values."""
        chosen = tuple(f"{name}={value}" for name, value in (when or {}).items())
        return self._run(verb, jobs=jobs, when=chosen, dry_run=dry_run)

    def render(
        self,
        *jobs: str,
        overlays: Iterable[str] = (),
        restart: bool = False,
        prune_storage: bool = False,
        allow_empty: bool = False,
    ) -> Answer:
        """`gen render`: write `rendered/`, or nothing if there is an error."""
        options = {"restart": restart, "prune_storage": prune_storage, "allow_empty": allow_empty}
        return self._run("render", jobs=jobs, overlay=tuple(overlays), **options)

    def check(self, *jobs: str, overlays: Iterable[str] = (), base: str | None = None) -> Answer:
        """`gen check`: the findings, and the files that a render would change. Writes nothing."""
        return self._run("check", jobs=jobs, overlay=tuple(overlays), base=base)

    def plan(self, base: str | None = None, *, overlays: Iterable[str] = (), check: bool = False) -> Answer:
        """`gen plan`: the effects of merging the work tree. `base` is a ref of Git. [default: as `gen plan`]

        Raises:
            UsageError: the ref does not exist, or the folder is not in a Git repository.

        """
        return self._run("plan", base=base, overlay=tuple(overlays), check=check)

    def validate(self, objects: Iterable[object], overlay: str) -> Sequence[Diagnostic]:
        """The findings about objects in the cluster of an overlay, with its version, definitions and policies.

        `gen.kubernetes` checks objects without a repository.
        """
        from gen.base import Findings, did_you_mean
        from gen.kubernetes import check_objects
        from gen.overlay.files import OverlayFiles

        with _TURN:
            files = OverlayFiles(self.root, Findings())
            cluster = files.cluster_of(str(self.root / overlay_file(overlay)))
            if overlay not in files.names or cluster is None:
                raise UsageError(f"unknown overlay `{overlay}`: {did_you_mean(overlay, files.names)}")
            policies = [folder for folder, _ in cluster.policies]
            return check_objects(objects, cluster.kubernetes, definitions=cluster.definitions, policies=policies)

    def _run(self, command: str, **arguments: object) -> Answer:
        module = _module(command)
        with _TURN:
            result = module.run(module.Request(root=self.root, **arguments))
        output, findings = result.output, getattr(result.output, "data", result.output).findings
        if (terminal := getattr(output, "terminal", None)) is not None:  # the report is for none
            output = replace(output, terminal=type(terminal)())
        return Answer(
            command=command,
            exit_code=BUG if has_internal_error(findings) else result.exit_code,
            findings=findings,
            files=getattr(output, "changes", ()),
            _output=output,
        )


def _module(command: str) -> Any:
    return import_module(f"gen.commands.{command}")


def _written(value: Value) -> str:
    """The value as an argument of `gen set`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
