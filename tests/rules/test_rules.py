"""Every rule reports invalid objects with their place and accepts valid ones, such as gen's own output."""

from __future__ import annotations

import pkgutil
import zoneinfo
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.check.objects import check
from gen.rules import gitops, operators, server
from gen.rules.catalogue import CATALOGUE
from gen.rules.object_view import ObjectView
from gen.rules.rule import RuleSource, rules_in
from gen.schemas.lookup import Kinds
from tests.rules.support import an_object, changed, objects, route
from tests.support import HERE as TESTS
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from gen.rules.fault import Fault

CASES: dict[str, dict[str, Any]] = yaml.load((TESTS / "rules/cases.yaml").read_bytes(), yaml.CSafeLoader)
RENDERED = [
    path
    for folder in (PROJECT / "rendered", *sorted((TESTS / "golden").glob("*/rendered")))
    for path in sorted(folder.rglob("*.yaml"))
]
VERSION = "1.34"


def each(which: str, *judges: RuleSource) -> list[Any]:
    return [
        pytest.param(rule, case["object"], change, id=f"{rule}-{number}")
        for rule, case in CASES.items()
        if rule in CATALOGUE and CATALOGUE[rule].source in (judges or RuleSource)
        for number, change in enumerate(case[which])
    ]


def found(rule: str, kind: str, changes: dict[str, Any]) -> list[Fault]:
    body = changed(an_object(kind), changes)
    find = CATALOGUE[rule].find
    assert find is not None
    view = ObjectView.of(body, VERSION)
    assert CATALOGUE[rule].is_for(view.group, view.kind)
    return list(find(view))


@pytest.mark.parametrize("package", [server, operators, gitops], ids=lambda package: package.__name__)
def test_every_rule_in_a_file_is_registered(package: ModuleType) -> None:
    names = [name for _, name, _ in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    assert sorted(rules_in(map(import_module, names)).keys() - CATALOGUE.keys()) == []


def test_every_rule_has_valid_and_invalid_cases() -> None:
    assert set(CASES) == {name for name, rule in CATALOGUE.items() if rule.find is not None}
    assert [rule for rule, case in CASES.items() if not case["good"] or not case["bad"]] == []


@pytest.mark.parametrize(("rule", "kind", "change"), each("good"))
def test_a_rule_accepts_valid_objects(rule: str, kind: str, change: dict[str, Any]) -> None:
    assert found(rule, kind, change) == []


@pytest.mark.parametrize(("rule", "kind", "change"), each("bad"))
def test_a_rule_reports_invalid_objects_with_their_place(rule: str, kind: str, change: dict[str, Any]) -> None:
    where = change.get("at")
    faults = found(rule, kind, {path: value for path, value in change.items() if path != "at"})
    assert faults
    paths = [route(path) for path in ([where] if where else change)]
    assert any(
        one.route[: len(path)] == path or path[: len(one.route)] == one.route for one in faults for path in paths
    ), faults


@pytest.mark.parametrize(("rule", "kind", "change"), each("bad", RuleSource.SERVER))
def test_every_fault_of_a_server_rule_has_a_hint(rule: str, kind: str, change: dict[str, Any]) -> None:
    for fault in found(rule, kind, {path: value for path, value in change.items() if path != "at"}):
        assert len(fault.hint.split()) > 1
        assert fault.hint[0].islower() or not fault.hint[0].isalpha()
        assert not fault.hint.endswith(".")
        assert fault.hint not in fault.message


@pytest.mark.parametrize("number", range(len(objects("kubernetes.yaml"))))
def test_an_ordinary_object_has_no_problems(number: int) -> None:
    problems = check(objects("kubernetes.yaml")[number], Kinds(VERSION)).problems
    assert [one for one in problems if CATALOGUE[one.rule].source is not RuleSource.GITOPS] == []


def test_rendered_objects_have_no_problems() -> None:
    kinds = Kinds(VERSION)
    assert RENDERED
    for path in RENDERED:
        body = yaml.load(path.read_bytes(), yaml.CSafeLoader)
        assert (path, check(body, kinds).problems) == (path, ())


@pytest.mark.parametrize("rule", CATALOGUE)
def test_a_rule_has_a_summary_a_reason_and_a_remedy(rule: str) -> None:
    documented = CATALOGUE[rule]
    assert documented.name == rule
    for text in (documented.summary, documented.reason, documented.remedy):
        assert len(text.split()) > 1
        assert text.strip().endswith((".", "`"))


def test_time_zones_are_the_same_on_every_machine(tmp_path: Path) -> None:
    (tmp_path / "Here").write_bytes((files("tzdata.zoneinfo") / "UTC").read_bytes())
    zoneinfo.reset_tzpath([str(tmp_path)])
    try:
        assert "Here" in zoneinfo.available_timezones()
        assert found("cron-jobs", "CronJob", {"spec timeZone": "Here"})
        assert not found("cron-jobs", "CronJob", {"spec timeZone": "Europe/Berlin"})
    finally:
        zoneinfo.reset_tzpath()


def test_a_wrong_type_does_not_hide_other_problems() -> None:
    body = changed(an_object("CronJob"), {"spec schedule": "never", "spec timeZone": 1.5})
    problems = check(body, Kinds(VERSION)).problems
    assert {(one.rule, one.route) for one in problems} == {
        ("wrong-type", ("spec", "timeZone")),
        ("cron-jobs", ("spec", "schedule")),
    }


@pytest.mark.parametrize(
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
        ("PyTorchJob", {"spec pytorchReplicaSpecs Master template spec imagePullSecrets": [{}, {"name": ""}]}, "spec"),
    ],
)
def test_objects_that_real_servers_rejected_are_reported(kind: str, change: dict[str, Any], where: str) -> None:
    problems = check(changed(an_object(kind), change), Kinds(VERSION)).problems
    assert route(where) in {one.route[: len(route(where))] for one in problems}
