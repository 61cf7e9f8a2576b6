"""The findings about a repository as its editor has it, for one open file at once, and for all files soon after.

The stages of a render run as they do for `gen check`. A result of a job is kept until its file, its lock, an overlay or
the committed runs change, and a file that is half written keeps its last result in the checks across jobs. The inputs
are saved files, and the unsaved texts of open ones in their place, in a private folder: a copy of `jobs/` and
`overlays/`. An update looks at each file's status and copies those that changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gen.base import Diagnostic, Findings, Location, Route, UsageError
from gen.base.repository.files import MAX_DEPTH
from gen.base.repository.git import check_index
from gen.base.repository.job_files import all_jobs
from gen.base.repository.layout import JOBS, OVERLAYS, JobFile, RenderedPath, object_file, overlays_path, source_job
from gen.base.yaml.source import Source, read
from gen.job.plan import Plan
from gen.overlay.overlay import Overlay, selects
from gen.overlay.read import OverlayReader
from gen.pins.lock import Lock, read_lock
from gen.render.check import field_of_route, with_valid_policies
from gen.render.committed import CommittedRuns
from gen.render.job_run import JobInput
from gen.render.pipeline import STAGES, Stage, render_files
from gen.render.results import JobResult, RunResult
from gen.render.run import combine
from gen.render.stages import expand, model, patch, plan
from gen.render.work import EndedRun, Inputs, LoadedFile, LoadedJob, ModelledJob, PatchedRun, PlannedRun, Work
from gen.render.write.compare import compare

_MAX_COPIED: Final = 1 << 24
"""Bytes of a file that are copied. Longer ones exceed every limit of gen, so that their size is all that counts."""
_MAX_NESTED: Final = MAX_DEPTH + 4
"""Nested folders that are copied: gen refuses an overlay with as many."""
_Status = tuple[int, int, int, int]


class Workspace:
    """The inputs of one repository. Paths are relative to it, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = tempfile.TemporaryDirectory(prefix="gen-lsp-", ignore_cleanup_errors=True)
        self.copy = Path(self._folder.name).resolve()
        """The folder with the copy, which only the user can read."""
        self.texts: dict[str, str] = {}
        """Texts of open files by path."""
        self._known: dict[str, _Status] = {}
        self._written: dict[str, str] = {}
        """Texts of open files as they are in the copy."""

    def close(self) -> None:
        self._folder.cleanup()

    def update(self) -> set[str]:
        """Bring the copy up to date. Returns the paths of files that changed, appeared or vanished."""
        changed = set()
        found: set[str] = set()
        for top in (JOBS, OVERLAYS):
            (self.copy / top).mkdir(exist_ok=True)
            for path, status in self._files(top):
                found.add(path)
                if path not in self.texts and self._known.get(path) != status:
                    self._known[path] = status
                    self._copy(path, status)
                    changed.add(path)
        for path in self.texts:
            found.add(path)
            self._known.pop(path, None)  # the saved file counts again when the editor closes it
            if self.write(path):
                changed.add(path)
        for path in self._written.keys() - self.texts.keys():
            del self._written[path]
        for path in [path for path in self._known if path not in found]:
            del self._known[path]
            changed.add(path)
        self._remove_others(found)
        return changed

    def write(self, path: str) -> bool:
        """Write the text of an open file into the copy. Returns whether it changed."""
        text = self.texts[path]
        if self._written.get(path) == text:
            return False
        self._place(path).write_bytes(text.encode("utf-8", "surrogateescape"))
        self._written[path] = text
        return True

    def _files(self, folder: str) -> Iterator[tuple[str, _Status]]:
        """Everything that is not a folder, below a folder that is not a link."""
        with suppress(OSError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        (self.copy / path).mkdir(exist_ok=True)
                        if path.count("/") < _MAX_NESTED:
                            yield from self._files(path)
                        continue
                    status = entry.stat(follow_symlinks=False)
                    yield path, (status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino)

    def _copy(self, path: str, status: _Status) -> None:
        """Copy a file. What gen would refuse to read becomes a link without a target, which it refuses, too."""
        mode, _, size, _ = status
        target = self._place(path)
        if not stat.S_ISREG(mode):
            target.symlink_to("not-a-regular-file")
            return
        try:
            if size <= _MAX_COPIED:
                shutil.copyfile(self.root / path, target, follow_symlinks=False)
            else:
                target.touch()
                os.truncate(target, size)
        except OSError:
            target.touch(mode=0)  # unreadable, as the original is

    def _place(self, path: str) -> Path:
        """The path of a file in the copy, which does not exist yet."""
        target = self.copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
        return target

    def _remove_others(self, found: set[str]) -> None:
        """Remove files and folders that the repository does not have any more."""
        kept = {str(parent) for path in found for parent in Path(path).parents}
        for top, folders, files in os.walk(self.copy, topdown=False):
            here = Path(top).relative_to(self.copy)
            for name in files:
                if (here / name).as_posix() not in found:
                    (Path(top) / name).unlink()
            for name in folders:
                path = (here / name).as_posix()
                if path not in kept and not (self.root / path).is_dir():
                    shutil.rmtree(Path(top) / name)


_AT_ONCE: Final = 8
"""Jobs between two looks at whether the work is still wanted."""
Stopped = Callable[[], bool]


class Checker:
    """Renders one repository. Its methods must not run at the same time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.overlays: Sequence[Overlay] = ()
        self.problem = ""
        """Why the repository as a whole cannot be rendered; empty if it can."""
        self.results: dict[JobFile, JobResult] = {}
        self.run: RunResult | None = None
        """The last complete run."""
        self._last_readable: dict[JobFile, JobResult] = {}
        self._of_overlays: tuple[Diagnostic, ...] = ()
        self._across: tuple[Diagnostic, ...] = ()
        """Findings of the last complete run that are not of one job."""
        self._committed = CommittedRuns.of(root)
        self._outdated = True

    def close(self) -> None:
        self.workspace.close()

    def set_text(self, path: str, text: str | None) -> None:
        """The text of a file in the editor; None after it is closed."""
        if text is None:
            self.workspace.texts.pop(path, None)
        else:
            self.workspace.texts[path] = text

    def forget_committed(self) -> None:
        """Read the committed runs again, as after a render or another commit."""
        self.results.clear()

    def update(self) -> None:
        """Read what changed, and forget the results that it decides."""
        changed = self.workspace.update()
        if not self.results:
            self._committed = CommittedRuns.of(self.root)
        if self._outdated or any(path.startswith(overlays_path("")) for path in changed):
            self._read_overlays()
        for path in changed:
            if (job := source_job(path)) is not None or (job := source_job(path.removesuffix(".lock") + ".yaml")):
                self.results.pop(job, None)

    def _read_overlays(self) -> None:
        found = Findings()
        self.problem, self._outdated = "", False
        self.results.clear()
        try:
            self.overlays = with_valid_policies(OverlayReader(self.workspace.copy, found).read(), found)
        except UsageError as error:
            self.overlays, self.problem = (), self._readable(str(error))
        self._of_overlays = tuple(found.items)

    def _readable(self, text: str) -> str:
        return text.replace(str(self.workspace.copy), str(self.root))

    def _inputs(self) -> Inputs:
        return Inputs(root=self.workspace.copy, overlays=self.overlays, committed=self._committed)

    def selecting(self, job: JobFile, data: object) -> list[Overlay]:
        """The overlays that render a job with these fields."""
        return [overlay for overlay in self.overlays if selects(overlay, job.key, data)]

    def source(self, path: str) -> Source | None:
        """A file of the editor; None if it cannot be parsed."""
        with suppress(OSError):
            return read(self.workspace.copy, path, Findings())
        return None

    def lock(self, job: JobFile) -> Lock | None:
        """The pins of a job; None if they are invalid."""
        return read_lock(self.workspace.copy, job, Findings())

    def expanded(self, source: Source, job: JobFile, overlay: Overlay) -> JobInput | None:
        """The first run of a job with its expressions replaced; None if the job cannot be read."""
        file = LoadedFile(job=job, source=source, overlays=(overlay,))
        for modelled in model(LoadedJob(file=file, source=source, overlay=overlay, committed=None)):
            if isinstance(modelled, ModelledJob):
                return next((run.run.given for run in expand(modelled)[0].runs if run.run is not None), None)
        return None

    def _until(self, stage: Stage, source: Source, job: JobFile, overlay: Overlay) -> Iterator[Work]:
        """The runs of a job after the stages up to one."""
        file = LoadedFile(job=job, source=source, overlays=(overlay,))
        batch: list[Work] = [LoadedJob(file=file, source=source, overlay=overlay, committed=None)]
        for one in STAGES[1 : 1 + STAGES.index(stage)]:
            batch = [result for item in batch if not isinstance(item, EndedRun) for result in one(item)]
        yield from batch

    def planned(self, source: Source, job: JobFile, overlay: Overlay) -> Iterator[Plan]:
        """The plans of the first run of a job in an overlay: one, or one for each step. None if it has an error."""
        first = next((run for run in self._until(plan, source, job, overlay) if isinstance(run, PlannedRun)), None)
        yield from (part.plan for part in (first.parts if first is not None else ()))

    def decided(self, rendered: RenderedPath, route: Route) -> Location | None:
        """The line of a job, or of a patch, that decides a value of a rendered file; None if nothing is known of it."""
        job = JobFile(rendered.namespace, rendered.job)
        source = self.source(job.file)
        overlay = next((one for one in self.overlays if one.name == rendered.overlay), None)
        if source is None or overlay is None:
            return None
        for run in self._until(patch, source, job, overlay):
            if isinstance(run, PatchedRun) and run.patched[0] is not None:
                for manifest, provenance in zip(run.patched[0].manifests, run.patched[0].provenance, strict=True):
                    name = manifest.file or object_file(manifest.body["kind"], manifest.name)
                    if name == rendered.file:
                        given = run.planned.parts[0].run.given
                        return provenance.setting(manifest.body, route) or field_of_route(given, route)
        return None

    def check_file(self, path: str) -> tuple[Diagnostic, ...] | None:
        """The findings about an open job, or those of reading an open overlay; None for other files."""
        job = source_job(path)
        if self._outdated or (job is None and not path.startswith(overlays_path(""))):
            return None
        self.workspace.write(path)
        if job is None:
            self._read_overlays()
            return tuple(sorted({one for one in self._of_overlays if one.place.file == path}))
        if not self.overlays:
            return None
        self._render([job])
        across = (one for one in self._across if one.place.file == path)
        own = (one for one in self.results[job].findings if one.place.file == path)
        return tuple(sorted({*own, *(across if self.results[job].kind else ())}))

    def _render(self, jobs: Sequence[JobFile]) -> None:
        for result in render_files(self._inputs(), jobs):
            self.results[result.job] = result
            if result.kind:
                self._last_readable[result.job] = result

    def check_all(self, stopped: Stopped, first: Iterable[str] = ()) -> Mapping[str, tuple[Diagnostic, ...]] | None:
        """The findings about all files, by path; None if it was stopped. Results of jobs remain. `first` are open."""
        self.update()
        found = Findings()
        jobs = all_jobs(self.workspace.copy, found)
        open_ = [job for job in map(source_job, first) if job is not None and job in jobs]
        for job in [job for job in self.results if job not in set(jobs)]:
            del self.results[job]
        left = [job for job in dict.fromkeys((*open_, *jobs)) if job not in self.results] if self.overlays else []
        for begin in range(0, len(left), _AT_ONCE):
            if stopped():
                return None
            self._render(left[begin : begin + _AT_ONCE])
        if stopped():
            return None
        return self._findings(jobs, found)

    def _findings(self, jobs: Sequence[JobFile], found: Findings) -> Mapping[str, tuple[Diagnostic, ...]]:
        found.extend(self._of_overlays)
        own: set[Diagnostic] = set()
        if self.overlays:
            results = [self.results[job] for job in jobs]
            own = {one for result in results for one in result.findings}
            known = [result if result.kind else self._last_readable.get(result.job, result) for result in results]
            complete, _ = combine(self.workspace.copy, self.overlays, known, found, committed=self._committed)
            self.run = complete
            found.extend(own)
            if not self.workspace.texts:
                self._compare(complete, found)
        self._across = tuple(one for one in set(found.items) - own)
        by_file: dict[str, list[Diagnostic]] = {}
        for one in found:
            by_file.setdefault(one.place.file, []).append(one)
        return {path: tuple(items) for path, items in by_file.items()}

    def _compare(self, complete: RunResult, found: Findings) -> None:
        """Compare saved files with `rendered/`, as `gen check` does."""
        with suppress(UsageError, OSError):
            check_index(self.root, found)
            if not found.failed():
                compare(self.root, complete, found)
