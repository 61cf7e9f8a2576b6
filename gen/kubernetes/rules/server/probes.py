"""Probes and lifecycle hooks.

From `validateProbe`, `validateHandler`, `validateLifecycle` and `validateInitContainers` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gen.base import Route, quoted
from gen.kubernetes.facts.server_defaults import GRACE_PERIOD_S
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_NOT_FOR_INIT = (*_PROBES, "lifecycle")
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")

_ACTION = FieldChecks(
    {
        "exec.command": checks.not_empty,
        "httpGet.port": checks.port_or_name,
        "httpGet.scheme": checks.if_set(checks.one_of("HTTP", "HTTPS")),
        "httpGet.httpHeaders.*.name": checks.header_name,
        "tcpSocket.port": checks.port_or_name,
        "grpc.port": checks.port,
    }
)
_PROBE = FieldChecks(
    {
        **dict.fromkeys(("initialDelaySeconds", "timeoutSeconds", "periodSeconds"), checks.at_least(0)),
        **dict.fromkeys(("successThreshold", "failureThreshold"), checks.at_least(0)),
        "terminationGracePeriodSeconds": checks.at_least(1),
    }
)
_NO_SLEEP_SINCE = 33


@server_rule(
    "probes",
    of_pods=True,
    remedy="Keep one of `exec`, `httpGet`, `tcpSocket`, `grpc`. Set `successThreshold: 1` in a liveness probe.",
)
def probes(view: ObjectView) -> Faults:
    """A probe or lifecycle hook has no handler or several, or an invalid port or number."""
    for route, pod in view.pods:
        grace = pod.get("terminationGracePeriodSeconds", GRACE_PERIOD_S)
        for field in ("initContainers", "containers"):
            for index, container in enumerate(pod.get(field) or ()):
                at = (*route, field, index)
                if field == "initContainers" and container.get("restartPolicy") != "Always":
                    yield from _not_for_init(container, at)
                else:
                    yield from _container(container, at)
                    if "lifecycle" in container:
                        yield from _hooks(container["lifecycle"], (*at, "lifecycle"), view.minor, grace)


def _not_for_init(container: Body, route: Route) -> Faults:
    for field in _NOT_FOR_INIT:
        # a stop signal alone is dropped while its feature gate is off
        if field in container and container[field].keys() != {"stopSignal"}:
            hint = "remove it, or set `restartPolicy: Always` to make the container a sidecar"
            yield Fault((*route, field), f"an init container cannot have `{field}`", hint)


def _container(container: Body, route: Route) -> Faults:
    for field in _PROBES:
        if field in container:
            probe, at = container[field], (*route, field)
            yield from _PROBE.faults(probe, at)
            yield from _handler(probe, at, _OF_PROBES)
            if field != "readinessProbe" and probe.get("successThreshold", 1) not in {0, 1}:
                yield Fault((*at, "successThreshold"), f"must be 1 for a `{field}`", "set it to 1, or remove it")
            if field == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
                hint = "remove it, or move it to the `livenessProbe`"
                yield Fault((*at, "terminationGracePeriodSeconds"), "not allowed in a `readinessProbe`", hint)


def _hooks(lifecycle: Body, route: Route, minor: int, grace: int) -> Faults:
    for hook in _HOOKS:
        if hook in lifecycle:
            yield from _handler(lifecycle[hook], (*route, hook), _OF_HOOKS)
    sleep = _sleep(0 if minor >= _NO_SLEEP_SINCE else 1, grace)
    yield from FieldChecks({f"{hook}.sleep.seconds": sleep for hook in _HOOKS}).faults(lifecycle, route)


def _sleep(shortest: int, grace: int) -> Check:
    check = checks.between(shortest, grace)

    def seconds(value: Any) -> Fault | None:
        fault = check(value)
        if fault is None:
            return None
        if value < shortest <= grace:
            return replace(fault, hint=f"use {shortest} or more")
        enough = max(value, shortest)
        return replace(
            fault, hint=f"shorten the sleep, or raise `terminationGracePeriodSeconds` of the pod to {enough}"
        )

    return seconds


def _handler(holder: Body, route: Route, kinds: tuple[str, ...]) -> Faults:
    found = [kind for kind in kinds if kind in holder]
    if not found:
        message = "no handler; expected one of " + quoted(kinds)
        yield Fault(route, message, f"add one of them, or remove `{route[-1]}`")
    for kind in found[1:]:
        yield Fault((*route, kind), f"`{kind}` and `{found[0]}` are mutually exclusive", "keep one of the two")
    yield from _ACTION.faults(holder, route)
    if "exec" in holder and "command" not in holder["exec"]:
        yield Fault((*route, "exec"), "`command` is missing", "add a `command`, a list of a program and its arguments")
