"""What is the same in an original and in its rendered object: fields that are missing and fields with their default."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from gen.importers.comparison import compared
from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL

LABELS = ("metadata", "labels")
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", 0)
JOB = ("spec", "replicatedJobs", 0, "template", "spec")
GROUP = ("spec", "rayClusterSpec", "workerGroupSpecs", 0)


def with_value(body: dict[str, Any], value: object, *route: str | int) -> dict[str, Any]:
    """An object with a value, also below mappings that it does not have."""
    body = deepcopy(body)
    holder: Any = body
    for step in route[:-1]:
        holder = holder[step] if isinstance(step, int) else holder.setdefault(step, {})
    holder[route[-1]] = value
    return body


def without(body: dict[str, Any], *route: str | int) -> dict[str, Any]:
    """An object without a field."""
    body = {**deepcopy(body), "metadata": {"name": "run", "namespace": "team"}}
    holder: Any = body
    for step in route[:-1]:
        holder = holder[step] if isinstance(step, int) else holder.get(step, {})
    holder.pop(route[-1], None)
    return body


@for_each(
    "route, value",
    [
        ((*LABELS, "queue"), "default"),
        ((*LABELS, "protocol"), "TCP"),
        (("metadata", "annotations", "operator"), "All"),
        (("spec", "template", "metadata", "labels", "value"), ""),
        ((*POD, "nodeSelector", "protocol"), "TCP"),
        ((*POD, "nodeSelector", "restartPolicy"), "Always"),
        ((*CONTAINER, "resources", "limits", "replicas"), 1),
        (("spec", "maxRetry"), 3),  # of Volcano
        (("spec", "slotsPerWorker"), 1),  # of MPI
    ],
)
def test_a_key_with_the_name_of_another_field_has_no_default(route: tuple[str | int, ...], value: object) -> None:
    rendered = without(EQUAL["batch"], *route)
    original = with_value(rendered, value, *route)
    assert len(list(compared(original, rendered))) == 1


@for_each(
    "name, route, value",
    [
        ("batch", (*POD, "dnsPolicy"), "ClusterFirst"),
        ("batch", (*POD, "hostNetwork"), False),
        ("batch", (*CONTAINER, "terminationMessagePolicy"), "File"),
        ("batch", (*CONTAINER, "securityContext"), {"privileged": False}),
        ("batch", ("spec", "suspend"), False),
        ("batch", ("spec", "podReplacementPolicy"), "TerminatingOrFailed"),
        ("jobset", ("spec", "startupPolicy"), {"startupPolicyOrder": "AnyOrder"}),
        ("jobset", ("spec", "successPolicy"), {"operator": "All"}),
        ("jobset", ("spec", "failurePolicy", "maxRestarts"), 0),
        ("jobset", ("spec", "replicatedJobs", 0, "replicas"), 1),
        ("jobset", (*JOB, "completionMode"), "Indexed"),
        ("jobset", (*JOB, "manualSelector"), False),
        ("volcano", ("spec", "queue"), "default"),
        ("volcano", ("spec", "maxRetry"), 3),
        ("mpi-v2beta1", ("spec", "slotsPerWorker"), 1),
        ("ray", ("spec", "jobId"), ""),
        ("ray", (*GROUP, "numOfHosts"), 1),
        ("ray", ("spec", "rayClusterSpec", "headGroupSpec", "serviceType"), "ClusterIP"),
    ],
)
def test_a_missing_field_equals_its_default(name: str, route: tuple[str | int, ...], value: object) -> None:
    shorter = without(EQUAL[name], *route)
    longer = with_value(shorter, value, *route)
    assert list(compared(longer, shorter)) == []
    assert list(compared(shorter, longer)) == []


@for_each(
    "name, route, value",
    [
        ("jobset", (*JOB, "completionMode"), "NonIndexed"),  # its webhook sets the other
        ("ray", (*GROUP, "replicas"), 1),
    ],
)
def test_a_field_can_have_another_default_in_another_kind(
    name: str, route: tuple[str | int, ...], value: object
) -> None:
    rendered = without(EQUAL[name], *route)
    original = with_value(rendered, value, *route)
    assert [one.original for one in compared(original, rendered)] == [value]


def test_items_of_a_list_of_a_pod_are_compared_by_their_key() -> None:
    hosts = [{"ip": f"127.0.0.{number}", "hostnames": ["a"]} for number in (1, 2)]
    rendered = with_value(without(EQUAL["batch"], *POD, "hostAliases"), hosts[1:], *POD, "hostAliases")
    (lost,) = compared(with_value(rendered, hosts, *POD, "hostAliases"), rendered)
    assert (lost.route, lost.original) == ((*POD, "hostAliases", "-"), hosts[0])
