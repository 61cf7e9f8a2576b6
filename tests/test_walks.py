"""The tutorials and how-tos work as they are written: each command runs, and each screen is its output."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.shared import made_once
from tests.support import PROJECT
from tests.walks import UPDATE, hashes_of_several_times, matches, start_of, steps, updated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGES = sorted(path for folder in ("tutorials", "howto") for path in (PROJECT / "docs" / folder).glob("*.md"))


def test_there_are_pages() -> None:
    assert PROJECT / "docs/tutorials/first-job.md" in PAGES


def walk(page: Path, folder: Path) -> None:
    run = steps(page, folder)
    assert run, "a page has commands"
    for step in run:
        assert step.status == step.expected, f"{step.commands}\n{step.output}"
    if os.environ.get(UPDATE):
        page.write_text(updated(page, run), "utf-8")
    for step in run:
        assert os.environ.get(UPDATE) or step.as_shown, f"{step.commands}\n{step.output}"
    assert os.environ.get(UPDATE) or not hashes_of_several_times(run), hashes_of_several_times(run)


STARTS = {start for page in PAGES if (start := start_of(page))}
"""Pages with whose folder others begin."""


@pytest.fixture(scope="session")
def reach(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """The folder after a page, which can begin with that of another one. Each is walked when it is first needed."""

    @cache
    def reached(page: Path) -> Path:
        def make(folder: Path) -> None:
            folder.mkdir()
            begin(page, folder / "work", reached)
            walk(page, folder / "work")

        return made_once(tmp_path_factory, f"after-{page.stem}", make) / "work"

    return reached


def begin(page: Path, folder: Path, reach: Callable[[Path], Path]) -> None:
    if start := start_of(page):
        shutil.copytree(reach(start), folder, symlinks=True)
    else:
        folder.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_reader_gets_what_the_page_shows(page: Path, tmp_path: Path, reach: Callable[[Path], Path]) -> None:
    if page in STARTS:
        reach(page)
    else:
        begin(page, tmp_path / "work", reach)
        walk(page, tmp_path / "work")


LIFE = re.findall(
    r"(?m)^\| ([^|]+) \| \[[^\]]+\]\((howto/[\w-]+\.md)#?([\w-]*)\) \|$", (PROJECT / "docs/edits.md").read_text()
)
"""Changes of a platform, each with the page and the part that has its commands."""


def test_each_change_of_a_platform_has_a_how_to() -> None:
    assert [change for change, _, _ in LIFE] == [
        *(f"{verb} a cluster" for verb in ("add", "rename", "split", "retire")),
        *(f"{verb} a namespace" for verb in ("rename", "split")),
        "from Argo CD to Flux, and back",
        "another image of the platform",
        "Kubernetes 1.33 to 1.35",
    ]


@pytest.mark.parametrize(("change", "file", "part"), LIFE, ids=[change for change, _, _ in LIFE])
def test_the_how_to_shows_the_plan_of_the_change(change: str, file: str, part: str) -> None:
    """The test above runs its commands, and compares the plan."""
    page = PROJECT / "docs" / file
    assert page in PAGES
    text = page.read_text("utf-8")
    if part:
        text = re.split(r"(?m)^## ", text.partition(f"\n## {part.capitalize()}\n")[2])[0]
    elif "\n## Split\n" in text:
        text = text.partition("\n## Split\n")[0]
    plans = re.findall(r"(?m)^gen plan[^>\n]*\n(?:[^`].*\n)*```\n\n```text\n((?s:.*?))^```\n", text)
    assert plans, change
    assert all("\nRuns  " in plan and "no data is lost" in plan for plan in plans)
    if "back" in change:
        assert len(plans) == 2


def page_of(tmp_path: Path, text: str) -> tuple[Path, Path]:
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")
    (tmp_path / "work").mkdir()
    return page, tmp_path / "work"


def test_the_shell_of_a_page_goes_on(tmp_path: Path) -> None:
    text = "# A\n\n```sh\nmkdir a && cd a\nx=1\n```\n\n```sh\necho $x; basename $PWD\n```\n\n```text\n1\na\n```\n"
    walk(*page_of(tmp_path, text))


@pytest.fixture
def _compares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UPDATE, raising=False)


@pytest.mark.usefixtures("_compares")
@pytest.mark.parametrize(
    "block", ["false\ntrue\n", "exit 0\n", "echo b\n", "echo a; echo b\n", "(exit 3)\n"], ids=lambda text: text.strip()
)
def test_a_command_that_fails_or_prints_something_else_is_found(block: str, tmp_path: Path) -> None:
    page, folder = page_of(tmp_path, f"```sh\n{block}```\n\n```text\na\n```\n")
    with pytest.raises(AssertionError):
        walk(page, folder)


def test_an_exit_code_can_be_expected(tmp_path: Path) -> None:
    walk(*page_of(tmp_path, "<!-- exit: 3 -->\n```sh\necho a\n(exit 3)\n```\n\n```text\na\n```\n"))


def test_a_screen_is_updated_only_where_it_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UPDATE, "1")
    text = "```sh\nseq 3\n```\n\n```text\n{}\n```\n\n```sh\nseq 4\n```\n\n```text\n1\n…\n4\n```\n"
    page, folder = page_of(tmp_path, text.format("old"))
    walk(page, folder)
    assert page.read_text("utf-8") == text.format("1\n2\n3")


@for_each(
    ("shown", "output", "same"),
    [
        ("a  b\n", "a b\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\n", "b\n", False),
        ("run mnist-0123abcd\n", "run mnist-89abcdef\n", True),
        ("2 GPUs\n", "3 GPUs\n", False),
        ("a\n", "a\nb\n", False),
    ],
)
def test_what_a_screen_matches(shown: str, output: str, same: bool) -> None:
    assert matches(shown, output) == same
