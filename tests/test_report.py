"""The same findings in every format."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from gen.cli import Document
from gen.cli.options import Output
from gen.diagnostics import Diagnostic, Location, Severity
from gen.report.reporters import REPORTERS
from gen.report.types import Report
from gen.schema import SCHEMAS
from gen.write import Change, Status

PLACE = Location("jobs/team/a,b:c.yaml", 3, 7)
ERROR = Diagnostic(PLACE, "unknown-field", "unknown field `a` <b> & \x1b[31m%", 'a "hint"', ((PLACE, "here"),))
WARNING = Diagnostic(Location("jobs/x.yaml"), "not-selected", "no overlay", "add it", severity=Severity.WARNING)
CHANGE = Change("rendered/dev/a.yaml", Status.EDITED, "a: b\n", "a: c\n")
REPORT = Report((ERROR, WARNING), (CHANGE,), "1 error", done=False)
EMPTY = Report((), (), "all is well")


def test_the_command_line_offers_every_format_and_schema() -> None:
    assert [output.value for output in Output] == list(REPORTERS)
    assert [document.value for document in Document] == list(SCHEMAS)


@pytest.mark.parametrize("name", list(REPORTERS))
def test_every_format_names_the_file_the_code_and_the_change(name: str) -> None:
    said = REPORTERS[name](REPORT)
    for word in ("unknown-field", "not-selected", "rendered/dev/a.yaml", "hand-edited"):
        assert word in said
    assert "\x1b" not in said or name == "github"
    assert REPORTERS[name](EMPTY)


def test_sarif_has_rules_results_and_regions() -> None:
    (run,) = json.loads(REPORTERS["sarif"](REPORT))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["not-selected", "unknown-field"]
    first, second, third = run["results"]
    assert (first["level"], second["level"], third["level"]) == ("error", "warning", "error")
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == PLACE.file
    assert where["region"] == {"startLine": 3, "startColumn": 7}
    assert first["relatedLocations"][0]["message"]["text"] == "here"


def test_junit_is_xml_with_failures_for_errors_and_changes() -> None:
    suite = ET.fromstring(REPORTERS["junit"](REPORT))  # noqa: S314 - our own text
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "2")
    assert [case.find("failure") is not None for case in suite] == [True, False, True]
    assert ET.fromstring(REPORTERS["junit"](EMPTY)).attrib["failures"] == "0"  # noqa: S314 - as above


def test_github_escapes_what_would_end_a_property_or_a_line() -> None:
    line = REPORTERS["github"](REPORT).splitlines()[0]
    assert line.startswith("::error file=jobs/team/a%2Cb%3Ac.yaml,line=3,col=7,title=unknown-field::")
    assert line.endswith('%25%0Aa "hint"')


def test_text_shows_the_difference_of_what_was_not_written() -> None:
    said = REPORTERS["text"](REPORT)
    assert "hand-edited  rendered/dev/a.yaml\n--- a/rendered/dev/a.yaml" in said
    assert "-a: b\n+a: c\n" in said
