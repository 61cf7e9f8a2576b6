"""Sources that pages show: texts of job files and overlays without secrets, and links to commits and files on the web.

Links have the form `<web>/commit/<commit>` and `<web>/blob/<commit>/<path>`, as in GitHub and Forgejo. In GitLab, paths
begin with `/-` after the name of the project.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from gen.base import Diagnostic, UsageError, regex
from gen.base.repository.files import linked_folder, read_regular
from gen.base.repository.git import Base
from gen.base.repository.layout import jobs_path, overlays_path, source_job
from gen.kubernetes.secrets import known_secrets
from gen.render.emit import HEADER
from gen.render.rendered_object import RenderedObject
from gen.review.runs import RunAction, RunChange

_MAX_BYTES: Final = 1 << 20
HIDDEN: Final = "… a line with a secret is not shown …"
_WEB = regex(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9_.~%+-]+)+")
_COMMIT = regex(r"[0-9a-f]{7,64}")


def job_file(one: RenderedObject) -> str:
    """The job file that the header of an object names; empty if it names none. Anyone can write a header."""
    header = HEADER.match(one.text)
    return header["source"] if header is not None and source_job(header["source"]) is not None else ""


def page_sources(root: Path, runs: Iterable[RunChange], findings: Iterable[Diagnostic]) -> dict[str, str]:
    """Job files of the runs that change, and files of jobs and overlays with findings. Links are not followed."""
    return texts_of(root, {*changed_job_files(runs), *_paths(findings)})


def base_sources(base: Base, runs: Iterable[RunChange]) -> dict[str, str]:
    """Job files at the base of the runs that change, without lines with secrets."""
    return texts_at(base, jobs_path(""), changed_job_files(runs))


def texts_at(base: Base, folder: str, paths: Collection[str]) -> dict[str, str]:
    """Files of a folder at the base, without lines with secrets."""
    if not paths:
        return {}
    entries = {path: entry for path, entry in base.files(folder).items() if path in paths and entry.is_regular}
    blobs = base.blobs(entry.digest for entry in entries.values())
    texts = {path: blobs[entry.digest][:_MAX_BYTES].decode("utf-8", "replace") for path, entry in entries.items()}
    return {path: without_secrets(text) for path, text in texts.items()}


def changed_job_files(runs: Iterable[RunChange]) -> set[str]:
    """Paths of the job files of the runs that change, at the base or in the work tree."""
    changed = [run.pair for run in runs if run.action is not RunAction.KEPT]
    return job_files(one for pair in changed for one in (pair.before, pair.after))


def job_files(objects: Iterable[RenderedObject | None]) -> set[str]:
    return {path for one in objects if one is not None and (path := job_file(one))}


def texts_of(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Texts of files by path, without lines with secrets. Links are not followed."""
    texts = ((path, _text(root, path)) for path in sorted(set(paths)))
    return {path: without_secrets(text) for path, text in texts if text is not None}


def _paths(findings: Iterable[Diagnostic]) -> Iterator[str]:
    for finding in findings:
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


class Links(Struct, frozen=True):
    """The repository on the web."""

    web: str
    prefix: str
    """Path of the repository of jobs within the Git repository; empty, or ending with `/`."""
    head: str
    """The commit of the work tree."""

    def commit(self, commit: str) -> str:
        return f"{self.web}/commit/{commit}"

    def file(self, path: str, line: int = 0) -> str:
        return f"{self.web}/blob/{self.head}/{quote(self.prefix + path)}{f'#L{line}' if line else ''}"


def links_to(web: str | None, head: str, prefix: str, environment: Mapping[str, str]) -> Links | None:
    """Links to `web`, or to the repository of the CI job. UsageError for an invalid address or commit."""
    address = web if web is not None else _of_ci(environment)
    if web is not None and _WEB.fullmatch(web) is None:
        raise UsageError(f"`--web {web}` is not a valid address; use a form like `https://github.com/example/jobs`")
    if _COMMIT.fullmatch(head) is None:
        raise UsageError(f"`--commit {head}` is not a valid commit; use its digits, as `git rev-parse` prints them")
    return Links(address.rstrip("/"), prefix, head) if address and _WEB.fullmatch(address) else None


def _of_ci(environment: Mapping[str, str]) -> str:
    """The address that GitHub Actions, Forgejo Actions or GitLab CI sets."""
    if project := environment.get("CI_PROJECT_URL"):
        return f"{project}/-"
    server, repository = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else ""
