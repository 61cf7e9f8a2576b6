"""Check manifests: files, standard input, texts, or objects of Python.

The objects of several files are checked together: first their schemas, then a few rules at a time for all of them. A
rule that runs again for another object finds its code in the caches of the processor.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct
from yaml import YAMLError

from gen.base.codes.files import UNREADABLE
from gen.base.codes.overlays import INVALID_DEFINITION
from gen.base.containment import contained
from gen.base.findings import (
    DefinitionError,
    Diagnostic,
    Findings,
    Location,
    Route,
    Severity,
    UsageError,
    message_text,
)
from gen.base.parallel import Progress, map_parallel
from gen.base.routes import dotted
from gen.base.yaml.strict import Refused
from gen.kubernetes.check.objects import Examined
from gen.kubernetes.check.silence import Checked
from gen.kubernetes.manifests.files import STDIN, named_files, read_bytes
from gen.kubernetes.manifests.go_yaml import as_kubectl
from gen.kubernetes.manifests.read import Manifests, decoded, objects_in, read_manifests
from gen.kubernetes.objects import POLICY_KINDS, identity_of
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.rules.gitops.across_objects import Fact, Spot, conflicts, facts
from gen.kubernetes.rules.rule import Problem, RuleSource
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from gen.kubernetes.schemas.registry import minor_version, versions

if TYPE_CHECKING:
    from gen.kubernetes.policies.policy_set import PolicySet

_FILES_PER_PROCESS: Final = 200
"""Minimum number of files for each process."""
_LARGE: Final = 128 << 10
"""Bytes from which a file is checked alone: several such files at once would take much memory."""
_FILES: Final = 32
"""Files that are checked together."""
_OBJECTS: Final = 32
"""Objects that are checked together."""
_RULES: Final = 4
"""Rules before the next object."""

Content = bytes | tuple[object, ...]
"""A manifest as text in UTF-8, or objects."""


class Cluster(Protocol):
    """What is known of the cluster of a file."""

    @property
    def kubernetes(self) -> str | None:
        """The version; None for the newest."""

    @property
    def definitions(self) -> tuple[Path, ...]:
        """Folders or files of CustomResourceDefinitions."""

    @property
    def policies(self) -> tuple[tuple[Path, str], ...]:
        """Folders or files of admission policies, each with its name in findings."""


class Clusters(Protocol):
    """The clusters of files. Files of one folder are in the same cluster."""

    def cluster_of(self, file: str) -> Cluster | None:
        """The cluster of a file, if it is known."""

    def scope_of(self, file: str) -> str | None:
        """The folder whose objects are in the cluster together; None for the file's own folder."""

    def shown(self, definition: Path) -> str | None:
        """The name in findings of a file with definitions of a cluster."""


class ReadFile(Struct, frozen=True):
    """A file before its objects are checked."""

    name: str
    manifests: Manifests | None
    found: Findings
    size: int = 0


class _Outline(Struct, frozen=True):
    """The documents of a file, without their content, to find places in its text again."""

    begins: tuple[tuple[int, int], ...]
    is_unique: bool
    is_yaml: bool


class CheckedFile(Struct, frozen=True):
    """Result of checking one file."""

    objects: int
    findings: tuple[Diagnostic, ...]
    facts: tuple[tuple[int, Route, Fact], ...] = ()
    """Facts of its objects, each with document and route."""
    policies: bool = False
    """Whether it contains admission policies or their bindings."""
    outline: _Outline | None = None
    """None without facts."""


class _Object(Struct, frozen=True):
    """An object in a file."""

    file: ReadFile
    document: int
    route: Route
    body: object


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
    """Version for all files; else that of the cluster of the file, or the newest."""
    schemas: tuple[Path, ...] = ()
    """Folders or files of CustomResourceDefinitions."""
    missing: bool = False
    """Whether kinds without a schema are skipped."""
    parallel: int = 1
    policies: tuple[Path, ...] = ()
    """Folders or files of admission policies for all files."""
    clusters: Clusters | None = None
    contents: Mapping[str, Content] = field(default_factory=dict)
    """What to check instead of files, by the names in findings."""

    def run(self, progress: Progress | None = None) -> CheckedFiles:
        """Check all files. UsageError if there are none."""
        for location in (*self.schemas, *self.policies):
            if not location.exists():
                raise UsageError(f"{location} does not exist")
        files = [*dict.fromkeys(named_files(self.paths)), *self.contents]
        # worker processes have no standard input
        own = {STDIN: self.check_files([STDIN])[0]} if STDIN in files else {}
        others = [file for file in files if file not in own]
        checked = map_parallel(self.check_files, others, self.parallel, worth_it=_FILES_PER_PROCESS, progress=progress)
        own.update(zip(others, checked, strict=True))
        done = [own[file] for file in files]
        objects = sum(one.objects for one in done)
        with_policies = [file for file, one in zip(files, done, strict=True) if one.policies]
        found = Findings([finding for one in done for finding in one.findings])
        found.extend(self._conflicts(dict(zip(files, done, strict=True))))
        found.extend(self._policy_findings(files, with_policies))
        if not objects and not found.items and self.paths:
            raise UsageError(f"no manifests found in {', '.join(self.paths)}")
        return CheckedFiles(files=len(files), objects=objects, findings=found)

    def check_files(self, files: Sequence[str], done: Callable[[int], None] = lambda _: None) -> list[CheckedFile]:
        """Check files in batches: a rule finds its code in the caches of the processor after it checked other objects.

        Any bytes lead to findings.
        """
        results: list[CheckedFile] = []
        for start in range(0, len(files), _FILES):
            batch: list[ReadFile] = []
            for file in files[start : start + _FILES]:
                one = self._read_file(file)
                if one.size > _LARGE:
                    results += check_batch(self._examined, batch)
                    batch = []
                    results += check_batch(self._examined, [one])
                else:
                    batch.append(one)
            results += check_batch(self._examined, batch)
            done(len(results))
        return results

    def _read_file(self, file: str) -> ReadFile:
        found = Findings()
        try:
            content = self._content(file)
        except OSError as error:
            place = Location(_shown(file))
            found.error(UNREADABLE, place, f"cannot read the file: {error.strerror}", "check its permissions")
            return ReadFile(file, None, found)
        manifests = _manifests(content, file, found)
        return ReadFile(file, manifests, found, len(content) if isinstance(content, bytes) else 0)

    def _content(self, file: str) -> Content:
        """The content of a file. Standard input can be read only once."""
        if file in self.contents:
            return self.contents[file]
        if file != STDIN:
            return read_bytes(file)
        if STDIN not in self._input:
            self._input[STDIN] = read_bytes(file)
        return self._input[STDIN]

    @cached_property
    def _input(self) -> dict[str, bytes]:
        return {}

    def _conflicts(self, done: Mapping[str, CheckedFile]) -> Iterator[Diagnostic]:
        known = list(conflicts(self._facts(done)))
        ordered = sorted(
            {spot for one in known for spot in (one.spot, one.other) if spot is not None},
            key=lambda spot: (spot.file, spot.document),
        )
        files = [
            (file, done[file].outline, tuple(spots)) for file, spots in groupby(ordered, key=lambda spot: spot.file)
        ]
        located = map_parallel(self._located, files, self.parallel, worth_it=_FILES_PER_PROCESS)
        places = {spot: place for one in located for spot, place in one}
        return (one.finding(places) for one in known)

    def _facts(self, done: Mapping[str, CheckedFile]) -> Iterator[tuple[str, Fact, Spot]]:
        """Facts with their clusters and places."""
        for file, checked in done.items():
            scope = (self.clusters.scope_of(file) if self.clusters is not None else None) or _folder(file)
            for number, route, fact in checked.facts:
                yield scope, fact, Spot(file, number, (*route, *fact.route))

    def _located(
        self, files: Sequence[tuple[str, _Outline | None, tuple[Spot, ...]]], _: Callable[[int], None]
    ) -> list[list[tuple[Spot, Location]]]:
        """The places of facts. Each file is read once more: to keep what was read would take much memory."""
        return [self._located_in(file, outline, spots) for file, outline, spots in files]

    def _located_in(self, file: str, outline: _Outline | None, spots: Iterable[Spot]) -> list[tuple[Spot, Location]]:
        text = None
        with suppress(OSError, UnicodeDecodeError, Refused, YAMLError):  # it may have been removed or changed since
            content = self._content(file)
            text = as_kubectl(decoded(content), file, Findings()) if isinstance(content, bytes) else ""
        if text is None or outline is None:
            return [(spot, Location(_shown(file))) for spot in spots]
        manifests = Manifests(_shown(file), text, (), outline.begins, outline.is_unique, outline.is_yaml)
        return [(spot, manifests.place_of_existing(spot.document, spot.route)) for spot in spots]

    def _policy_findings(self, files: list[str], with_policies: list[str]) -> Iterator[Diagnostic]:
        """Findings of all policies: those of the option, of the clusters, and in the files `with_policies`."""
        one_of_folder = {_folder(file): file for file in files}
        of_folder = {folder: self._cluster_policies(file) for folder, file in one_of_folder.items()}
        if not with_policies and not self.policies and not any(of_folder.values()):
            return
        from gen.kubernetes.check.policies import ManifestPolicies

        own = self._own_policies(files, with_policies) if with_policies else None
        checker = ManifestPolicies(tuple((path, str(path)) for path in self.policies), own, self._kinds)
        yield from checker.findings_of_sets()
        if not checker.is_bound(of_folder.values()):
            return

        def findings(files: Sequence[str], _: Callable[[int], None]) -> list[list[Diagnostic]]:
            """Findings of the policies for each file. Each file is read once more, as for places of facts."""
            read = ((file, _manifests(self._content(file), file, Findings())) for file in files)
            return [
                list(checker.findings(file, manifests, of_folder[_folder(file)])) if manifests is not None else []
                for file, manifests in read
            ]

        for found in map_parallel(findings, files, self.parallel, worth_it=_FILES_PER_PROCESS):
            yield from found

    def _own_policies(self, files: list[str], with_policies: list[str]) -> PolicySet:
        """The policies among the manifests, and all that they can refer to: parameters and namespaces."""
        from gen.kubernetes.check.policies import accepted
        from gen.kubernetes.policies.policy_set import PolicySet, param_kinds, read_stored, stored_in

        unnamed = [file for file in files if file == STDIN or file in self.contents]
        known = (_manifests(self._content(file), file, Findings()) for file in unnamed)
        more = tuple(stored for one in known if one is not None for stored in stored_in(one))
        policies = {file for file in with_policies if file not in unnamed}
        stored = (*more, *read_stored(tuple((Path(file), file) for file in policies)))
        kinds = {kind.encode() for kind in ("Namespace", *param_kinds(stored))}
        needed = (one for one in files if one in policies or (one not in unnamed and _has_word(one, kinds)))
        paths = tuple((Path(file), file) for file in needed)
        return PolicySet(paths, more, lambda body: accepted(body, self._kinds(files[0])))

    def _cluster_policies(self, file: str) -> tuple[tuple[Path, str], ...]:
        cluster = self._cluster_of(file)
        return cluster.policies if cluster is not None else ()

    def _cluster_of(self, file: str) -> Cluster | None:
        return self.clusters.cluster_of(file) if self.clusters is not None else None

    def _examined(self, file: ReadFile, body: object) -> Examined | None:
        """A faulty definition of a cluster is a finding; one that the user names is a usage error."""
        try:
            return Examined(body, self._kinds(file.name), missing=self.missing)
        except DefinitionError as error:
            named = any(error.file.is_relative_to(one) for one in self.schemas)
            shown = self.clusters.shown(error.file) if self.clusters is not None and not named else None
            if shown is None:
                raise
            hint = "copy it again from the cluster or from the release of the operator, or remove the file"
            message = f"cannot read the definitions in this file: {error.reason}"
            file.found.error(INVALID_DEFINITION, Location(shown, error.line), message, hint)
            return None

    def _kinds(self, file: str) -> Kinds:
        folder = _folder(file)
        if folder not in self._of_folder:
            self._of_folder[folder] = self._chosen(file)
        return self._of_folder[folder]

    def _chosen(self, file: str) -> Kinds:
        cluster = self._cluster_of(file)
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
            definitions = self._definitions.setdefault(folders, Definitions(folders)) if folders else None
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


def _manifests(content: Content, file: str, found: Findings) -> Manifests | None:
    """The documents of a file; None, with a finding, if they are unreadable."""
    if isinstance(content, bytes):
        with contained(found, Location(_shown(file)), "read the file"):
            return read_manifests(content, _shown(file), found)
        return None
    return Manifests(file, "", content, ((0, 0),) * len(content), is_yaml=False)


def _has_word(file: str, words: Collection[bytes]) -> bool:
    """Whether a file contains one of the words, which takes a hundredth of the time of parsing it."""
    with suppress(OSError):
        raw = read_bytes(file)
        return any(word in raw for word in words)
    return False


def _folder(file: str) -> str:
    return os.path.dirname(file)  # noqa: PTH120 - called for every file


def _shown(file: str) -> str:
    return "<stdin>" if file == STDIN else file


def check_batch(examine: Callable[[ReadFile, object], Examined | None], files: Sequence[ReadFile]) -> list[CheckedFile]:
    """Check files. `examine` checks the schema of an object; None after an error in a definition."""
    objects = [
        _Object(file, number, route, body)
        for file in files
        if file.manifests is not None
        for number, document in enumerate(file.manifests.documents)
        for route, body in objects_in(document)
    ]
    known: dict[str, list[tuple[int, Route, Fact]]] = {file.name: [] for file in files}
    for start in range(0, len(objects), _OBJECTS):
        batch = objects[start : start + _OBJECTS]
        for one, checked in zip(batch, _checked(examine, batch), strict=True):
            one.file.found.extend(_finding(problem, one) for problem in checked.problems)
            one.file.found.extend(_finding(problem, one, reason) for problem, reason in checked.silenced)
            if all(RULES[problem.rule].source is RuleSource.GITOPS for problem in checked.problems):
                with contained(one.file.found, Location(_shown(one.file.name)), "compare the object with others"):
                    known[one.file.name] += [(one.document, one.route, fact) for fact in facts(one.body)]
    counts = Counter(one.file.name for one in objects)
    policies = {one.file.name for one in objects if isinstance(one.body, dict) and one.body.get("kind") in POLICY_KINDS}
    return [
        CheckedFile(
            counts[file.name],
            tuple(file.found.items),
            tuple(known[file.name]),
            file.name in policies,
            _outline(file.manifests) if known[file.name] else None,
        )
        for file in files
    ]


def _outline(manifests: Manifests | None) -> _Outline | None:
    return None if manifests is None else _Outline(manifests.begins, manifests.is_unique, manifests.is_yaml)


def _checked(examine: Callable[[ReadFile, object], Examined | None], objects: Sequence[_Object]) -> list[Checked]:
    examined = [examine(one.file, one.body) for one in objects]
    valid = [one for one in examined if one is not None]
    for start in range(0, max((len(one.rules) for one in valid), default=0), _RULES):
        for one in valid:
            one.apply_rules(start, start + _RULES)
    return [one.result() if one is not None else Checked() for one in examined]


def _finding(problem: Problem, one: _Object, reason: str | None = None) -> Diagnostic:
    manifests, rule = one.file.manifests, RULES[problem.rule]
    assert manifests is not None  # it has the object
    place = manifests.place(one.document, (*one.route, *problem.route), key=problem.is_about_key)
    name = identity_of(one.body)
    where = f"{name}, {dotted(problem.route)}" if problem.route else name
    message = f"{where}: {problem.message}" if where else problem.message
    if reason is not None:
        return Diagnostic(place, problem.rule, message_text(f"silenced ({reason}): {message}"), severity=Severity.NOTE)
    return Diagnostic(
        place,
        problem.rule,
        message_text(message),
        message_text(problem.hint or rule.hint),
        severity=rule.severity_of(one.body),
    )
