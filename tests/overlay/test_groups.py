"""Grants that several namespaces have in common, and grants of an abstract overlay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base import Findings
from gen.job.model import aliases_of
from gen.overlay.grant import Grant
from gen.overlay.read import OverlayReader
from tests.contract.test_overlays import CASES

if TYPE_CHECKING:
    from gen.overlay.overlay import Overlay
    from tests.support import Repository

COMMON: dict[str, Any] = {"kubernetes": "1.34"}
UNKNOWN = "there is no {} to grant"
TEAMS = [f"team-{number}" for number in range(10)]


def read(repo: Repository, **fields: Any) -> tuple[Overlay | None, list[str]]:
    """The overlay, and its findings with their lines."""
    repeated = json.loads(json.dumps(COMMON | fields))  # without aliases
    repo.overlay(yaml.safe_dump(repeated, sort_keys=False, default_flow_style=None))
    found = Findings()
    overlays = OverlayReader(repo.root, found).read()
    return next(iter(overlays), None), [f"{one.place.line}: {one.code}: {one.message}" for one in found]


def overlay(repo: Repository, **fields: Any) -> Overlay:
    one, findings = read(repo, **fields)
    assert one is not None, findings
    assert findings == []
    return one


def test_ten_teams_with_common_grants_take_two_lines(repo: Repository) -> None:
    everyone = {"namespaces": ["*"], "pods": 100, "registries": ["registry.example.com"], "resourceQuota": True}
    research = {"namespaces": TEAMS, "gpus": 64, "queues": ["gold"]}
    one = overlay(repo, groups={"everyone": everyone, "research": research}, namespaces={"team-3": {"gpus": 128}})
    expected = {"pods": 100, "registries": ["registry.example.com"], "resourceQuota": True, "queues": ["gold"]}
    repeated = {team: {**expected, "gpus": 128 if team == "team-3" else 64} for team in TEAMS}
    assert one.fields.namespaces == overlay(repo, namespaces=repeated).fields.namespaces
    assert one.grant("other") is None


def test_a_group_for_all_covers_those_that_are_not_named_only_if_they_have_a_grant(repo: Repository) -> None:
    everyone = {"namespaces": ["*"], "pods": 100, "resourceQuota": True}
    one = overlay(repo, groups={"all": everyone}, namespaces={"*": {"gpus": 8}, "team": {}})
    assert one.grant("other") == Grant(gpus=8, pods=100)
    assert one.grant("team") == Grant(pods=100, resourceQuota=True)
    assert one.grant("kube-system") is None


def test_a_group_for_all_limits_an_overlay_without_namespaces(repo: Repository) -> None:
    one = overlay(repo, groups={"all": {"namespaces": ["*"], "pods": 3}})
    assert one.grant("team") == Grant(pods=3)


@pytest.mark.parametrize("case", [case for case in CASES if "team" in case["overlay"].get("namespaces", {})])
def test_a_grant_is_the_same_in_a_group(case: dict[str, Any], repo: Repository) -> None:
    fields = case["overlay"]
    for path, text in case.get("files", {}).items():
        repo.write(f"overlays/dev/{path}", text)
    if "base" in case:
        repo.overlay(yaml.safe_dump(case["base"]), name="base")
    expected, findings = read(repo, **fields)
    grants = dict(fields["namespaces"])
    group = {"namespaces": ["team"], **grants.pop("team")}
    grouped, findings_grouped = read(repo, **fields | {"namespaces": grants, "groups": {"one": group}})
    assert (expected is None) == (grouped is None)
    assert len(findings) == len(findings_grouped)
    if expected is not None and grouped is not None and "base" not in case:  # a base has grants of its own
        assert grouped.fields.namespaces == expected.fields.namespaces


def test_cases_have_every_grant() -> None:
    used = {field for case in CASES for field in case["overlay"].get("namespaces", {}).get("team", {})}
    assert used >= set(aliases_of(Grant).values())


def test_an_error_of_a_group_is_reported_once_at_its_line(repo: Repository) -> None:
    group = {"namespaces": TEAMS, "gpus": "many", "volumes": ["nas"]}
    _, findings = read(repo, groups={"all": group})
    assert [one.partition(" ")[0] for one in findings] == ["6:"]
    _, findings = read(repo, groups={"all": group | {"gpus": 1}}, volumes={"nsa": {"claim": "a"}})
    assert findings == [f"7: unknown-volume: {UNKNOWN.format('volume `nas`')}"]


def test_two_groups_cannot_set_one_field(repo: Repository) -> None:
    groups = {"a": {"namespaces": ["team"], "gpus": 1}, "b": {"namespaces": ["team", "other"], "gpus": 2}}
    _, findings = read(repo, groups=groups)
    assert findings == ["8: invalid-value: groups `a` and `b` both set `gpus` of namespace `team`"]
    assert overlay(repo, groups=groups, namespaces={"team": {"gpus": 3}}).grant("other") == Grant(gpus=2)


def test_an_overlay_adds_to_a_group_of_its_base(repo: Repository) -> None:
    repo.overlay(yaml.safe_dump({"abstract": True, "groups": {"all": {"namespaces": ["*"], "pods": 9}}}), name="base")
    one = overlay(repo, extends="base", groups={"all": {"gpus": 4}}, namespaces={"team": {}})
    assert one.grant("team") == Grant(gpus=4, pods=9)
    assert one.place("namespaces", "team", "pods").file == "overlays/base/overlay.yaml"


ABSTRACT = {
    "abstract": True,
    "namespaces": {"team": {"resourceQuota": True, "accelerators": {"h100": 8}, "networks": ["rdma"]}},
}
"""Grants of devices and networks that each cluster declares."""


def test_grants_of_an_abstract_overlay_are_checked_with_its_children(repo: Repository) -> None:
    repo.overlay(yaml.safe_dump(ABSTRACT), name="base")
    h100 = {"h100": {"extended": {"resource": "nvidia.com/gpu"}}}
    networks = {"rdma": {"rdma": {"resource": "rdma/hca"}}}
    assert overlay(repo, extends="base", accelerators=h100, networks=networks).grant("team") is not None
    _, findings = read(repo, extends="base", accelerators=h100)
    assert [one.partition(": ")[2] for one in findings] == [f"unknown-network: {UNKNOWN.format('network `rdma`')}"]


def test_a_quota_may_be_in_the_child(repo: Repository) -> None:
    repo.overlay(yaml.safe_dump({"abstract": True, "namespaces": {"team": {"resourceQuota": True}}}), name="base")
    assert overlay(repo, extends="base", namespaces={"team": {"pods": 3}}).grant("team") is not None
    _, findings = read(repo, extends="base")
    assert "`resourceQuota` has no effect without a quota" in findings[0]
