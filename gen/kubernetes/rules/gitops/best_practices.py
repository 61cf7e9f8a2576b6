"""Best practices for runs. They depend on optional fields of a job, so every rendered run is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from gen.base import Severity, at, follow
from gen.kubernetes.facts import RUNS, Having
from gen.kubernetes.objects import Body
from gen.kubernetes.rules.gitops.runs import having, route_of
from gen.kubernetes.rules.rule import GITOPS, Fault, Faults, Find, ObjectView, Rule, rule_of


def _advice(name: str, kinds: Having, *, reason: str, remedy: str) -> Callable[[Find], Rule]:
    """Make a rule for active runs. Finished runs must not be changed."""

    def make(find: Find) -> Rule:
        def of_active(view: ObjectView) -> Faults:
            if not view.finished:
                yield from find(view)

        return replace(
            rule_of(GITOPS, name, kinds, reason=reason, remedy=remedy, severity=Severity.WARNING)(find), find=of_active
        )

    return make


@_advice(
    "no-deadline",
    having("deadline"),
    reason="No other limit exists. A run that hangs holds its GPUs until someone notices, since nothing deletes "
    "the object.",
    remedy="Set `timeout` in the job or in the overlay's `defaults`; in a manifest, `activeDeadlineSeconds`.",
)
def no_deadline(view: ObjectView) -> Faults:
    """A run with GPUs or other devices has no deadline."""
    route = route_of(view.group, view.kind, "deadline")
    if at(view.body, *route) is None and any(_has_device(one) for _, one in view.containers):
        yield Fault(route, "nothing stops a run that hangs")


def _has_device(container: Body) -> bool:
    """Extended resources have a prefix, Kubernetes' own do not."""
    return any("/" in name for name in at(container, "resources", "limits") or ())


@_advice(
    "keeps-pods",
    having("cleanup"),
    reason="Pods that still run after the end of the run (parameter servers, MPI workers) keep their GPUs. The "
    "operators do this by default.",
    remedy="Set `cleanPodPolicy: Running` (`cleanup: Running` in a job), which keeps completed pods and their logs.",
)
def keeps_pods(view: ObjectView) -> Faults:
    """Pods of a run keep running after the run has ended."""
    route = route_of(view.group, view.kind, "cleanup")
    if at(view.body, *route) in (None, "None"):
        yield Fault(route, "running pods keep their GPUs after the run has ended")


@_advice(
    "no-limits",
    RUNS,
    reason="A pod without limits is evicted first, and takes resources from other pods of its node. If no "
    "container of a run has limits, a LimitRange of the cluster may set them.",
    remedy="Set `memory` and `cpu` in the job or in the overlay's `defaults`; in a manifest, `resources.limits`.",
)
def no_limits(view: ObjectView) -> Faults:
    """A container has no limits, but other containers of the run have some. Init containers are ignored."""
    found = [(route, container) for route, container in view.containers if "initContainers" not in route]
    without = [one for one in found if not at(one[1], "resources", "limits")]
    for route, container in without if len(without) < len(found) else ():
        message = f"container `{container.get('name')}` has no limits, but others of the run have"
        yield Fault((*route, "resources", "limits"), message)


@_advice(
    "mutable-image",
    RUNS,
    reason="The image behind the tag can change: pods that restart mix versions, and the run cannot be repeated. "
    "The name of a run depends on the tag, not on the image behind it.",
    remedy="Use a version tag, or better a digest (`image@sha256:…`).",
)
def mutable_image(view: ObjectView) -> Faults:
    """An image of a run has the tag `latest`, or neither a tag nor a digest."""
    for route, container in view.containers:
        image = container.get("image")
        if not isinstance(image, str) or not image or "@" in image:
            continue
        _, colon, tag = image.rpartition("/")[2].partition(":")
        if not colon or tag == "latest":
            tagged = "has the tag `latest`" if colon else "has no tag, which means `latest`"
            yield Fault((*route, "image"), f"the image {tagged}")


@_advice(
    "folder-of-root",
    RUNS,
    reason="Images give `/root` the mode 700, so a container of another user does not start, or does not find its "
    "code. A runtime makes a folder that an image does not have, and every user can enter it.",
    remedy="Set `workingDir` to a folder that every user can enter, such as `/workspace`.",
)
def folder_of_root(view: ObjectView) -> Faults:
    """A container whose user is not root works in `/root`. Init containers are ignored."""
    for route, container in view.containers:
        folder = container.get("workingDir")
        if "initContainers" in route or not isinstance(folder, str) or not f"{folder}/".startswith(_OF_ROOT):
            continue
        contexts = (container.get("securityContext"), at(follow(view.body, route[:-2]), "securityContext"))
        user = next((one for one in (at(context, "runAsUser") for context in contexts) if one is not None), None)
        named = next((one for one in (at(context, "runAsNonRoot") for context in contexts) if one is not None), False)
        if user if user is not None else named:
            who = f"the user {user}" if user is not None else "a user that is not root"
            yield Fault((*route, "workingDir"), f"{who} cannot enter `{folder}`")


_OF_ROOT: Final = "/root/"
BEST_PRACTICES: Final[tuple[Rule, ...]] = (no_deadline, keeps_pods, no_limits, mutable_image, folder_of_root)
"""Rules that every rendered run is checked against, because they depend on optional fields of a job."""
