"""Facts of GitOps engines: states of a job, the labels and annotations that engines obey, and files that reconfigure
them, Git or SOPS.

gen refuses these files in `jobs/` and `rendered/`. Everything that depends on an engine looks here or in its class in
`gen.overlay.profiles.engines`. Sources: `docs/user-guide/` of Argo CD (`sync-options.md`, `resource_hooks.md`,
`sync-waves.md`, `tool_detection.md`, `parameters.md`), and `docs/spec/v1/kustomizations.md` of Flux with `fluxcd/pkg`
`ssa/manager_apply.go`. Git hides diffs with `.gitattributes` and fetches with `.gitmodules`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import translate
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from gen.base.codes.files import CONTROL_FILE
from gen.base.findings import Findings, Location
from gen.base.lazy import regex
from gen.base.routes import at

STOPPED = "gen/stopped"
"""On the record of an object that a stopped run had in the cluster: the name that it had there."""

JobState = Literal["active", "suspended", "stopped", "finished"]
STATES: Final[tuple[JobState, ...]] = get_args(JobState)
RECORDS: Final[frozenset[JobState]] = frozenset({"finished", "stopped"})
"""States of a job with a record as its run, which no engine applies. Engines delete the objects of a stopped run."""


def may_run(state: str, *, suspend_stops: bool) -> bool:
    """Whether pods of a job in this state may run. `suspend_stops` is a fact of the kind of its object."""
    return state == "active" or (state == "suspended" and not suspend_stops)


class Mark(Struct, frozen=True, kw_only=True):
    """A value of a label or annotation that an engine obeys."""

    key: str
    value: str
    also: tuple[str, ...] = ()
    """Other values with the same effect."""
    in_list: bool = False
    """Whether the engine reads several values, separated by commas."""
    any_case: bool = False
    in_labels: bool = False
    """Whether the engine reads labels as well."""

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"

    def matches(self, text: str) -> bool:
        """Whether the text of the annotation has the effect."""
        words = {word.strip() for word in text.split(",")} if self.in_list else {text}
        known = {self.value, *self.also}
        if self.any_case:
            words, known = {word.lower() for word in words}, {word.lower() for word in known}
        return not words.isdisjoint(known)

    def is_on(self, metadata: object) -> bool:
        """Whether an object with this metadata has the mark."""
        for field in ("annotations", "labels") if self.in_labels else ("annotations",):
            value = at(metadata, field, self.key)
            if value is not None and self.matches(str(value)):
                return True
        return False


class EngineFacts(Struct, frozen=True, kw_only=True):
    title: str
    namespace: str
    """Namespace of the engine, unless the overlay names another."""
    minutes: int
    """The longest time until it sees a merge by itself, with the settings that gen renders."""
    prefixes: tuple[str, ...]
    """Prefixes of labels and annotations that control the engine. No job may set them."""
    protection: tuple[Mark, ...]
    """Marks that keep an object in the cluster when its file is removed. Storage has them."""
    storage: tuple[Mark, ...] = ()
    """Other marks of storage."""
    finished: Mark
    """The mark of an object that the engine neither applies, compares nor checks, but prunes with its file."""
    settled: Mark | None = None
    """The mark of an object that the engine creates once and then leaves to others."""
    aside: Mark | None = None
    """The mark of an object that does not count in the health of its job."""
    force: tuple[Mark, ...] = ()
    """Marks with which the engine deletes and creates an object."""
    hooks: tuple[str, ...] = ()
    """Annotations that make an object a hook, which is deleted and created at every sync."""
    waves: tuple[str, ...] = ()
    """Annotations with the number of a sync wave; 0 is the default."""
    last: tuple[Mark, ...] = ()
    """Marks that put an object into the last wave."""
    tracking: frozenset[str] = frozenset()
    """Labels and annotations that the engine finds its objects with."""
    control_files: tuple[str, ...] = ()
    """Patterns of file names, in lower case, that change what the engine reads from a folder."""


_ARGOCD = "argocd.argoproj.io"
_OPTIONS = f"{_ARGOCD}/sync-options"
_FLUX = "kustomize.toolkit.fluxcd.io"
_KUSTOMIZE = ("kustomization", "kustomization.yaml", "kustomization.yml")

ENGINES: Final[dict[str, EngineFacts]] = {
    "argocd": EngineFacts(
        title="Argo CD",
        namespace="argocd",
        minutes=3,  # `timeout.reconciliation` and its jitter, 120 s and 60 s (`docs/operator-manual/argocd-cm.yaml`)
        prefixes=(f"{_ARGOCD}/", "argocd-image-updater.argoproj.io/", "notifications.argoproj.io/"),
        protection=(
            # `Prune` does not cover the deletion of an Application, and `Delete` does not cover pruning
            Mark(key=_OPTIONS, value="Prune=false", also=("Prune=confirm",), in_list=True),
            Mark(key=_OPTIONS, value="Delete=false", also=("Delete=confirm",), in_list=True),
        ),
        # without it, a protected object without a file keeps its Application out of sync permanently
        storage=(Mark(key=f"{_ARGOCD}/compare-options", value="IgnoreExtraneous", in_list=True),),
        # remains a target, but is not applied, compared, pruned or counted in health (`sync_phase.go`, `state.go`)
        finished=Mark(key=f"{_ARGOCD}/hook", value="Skip"),
        # `setApplicationHealth` in `controller/health.go`
        aside=Mark(key=f"{_ARGOCD}/ignore-healthcheck", value="true"),
        force=tuple(Mark(key=_OPTIONS, value=word, in_list=True) for word in ("Force=true", "Replace=true")),
        hooks=(f"{_ARGOCD}/hook", "helm.sh/hook"),
        waves=(f"{_ARGOCD}/sync-wave",),
        last=(Mark(key=_OPTIONS, value="PruneLast=true", in_list=True),),
        tracking=frozenset({f"{_ARGOCD}/tracking-id", f"{_ARGOCD}/installation-id", "app.kubernetes.io/instance"}),
        control_files=(
            *_KUSTOMIZE,
            *("chart.yaml", "chart.lock", "values.yaml", "*.jsonnet", "*.libsonnet"),
            *(".argocd-source*", ".argocd-allow-concurrency"),
        ),
    ),
    "flux": EngineFacts(
        title="Flux",
        namespace="flux-system",
        minutes=5,  # `interval` of the GitRepository; its Kustomizations follow at once
        prefixes=(f"{_FLUX}/", "helm.toolkit.fluxcd.io/"),
        protection=(Mark(key=f"{_FLUX}/prune", value="disabled", any_case=True, in_labels=True),),
        finished=Mark(key=f"{_FLUX}/ssa", value="Ignore", any_case=True, in_labels=True),
        # only if Git never changes the object again: Flux then ignores later changes, so that a run could be neither
        # suspended nor resumed (`ssa/manager_apply.go`, `shouldSkipApply`)
        settled=Mark(key=f"{_FLUX}/ssa", value="IfNotPresent", any_case=True, in_labels=True),
        force=(Mark(key=f"{_FLUX}/force", value="enabled", any_case=True, in_labels=True),),
        tracking=frozenset({f"{_FLUX}/name", f"{_FLUX}/namespace"}),
        control_files=(*_KUSTOMIZE, ".sourceignore"),
    ),
}
"""By the name of the engine, which is also that of its folder in `rendered/` and of its module in the profiles."""

NAMESPACES: Final = frozenset(engine.namespace for engine in ENGINES.values())
"""Default namespaces of engines."""


def protections() -> tuple[Mark, ...]:
    """Marks that protect storage from every engine, also from one that no overlay uses yet."""
    return tuple(mark for engine in ENGINES.values() for mark in engine.protection)


def storage_annotations() -> dict[str, str]:
    """Annotations of storage for every engine."""
    return annotations_of(mark for engine in ENGINES.values() for mark in (*engine.protection, *engine.storage))


def run_annotations(engines: Iterable[str], state: str, *, settled: bool) -> dict[str, str]:
    """Annotations of a run for all engines; each engine ignores those of the others.

    A record has the marks of every engine, so that no change of the engine starts it again. `settled` means that an
    active run never changes in Git under the same name.
    """
    if state in RECORDS:
        return annotations_of(engine.finished for engine in ENGINES.values())
    known = [ENGINES[name] for name in engines]
    return annotations_of(engine.settled for engine in known if settled and engine.settled is not None)


def aside_annotations(engines: Iterable[str]) -> dict[str, str]:
    """Annotations of an object that does not belong to a run, such as TensorBoard."""
    return annotations_of(mark for name in engines if (mark := ENGINES[name].aside) is not None)


def is_finished(metadata: object, engines: Collection[str] = ()) -> bool:
    """Whether all of the engines must leave an object with this metadata alone, as they do with a finished run (D5).

    Without `engines`, whether some engine must.
    """
    if not engines:
        return any(engine.finished.is_on(metadata) for engine in ENGINES.values())
    return all(ENGINES[name].finished.is_on(metadata) for name in engines)


def stopped_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata of the record of a stopped object, which has another name.

    An engine deletes the object that it applied, because Git no longer has one of that name, and never applies the
    record. The run ends as if its file were removed, and its content stays in Git.
    """
    name = metadata["name"]
    annotations = {**metadata.get("annotations", {}), STOPPED: name}
    return {**metadata, "name": f"{name}-stopped", "annotations": dict(sorted(annotations.items()))}


def name_in_cluster(metadata: object) -> str:
    """The name of an object in the cluster: that of a stopped one is not the name of its record."""
    return str((is_stopped(metadata) and at(metadata, "annotations", STOPPED)) or at(metadata, "name") or "")


def is_stopped(metadata: object) -> bool:
    """Whether it is the record of a stopped object, which every engine leaves alone."""
    return at(metadata, "annotations", STOPPED) is not None and is_finished(metadata, ENGINES)


def annotations_of(marks: Iterable[Mark]) -> dict[str, str]:
    found: dict[str, str] = {}
    for mark in marks:
        found[mark.key] = f"{found[mark.key]},{mark.value}" if mark.key in found else mark.value
    return found


_PATTERNS = {".gitattributes", ".gitmodules", ".sops.yaml"}.union(
    *(engine.control_files for engine in ENGINES.values())
)
_CONTROL_FILE = regex("|".join(translate(pattern) for pattern in sorted(_PATTERNS)))
_TOOLS = ", ".join(engine.title for engine in ENGINES.values())


def is_control_file(name: str) -> bool:
    """Whether a file name configures a tool; some file systems ignore case."""
    return _CONTROL_FILE.match(name.lower()) is not None


def refuse_control_file(path: str, found: Findings) -> None:
    hint = "remove it; only job files belong in `jobs/`, and only files of gen in `rendered/`"
    found.error(
        CONTROL_FILE,
        Location(path),
        f"`{path.rpartition('/')[2]}` is not allowed here: it would reconfigure {_TOOLS} or Git",
        hint,
    )
