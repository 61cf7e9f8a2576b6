"""Reads the files of overlays, each once: `overlay.yaml` of an overlay and of those that it extends.

It imports no models, so that `gen validate` finds the cluster of a file without loading them.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import cast

from msgspec import Struct, field

from gen.base import Findings, Location, did_you_mean
from gen.base.codes.files import MISPLACED_FILE, NOT_A_FILE
from gen.base.codes.overlays import EXTENDS_ITSELF, UNKNOWN_OVERLAY, UNUSED_VENDORED
from gen.base.repository.files import MAX_DEPTH, is_too_deep, links_in, printable_path
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import (
    DEFINITIONS,
    OVERLAY_FILE,
    POLICIES,
    RUNTIMES,
    VENDOR,
    overlay_file,
    overlay_of,
    overlays_path,
    vendor_lock,
)
from gen.base.yaml.source import Source, read, report_not_a_mapping
from gen.base.yaml.strict import Data


class Chain(Struct, frozen=True):
    """The sources of an overlay, its own first, then those that it extends."""

    sources: tuple[Source, ...]
    complete: bool
    """False if one is missing, unreadable, or extends itself."""
    definitions: tuple[Path, ...]
    """Folders of CustomResourceDefinitions, those of the overlay itself first."""
    policies: tuple[tuple[Path, str], ...] = ()
    """Folders of admission policies in the same order, each relative to the repository, too."""
    runtimes: tuple[tuple[Path, str], ...] = ()
    """Folders of runtimes of the Kubeflow Trainer, likewise."""


class ClusterFiles(Struct, frozen=True):
    """Facts about a cluster from the readable files of its overlay."""

    kubernetes: str | None
    definitions: tuple[Path, ...]
    """Folders of CustomResourceDefinitions, those of the overlay itself first."""
    policies: tuple[tuple[Path, str], ...] = ()
    """Folders of admission policies in the same order, each relative to the repository, too."""


class OverlayFiles(Struct, dict=True):
    """The overlays of one repository, for one run."""

    root: Path
    found: Findings
    _sources: dict[str, Source | None] = field(default_factory=dict)
    _clusters: dict[str, ClusterFiles | None] = field(default_factory=dict)
    _cycles: set[str] = field(default_factory=set)
    """Overlays with a reported cycle."""

    @cached_property
    def names(self) -> list[str]:
        """The existing overlays. Findings about other entries in `overlays/` are for `gen render` to report."""
        return overlay_names(self.root, Findings())

    def chain(self, name: str) -> Chain:
        """The files of an overlay."""
        sources: list[Source] = []
        names = [name]
        source = self.source(name)
        if source is not None and not isinstance(fields_of(source).get("extends"), dict):
            self._report_left(name)
        while source is not None:
            sources.append(source)
            extended = fields_of(source).get("extends")
            base = (
                self._vendored(names[-1], source, extended)
                if isinstance(extended, dict)
                else _beside(names[-1], extended)
            )
            if not base:
                return self._chain(names, sources, complete=base is not None)
            at = source.place(("extends",))
            if base in names:
                cycle = names[names.index(base) :]
                if not self._cycles & set(cycle):
                    through = f" through {', '.join(f'`{one}`' for one in cycle[1:])}" if len(cycle) > 1 else ""
                    message = f"overlay `{base}` extends itself{through}"
                    self.found.error(EXTENDS_ITSELF, at, message, "remove one `extends` of the cycle")
                self._cycles.update(cycle)
                break
            names.append(base)
            source = self.source(base, None if isinstance(extended, dict) else at)
        return self._chain(names, sources, complete=False)

    def _vendored(self, name: str, source: Source, extended: dict[str, Data]) -> str | None:
        """The copy of an overlay of another repository; None if it is not usable, "" if the model refuses the field."""
        from gen.overlay.vendored import origin_of, vendored_overlay

        origin = origin_of(extended)
        return "" if origin is None else vendored_overlay(self.root, name, source, origin, self.found)

    def _report_left(self, name: str) -> None:
        """What `gen vendor` wrote for an overlay that extends none of another repository any more."""
        paths = [path for path in (overlays_path(name, VENDOR), vendor_lock(name)) if os.path.lexists(self.root / path)]
        if paths:
            message = f"overlay `{name}` extends none of another repository, so nothing reads {paths[0]}"
            self.found.warning(UNUSED_VENDORED, Location(paths[0]), message, f"run `git rm -r {' '.join(paths)}`")

    def use(self, name: str, source: Source) -> None:
        """Use this mapping in place of the file of an overlay."""
        self._sources[name] = source

    def cluster_of(self, file: str) -> ClusterFiles | None:
        """The cluster of a file in `rendered/<overlay>/` or `overlays/<overlay>/`; None for other files."""
        path, start = os.path.abspath(file), f"{self.root}/"  # noqa: PTH100 - called for every folder
        overlay = overlay_of(path.removeprefix(start)) if path.startswith(start) else None
        if overlay is None:
            return None
        if overlay not in self._clusters:
            self._clusters[overlay] = self._cluster(overlay)
        return self._clusters[overlay]

    def _cluster(self, name: str) -> ClusterFiles | None:
        chain = self.chain(name)
        versions = (fields_of(source).get("kubernetes") for source in chain.sources)
        kubernetes = next((version for version in versions if isinstance(version, str) and version), None)
        return ClusterFiles(kubernetes, chain.definitions, chain.policies) if chain.sources else None

    def _chain(self, names: list[str], sources: list[Source], *, complete: bool) -> Chain:
        read = names[: len(sources)]
        definitions, policies, runtimes = (
            tuple((path, overlays_path(name, kind)) for name in read if (path := self._folder(name, kind)) is not None)
            for kind in (DEFINITIONS, POLICIES, RUNTIMES)
        )
        return Chain(tuple(sources), complete, tuple(path for path, _ in definitions), policies, runtimes)

    def _folder(self, name: str, kind: str) -> Path | None:
        """A folder of one overlay; None if there is none, or if it contains a link or too many nested folders."""
        folder = self.root / overlays_path(name, kind)
        if not folder.is_dir():
            return None
        links = list(links_in(folder))
        for link in links:
            place = Location(overlays_path(name, kind, printable_path(link)).rstrip("/"))
            self.found.error(NOT_A_FILE, place, "links are not allowed", "replace the link with the file itself")
        if is_too_deep(folder):
            place = Location(overlays_path(name, kind))
            message = f"more than {MAX_DEPTH} nested folders"
            self.found.error(MISPLACED_FILE, place, message, "move the files up")
            return None
        return None if links else folder

    def source(self, name: str, at: Location | None = None) -> Source | None:
        """The file of an overlay alone; None, with a finding, if it is not a mapping. `at` names it in another one."""
        if name not in self._sources:
            folder = "" if at is None else "".join(f"{part}/" for part in at.file.split("/")[1:-2])
            known = self._siblings(folder) if folder else self.names
            written = name.removeprefix(folder)
            if written in known or at is None:
                self._sources[name] = self._mapping(name)
            else:
                below = at.file.split("/")[-2]
                others = [other for other in known if other != below]
                hint = did_you_mean(written.rsplit("/", 1)[-1], others, otherwise="remove it, or add the overlay")
                self.found.error(UNKNOWN_OVERLAY, at, f"unknown overlay `{written}`", hint)
                self._sources[name] = None
        return self._sources[name]

    def _siblings(self, folder: str) -> list[str]:
        """The overlays in the folder of one of another repository."""
        return sorted(file.parent.name for file in (self.root / overlays_path(folder)).glob(f"*/{OVERLAY_FILE}"))

    def _mapping(self, name: str) -> Source | None:
        source = read(self.root, overlay_file(name), self.found)
        if source is not None and not isinstance(source.data, dict):
            report_not_a_mapping(source, "an overlay", self.found)
            return None
        return source


def _beside(name: str, extended: Data | None) -> str:
    """The overlay that one extends by its name: in the same folder, also in that of another repository."""
    if not isinstance(extended, str) or not extended:
        return ""
    folder, slash, _ = name.rpartition("/")
    return f"{folder}{slash}{extended}"


def fields_of(source: Source) -> dict[str, Data]:
    """The fields of an overlay's file, which `OverlayFiles` only returns if it is a mapping."""
    return cast("dict[str, Data]", source.data)
