"""Effects of a job, above its first line and as documents: its runs, GPUs and costs, and its rendered objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lsprotocol.types import CodeLens, Command

from gen.base import Location, counted
from gen.base.repository.layout import RenderedPath, rendered_path
from gen.editor.view import JOB, View
from gen.render.results import File
from gen.report.plan.phrases import amounts
from gen.review.job_list import NumberReader

SHOW_RENDERED = "gen.showRendered"
SHOW_PLAN = "gen.showPlan"


def lenses(view: View) -> list[CodeLens]:
    """A line above the job; nothing for other files, and while the job has an error."""
    title = " · ".join(_facts(view)) if view.kind == JOB else ""
    if not title:
        return []
    uri = (view.checker.root / view.path).as_uri()
    return [CodeLens(range=view.range(0, 0, 0), command=Command(title=title, command=SHOW_RENDERED, arguments=[uri]))]


def _facts(view: View) -> Iterator[str]:
    result = view.checker.results.get(view.job)
    if result is None or not result.rendered or view.source is None:
        return
    yield counted(len(result.rendered), "run")
    gpus = 0
    costs: Counter[str] = Counter()
    for overlay in view.overlays:
        numbers, _ = NumberReader().numbers(view.job, view.source, overlay)
        gpus += numbers.gpus or 0
        if numbers.month and overlay.fields.currency:
            costs[overlay.fields.currency] += numbers.month
    yield counted(gpus, "GPU")
    if costs:
        yield f"at most {amounts(costs)} a month"
    yield from _usage(view)


def _usage(view: View) -> Iterator[str]:
    """The GPUs of the namespace in each overlay with a quota, as of the last complete run."""
    run = view.checker.run
    for overlay in view.overlays if run is not None else ():
        grant = overlay.grant(view.namespace)
        if run is not None and grant is not None and grant.gpus is not None:
            used = run.requested.get((overlay.name, view.namespace, ("gpus",)), 0)
            where = f" in {overlay.name}" if len(view.overlays) > 1 else ""
            yield f"{view.namespace} uses {used} of {grant.gpus}{where}"


def rendered_text(view: View) -> str:
    """The objects of a job as they would be rendered now, each with its path; the reason if there are none."""
    result = view.checker.results.get(view.job) if view.kind == JOB else None
    if result is None:
        return "# this file is not a job of the repository\n"
    files = sorted((file for run in result.rendered for file in run.files), key=lambda file: file.path)
    if not files:
        return "# the job has an error, so nothing is rendered\n"
    return "".join(f"# {file.path}\n---\n{_body(file)}" for file in files)


def _body(file: File) -> str:
    _, _, body = (file.text or "").partition("\n")
    return body


def rendered_files(view: View) -> list[str]:
    """The rendered files of a job that exist, for a jump from it to them."""
    result = view.checker.results.get(view.job)
    paths = sorted({file.path for run in result.rendered for file in run.files}) if result is not None else []
    return [path for path in paths if (view.checker.root / path).is_file()]


def source_of_rendered(view: View, line: int) -> Location | None:
    """The line of a job or of a patch that decides about a line of a rendered file; None in other files."""
    if not view.path.startswith(rendered_path("")):
        return None
    path = RenderedPath.parse(view.path)
    entries = [one for one in view.document.entries if one.line <= line]
    return view.checker.decided(path, entries[-1].route if entries else ()) if path.job else None
