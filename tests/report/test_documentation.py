"""Links to the pages that explain findings, in all formats."""

from __future__ import annotations

import json
import re

import pytest

from gen.base.findings import Diagnostic, Location
from gen.report.findings.full import full
from gen.report.formats import REPORTERS, Documentation, Report
from gen.report.terminal import Terminal

SITE = Documentation("https://docs.example.com/gen")
CODE, RULE = "unknown-field", "undefined-field"
IN_JOB = Diagnostic(Location("jobs/team/demo.yaml", 1, 1), CODE, "unknown field `gpu`", "did you mean `gpus`?")
IN_MANIFEST = Diagnostic(Location("rendered/dev/a.yaml", 1, 1), RULE, "unknown field `gpu`")
OF_PLUGIN = Diagnostic(Location("jobs/team/demo.yaml", 1, 1), "swarm-size", "too large")


def test_a_name_leads_to_the_code_or_to_the_rule() -> None:
    pages = [SITE.finding(one.code) for one in (IN_JOB, IN_MANIFEST, OF_PLUGIN)]
    assert pages == [f"{SITE.site}/findings/{CODE}.html", f"{SITE.site}/findings/{RULE}.html", ""]


def test_without_a_site_nothing_is_a_link() -> None:
    assert Documentation().finding(CODE) == Documentation().document("job") == ""
    for name, reporter in REPORTERS.items():
        said = reporter(Report((IN_JOB,), (), "1 error"))
        addresses = set(re.findall(r"https?://[^\"\s]*", said)) - {"https://json.schemastore.org/sarif-2.1.0.json"}
        assert addresses == set(), name


@pytest.mark.parametrize("name", ["sarif", "github", "markdown"])
def test_formats_link_to_the_page(name: str) -> None:
    page = SITE.finding(CODE)
    said = REPORTERS[name](Report((IN_JOB, OF_PLUGIN), (), "2 errors", documentation=SITE))
    assert said.count(page) == 1
    if name == "sarif":
        (run,) = json.loads(said)["runs"]
        assert [rule.get("helpUri") for rule in run["tool"]["driver"]["rules"]] == [None, page]
        assert run["tool"]["driver"]["informationUri"] == f"{SITE.site}/index.html"
    if name == "markdown":
        assert f"- [`{CODE}`]({page}) at " in said


def test_a_terminal_with_links_has_them_on_the_code() -> None:
    report = Report((IN_JOB,), (), "1 error", documentation=SITE)
    page = SITE.finding(CODE)
    shown = full(report, Terminal(links=True, color=True))
    assert f"error[\x1b]8;;{page}\x1b\\{CODE}\x1b]8;;\x1b\\]" in shown
    assert "gen explain" not in shown
    plain = full(report, Terminal())
    assert "\x1b" not in plain
    assert f"`gen explain {CODE}` explains it\n" in plain
