"""A validated overlay: a cluster or environment, with its jobs, and the grants, defaults and patches for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.base import DefinitionError, Findings, Location, as_mapping, at
from gen.base.codes.overlays import INVALID_DEFINITION
from gen.base.engines import ENGINES, NAMESPACES
from gen.base.repository.layout import DEFINITIONS
from gen.base.yaml.layers import Layer, Layers, lay_over
from gen.base.yaml.strict import Data
from gen.job.kinds import ALL_KINDS
from gen.job.model import default
from gen.kubernetes.facts.runtimes import Runtime, Runtimes
from gen.kubernetes.facts.trainer import OPERATOR, TRAINJOB
from gen.overlay.costs import Prices
from gen.overlay.entries import AcceleratorFields, one_accelerator
from gen.overlay.fields import OverlayFields
from gen.overlay.grant import Grant
from gen.overlay.profiles.queues import undeclared
from gen.overlay.secrets import Owner, owners
from gen.overlay.settings import Cluster, with_accelerator

if TYPE_CHECKING:
    from gen.job.queue import QueueProfile
    from gen.kubernetes.facts.base import Resource
    from gen.kubernetes.policies.policy_set import PolicySet
    from gen.kubernetes.schemas.lookup import Kinds
    from gen.overlay.patch import Patch
    from gen.overlay.settings import ArgoWorkflows


_OPEN_GRANT = default(Grant)
"""The grant of all namespaces in an overlay that grants nothing by name."""


class Overlay(Struct, frozen=True, dict=True):
    """An overlay merged with those that it extends."""

    name: str
    fields: OverlayFields
    layers: Layers
    defaults: Mapping[str, Data]
    patches: tuple[Patch, ...]
    kubernetes: str
    """Version of the schemas, such as `1.34`."""
    definitions: tuple[Path, ...] = ()
    """Folders with CustomResourceDefinitions of its cluster, its own before those that it extends."""
    policy_folders: tuple[tuple[Path, str], ...] = ()
    """Folders with admission policies of its cluster in the same order, each relative to the repository, too."""

    runtime_definitions: Mapping[tuple[str, str], Runtime] = {}
    """Runtimes of the Kubeflow Trainer with a definition, by kind and name."""

    @cached_property
    def policies(self) -> PolicySet | None:
        """The admission policies of its cluster, read when first used and kept for this run; None without any."""
        if not self.policy_folders:
            return None
        from gen.kubernetes.policies.policy_set import PolicySet

        return PolicySet(self.policy_folders)

    @cached_property
    def kinds(self) -> Kinds:
        """Schemas of its Kubernetes version and of its definitions, read when first used and kept for this run."""
        from gen.kubernetes.schemas.lookup import Kinds

        if not self.definitions:
            return Kinds(self.kubernetes)
        from gen.kubernetes.schemas.lookup import Definitions

        return Kinds(self.kubernetes, Definitions(self.definitions))

    @property
    def engines(self) -> tuple[str, ...]:
        """The GitOps engines that apply the rendered files; every engine if the overlay names none."""
        return tuple(self.fields.gitops.engines if self.fields.gitops else ENGINES)

    @property
    def cluster_name(self) -> str | None:
        """The name that the overlay gives its cluster."""
        cluster = self.fields.cluster
        return cluster.name if isinstance(cluster, Cluster) else cluster

    @property
    def context(self) -> str | None:
        """The context that live commands use for its cluster."""
        cluster = self.fields.cluster
        return cluster.context if isinstance(cluster, Cluster) else None

    @property
    def cluster(self) -> tuple[str, str]:
        """Its cluster. Overlays of one cluster must not render the same object."""
        if (name := self.cluster_name) is not None:
            return "cluster", name
        engines = self.fields.gitops.engines.values() if self.fields.gitops else ()
        named = (engine.destination for engine in engines)
        return next((("cluster", name) for name in named if name), ("overlay", self.name))

    @cached_property
    def accelerators(self) -> Mapping[str, AcceleratorFields]:
        """Accelerators by name. Without `accelerators`, the devices of `gpu` have an empty name."""
        if self.fields.accelerators:
            return self.fields.accelerators
        gpu = self.fields.gpu
        return {"": one_accelerator("extended", {"resource": gpu.resource}, gpu.model_label)}

    @cached_property
    def device_units(self) -> Mapping[str, Mapping[str, int]]:
        """By accelerator: the extended resources of its devices, with the amount that is one device."""
        return {name: one.profile.units() for name, one in self.accelerators.items()}

    @cached_property
    def runtimes(self) -> Runtimes:
        """The runtimes that its jobs may use."""
        defined = {key: with_accelerator(one, self.accelerators) for key, one in self.runtime_definitions.items()}
        described = {
            (one.kind, name): one.runtime(name, self.accelerators) for name, one in self.fields.runtimes.items()
        }
        release = self.fields.operators.get(OPERATOR, TRAINJOB.served[0])
        return Runtimes(release=release, known={**defined, **described})

    @cached_property
    def secrets(self) -> Mapping[str, tuple[Owner, ...]]:
        """By the name of a Secret, its owners in the overlay."""
        return owners(self.fields, self.defaults)

    @cached_property
    def granted(self) -> dict[str, Any]:
        """By namespace, the grants as `gen.render.permissions` reads them, which keeps them here."""
        return {}

    @cached_property
    def prices(self) -> Prices | None:
        """Prices of its devices; None without any."""
        fields = self.fields
        given = {name: one.price for name, one in fields.accelerators.items()} or {"": fields.gpu.price}
        known = {name: Fraction(price) for name, price in given.items() if price is not None}
        return Prices(currency=fields.currency, per_hour=known) if known and fields.currency else None

    def queue(self, name: str, facts: Resource) -> QueueProfile | None:
        """The queue of a job by its name; None if there is none for its kind."""
        if not self.fields.queues:
            return undeclared(name, facts)
        declared = self.fields.queues.get(name)
        return declared.profile if declared is not None else None

    @property
    def granted_queues(self) -> Iterator[QueueProfile]:
        """The declared queues that a namespace may use."""
        names = {name for grant in self.fields.namespaces.values() for name in grant.queues}
        return (queue.profile for name, queue in self.fields.queues.items() if name in names)

    @property
    def suspends_runs(self) -> bool:
        """Whether some queue that a namespace may use suspends runs until it admits them."""
        if self.fields.queues:
            return any(queue.suspends for queue in self.granted_queues)
        return any(grant.queues for grant in self.fields.namespaces.values())

    @property
    def argo(self) -> ArgoWorkflows | None:
        """Argo Workflows, if it runs pipelines and schedules."""
        return self.fields.pipelines.argo if self.fields.pipelines is not None else None

    def definition_file(self, path: Path) -> str:
        """A file of its definitions, relative to the repository."""
        folder = next(folder for folder in self.definitions if path.is_relative_to(folder))
        own = (f"{layer.source.file.rpartition('/')[0]}/{DEFINITIONS}" for layer in self.layers.layers)
        below = max((one for one in own if folder.as_posix().endswith(f"/{one}")), key=len)
        return f"{below}/{path.relative_to(folder).as_posix()}"

    def place(self, *route: str | int, key: bool = False) -> Location:
        return self.layers.place(route, key=key)

    def grant(self, namespace: str) -> Grant | None:
        """The grant of a namespace; None if the overlay does not grant it anything.

        A namespace of the cluster itself needs a grant by its name.
        """
        granted = self.fields.namespaces
        if namespace in granted or self.is_system(namespace):
            return granted.get(namespace)
        return granted.get("*") if granted else _OPEN_GRANT

    def is_system(self, namespace: str) -> bool:
        """Whether Kubernetes or a GitOps engine is installed in the namespace."""
        return namespace.startswith("kube-") or namespace in self._engine_namespaces

    @cached_property
    def _engine_namespaces(self) -> frozenset[str]:
        engines = self.fields.gitops.engines.values() if self.fields.gitops else ()
        return NAMESPACES.union(engine.namespace for engine in engines)

    def defaults_of(self, kind: str) -> Mapping[str, Data]:
        """Defaults for the jobs of a kind."""
        left_out = {"kinds", *self.unusable_defaults(kind)}
        common = {name: value for name, value in self.defaults.items() if name not in left_out}
        return lay_over(common, self._own_defaults(kind))

    def unusable_defaults(self, kind: str) -> Mapping[str, str]:
        """Defaults for all jobs that those of a kind cannot have, with the reasons."""
        reasons, own = ALL_KINDS[kind].unsupported_fields(), self._own_defaults(kind)
        return {name: reasons[name] for name in self.defaults if name in reasons and name not in own}

    def _own_defaults(self, kind: str) -> Mapping[str, Data]:
        kinds = self.defaults.get("kinds")
        return as_mapping(at(kinds, kind))

    def layers_of(self, kind: str) -> tuple[Layer, ...]:
        """The layers of `defaults_of`, highest precedence first."""
        sources = [layer.source for layer in self.layers.layers]
        own = tuple(Layer(source, ("defaults", "kinds", kind)) for source in sources)
        return own + tuple(Layer(source, ("defaults",)) for source in sources)


def report_invalid_definition(error: DefinitionError, overlay: Overlay, found: Findings) -> None:
    """Report a file that cannot be read."""
    place = Location(overlay.definition_file(error.file), error.line)
    hint = "copy it again from the cluster or from the release of the operator, or remove the file"
    found.error(INVALID_DEFINITION, place, f"cannot read the definitions in this file: {error.reason}", hint)


CLUSTERS = "clusters"
"""Field of a job with the overlays that it narrows to."""


def selects(overlay: Overlay, key: str, data: object) -> bool:
    """Whether the overlay renders the job file `<namespace>/<stem>` with these data, which may be of any type."""
    wanted = clusters_of(data)
    if not wanted and overlay.fields.select.only_named:
        return False
    return matches_patterns(overlay, key) and (not wanted or not names_of(overlay).isdisjoint(wanted))


def matches_patterns(overlay: Overlay, key: str) -> bool:
    """Whether the patterns of `select` match a job."""
    select = overlay.fields.select
    included = any(fnmatchcase(key, pattern) for pattern in select.include)
    return included and not any(fnmatchcase(key, pattern) for pattern in select.exclude)


def clusters_of(data: object) -> tuple[str, ...]:
    """The entries of `clusters` of a job; none if it is not a list of strings, which its model reports."""
    named = data.get(CLUSTERS) if isinstance(data, dict) else None
    texts = [str(entry) for entry in named if isinstance(entry, str)] if isinstance(named, list) else []
    return tuple(texts) if isinstance(named, list) and len(texts) == len(named) else ()


def names_of(overlay: Overlay) -> frozenset[str]:
    """Names of an overlay in jobs: its own, that of its cluster, and each of its labels."""
    cluster = overlay.cluster_name
    labels = (f"{key}={value}" for key, value in overlay.fields.labels.items())
    return frozenset((overlay.name, *([cluster] if cluster is not None else ()), *labels))
