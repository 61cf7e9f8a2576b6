"""Names of Kubernetes that several stages use: object bodies, identities, labels and annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

Body = dict[str, Any]
"""A Kubernetes object, or a part of one, as plain data."""

RUN = "\ufdd0"
"""Placeholder of the run's hash from plan to patch, before the hash is known.

A Unicode noncharacter, which is there for such uses inside a program; no input can hold it.
"""

TRIAL = "\ufdd4"
"""Placeholder of the name of a trial of a search, which Katib chooses."""

PARAMETER = "\ufdd5"
"""Before and after the name of a parameter whose value Katib chooses."""

RESULT = "\ufdd6"
"""Before and after the step and the name of a result, which Argo Workflows knows when the step has ended."""

OWN = "gen/"
"""Prefix of our own labels and annotations."""

HASH_LENGTH = 8
"""Hexadecimal digits of a run's hash."""

JOB_LABEL = "gen/job"
RUN_LABEL = "gen/run"
STEP_LABEL = "gen/step"
"""On the objects and pods of a step. All steps of a pipeline have the same run."""
WORKFLOW_LABEL = "gen/workflow"
"""On the objects and pods of a step of a scheduled pipeline: the name of the workflow. All have the same `gen/run`."""
VOLUME_LABEL = "gen/volume"
ACCELERATOR_LABEL = "gen/accelerator"
"""On pods: the accelerator of the overlay that they request."""
DEVICES_LABEL = "gen/devices"
"""On pods: the number of devices that they get by claims."""
METRICS = "gen/metrics"
"""On the workload of a run: how its program prints its metrics, as JSON."""
VALUES = "gen/values"
"""On the workload of a run of a sweep: the values of its parameters, as JSON."""
MANAGED_BY = "app.kubernetes.io/managed-by"
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
QUEUE = "gen/queue"
"""The queue of the overlay that a run uses. Without declared queues, a run only has the label of Kueue."""

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
ARCHITECTURE = "kubernetes.io/arch"
HOSTNAME = "kubernetes.io/hostname"
CONTROL_PLANE = "node-role.kubernetes.io/"
"""Prefix of the labels and taints of nodes that run the cluster itself."""
GITSYNC_REPO = "GITSYNC_REPO"
GITSYNC_REF = "GITSYNC_REF"
"""Settings of git-sync: the URL and what it fetches."""
NVIDIA_DEVICES = "NVIDIA_VISIBLE_DEVICES"
"""Variable by which NVIDIA's container runtime selects the GPUs of a container; many images set it to `all`."""

MAX_NAME = 63


def with_hash(text: str) -> str:
    """The text with samples instead of `RUN` and `TRIAL`, to check its form: all hashes have the same length."""
    if RUN not in text and TRIAL not in text:
        return text
    return text.replace(RUN, "0" * HASH_LENGTH).replace(TRIAL, f"trial-{'0' * HASH_LENGTH}")


def parameter(name: str) -> str:
    """Placeholder of the value of a parameter whose value Katib chooses."""
    return f"{PARAMETER}{name}{PARAMETER}"


def result(step: str, name: str) -> str:
    """Placeholder of a result of a step."""
    return f"{RESULT}{step}/{name}{RESULT}"


_RESULT = regex(f"{RESULT}([^{RESULT}/]*)/([^{RESULT}]*){RESULT}")


def results_in(text: str) -> list[tuple[str, str]]:
    """The results in a text, each a step and a name, sorted."""
    return sorted(set(_RESULT.findall(text))) if RESULT in text else []


def with_results(text: str, form: str) -> str:
    """The text with a replacement for `re.sub` in place of results. Group 1 is the step, group 2 the name."""
    return _RESULT.sub(form, text) if RESULT in text else text


_PARAMETER = regex(f"{PARAMETER}([^{PARAMETER}]*){PARAMETER}")


def parameters_in(text: str) -> list[str]:
    """The parameters in a text that get their values later, sorted."""
    return sorted(set(_PARAMETER.findall(text))) if PARAMETER in text else []


def with_parameters(text: str, form: str) -> str:
    """The text with a replacement for `re.sub` in place of such parameters. Group 1 is the name."""
    return _PARAMETER.sub(form, text) if PARAMETER in text else text


def readable(text: str) -> str:
    """The text with expressions instead of the placeholders of searches and steps, for messages."""
    text = with_results(text, r"{{ steps.\1.results.\2 }}")
    if TRIAL not in text and PARAMETER not in text:
        return text
    return with_parameters(text.replace(TRIAL, "{{ run.id }}"), r"{{ params.\1 }}")


def qualified(namespace: str, name: str) -> str:
    """`namespace/name`; only the name for an object without a namespace."""
    return f"{namespace}/{name}" if namespace else name


def identity(kind: str, namespace: str, name: str) -> str:
    """`Kind namespace/name`, as messages name an object."""
    return f"{kind} {qualified(namespace, name)}"


def identity_of(body: Any) -> str:
    """`Kind namespace/name` of any data, without parts that are missing or not text."""
    kind, namespace, name = at(body, "kind"), at(body, "metadata", "namespace"), at(body, "metadata", "name")
    names = (part for part in (namespace, name) if isinstance(part, str) and part)
    return f"{kind if isinstance(kind, str) else ''} {'/'.join(names)}".strip()


def present(**fields: Any) -> Body:
    """The fields that are not None, empty text, empty list or empty mapping; `False` and 0 stay.

    Null and empty fields would show as differences in a GitOps engine, so none is ever rendered.
    """
    return {name: value for name, value in fields.items() if value or value == 0}


def at(body: Any, *route: str | int) -> Any:
    """The value at a route through mappings, or None."""
    for step in route:
        if not isinstance(body, dict):
            return None
        body = body.get(step)
    return body


def with_field(body: Body, route: tuple[str, ...], value: Any) -> Body:
    """A copy with the value at a route through mappings, or without the field if the value is None."""
    step, *rest = route
    if rest:
        inner = body.get(step)
        if not isinstance(inner, dict):
            if value is None:
                return body
            inner = {}
        return {**body, step: with_field(inner, tuple(rest), value)}
    if value is None:
        return {key: other for key, other in body.items() if key != step}
    return {**body, step: value}


def set_value(body: Body, route: tuple[str, ...], value: Any) -> None:
    """Set the value at a route, with the mappings that are missing on the way."""
    for step in route[:-1]:
        body = body.setdefault(step, {})
    body[route[-1]] = value


def nulls(value: Any, route: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where a value is or holds null."""
    if value is None:
        yield route
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from nulls(inner, (*route, key))


def overlap(one: tuple[str | int, ...], other: tuple[str | int, ...]) -> bool:
    """Whether one route contains the other."""
    return all(step == there for step, there in zip(one, other, strict=False))


def queue_in(labels: Any) -> str:
    """The queue in the labels of a run, as jobs name it; empty without one."""
    return str(at(labels, QUEUE) or at(labels, QUEUE_LABEL) or "")
