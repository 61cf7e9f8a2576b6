"""Devices of dynamic resource allocation (`resource.k8s.io`), from `resource/v1/types.go` of kubernetes/api.

Kubernetes 1.34 serves `v1`, and 1.33 `v1beta2` with the same fields; older versions have other fields.
"""

from __future__ import annotations

from typing import Final

from gen.resources.base import Resource

FIRST_VERSION: Final = "1.33"
_FIRST_OF_V1: Final = 34
_OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
"""`ResourceClaimsPerClass` in `core/v1/types.go`: quotas count the devices of claims by their class."""

RESOURCE_CLAIM_TEMPLATE: Final = Resource(
    group="resource.k8s.io",
    kind="ResourceClaimTemplate",
    versions={"resource.k8s.io/v1": (), "resource.k8s.io/v1beta2": ()},
)


def claims_version(kubernetes: str) -> str:
    """The API version of claims in a version of Kubernetes, such as `1.34`."""
    minor = int(kubernetes.partition(".")[2] or _FIRST_OF_V1)
    return "resource.k8s.io/v1" if minor >= _FIRST_OF_V1 else "resource.k8s.io/v1beta2"


def quota_of(device_class: str) -> str:
    """The name by which a ResourceQuota limits the devices of a class."""
    return f"{device_class}{_OF_CLASS}"


def in_quota(resource: str) -> str:
    """The name of a resource in a ResourceQuota."""
    return resource if resource.endswith(_OF_CLASS) else f"requests.{resource}"
