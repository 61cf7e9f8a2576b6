"""CODEOWNERS of GitHub and GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base.repository.codeowners import PLACES, parse_code_owners, read_code_owners
from tests.cases import for_each

if TYPE_CHECKING:
    from tests.history import History

FILE = "jobs/team/demo.yaml"


@for_each(
    ("pattern", "file", "matches"),
    [
        ("*", FILE, True),
        ("*.yaml", FILE, True),
        ("/*.yaml", FILE, False),
        ("/jobs/", FILE, True),
        ("jobs/", f"deep/{FILE}", True),
        ("/jobs/", f"deep/{FILE}", False),
        ("jobs/*", FILE, False),
        ("jobs/*", "jobs/a.yaml", True),
        ("jobs/team", FILE, True),
        ("jobs/**", FILE, True),
        ("**/team/", FILE, True),
        ("jobs/**/demo.yaml", FILE, True),
        ("jobs/**/demo.yaml", "jobs/demo.yaml", True),
        ("team", FILE, True),
        ("tea?/", FILE, True),
        ("tea", FILE, False),
        ("/jobs/team/dem(o.yaml", FILE, False),
    ],
)
def test_a_pattern_matches_as_in_gitignore(pattern: str, file: str, matches: bool) -> None:
    assert bool(parse_code_owners(f"{pattern} @owner\n").owners(file)) is matches


@for_each(
    ("text", "owners"),
    [
        ("* @all\n/jobs/ @jobs\n", ("@jobs",)),
        ("/jobs/ @jobs\n* @all\n", ("@all",)),
        ("* @all\n/jobs/team/\n", ()),
        ("# * @none\n\n* @a b@example.com  # comment\n", ("@a", "b@example.com")),
        ("/my\\ jobs/ @x\n", ()),
        ("* @all\n[Jobs][2] @reviewers\n/jobs/\n^[Data]\n*.yaml @data\n", ("@all", "@reviewers", "@data")),
        ("", ()),
    ],
)
def test_the_last_match_of_each_section_counts(text: str, owners: tuple[str, ...]) -> None:
    assert parse_code_owners(text).owners(FILE) == owners


def test_the_first_file_counts_also_above_a_repository_in_a_folder(history: History) -> None:
    for place in reversed(PLACES):
        history.write(place, f"/jobs/ @{place}\n")
        assert read_code_owners(history.root).owners(FILE) == (f"@{place}",)
    inner = history.root / "inner/more"
    inner.mkdir(parents=True)
    assert read_code_owners(inner).owners(FILE) == ()
    history.write(PLACES[0], "/inner/more/jobs/ @inner\n")
    assert read_code_owners(inner).owners(FILE) == ("@inner",)


def test_a_link_is_not_followed(history: History) -> None:
    history.write("elsewhere", "* @x\n")
    (history.root / "CODEOWNERS").symlink_to("elsewhere")
    assert read_code_owners(history.root).owners(FILE) == ()
