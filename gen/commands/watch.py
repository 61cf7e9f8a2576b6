"""`gen render --watch`: render again after each change of jobs and overlays, in one process that stays warm."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.commands.result import CLEAN, Stream
from gen.diagnostics import UsageError, counted
from gen.render.cache import tools_digest
from gen.report.report import Report
from gen.repository.watch import changed_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from gen.diagnostics import Diagnostic

WAITING = "waiting for changes of jobs/ and overlays/; Ctrl-C ends it"


def watch(root: Path, render: Callable[[], Report]) -> Stream[Report]:
    """A report after each render, which replaces the one before it on a terminal."""
    return Stream(pieces=_reports(root, render), code=lambda: CLEAN, replaces=True)


def _reports(root: Path, render: Callable[[], Report]) -> Iterator[Report]:
    tools = tools_digest()
    for changed in changed_inputs(root):
        if tools_digest() != tools:  # the cache would keep results of the old version as those of the new one
            raise UsageError("gen or one of its packages was installed again; start `gen render --watch` again")
        yield _report(root, render, changed)
        gc.collect()  # the program disables automatic collection


def _report(root: Path, render: Callable[[], Report], changed: Collection[str]) -> Report:
    """The result of a render, with all errors, and with warnings about the files that changed."""
    try:
        report = render()
    except UsageError as error:  # such as an overlay that does not exist now
        return Report((), (), f"{error}\n{WAITING}", root=root)
    shown = tuple(finding for finding in report.findings if _matters(finding, changed))
    others = len(report.findings) - len(shown)
    hidden = [f"{counted(others, 'warning')} about other files; `gen check` shows them"] if others else []
    return replace(report, findings=shown, summary="\n".join([report.summary, *hidden, WAITING]))


def _matters(finding: Diagnostic, changed: Collection[str]) -> bool:
    files = [place.file for place in (finding.place, *(place for place, _ in finding.related))]
    return finding.is_error or any(file == path or file.startswith(f"{path}/") for file in files for path in changed)
