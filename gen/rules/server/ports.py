"""Ports of containers.

From `validateContainerPorts`, `AccumulateUniqueHostPorts` and `validatePodHostNetworkDeps` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import port_name
from gen.rules.rule import server
from gen.rules.value_checks import if_set, one_of, port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

PROTOCOLS = ("TCP", "UDP", "SCTP")
PROTOCOL = if_set(one_of(*PROTOCOLS))

_PORTS = FieldChecks(
    {
        "ports.*.containerPort": port,
        "ports.*.hostPort": if_set(port),
        "ports.*.protocol": PROTOCOL,
        "ports.*.name": if_set(port_name),
    }
)


@server(
    "ports",
    of_pods=True,
    remedy="Give each port a unique number, and a unique name of at most 15 lower-case letters, digits and `-`.",
)
def ports(view: ObjectView) -> Faults:
    """A container has an invalid port number, an invalid or duplicate port name, or a host port that is already used in
    the pod.
    """
    found = [(route, container) for route, container in view.containers if "ports" in container]
    if not found:
        return
    for route, container in found:
        yield from _PORTS.faults(container, route)
        named = [entry if entry.get("name") else {"name": index} for index, entry in enumerate(_of(container))]
        for at, (name,) in duplicates(named, (*route, "ports"), "name"):
            yield Fault((*at, "name"), f"duplicate port name `{name}`", "rename one of the two")
    for route, pod in view.pods:
        on_host = bool(pod.get("hostNetwork"))
        regular = list(host_ports(pod, (*route, "containers")))
        yield from taken_twice(regular)
        for at, entry, _ in regular:
            if on_host and entry.get("hostPort") and entry["hostPort"] != entry["containerPort"]:
                message = f"must be the container port {entry['containerPort']} with `hostNetwork`"
                yield Fault((*at, "hostPort"), message, f"set it to {entry['containerPort']}, or remove `hostPort`")
        for index, container in enumerate(pod.get("initContainers") or ()):
            alone = {"containers": [container]}  # init containers run one after the other
            yield from taken_twice(list(host_ports(alone, (*route, "initContainers"), first=index)))


def _of(container: Body) -> list[Body]:
    found: list[Body] = container.get("ports") or []
    return found


def host_ports(
    pod: Body, route: Route, *, on_host: bool = False, first: int = 0
) -> Iterator[tuple[Route, Body, tuple[object, ...] | None]]:
    """Every port with the host port that it uses."""
    for index, container in enumerate(pod["containers"], first):
        for number, entry in enumerate(_of(container)):
            taken = entry.get("hostPort") or (entry["containerPort"] if on_host else 0)
            key = (entry.get("protocol") or "TCP", entry.get("hostIP", ""), taken) if taken else None
            yield (*route, index, "ports", number), entry, key


def taken_twice(found: list[tuple[Route, Body, tuple[object, ...] | None]]) -> Faults:
    seen = set()
    for at, entry, key in found:
        if key is not None and key in seen:
            field = "hostPort" if entry.get("hostPort") else "containerPort"
            yield Fault((*at, field), f"host port {key[2]} is used twice", "change one of the two ports")
        seen.add(key)
