"""Google TPUs on GKE. A pod gets all chips of its host, and a slice has as many hosts as its topology needs.

GKE documentation, "Plan TPUs in GKE": up to 4 chips form one host, more chips are spread over hosts with 4 chips each;
on v5e and v6e there are hosts with 8 chips for the topology `2x4`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Self

from pydantic import model_validator

from gen.base import regex
from gen.job.names import LabelValue
from gen.job.profile import Effect, Problem
from gen.job.scalars import Positive, conflict, matching, schema
from gen.kubernetes.objects import Body
from gen.overlay.profiles.accelerators import AcceleratorProfile, Request, toleration_of

TPU: Final = "google.com/tpu"
_LABELS: Final = {
    "accelerator": "cloud.google.com/gke-tpu-accelerator",
    "topology": "cloud.google.com/gke-tpu-topology",
}
_CHIPS_OF_HOST = 4
Topology = Annotated[
    str,
    matching(
        regex(r"[1-9][0-9]?x[1-9][0-9]?(x[1-9][0-9]?)?"),
        8,
        "a topology",
        "use a form like `2x4` or `4x4x4`",
        form=schema("topology", "string"),
    ),
]


class Tpu(AcceleratorProfile):
    """Google TPUs on GKE. `gpus` of a job is the number of chips of a host."""

    one_process: ClassVar[bool] = False

    accelerator: LabelValue
    """Kind of TPU, the node label `cloud.google.com/gke-tpu-accelerator`: `tpu-v5-lite-podslice`, `tpu-v6e-slice`."""
    topology: Topology
    """Chips of a slice, the node label `cloud.google.com/gke-tpu-topology`: `2x4`, `4x4x4`."""
    chips_per_host: Positive | None = None
    """Chips of a host. Defaults to 4, or to all chips of a smaller topology."""

    @model_validator(mode="after")
    def _whole_hosts(self) -> Self:
        if self.chips % self.chips_of_host:
            message = (
                f"a slice `{self.topology}` has {self.chips} chips, which do not fill hosts of {self.chips_of_host}"
            )
            raise conflict(message, "correct `topology`, or set `chipsPerHost`")
        return self

    @property
    def chips(self) -> int:
        """Chips of a slice."""
        return math.prod(map(int, self.topology.split("x")))

    @property
    def chips_of_host(self) -> int:
        return self.chips_per_host or min(self.chips, _CHIPS_OF_HOST)

    @classmethod
    def of_pods(cls, resource: str, labels: Mapping[str, str], count: int) -> Body | None:
        fields = {field: labels.get(label) for field, label in _LABELS.items()}
        chips = {"chipsPerHost": count} if count > _CHIPS_OF_HOST else {}
        return {**fields, **chips} if all(fields.values()) else None

    def effect(self, count: int) -> Effect:
        labels = {label: str(getattr(self, field)) for field, label in _LABELS.items()}
        return Effect(resources={TPU: str(count)}, node_labels=labels, tolerations=toleration_of(TPU))

    def problem(self, request: Request) -> Problem | None:
        if request.count != self.chips_of_host:
            message = f"a host of a TPU slice `{self.topology}` has {self.chips_of_host} chips, got {request.count}"
            return Problem(message, f"set `gpus: {self.chips_of_host}`; a pod always gets all chips of its host")
        hosts = max(self.chips // self.chips_of_host, 1)
        if hosts > 1 and request.hosts is not None and request.hosts != hosts:
            message = f"a TPU slice `{self.topology}` has {hosts} hosts, and a replica has {request.hosts}"
            return Problem(message, f"set `numOfHosts: {hosts}` of the role: its pods are the hosts of one slice")
        if hosts > 1 and request.hosts is None and not request.numbers_hosts:
            message = f"a TPU slice `{self.topology}` has {hosts} hosts, which GKE numbers only in Jobs and JobSets"
            return Problem(message, "use `kind: jobset` or `kind: batch`, or a topology of one host")
        if request.pods % hosts:
            message = f"a TPU slice `{self.topology}` has {hosts} hosts; {request.pods} pods do not fill whole slices"
            return Problem(message, f"set the number of pods to {hosts}, or to a multiple of it")
        return None
