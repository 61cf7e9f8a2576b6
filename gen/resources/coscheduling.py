"""Coscheduling of kubernetes-sigs/scheduler-plugins 0.34 (`scheduling.x-k8s.io/v1alpha1`)."""

from __future__ import annotations

from typing import Final

from gen.resources.base import Resource

SCHEDULER: Final = "scheduler-plugins-scheduler"
"""Name of the scheduler in its Helm chart."""
POD_GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
"""Label of a pod with the name of its PodGroup."""
POD_GROUP: Final = Resource(group="scheduling.x-k8s.io", kind="PodGroup", versions={"scheduling.x-k8s.io/v1alpha1": ()})
