"""What a run had better say. A job can lack it, so it is looked for in every run that is rendered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gen.diagnostics import Severity
from gen.kubernetes import at
from gen.rules.fault import Fault
from gen.rules.gitops.runs import RUNS, having, is_finished, route_of
from gen.rules.object_view import ObjectView
from gen.rules.rule import gitops

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes import Body
    from gen.resources import Having
    from gen.rules.fault import Faults
    from gen.rules.rule import Find, Rule


def _advice(name: str, kinds: Having, *, reason: str, remedy: str) -> Callable[[Find], Rule]:
    """Make a rule for runs that an engine still applies: of one that is finished nothing is to be changed."""

    def make(find: Find) -> Rule:
        def of_active(view: ObjectView) -> Faults:
            if not is_finished(view.body):
                yield from find(view)

        return replace(
            gitops(name, of=kinds, reason=reason, remedy=remedy, severity=Severity.WARNING)(find), find=of_active
        )

    return make


@_advice(
    "no-deadline",
    having("deadline"),
    reason="It is the only bound that the server keeps. Without it a run that hangs holds its GPUs until somebody "
    "looks, since nothing deletes the object.",
    remedy="Give the job a `timeout`, or the overlay's `defaults`; in a manifest `activeDeadlineSeconds`.",
)
def no_deadline(view: ObjectView) -> Faults:
    """A run with GPUs, or other devices, ends after some time, whatever happens."""
    route = route_of(view.group, view.kind, "deadline")
    if at(view.body, *route) is None and any(_has_device(one) for _, one in view.containers):
        yield Fault(route, "nothing ends a run that hangs")


def _has_device(container: Body) -> bool:
    """Extended resources have a prefix, and those of Kubernetes none."""
    return any("/" in name for name in at(container, "resources", "limits") or ())


@_advice(
    "keeps-pods",
    having("cleanup"),
    reason="When the run has ended, pods that still run (parameter servers, MPI workers) keep their GPUs; that is the "
    "default of the operators.",
    remedy="Write `cleanPodPolicy: Running` (`cleanup: Running` in a job), which keeps the logs of what completed.",
)
def keeps_pods(view: ObjectView) -> Faults:
    """Pods that still run when a run has ended are removed."""
    route = route_of(view.group, view.kind, "cleanup")
    if at(view.body, *route) in (None, "None"):
        yield Fault(route, "pods that still run keep their GPUs when the run has ended")


@_advice(
    "no-limits",
    RUNS,
    reason="A pod without limits is the first to be evicted, and takes what others on its node need. Where no "
    "container of a run has any, it is left to the cluster, whose LimitRange may set them.",
    remedy="Give the job `memory` and `cpu`, or the overlay's `defaults`; in a manifest `resources.limits`.",
)
def no_limits(view: ObjectView) -> Faults:
    """When one container of a run has limits, all have, but for those that only prepare a pod."""
    found = [(route, container) for route, container in view.containers if "initContainers" not in route]
    without = [one for one in found if not at(one[1], "resources", "limits")]
    for route, container in without if len(without) < len(found) else ():
        said = f"the container `{container.get('name')}` has no limits, and others of the run have"
        yield Fault((*route, "resources", "limits"), said)


@_advice(
    "mutable-image",
    RUNS,
    reason="The image can be another one tomorrow: pods that restart mix versions, and the same run is never the same "
    "again. What an image was is not part of a run's name, only what it is called.",
    remedy="Name a version, or better a digest (`image@sha256:…`).",
)
def mutable_image(view: ObjectView) -> Faults:
    """The images of a run have a tag other than `latest`, or a digest."""
    for route, container in view.containers:
        image = container.get("image")
        if not isinstance(image, str) or not image or "@" in image:
            continue
        _, colon, tag = image.rpartition("/")[2].partition(":")
        if not colon or tag == "latest":
            said = "is `latest`" if colon else "has no tag, so it is `latest`"
            yield Fault((*route, "image"), f"the image {said}")


BEST_PRACTICES: Final[tuple[Rule, ...]] = (no_deadline, keeps_pods, no_limits, mutable_image)
"""Rules that hold for what gen builds only if the job sets an optional field, so every rendered run is checked."""
