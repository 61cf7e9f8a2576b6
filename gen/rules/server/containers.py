"""Names, images and policies of containers. Ports, variables, probes, rights, resources and mounts have their own
rules.

From `validateContainerCommon`, `validateContainers` and `validateInitContainers` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_label
from gen.rules.object_view import containers as containers_of
from gen.rules.rule import server
from gen.rules.server.pods import restart_policy
from gen.rules.value_checks import if_set, not_empty, one_of

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
"""Restart policies of single containers: dropped in 1.34, where they are an alpha feature, and available since 1.35."""


@server(
    "containers",
    of_pods=True,
    remedy="Give every container an image and a unique name.",
)
def containers(view: ObjectView) -> Faults:
    """A pod has no containers, or a container has a duplicate name, no image or an invalid policy."""
    for route, pod in view.pods:
        if not pod["containers"]:
            yield Fault(
                (*route, "containers"), "at least one container is required", "add a container with `name` and `image`"
            )
        yield from _doubled(pod, route)
        for at, container in containers_of(pod, route):
            yield from _CONTAINER.faults(container, at)
            image = container.get("image", "")
            if not_empty(image):
                yield Fault((*at, "image"), f"container `{container['name']}` has no image", "set its `image`")
            elif image != image.strip() and view.kind == "Pod":  # not checked in templates
                yield Fault((*at, "image"), "the image has leading or trailing spaces", f"use `{image.strip()}`")
            if "resizePolicy" in container:
                yield from _resizing(container, at, pod)
            if "restartPolicy" in container:
                yield from _restarts(container, at, view.minor)


def _doubled(pod: Body, route: Route) -> Faults:
    names: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(field) or ()):
            if container["name"] in names:
                message = f"duplicate container name `{container['name']}`"
                yield Fault((*route, field, index, "name"), message, "rename one of the two")
            names.add(container["name"])


def _resizing(container: Body, route: Route, pod: Body) -> Faults:
    policies = container.get("resizePolicy") or []
    for at, (name,) in duplicates(policies, (*route, "resizePolicy"), "resourceName"):
        yield Fault(at, f"duplicate policy for `{name}`", "remove one of the two")
    for index, policy in enumerate(policies):
        if restart_policy(pod) == "Never" and policy["restartPolicy"] == "RestartContainer":
            here = (*route, "resizePolicy", index, "restartPolicy")
            message = "no container restarts in a pod with `restartPolicy: Never`"
            yield Fault(here, message, "use `NotRequired`, or change the `restartPolicy` of the pod")


def _restarts(container: Body, route: Route, minor: int) -> Faults:
    policy = container["restartPolicy"]
    if minor == _RESTARTS_DROPPED:
        return
    here = (*route, "restartPolicy")
    if minor >= _RESTARTS_SINCE:
        yield from FieldChecks({"restartPolicy": one_of("Always", "Never", "OnFailure")}).faults(container, route)
    elif "initContainers" not in route:
        hint = "remove it; the `restartPolicy` of the pod is for all its containers"
        yield Fault(here, "only init containers may have a `restartPolicy`", hint)
    elif policy != "Always":
        yield Fault(here, f"`{policy}` is not allowed; expected `Always`", "set it to `Always`, or remove it")
