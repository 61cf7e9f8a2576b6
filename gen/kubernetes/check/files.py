"""Check manifests: files, standard input, texts, or objects of Python.

The objects of several files are checked together: first their schemas, then a few rules at a time for all of them. A
rule that runs again for another object finds its code in the caches of the processor.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace
from yaml import YAMLError

from gen.base import (
    DefinitionError,
    Diagnostic,
    Findings,
    Location,
    Route,
    Severity,
    UsageError,
    contained,
    dotted,
    message_text,
)
from gen.base.codes.files import UNREADABLE
from gen.base.codes.overlays import INVALID_DEFINITION
from gen.base.parallel import Progress, map_parallel
from gen.base.yaml.strict import Refused
from gen.kubernetes.check.objects import ObjectCheck
from gen.kubernetes.check.silence import CheckResult
from gen.kubernetes.manifests.files import STDIN, heaviest_first, named_files, read_bytes
from gen.kubernetes.manifests.go_yaml import as_kubectl
from gen.kubernetes.manifests.read import Manifests, decoded, objects_in, read_manifests
from gen.kubernetes.objects import POLICY_KINDS, Body, identity_of
from gen.kubernetes.rules import Problem, RuleSource
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.rules.gitops.across_objects import Fact, FactPlace, conflicts, facts
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from gen.kubernetes.schemas.registry import minor_version, versions

if TYPE_CHECKING:
    from gen.kubernetes.policies.policy_set import PolicySet
    from gen.kubernetes.schemas.lookup import Cluster, Clusters

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


class ReadFile(Struct, frozen=True):
    """A file before its objects are checked."""

    name: str
    manifests: Manifests | None
    found: Findings


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
    kinds: frozenset[str] = frozenset()
    """The kinds of its objects."""
    outline: _Outline | None = None
    """None without facts."""

    def of_copy(self, file: str, copy: str) -> CheckedFile:
        """The result for a copy of the file."""

        def place(one: Location) -> Location:
            return replace(one, file=_shown(copy)) if one.file == _shown(file) else one

        findings = (
            replace(one, place=place(one.place), related=tuple((place(at), text) for at, text in one.related))
            for one in self.findings
        )
        return replace(self, findings=tuple(findings))


class _Object(Struct, frozen=True):
    file: ReadFile
    document: int
    route: Route
    body: object


class CheckedFiles(Struct, frozen=True, kw_only=True):
    """Findings of all files, with counts of files and of objects."""

    files: int
    objects: int
    findings: Findings


class ManifestChecker(Struct, frozen=True, dict=True):
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

    _input: dict[str, bytes] = field(default_factory=dict)
    _of_folder: dict[str, Kinds] = field(default_factory=dict)
    _known: dict[tuple[str, tuple[Path, ...]], Kinds] = field(default_factory=dict)
    _definitions: dict[tuple[Path, ...], Definitions] = field(default_factory=dict)

    def run(self, progress: Progress | None = None) -> CheckedFiles:
        """Check all files. UsageError if there are none."""
        for location in (*self.schemas, *self.policies):
            if not location.exists():
                raise UsageError(f"{location} does not exist")
        files = [*dict.fromkeys(named_files(self.paths)), *self.contents]
        # worker processes have no standard input
        own = {STDIN: self.check_files([STDIN])[0]} if STDIN in files else {}
        others, weights = heaviest_first(file for file in files if file not in own)
        checked = map_parallel(
            self.check_files, others, self.parallel, worth_it=_FILES_PER_PROCESS, progress=progress, weights=weights
        )
        own.update(zip(others, checked, strict=True))
        done = [own[file] for file in files]
        objects = sum(one.objects for one in done)
        found = Findings([finding for one in done for finding in one.findings])
        found.extend(self._conflicts(dict(zip(files, done, strict=True))))
        found.extend(self._policy_findings({file: one.kinds for file, one in zip(files, done, strict=True)}))
        if not objects and not found.items and self.paths:
            raise UsageError(f"no manifests found in {', '.join(self.paths)}")
        return CheckedFiles(files=len(files), objects=objects, findings=found)

    def check_files(self, files: Sequence[str], done: Callable[[int], None] = lambda _: None) -> list[CheckedFile]:
        """Check files in batches: a rule finds its code in the caches of the processor after it checked other objects.

        Any bytes lead to findings.
        """
        results: list[CheckedFile] = []
        for start in range(0, len(files), _FILES):
            results += self._check_some(files[start : start + _FILES])
            done(len(results))
        return results

    def _check_some(self, files: Sequence[str]) -> list[CheckedFile]:
        """Check files together. Copies in the same cluster are checked once."""
        results: dict[str, CheckedFile] = {}
        originals: dict[bytes, str] = {}
        copies: dict[str, str] = {}
        batch: list[ReadFile] = []

        def check() -> None:
            results.update(zip((one.name for one in batch), check_batch(self._examined, batch), strict=True))
            batch.clear()

        for file in files:
            found = Findings()
            try:
                content = self._content(file)
            except OSError as error:
                place = Location(_shown(file))
                found.error(UNREADABLE, place, f"cannot read the file: {error.strerror}", "check its permissions")
                batch.append(ReadFile(file, None, found))
                continue
            size = len(content) if isinstance(content, bytes) else 0
            original = originals.setdefault(blake2b(content).digest(), file) if isinstance(content, bytes) else file
            if original != file and self._kinds(original) is self._kinds(file):
                copies[file] = original
                continue
            if batch and size > _LARGE:  # alone
                check()
            batch.append(ReadFile(file, _manifests(content, file, found), found))
            if size > _LARGE:
                check()
        if batch:
            check()
        return [
            results[file] if file not in copies else results[copies[file]].of_copy(copies[file], file) for file in files
        ]

    def _content(self, file: str) -> Content:
        """The content of a file. Standard input can be read only once."""
        if file in self.contents:
            return self.contents[file]
        if file != STDIN:
            return read_bytes(file)
        if STDIN not in self._input:
            self._input[STDIN] = read_bytes(file)
        return self._input[STDIN]

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

    def _facts(self, done: Mapping[str, CheckedFile]) -> Iterator[tuple[str, Fact, FactPlace]]:
        """Facts with their clusters and places."""
        for file, checked in done.items():
            scope = (self.clusters.scope_of(file) if self.clusters is not None else None) or _folder(file)
            for number, route, fact in checked.facts:
                yield scope, fact, FactPlace(file, number, (*route, *fact.route))

    def _located(
        self, files: Sequence[tuple[str, _Outline | None, tuple[FactPlace, ...]]], _: Callable[[int], None]
    ) -> list[list[tuple[FactPlace, Location]]]:
        """The places of facts. Each file is read once more: keeping all values would take much memory."""
        return [self._located_in(file, outline, spots) for file, outline, spots in files]

    def _located_in(
        self, file: str, outline: _Outline | None, spots: Iterable[FactPlace]
    ) -> list[tuple[FactPlace, Location]]:
        text = None
        with suppress(OSError, UnicodeDecodeError, Refused, YAMLError):  # it may have been removed or changed since
            content = self._content(file)
            text = as_kubectl(decoded(content), file, Findings()) if isinstance(content, bytes) else ""
        if text is None or outline is None:
            return [(spot, Location(_shown(file))) for spot in spots]
        manifests = Manifests(_shown(file), text, (), outline.begins, outline.is_unique, outline.is_yaml)
        return [(spot, manifests.place_of_existing(spot.document, spot.route)) for spot in spots]

    def _policy_findings(self, kinds: Mapping[str, frozenset[str]]) -> Iterator[Diagnostic]:
        """Findings of all policies: those of the option, of the clusters, and in the files, with the kinds of each."""
        files = list(kinds)
        with_policies = [file for file in files if not kinds[file].isdisjoint(POLICY_KINDS)]
        one_of_folder = {_folder(file): file for file in files}
        of_folder = {folder: self._cluster_policies(file) for folder, file in one_of_folder.items()}
        if not with_policies and not self.policies and not any(of_folder.values()):
            return
        from gen.kubernetes.check.policies import ManifestPolicies

        own = self._own_policies(kinds, with_policies) if with_policies else None
        checker = ManifestPolicies(tuple((path, str(path)) for path in self.policies), own, self._kinds)
        yield from checker.findings_of_sets()
        files = [file for file in files if checker.may_apply(kinds[file], of_folder[_folder(file)])]

        def findings(files: Sequence[str], _: Callable[[int], None]) -> list[list[Diagnostic]]:
            """Findings of the policies for each file. Each file is read once more, as for places of facts."""
            read = ((file, _manifests(self._content(file), file, Findings())) for file in files)
            return [
                list(checker.findings(file, manifests, of_folder[_folder(file)])) if manifests is not None else []
                for file, manifests in read
            ]

        for found in map_parallel(findings, files, self.parallel, worth_it=_FILES_PER_PROCESS):
            yield from found

    def _own_policies(self, kinds: Mapping[str, frozenset[str]], with_policies: list[str]) -> PolicySet:
        """The policies among the manifests; if one is bound, with parameters and namespaces, to which they refer."""
        from gen.kubernetes.check.policies import accepted
        from gen.kubernetes.policies.policy_set import PolicySet, param_kinds, stored_in

        def is_accepted(body: Body) -> bool:
            return accepted(body, self._kinds(next(iter(kinds))))

        unnamed = [file for file in kinds if file == STDIN or file in self.contents]
        known = (_manifests(self._content(file), file, Findings()) for file in unnamed)
        more = tuple(stored for one in known if one is not None for stored in stored_in(one))
        paths = tuple((Path(file), file) for file in with_policies if file not in unnamed)
        policies = PolicySet(paths, more, is_accepted)
        if not policies.bound:
            return policies
        needed = {"Namespace", *POLICY_KINDS, *param_kinds(policies.stored)}
        paths = tuple(
            (Path(file), file)
            for file, inside in kinds.items()
            if file not in unnamed and not inside.isdisjoint(needed)
        )
        return PolicySet(paths, more, is_accepted)

    def _cluster_policies(self, file: str) -> tuple[tuple[Path, str], ...]:
        cluster = self._cluster_of(file)
        return cluster.policies if cluster is not None else ()

    def _cluster_of(self, file: str) -> Cluster | None:
        return self.clusters.cluster_of(file) if self.clusters is not None else None

    def _examined(self, file: ReadFile, body: object) -> ObjectCheck | None:
        """A faulty definition of a cluster is a finding; one that the user names is a usage error."""
        try:
            return ObjectCheck(body, self._kinds(file.name), missing=self.missing)
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


def _manifests(content: Content, file: str, found: Findings) -> Manifests | None:
    """The documents of a file; None, with a finding, if they are unreadable."""
    if isinstance(content, bytes):
        with contained(found, Location(_shown(file)), "read the file"):
            return read_manifests(content, _shown(file), found)
        return None
    return Manifests(file, "", content, ((0, 0),) * len(content), is_yaml=False)


def _folder(file: str) -> str:
    return os.path.dirname(file)  # noqa: PTH120 - called for every file


def _shown(file: str) -> str:
    return "<stdin>" if file == STDIN else file


def check_batch(
    examine: Callable[[ReadFile, object], ObjectCheck | None], files: Sequence[ReadFile]
) -> list[CheckedFile]:
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
    kinds: dict[str, set[str]] = {file.name: set() for file in files}
    for one in objects:
        if isinstance(one.body, dict) and isinstance(kind := one.body.get("kind"), str):
            kinds[one.file.name].add(kind)
    return [
        CheckedFile(
            counts[file.name],
            tuple(file.found.items),
            tuple(known[file.name]),
            frozenset(kinds[file.name]),
            _Outline(read.begins, read.is_unique, read.is_yaml)
            if (read := file.manifests) and known[file.name]
            else None,
        )
        for file in files
    ]


def _checked(
    examine: Callable[[ReadFile, object], ObjectCheck | None], objects: Sequence[_Object]
) -> list[CheckResult]:
    examined = [examine(one.file, one.body) for one in objects]
    valid = [one for one in examined if one is not None]
    for start in range(0, max((len(one.rules) for one in valid), default=0), _RULES):
        for one in valid:
            one.apply_rules(start, start + _RULES)
    return [one.result() if one is not None else CheckResult() for one in examined]


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
