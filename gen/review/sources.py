"""Texts of the files that a page shows beside rendered objects: job files of runs, and files with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.render.emit import HEADER
from gen.repository.layout import jobs_path, overlays_path, source_job
from gen.repository.safe_files import linked_folder, read_regular
from gen.review.runs import RunAction
from gen.secrets import known_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from gen.review.rendered_object import RenderedObject
    from gen.review.review import Review

_MAX_BYTES: Final = 1 << 20
HIDDEN: Final = "… a line with a secret is not shown …"


def job_file(one: RenderedObject) -> str:
    """The job file that the header of an object names; empty if it names none. Anyone can write a header."""
    header = HEADER.match(one.text)
    return header["source"] if header is not None and source_job(header["source"]) is not None else ""


def page_sources(root: Path, review: Review) -> dict[str, str]:
    """Job files of the runs that change, and files of jobs and overlays with findings. Links are not followed."""
    return texts_of(root, _paths(review))


def texts_of(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Texts of files by path, without lines with secrets. Links are not followed."""
    texts = ((path, _text(root, path)) for path in sorted(set(paths)))
    return {path: without_secrets(text) for path, text in texts if text is not None}


def _paths(review: Review) -> Iterator[str]:
    for run in review.runs:
        if run.action is not RunAction.KEPT and (path := job_file(run.pair.object)):
            yield path
    for finding in review.findings:
        if finding.place.file.startswith((jobs_path(""), overlays_path(""))):
            yield finding.place.file


def _text(root: Path, path: str) -> str | None:
    if linked_folder(root, path) is not None:
        return None
    try:
        return read_regular(root / path, _MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def without_secrets(text: str) -> str:
    """The text without the lines that contain a secret."""
    if not any(True for _ in known_secrets([text])):
        return text
    lines = text.split("\n")
    shown = [HIDDEN if any(True for _ in known_secrets([line])) else line for line in lines]
    return HIDDEN if shown == lines else "\n".join(shown)  # a secret of several lines
