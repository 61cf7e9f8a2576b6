"""Every format of `gen list` has every job, and none passes on a text that a terminal or a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json

import pytest

from gen.base.findings import Diagnostic, Location
from gen.base.repository.git import Change
from gen.report.formats import LIST_REPORTERS
from gen.report.listing import COLUMNS
from gen.report.terminal import View
from gen.review.job_list import JobRow, Listing
from tests.cases import for_each

ROWS = (
    JobRow(
        namespace="team",
        job="a",
        file="jobs/team/a.yaml",
        overlay="dev",
        kind="mpi",
        state="active",
        attempt=1,
        workers=2,
        gpus=24,
        accelerators={"h100": 16},
        queue="research",
        timeout=129600,
        owners=("@org/team",),
        changed=Change("0" * 40, "2026-01-02T03:04:05+00:00", "t"),
    ),
    JobRow(namespace="team", job="=cmd()\x1b[31m|`x`", file="jobs/team/b.yaml", overlay=None, errors=("unknown-kind",)),
)
FINDING = Diagnostic(Location("jobs/team/b.yaml"), "unknown-kind", "unknown kind", "choose one")
LISTING = Listing(rows=ROWS, findings=(FINDING,))


@for_each("name", LIST_REPORTERS)
@for_each("listing", [LISTING, Listing(rows=(), findings=())])
def test_a_format_has_every_row_and_no_control_character(name: str, listing: Listing) -> None:
    text = LIST_REPORTERS[name](View(data=listing))
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert ("research" in text) == bool(listing.rows)


TABLE = """\
OVERLAY  NAMESPACE  JOB              KIND  STATE   GPUS         TIMEOUT  OWNER      ERRORS
dev      team       a                mpi   active  8 + 16 h100  1d12h    @org/team
         team       =cmd()\N{REPLACEMENT CHARACTER}[31m|`x`  ?     ?       ?            ?                   unknown-kind
jobs/team/b.yaml:1:1: error: unknown kind [unknown-kind]
    choose one
2 jobs in 1 overlay; active jobs request 24 GPUs
"""


def test_text_is_a_table_without_empty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("attempt", "workers", "queue", "changed"):
        monkeypatch.delitem(COLUMNS, name)
    assert LIST_REPORTERS["text"](View(data=LISTING)) == TABLE


def test_csv_has_all_columns_and_no_formulas() -> None:
    heading, first, second = csv.reader(io.StringIO(LIST_REPORTERS["csv"](View(data=LISTING))))
    assert heading == list(COLUMNS)
    assert dict(zip(heading, first, strict=True))["owner"] == "@org/team"
    assert dict(zip(heading, second, strict=True))["job"].startswith("'=cmd()")


@for_each(
    "text", ["@SUM(1)", "@cmd|'/C calc'!A0", " =1", "\n=1", "\uff1d1", "-1", "\t=1", "x;=cmd|'/C calc'!A0", "x; @A1|b"]
)
def test_no_form_of_a_formula_gets_into_csv(text: str) -> None:
    row = JobRow(namespace="team", job=text, file="jobs/team/a.yaml", overlay=None)
    _, (_, _, cell, *_) = csv.reader(io.StringIO(LIST_REPORTERS["csv"](View(data=Listing(rows=(row,), findings=())))))
    assert cell.startswith("'")
    assert ";" not in cell


@pytest.mark.parametrize("owners", [("@org/team", "@a-b"), ("a@example.com",), ("@@maintainer", "a.b@example.com")])
def test_owners_stay_as_they_are_in_csv(owners: tuple[str, ...]) -> None:
    row = JobRow(namespace="team", job="a", file="jobs/team/a.yaml", overlay=None, owners=owners)
    _, cells = csv.reader(io.StringIO(LIST_REPORTERS["csv"](View(data=Listing(rows=(row,), findings=())))))
    assert " ".join(owners) in cells


def test_json_has_numbers_and_nulls() -> None:
    document = json.loads(LIST_REPORTERS["json"](View(data=LISTING)))
    first, second = document["jobs"]
    assert (first["gpus"], first["accelerators"], first["timeoutSeconds"]) == (24, {"h100": 16}, 129600)
    assert first["changed"]["date"] == "2026-01-02T03:04:05+00:00"
    assert (second["overlay"], second["gpus"], second["errors"]) == (None, None, ["unknown-kind"])
    assert document["findings"][0]["code"] == "unknown-kind"


def test_cells_of_markdown_are_code() -> None:
    row = LIST_REPORTERS["markdown"](View(data=LISTING)).splitlines()[3]
    assert "| `` =cmd()\N{REPLACEMENT CHARACTER}[31m\\|`x` `` |" in row
