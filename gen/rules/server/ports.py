"""Ports of containers.

From `validateContainerPorts`, `AccumulateUniqueHostPorts` and `validatePodHostNetworkDeps` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.rule import server
from gen.rules.value_checks import if_set, one_of, port, port_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

PROTOCOL = if_set(one_of("TCP", "UDP", "SCTP"))

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
    remedy="Give each port a name of at most 15 lower case letters, digits and `-`, and a number of its own.",
)
def ports(view: ObjectView) -> Faults:
    """Ports are between 1 and 65535, their names are short and unique in a container, and no port of the host is taken
    twice.
    """
    for route, container in view.containers:
        yield from _PORTS.faults(container, route)
        named = [entry if entry.get("name") else {"name": index} for index, entry in enumerate(_of(container))]
        for at, (name,) in duplicates(named, (*route, "ports"), "name"):
            yield Fault((*at, "name"), f"two ports are called `{name}`", "give each port of a container its own name")
    for route, pod in view.pods:
        on_host = bool(pod.get("hostNetwork"))
        regular = list(host_ports(pod, (*route, "containers")))
        yield from taken_twice(regular)
        for at, entry, _ in regular:
            if on_host and entry.get("hostPort") and entry["hostPort"] != entry["containerPort"]:
                message = f"with `hostNetwork` it is the container's own port, {entry['containerPort']}"
                yield Fault((*at, "hostPort"), message, f"write {entry['containerPort']}, or leave `hostPort` out")
        for index, container in enumerate(pod.get("initContainers") or ()):
            alone = {"containers": [container]}  # one runs after the other
            yield from taken_twice(list(host_ports(alone, (*route, "initContainers"), first=index)))


def _of(container: Body) -> list[Body]:
    found: list[Body] = container.get("ports") or []
    return found


def host_ports(
    pod: Body, route: Route, *, on_host: bool = False, first: int = 0
) -> Iterator[tuple[Route, Body, tuple[object, ...] | None]]:
    """Every port with what it takes of the host."""
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
            yield Fault((*at, field), f"port {key[2]} of the host is taken twice", "give one of the two another port")
        seen.add(key)
