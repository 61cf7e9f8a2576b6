"""Fields that schemas require and API servers do not. `just e2e` compares with a server."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.check.objects import check
from gen.kubernetes.rules import RuleSource
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.kubernetes import _OPTIONAL
from gen.kubernetes.schemas.lookup import Kinds
from gen.kubernetes.schemas.registry import versions
from tests.cases import for_each
from tests.kubernetes.rules.support import VERSION, an_object, changed

ACCEPTED = [
    ("Pod", {"spec securityContext": {"sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start"}]}}),
    ("Pod", {"spec containers 0 livenessProbe": {"httpGet": {"port": 1, "httpHeaders": [{"name": "A"}]}}}),
    ("Pod", {"spec containers 0 lifecycle": {"preStop": {"sleep": {}}}}),
    ("LimitRange", {"spec": {}}),
    ("PriorityClass", {"value": None}),
    ("CSIDriver", {"spec": None}),
    ("CSIDriver", {"spec tokenRequests": [{}]}),
    ("CSINode", {"spec": {}}),
    ("DeviceClass", {"spec": None}),
    ("ResourceClaim", {"spec": None}),
    ("ResourceClaimTemplate", {"spec": {}}),
    ("EndpointSlice", {"endpoints": None}),
    ("RoleBinding", {"roleRef": {"kind": "Role", "name": "a"}}),
    ("Event", {"involvedObject": None}),
    ("ControllerRevision", {"revision": None}),
    ("PersistentVolumeClaim", {"spec dataSource": {}}),
    ("Node", {"spec configSource": {"configMap": {}}}),
    ("Node", {"status": {"nodeInfo": {}, "conditions": [{}], "addresses": [{}]}}),
]


def rejections(kind: str, change: dict[str, Any], version: str = VERSION) -> list[str]:
    problems = check(changed(an_object(kind), change), Kinds(version)).problems
    return [one.message for one in problems if RULES[one.rule].source is RuleSource.SERVER]


@for_each(("kind", "change"), ACCEPTED)
def test_an_object_without_the_field_is_accepted(kind: str, change: dict[str, Any]) -> None:
    assert rejections(kind, change) == []


def test_before_1_33_a_pause_must_have_a_length() -> None:
    assert rejections("Pod", {"spec containers 0 lifecycle": {"preStop": {"sleep": {}}}}, "1.32")


def test_other_fields_of_these_types_are_required() -> None:
    assert rejections("Pod", {"spec securityContext": {"sysctls": [{"value": "0"}]}})
    assert rejections("ClusterRoleBinding", {"roleRef": None})


@for_each("version", versions())
def test_every_type_is_one_of_kubernetes(version: str) -> None:
    names = {".".join(name.split(".")[-3::2]) for name in Kinds(version).schemas.types}
    newer = {"core.SleepAction", "core.TypedObjectReference"} | {
        name for name in _OPTIONAL if name.startswith("resource.")
    }
    assert _OPTIONAL.keys() - names - newer == set()
