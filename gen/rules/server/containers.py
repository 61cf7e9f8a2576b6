"""What every container has besides its ports, variables, probes, rights, resources and mounts.

From `validateContainerCommon`, `validateContainers` and `validateInitContainers` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.object_view import containers as containers_of
from gen.rules.rule import server
from gen.rules.server.pods import restart_policy
from gen.rules.value_checks import dns_label, if_set, not_empty, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_CONTAINER = FieldChecks(
    {
        "name": dns_label,
        "imagePullPolicy": if_set(one_of("Always", "IfNotPresent", "Never")),
        "terminationMessagePolicy": if_set(one_of("File", "FallbackToLogsOnError")),
        "resizePolicy.*.resourceName": one_of("cpu", "memory"),
        "resizePolicy.*.restartPolicy": one_of("NotRequired", "RestartContainer"),
    }
)
_RESTARTS_DROPPED, _RESTARTS_SINCE = 34, 35
"""Restart policies of single containers: 1.34 drops what an alpha feature would need, 1.35 has the feature."""


@server(
    "containers",
    of_pods=True,
    remedy="Give every container an image and a name that no other has.",
)
def containers(view: ObjectView) -> Faults:
    """A pod has containers; each has a name of its own, an image, and policies out of the known words."""
    for route, pod in view.pods:
        if not pod["containers"]:
            yield Fault((*route, "containers"), "a pod needs a container", "add one with a `name` and an `image`")
        yield from _doubled(pod, route)
        for at, container in containers_of(pod, route):
            yield from _CONTAINER.faults(container, at)
            image = container.get("image", "")
            if not_empty(image):
                yield Fault((*at, "image"), f"the container `{container['name']}` has no image", "write its `image`")
            elif image != image.strip():
                yield Fault((*at, "image"), "the image has white space around it", f"write `{image.strip()}`")
            yield from _resizing(container, at, pod)
            yield from _restarts(container, at, view.minor)


def _doubled(pod: Body, route: Route) -> Faults:
    names: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(field) or ()):
            if container["name"] in names:
                message = f"two containers are called `{container['name']}`"
                yield Fault((*route, field, index, "name"), message, "give one of the two another name")
            names.add(container["name"])


def _resizing(container: Body, route: Route, pod: Body) -> Faults:
    policies = container.get("resizePolicy") or []
    for at, (name,) in duplicates(policies, (*route, "resizePolicy"), "resourceName"):
        yield Fault(at, f"`{name}` has two policies", "remove one of the two")
    for index, policy in enumerate(policies):
        if restart_policy(pod) == "Never" and policy["restartPolicy"] == "RestartContainer":
            here = (*route, "resizePolicy", index, "restartPolicy")
            message = "no container is restarted when the pod's `restartPolicy` is `Never`"
            yield Fault(here, message, "write `NotRequired`, or give the pod another `restartPolicy`")


def _restarts(container: Body, route: Route, minor: int) -> Faults:
    policy = container.get("restartPolicy")
    if policy is None or minor == _RESTARTS_DROPPED:
        return
    here = (*route, "restartPolicy")
    if minor >= _RESTARTS_SINCE:
        yield from FieldChecks({"restartPolicy": one_of("Always", "Never", "OnFailure")}).faults(container, route)
    elif "initContainers" not in route:
        hint = "remove it; the pod has a `restartPolicy` for all of them"
        yield Fault(here, "only init containers have a restart policy of their own", hint)
    elif policy != "Always":
        yield Fault(here, f"`{policy}` is not `Always`", "write `Always`, or leave it out")
