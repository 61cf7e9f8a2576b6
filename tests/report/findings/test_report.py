"""The same findings in every format."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from gen.base.findings import Diagnostic, Location, Severity
from gen.render.write.compare import Change, Status
from gen.report.formats import REPORTERS, Report
from tests.cases import for_each

PLACE = Location("jobs/team/a,b:c.yaml", 3, 7)
ERROR = Diagnostic(PLACE, "unknown-field", "unknown field `a` <b> & \x1b[31m%", 'a "hint"', ((PLACE, "here"),))
WARNING = Diagnostic(Location("jobs/x.yaml"), "not-selected", "no overlay", "add it", severity=Severity.WARNING)
CHANGE = Change("rendered/dev/a.yaml", Status.EDITED, "a: b\n", "a: c\n")
REPORT = Report((ERROR, WARNING), (CHANGE,), "1 error", done=False)
EMPTY = Report((), (), "all is well")


@for_each("name", list(REPORTERS))
def test_every_format_contains_codes_files_and_changes(name: str) -> None:
    said = REPORTERS[name](REPORT)
    for word in ("unknown-field", "not-selected", "rendered/dev/a.yaml", "hand-edited"):
        assert word in said
    assert "\x1b" not in said
    assert REPORTERS[name](EMPTY)


@for_each("name", list(REPORTERS))
def test_the_name_of_a_file_begins_no_line(name: str) -> None:
    """Strangers name files, and logs of CI take some lines for commands."""
    finding = Diagnostic(Location("jobs/team/a\n::stop-commands::x.yaml"), "invalid-name", "a", "b")
    said = REPORTERS[name](Report((finding,), (), "1 error"))
    assert "stop-commands" in said
    assert [line for line in said.splitlines() if line.strip().startswith("::stop")] == []


def test_sarif_has_rules_results_and_regions() -> None:
    (run,) = json.loads(REPORTERS["sarif"](REPORT))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["hand-edited", "not-selected", "unknown-field"]
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])
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


def test_github_escapes_separators_and_line_ends() -> None:
    line = REPORTERS["github"](REPORT).splitlines()[0]
    assert line.startswith("::error file=jobs/team/a%2Cb%3Ac.yaml,line=3,col=7,title=unknown-field::")
    assert line.endswith('%25%0Aa "hint"')


HOSTILE_PATH = "jobs/team/\x1b]0;x\x07\x9b31m\u202e##[error]\udcff::add-mask::a.yaml"


@for_each("name", list(REPORTERS))
def test_file_names_have_no_effect_in_a_terminal_or_log(name: str) -> None:
    """`--output github` wrote the escapes of file names as they are."""
    finding = Diagnostic(Location(HOSTILE_PATH, 1, 1), "odd", HOSTILE_PATH, HOSTILE_PATH)
    change = Change(HOSTILE_PATH, Status.EDITED, HOSTILE_PATH, "b")
    said = REPORTERS[name](Report((finding,), (change,), f"1 error: {HOSTILE_PATH}", done=False, diff=True))
    assert [char for char in ("\x1b", "\x07", "\x9b", "\u202e", "\udcff") if char in said] == []
    said.encode()
    if name in ("text", "github", "markdown"):
        assert "##[" not in said
        commands = [line for line in said.splitlines() if line.lstrip().startswith("::")]
        assert all(line.startswith("::error file=") for line in commands), commands


def test_markdown_has_the_reasons_in_its_first_line() -> None:
    said = REPORTERS["markdown"](REPORT).splitlines()
    assert said[0] == "### Refused: `unknown-field` (1), `hand-edited` (1)"
    assert "- `hand-edited`: `rendered/dev/a.yaml`" in said
    assert REPORTERS["markdown"](EMPTY).startswith("### No errors")
    many = REPORTERS["markdown"](Report((ERROR,) * 1000, (), "1000 errors"))
    assert len(many) < 13_000
    assert "… and" in many.splitlines()[-2]


def test_equal_findings_are_one_with_their_number() -> None:
    here = [Diagnostic(Location(f"jobs/team/{number}.yaml"), "a", "the same", "do it") for number in range(500)]
    there = [Diagnostic(Location("jobs/team/sweep.yaml", 3), "b", f"run {number}", "do it") for number in range(24)]
    report = Report((*here, *there), (), "524 errors")
    for name in ("text", "full"):
        said = REPORTERS[name](report)
        assert "and 499 more like it, at jobs/team/1.yaml:1:1, " in said
        assert "and 23 more like it at this place: 1, 2, 3, " in said
        assert said.count("\n") < 20
    assert REPORTERS["concise"](report).count("\n") == 525, "one line for each"


def test_only_findings_of_one_kind_are_one_at_a_place() -> None:
    place = Location("submit.sh", 3)
    options = [Diagnostic(place, "lost", f"`--option-{one}` is not carried: no field", "check it") for one in "abcdef"]
    others = [Diagnostic(place, "lost", f"{one} is lost", "check it") for one in ("a port", "a volume", "an account")]
    hints = [Diagnostic(place, "lost", "`--x` is not carried: no field", hint) for hint in ("do this", "do that")]
    for name in ("text", "full"):
        said = " ".join(REPORTERS[name](Report((*options, *others, *hints), (), "done")).split())
        for finding in (*options, *others):
            assert finding.message.partition(" is")[0] in said
        assert "do this" in said
        assert "do that" in said
    many = [Diagnostic(place, "lost", f"`--option-{one}` is not carried", "check it") for one in range(99)]
    assert "`--output full` has them all" in REPORTERS["text"](Report(tuple(many), (), "done"))
    assert all(f"`--option-{one}`" in REPORTERS["full"](Report(tuple(many), (), "done")) for one in range(99))


def test_warnings_about_jobs_that_did_not_change_are_counted() -> None:
    warning = Diagnostic(Location("jobs/team/a.yaml"), "a", "careful", severity=Severity.WARNING)
    report = Report((warning,), (), "done", unchanged=frozenset({"jobs/team/a.yaml"}))
    for name in ("text", "full"):
        assert "1 warning about jobs that did not change; `gen check --all` shows them\n" in REPORTERS[name](report)
        assert "careful" not in REPORTERS[name](report)
    assert "careful" in REPORTERS["json"](report)


def test_text_contains_the_diff_of_unwritten_changes_if_it_is_asked_for() -> None:
    assert "--- a/" not in REPORTERS["text"](REPORT)
    said = REPORTERS["text"](replace(REPORT, diff=True))
    assert "hand-edited  rendered/dev/a.yaml\n--- a/rendered/dev/a.yaml" in said
    assert "-a: b\n+a: c\n" in said
