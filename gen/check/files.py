"""`gen validate`: check manifests in files, folders or standard input against schemas and rules.

A render checks the objects that it is about to write in the same way.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.check.objects import check_in_steps
from gen.check.silence import Checked
from gen.diagnostics import DefinitionError, Diagnostic, Findings, Location, Severity, UsageError, message_text
from gen.findings.files import UNREADABLE
from gen.findings.overlays import INVALID_DEFINITION
from gen.kubernetes import identity_of
from gen.load.manifest_files import STDIN, named_files, read_bytes
from gen.load.manifests import objects_in, read_manifests
from gen.overlay.files import OverlayFiles
from gen.parallel import finished, map_parallel
from gen.repository.layout import overlay_folder
from gen.repository.root import find_root
from gen.rules.catalogue import CATALOGUE
from gen.rules.gitops.across_objects import Fact, Spot, conflicts, facts
from gen.rules.problem import dotted
from gen.rules.rule import RuleSource
from gen.schemas.definitions import Definitions
from gen.schemas.lookup import Kinds
from gen.schemas.registry import minor_version, versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Route
    from gen.load.manifests import Manifests
    from gen.parallel import Progress, Steps
    from gen.policies.policy_set import PolicySet
    from gen.rules.problem import Problem

POLICY_MARK = b"ValidatingAdmissionPolicy"
_FILES_PER_PROCESS = 200
"""Minimum number of files for each process."""
_LARGE = 128 << 10
"""Bytes from which a file is checked in one step: several such files at once would take much memory."""


class CheckedFile(Struct, frozen=True):
    """Result of checking one file."""

    objects: int
    findings: tuple[Diagnostic, ...]
    facts: tuple[tuple[int, Route, Fact], ...] = ()
    """Facts of its objects, each with document and route."""
    policies: bool = False
    """Whether it contains admission policies."""


class CheckedFiles(Struct, frozen=True, kw_only=True):
    """Findings of all files, with counts of files and of objects."""

    files: int
    objects: int
    findings: Findings


@dataclass(frozen=True)
class ManifestChecker:
    """Checks manifests from any source."""

    paths: tuple[str, ...]
    kubernetes: str | None = None
    """Version for all files; else that of the overlay whose folder contains the file, or the newest."""
    schemas: tuple[Path, ...] = ()
    """Folders or files of CustomResourceDefinitions."""
    missing: bool = False
    """Whether kinds without a schema are skipped."""
    parallel: int = 1
    policies: tuple[Path, ...] = ()
    """Folders or files of admission policies for all files."""

    def run(self, progress: Progress | None = None) -> CheckedFiles:
        """Check all files. UsageError if there are none."""
        for location in (*self.schemas, *self.policies):
            if not location.exists():
                raise UsageError(f"{location} does not exist")
        files = list(dict.fromkeys(named_files(self.paths)))
        # worker processes have no standard input
        own = {STDIN: finished(self.check_file(STDIN))} if STDIN in files else {}
        others = [file for file in files if file not in own]
        checked = map_parallel(self.check_file, others, self.parallel, worth_it=_FILES_PER_PROCESS, progress=progress)
        own.update(zip(others, checked, strict=True))
        done = [own[file] for file in files]
        objects = sum(one.objects for one in done)
        with_policies = any(one.policies for one in done)
        found = Findings([finding for one in done for finding in one.findings])
        found.extend(self._conflicts(zip(files, done, strict=True)))
        found.extend(self._policy_findings(files, named=with_policies))
        if not objects and not found.items:
            raise UsageError(f"no manifests found in {', '.join(self.paths)}")
        return CheckedFiles(files=len(files), objects=objects, findings=found)

    def check_file(self, file: str) -> Steps[CheckedFile]:
        """Check one file. Any bytes lead to findings."""
        found = Findings()
        try:
            raw = self._read(file)
        except OSError as error:
            place = Location(_shown(file))
            found.error(UNREADABLE, place, f"cannot read the file: {error.strerror}", "check its permissions")
            return CheckedFile(0, tuple(found.items))
        checked = self._check_bytes(file, raw, found)
        return finished(checked) if len(raw) > _LARGE else (yield from checked)

    def _check_bytes(self, file: str, raw: bytes, found: Findings) -> Steps[CheckedFile]:
        manifests = read_manifests(raw, _shown(file), found)
        yield
        if manifests is None:
            return CheckedFile(0, tuple(found.items))
        kinds = self._kinds(file)
        objects = 0
        known = []
        for number, document in enumerate(manifests.documents):
            for route, body in objects_in(document):
                objects += 1
                checked = yield from self._checked(body, kinds, found)
                if all(CATALOGUE[problem.rule].source is RuleSource.GITOPS for problem in checked.problems):
                    known += [(number, route, fact) for fact in facts(body)]
                for problem in checked.problems:
                    found.items.append(_finding(problem, manifests, number, route, body))
                for problem, reason in checked.silenced:
                    found.items.append(_finding(problem, manifests, number, route, body, reason))
        return CheckedFile(objects, tuple(found.items), tuple(known), POLICY_MARK in raw)

    def _read(self, file: str) -> bytes:
        """The bytes of a file. Standard input can be read only once."""
        if file != STDIN:
            return read_bytes(file)
        if STDIN not in self._input:
            self._input[STDIN] = read_bytes(file)
        return self._input[STDIN]

    @cached_property
    def _input(self) -> dict[str, bytes]:
        return {}

    def _conflicts(self, done: Iterable[tuple[str, CheckedFile]]) -> Iterator[Diagnostic]:
        known = list(conflicts(_facts(done)))
        places = dict(self._located({spot for one in known for spot in (one.spot, one.other) if spot is not None}))
        return (one.finding(places) for one in known)

    def _located(self, spots: Iterable[Spot]) -> Iterator[tuple[Spot, Location]]:
        """The places of facts. Each file is read once more: to keep what was read would take much memory."""
        ordered = sorted(spots, key=lambda spot: (spot.file, spot.document))
        for file, there in groupby(ordered, key=lambda spot: spot.file):
            manifests = None
            with suppress(OSError):  # it may have been removed or changed since
                manifests = read_manifests(self._read(file), _shown(file), Findings())
            for spot in there:
                if manifests is None or spot.document >= len(manifests.documents):
                    yield spot, Location(_shown(file))
                else:
                    yield spot, manifests.place(spot.document, spot.route)

    def _policy_findings(self, files: list[str], *, named: bool) -> Iterator[Diagnostic]:
        """Findings of all policies: those of the option, of the overlays, and with `named` those in the files."""
        one_of_folder = {_folder(file): file for file in files}
        # all files of a folder are in the same cluster
        of_folder = {folder: self._cluster_policies(file) for folder, file in one_of_folder.items()}
        if not named and not self.policies and not any(of_folder.values()):
            return
        from gen.check.manifest_policies import ManifestPolicies  # noqa: PLC0415 - few manifests have policies

        own = self._own_policies(files) if named else None
        checker = ManifestPolicies(tuple((path, str(path)) for path in self.policies), own, self._kinds)
        yield from checker.findings_of_sets()
        for file in files:
            manifests = read_manifests(self._read(file), _shown(file), Findings())
            if manifests is not None:
                yield from checker.findings(file, manifests, of_folder[_folder(file)])

    def _own_policies(self, files: list[str]) -> PolicySet:
        """The policies among the manifests, and all that they can refer to."""
        from gen.check.policies import accepted  # noqa: PLC0415 - few manifests have policies
        from gen.policies.policy_set import PolicySet  # noqa: PLC0415 - as above
        from gen.policies.read import stored_in  # noqa: PLC0415 - as above

        given = read_manifests(self._read(STDIN), _shown(STDIN), Findings()) if STDIN in files else None
        more = tuple(stored_in(given)) if given is not None else ()
        paths = tuple((Path(file), file) for file in files if file != STDIN)
        return PolicySet(paths, more, lambda body: accepted(body, self._kinds(files[0])))

    def _cluster_policies(self, file: str) -> tuple[tuple[Path, str], ...]:
        cluster = self._overlays.cluster_of(file) if self._overlays is not None and overlay_folder(file) else None
        return cluster.policies if cluster is not None else ()

    def _checked(self, body: Any, kinds: Kinds, found: Findings) -> Steps[Checked]:
        """Check an object. A faulty definition of an overlay is a finding; one that the user names is a usage error."""
        try:
            return (yield from check_in_steps(body, kinds, missing=self.missing))
        except DefinitionError as error:
            if self._overlays is None or any(error.file.is_relative_to(one) for one in self.schemas):
                raise
            place = Location(error.file.relative_to(self._overlays.root).as_posix(), error.line)
            hint = "copy it again from the cluster or from the release of the operator, or remove the file"
            found.error(INVALID_DEFINITION, place, f"cannot read the definitions in this file: {error.reason}", hint)
            return Checked()

    def _kinds(self, file: str) -> Kinds:
        folder = _folder(file)
        if folder not in self._of_folder:
            self._of_folder[folder] = self._chosen(file)
        return self._of_folder[folder]

    def _chosen(self, file: str) -> Kinds:
        cluster = self._overlays.cluster_of(file) if self._overlays is not None else None
        version = self.kubernetes or (cluster.kubernetes if cluster is not None else None)
        chosen = minor_version(version) if version is not None else versions()[-1]
        if chosen not in versions():
            if self.kubernetes is not None:
                listed = f"{versions()[0]} to {versions()[-1]}"
                raise UsageError(f"unsupported Kubernetes version `{chosen}` (supported: {listed})")
            chosen = versions()[-1]
        folders = (*self.schemas, *(cluster.definitions if cluster is not None else ()))
        key = chosen, folders
        if key not in self._known:
            definitions = None
            if folders:
                definitions = self._definitions.setdefault(folders, Definitions(folders))
            self._known[key] = Kinds(chosen, definitions)
        return self._known[key]

    @cached_property
    def _of_folder(self) -> dict[str, Kinds]:
        return {}

    @cached_property
    def _known(self) -> dict[tuple[str, tuple[Path, ...]], Kinds]:
        return {}

    @cached_property
    def _definitions(self) -> dict[tuple[Path, ...], Definitions]:
        return {}

    @cached_property
    def _overlays(self) -> OverlayFiles | None:
        """The overlays of the repository around the current folder. Errors in them are for `gen render` to report."""
        try:
            return OverlayFiles(find_root(Path.cwd()), Findings())
        except UsageError:
            return None


def _facts(done: Iterable[tuple[str, CheckedFile]]) -> Iterator[tuple[str, Fact, Spot]]:
    """Facts with their clusters and places."""
    for file, inspected in done:
        scope = overlay_folder(file) or _folder(file)
        for number, route, fact in inspected.facts:
            yield scope, fact, Spot(file, number, (*route, *fact.route))


def _folder(file: str) -> str:
    return os.path.dirname(file)  # noqa: PTH120 - called for every file


def _shown(file: str) -> str:
    return "<stdin>" if file == STDIN else file


def _finding(
    problem: Problem, manifests: Manifests, number: int, route: Route, body: Any, reason: str | None = None
) -> Diagnostic:
    rule = CATALOGUE[problem.rule]
    place = manifests.place(number, (*route, *problem.route), key=problem.rule == "unknown-field")
    where = f"{identity_of(body)}, {dotted(problem.route)}" if problem.route else identity_of(body)
    message = f"{where}: {problem.message}" if where else problem.message
    if reason is not None:
        return Diagnostic(place, problem.rule, message_text(f"silenced ({reason}): {message}"), severity=Severity.NOTE)
    return Diagnostic(
        place,
        problem.rule,
        message_text(message),
        message_text(problem.hint or rule.hint),
        severity=rule.severity_of(body),
    )
