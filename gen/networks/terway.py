"""A network interface (ENI) of a pod's own through Terway, Alibaba Cloud's network plugin.

What asks for it changed with Terway's version (its tags v1.0.10 to v1.17.5, `daemon/k8s.go`, `pkg/k8s/k8s.go` and
`pkg/controller/webhook/mutating.go`):

- up to 1.0: the annotation `k8s.aliyun.com/eni`, in VPC mode;
- 1.1 to 1.10: the same with `ENI` in capitals, lower case being ignored;
- from 1.11 on neither: nodes in exclusive ENI mode, trunk ENIs by `k8s.aliyun.com/pod-eni`, or a PodNetworking
  object whose selector finds the pods by a label.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import WithJsonSchema, model_validator

from gen.model.names import LabelKey, LabelValue
from gen.model.scalars import matching, refuse
from gen.networks.base import Effect, NetworkProfile

Version = Annotated[
    str,
    matching(re.compile(r"v?[0-9]{1,4}(\.[0-9]{1,4}){1,2}"), 16, "a version", "write it like `1.0.10` or `1.11`"),
    WithJsonSchema({"title": "version", "type": ["string", "number"]}),
]

_CAPITALS = (1, 1)
_REMOVED = (1, 11)
_EXCLUSIVE = {"k8s.aliyun.com/exclusive-mode-eni-type": "eniOnly"}
_EXCLUSIVE_TAINT = {"key": "exclusive-eni", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


class Terway(NetworkProfile):
    """An elastic network interface for each pod, on an ACK cluster with Terway."""

    excludes: ClassVar[frozenset[str]] = frozenset({"hostNetwork"})

    version: Version
    """Version of Terway on the cluster."""
    mode: Literal["exclusive", "trunk", "podNetworking"] | None = None
    """How the interface is given, from Terway 1.11 on: `exclusive` nodes (the default), `trunk`, or `podNetworking`."""
    labels: dict[LabelKey, LabelValue] = {}
    """Pod labels that the PodNetworking object selects, for `mode: podNetworking`."""

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode is not None and self._release < _REMOVED:
            raise refuse("given without `mode` before Terway 1.11", self.mode, "remove `mode`, or correct `version`")
        if (self.mode == "podNetworking") != bool(self.labels):
            raise refuse(
                "given `labels` exactly when `mode` is `podNetworking`",
                self.version,
                "name the labels that it selects",
            )
        return self

    @property
    def _release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.removeprefix("v").split(".")[:2])

    def effect(self) -> Effect:
        if self._release < _CAPITALS:
            return Effect(annotations={"k8s.aliyun.com/eni": "true"})
        if self._release < _REMOVED:
            return Effect(annotations={"k8s.aliyun.com/ENI": "true"})
        if self.mode == "trunk":
            return Effect(annotations={"k8s.aliyun.com/pod-eni": "true"})
        if self.mode == "podNetworking":
            return Effect(labels=self.labels)
        return Effect(node_labels=_EXCLUSIVE, tolerations=(_EXCLUSIVE_TAINT,))
