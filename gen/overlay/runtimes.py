"""Runtimes of the Kubeflow Trainer that jobs may use: described in the overlay, or by their definitions in a folder."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from gen.base import Findings, Location
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.labels import ACCELERATOR_LABEL
from gen.base.repository.layout import SIMILAR_ENDINGS
from gen.job.model import Model
from gen.job.names import Label
from gen.job.scalars import Count, Truth
from gen.kubernetes.facts.runtimes import POLICIES, SHIPPED, Runtime, described, runtimes_in, with_labels
from gen.kubernetes.facts.trainer import RUNTIME_KINDS
from gen.kubernetes.manifests.read import objects_in, read_manifests
from gen.overlay.entries import AcceleratorFields

Known = Mapping[tuple[str, str], Runtime]
"""By kind and name."""


class RuntimeFields(Model):
    """Runtime of the Kubeflow Trainer that jobs may use."""

    main: ClassVar[str] = "policy"

    kind: Literal[RUNTIME_KINDS] = RUNTIME_KINDS[0]  # type: ignore[valid-type] # a constant
    """Whether it is for the whole cluster, or in the namespaces of its jobs."""
    policy: Literal[POLICIES] | None = None  # type: ignore[valid-type] # a constant
    """The field of its `mlPolicy`; `plain` if it has none. [default: that of the runtime with this name that the
    Trainer installs, otherwise `torch`]"""
    gpus: Count | None = None
    """GPUs that each of its pods requests by itself, unless a job sets `gpus`. They count against quotas.
    [default: those of the runtime that the Trainer installs, otherwise none]"""
    accelerator: Label | None = None
    """Accelerator of these GPUs. It may be omitted if the overlay has only one."""
    other_pods: Count | None = None
    """Pods that do not train, such as initializers. They count against quotas. [default: those of the runtime
    that the Trainer installs, otherwise none]"""
    launcher_trains: Truth = True
    """Whether the launcher of `policy: mpi` is one of the nodes (`runLauncherAsNode`)."""

    def runtime(self, name: str, accelerators: Mapping[str, AcceleratorFields]) -> Runtime:
        shipped = SHIPPED.get(name)
        if shipped is not None and not self.model_fields_set - {"kind", "accelerator"}:
            return with_accelerator(shipped, accelerators, self.accelerator)
        chosen, count = self.accelerator or next(iter(accelerators)), self.devices(name)
        others = len(shipped.jobs) - len(shipped.training) if shipped is not None else 0
        return described(
            self.policy or (shipped.policy if shipped is not None else POLICIES[0]),
            resources=accelerators[chosen].effect(count).resources if count and chosen in accelerators else {},
            accelerator=chosen,
            others=others if self.other_pods is None else self.other_pods,
            launcher_trains=self.launcher_trains,
        )

    def devices(self, name: str) -> int:
        """GPUs that each of its pods requests by itself."""
        shipped = SHIPPED.get(name)
        known = shipped.resources.values() if shipped is not None else ()
        return sum(map(int, known)) if self.gpus is None else self.gpus


def with_accelerator(
    runtime: Runtime, accelerators: Mapping[str, AcceleratorFields], named: str | None = None
) -> Runtime:
    """A runtime whose pods have the label of the accelerator that they request: the named one, or the only one with
    their devices.
    """
    resources = runtime.resources
    having = [name for name, one in accelerators.items() if name and one.profile.units().keys() & resources]
    chosen = named if named is not None else having[0] if len(having) == 1 else None
    return with_labels(runtime, {ACCELERATOR_LABEL: chosen}) if chosen and resources else runtime


def definitions_in(folders: Iterable[tuple[Path, str]], found: Findings) -> tuple[Known, Mapping[tuple[str, str], str]]:
    """The runtimes of an overlay's folders, and their files; the first folder with a name decides."""
    known: dict[tuple[str, str], Runtime] = {}
    files: dict[tuple[str, str], str] = {}
    for folder, relative in folders:
        for path in sorted(one for one in folder.rglob("*") if one.suffix in SIMILAR_ENDINGS and one.is_file()):
            file = f"{relative}/{path.relative_to(folder).as_posix()}"
            manifests = read_manifests(path.read_bytes(), file, found)
            bodies = [body for one in manifests.documents for _, body in objects_in(one)] if manifests else []
            runtimes = [one for body in bodies for one in runtimes_in(body)]
            for key, runtime in runtimes:
                known.setdefault(key, runtime)
                files.setdefault(key, file)
            if manifests is not None and not runtimes:
                message = f"the file has no {' and no '.join(RUNTIME_KINDS)}"
                found.error(
                    INVALID_VALUE, Location(file), message, "copy the definition of a runtime, or remove the file"
                )
    return known, files
