"""Fields of a run in Git that others change in the cluster, so that a difference is not an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.resources.base import Pattern, Resource


def changed_by_kueue(resource: Resource) -> Iterator[Pattern]:
    """Fields that Kueue sets when it admits a run: `suspend`, node selectors and tolerations, which are atomic
    (`pkg/podset/podset.go`), and a list that it appends to.
    """
    if resource.suspend is not None:
        yield resource.suspend
    for pods in resource.pods:
        yield (*pods.template, "spec", "nodeSelector")
        yield (*pods.template, "spec", "tolerations")
    if resource.kueue is not None and resource.kueue.appends is not None:
        yield resource.kueue.appends


def changed_by_autoscalers(resource: Resource) -> Iterator[Pattern]:
    """Numbers of pods that an autoscaler may set."""
    for pods in resource.pods:
        yield from (count.route for count in pods.counts if count.largest is not None)
    if resource.scaled:
        yield resource.scaled
