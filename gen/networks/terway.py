"""A dedicated elastic network interface (ENI) per pod, through Terway, Alibaba Cloud's network plugin.

How to request one depends on the version of Terway (tags v1.0.10 to v1.17.5, `daemon/k8s.go`, `pkg/k8s/k8s.go` and
`pkg/controller/webhook/mutating.go`):

- up to 1.0: the annotation `k8s.aliyun.com/eni`, in VPC mode;
- 1.1 to 1.10: the annotation `k8s.aliyun.com/ENI` (the lower-case form is ignored);
- from 1.11, neither: use nodes in exclusive ENI mode, trunk ENIs (`k8s.aliyun.com/pod-eni`), or a PodNetworking object
  that selects the pods by label.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from gen.model.effect import Effect
from gen.model.names import LabelKey, LabelValue
from gen.model.scalars import conflict, matching
from gen.model.validators import JsonForm
from gen.networks.base import PodInterfaces
from gen.regex import regex

Version = Annotated[
    str,
    matching(regex(r"v?[0-9]{1,4}(\.[0-9]{1,4}){1,2}"), 16, "a version", "use a form like `1.0.10` or `1.11`"),
    JsonForm({"title": "version", "type": ["string", "number"]}),
]

_CAPITALS = (1, 1)
_REMOVED = (1, 11)
_EXCLUSIVE = {"k8s.aliyun.com/exclusive-mode-eni-type": "eniOnly"}
_EXCLUSIVE_TAINT = {"key": "exclusive-eni", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


class Terway(PodInterfaces):
    """Dedicated elastic network interface (ENI) per pod, on an ACK cluster with Terway."""

    platform: ClassVar[str] = "Alibaba Cloud"

    version: Version
    """Version of Terway on the cluster."""
    mode: Literal["exclusive", "trunk", "podNetworking"] | None = None
    """How pods get the interface, from Terway 1.11: `exclusive` nodes (default), `trunk` or `podNetworking`."""
    labels: dict[LabelKey, LabelValue] = {}
    """Pod labels that the PodNetworking object selects. Requires `mode: podNetworking`."""

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode is not None and self._release < _REMOVED:
            raise conflict("`mode` requires Terway 1.11 or later", "remove `mode`, or correct `version`")
        if (self.mode == "podNetworking") != bool(self.labels):
            raise conflict(
                "`labels` and `mode: podNetworking` require each other",
                "set `labels` to the pod labels that the PodNetworking object selects, or remove both",
            )
        return self

    @property
    def _release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.removeprefix("v").split(".")[:2])

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - one interface for every pod
        if self._release < _CAPITALS:
            return Effect(annotations={"k8s.aliyun.com/eni": "true"})
        if self._release < _REMOVED:
            return Effect(annotations={"k8s.aliyun.com/ENI": "true"})
        if self.mode == "trunk":
            return Effect(annotations={"k8s.aliyun.com/pod-eni": "true"})
        if self.mode == "podNetworking":
            return Effect(labels=self.labels)
        return Effect(node_labels=_EXCLUSIVE, tolerations=(_EXCLUSIVE_TAINT,))
