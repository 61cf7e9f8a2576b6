"""Rules of the API server report the invalid cases and accept the valid ones."""

from __future__ import annotations

import re
import zoneinfo
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gen.kubernetes.check.objects import check
from gen.kubernetes.rules import RuleSource
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Kinds
from tests.cases import for_each
from tests.kubernetes.rules.support import VERSION, an_object, cases, changed, faults, faults_in_place, objects, route

if TYPE_CHECKING:
    from pathlib import Path


@for_each(("rule", "kind", "change"), cases("good", RuleSource.SERVER))
def test_a_rule_accepts_valid_objects(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults(rule, kind, change) == []


@for_each(("rule", "kind", "change"), cases("bad", RuleSource.SERVER))
def test_a_rule_reports_invalid_objects_with_their_place(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert faults_in_place(rule, kind, change), faults(rule, kind, change)


@for_each(("rule", "kind", "change"), cases("bad", RuleSource.SERVER))
def test_every_fault_has_a_hint(rule: str, kind: str, change: dict[str, Any]) -> None:
    for fault in faults(rule, kind, change):
        assert len(fault.hint.split()) > 1
        assert fault.hint[0].islower() or not fault.hint[0].isalpha()
        assert not fault.hint.endswith(".")
        assert fault.hint not in fault.message
        assert re.search(r"`\{\w+\}`", fault.message + fault.hint) is None, "not filled in"


@for_each("number", range(len(objects("kubernetes.yaml"))))
def test_an_ordinary_object_has_no_problems(number: int) -> None:
    problems = check(objects("kubernetes.yaml")[number], Kinds(VERSION)).problems
    assert [one for one in problems if RULES[one.rule].source is not RuleSource.GITOPS] == []


def test_time_zones_are_the_same_on_every_machine(tmp_path: Path) -> None:
    (tmp_path / "Here").write_bytes((files("tzdata.zoneinfo") / "UTC").read_bytes())
    zoneinfo.reset_tzpath([str(tmp_path)])
    try:
        assert "Here" in zoneinfo.available_timezones()
        assert faults("cron-jobs", "CronJob", {"spec timeZone": "Here"})
        assert not faults("cron-jobs", "CronJob", {"spec timeZone": "Europe/Berlin"})
    finally:
        zoneinfo.reset_tzpath()


def test_a_wrong_type_does_not_hide_other_problems() -> None:
    body = changed(an_object("CronJob"), {"spec schedule": "never", "spec timeZone": 1.5})
    problems = check(body, Kinds(VERSION)).problems
    assert {(one.rule, one.route) for one in problems} == {
        ("wrong-type", ("spec", "timeZone")),
        ("cron-jobs", ("spec", "schedule")),
    }


@for_each(
    ("kind", "change", "where"),
    [
        ("Job", {"metadata name": "a" * 64, "spec completionMode": None, "spec completions": None}, "metadata name"),
        ("StatefulSet", {"metadata name": "a.b"}, "metadata name"),
        ("StatefulSet", {"metadata name": "a" * 64}, "metadata name"),
        ("StatefulSet", {"spec serviceName": "a.b"}, "spec serviceName"),
        ("Pod", {"spec containers 0 image": "a:1 "}, "spec containers 0 image"),
        ("Pod", {"spec schedulingGates": [{"name": "a.b/c"}], "spec nodeName": "a"}, "spec nodeName"),
        (
            "DaemonSet",
            {"spec updateStrategy": {"rollingUpdate": {"maxSurge": "101%", "maxUnavailable": 0}}},
            "spec updateStrategy rollingUpdate maxSurge",
        ),
        ("CronJob", {"spec schedule": "* * * * 7"}, "spec schedule"),
    ],
)
def test_objects_that_real_servers_rejected_are_reported(kind: str, change: dict[str, Any], where: str) -> None:
    problems = check(changed(an_object(kind), change), Kinds(VERSION)).problems
    assert route(where) in {one.route[: len(route(where))] for one in problems}
