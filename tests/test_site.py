"""The site of the documentation: it builds without a warning, needs no other host, and has a page for each code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gen.kubernetes.rules.catalogue import CATALOGUE, CODES, RULES
from gen.report.formats import Documentation
from gen.report.schemas import SCHEMAS
from tests.cases import for_each
from tests.shared import made_once
from tests.support import PROJECT

pytest.importorskip("mkdocs", reason="needs the extra `docs`")

from scripts.site_pages import linked

LOADED = {"link", "script", "img", "source", "iframe", "video", "audio", "object", "embed"}
"""Elements that a browser loads something for."""
UNUSED_HOSTS = {"unpkg.com": 'class="mermaid"', "api.github.com": "md-source__"}
"""Hosts in the scripts of the theme, each with the text of a page for which it is asked.

unpkg.com has a part that browsers before 2020 lack (`ResizeObserver`), too.
"""


def build(project: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        done = build(PROJECT, folder)
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "site", make)


class Elements(HTMLParser):
    """Addresses that a page loads, the ids of its elements, and its color schemes."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.schemes: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in LOADED:
            self.loads += [values[name] for name in ("src", "href", "srcset", "data") if name in values]
        self.ids.add(values.get("id", ""))
        self.schemes.add(values.get("data-md-color-scheme", ""))


def elsewhere(address: str) -> bool:
    return re.match(r"(?i)(?:[a-z][a-z0-9+.-]*:)?//", address.strip()) is not None


def test_an_address_of_another_host_is_recognized() -> None:
    assert [elsewhere(a) for a in ("https://a.b/c.js", "//a.b/c.js", " HTTP://a")] == [True] * 3
    assert not any(elsewhere(a) for a in ("assets/a.js", "../a.css", "data:image/png;base64,//8="))


@pytest.mark.slow
def test_no_page_loads_anything_of_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(list((PROJECT / "docs").rglob("*.md")))
    loads = {page.name: Elements(page).loads for page in pages}
    assert all(loads.values()), "each page has at least a style sheet"
    assert {
        name: there for name, found in loads.items() if (there := [load for load in found if elsewhere(load)])
    } == {}
    for style in site.rglob("*.css"):
        loaded = re.findall(r"(?:url\(|@import )['\"]?([^'\")]+)", style.read_text("utf-8"))
        assert [address for address in loaded if elsewhere(address)] == [], style


@pytest.mark.slow
def test_the_scripts_of_the_theme_ask_no_other_host(site: Path) -> None:
    scripts = "\n".join(path.read_text("utf-8") for path in site.rglob("*.js"))
    asked = set(re.findall(r"[`'\"]https?://([\w.-]+)", scripts))
    assert asked
    assert asked <= UNUSED_HOSTS.keys(), "name the text of the pages for which the script asks it"
    whole = "\n".join(page.read_text("utf-8") for page in site.rglob("*.html"))
    assert [text for text in UNUSED_HOSTS.values() if text in whole] == []


@pytest.mark.slow
def test_each_code_has_an_anchor_in_the_list_and_a_page(site: Path) -> None:
    findings, rules = (Elements(site / f"{name}.html") for name in ("findings", "rules"))
    assert set(CODES) - findings.ids == set()
    assert set(RULES) - rules.ids == set()
    assert findings.schemes >= {"default", "slate"}
    documentation = Documentation(site.as_uri())
    for name in CATALOGUE:
        page = Path(documentation.finding(name).removeprefix("file://")).read_text("utf-8")
        assert f'<h1 id="{name}">' in page
        assert "<em>Remedy:</em>" in page


@pytest.mark.slow
def test_codes_have_examples(site: Path) -> None:
    """A file with output of gen, or a part of an object."""
    typo, dns = ((site / f"findings/{name}.html").read_text("utf-8") for name in ("unknown-field", "pods"))
    assert "did you mean" in typo
    assert "<em>Example:</em> an object of kind <code>Pod</code>" in dns
    pages = [(site / f"findings/{name}.html").read_text("utf-8") for name in CATALOGUE]
    assert sum("<em>Example:</em>" in page for page in pages) > len(pages) * 2 // 3


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SCHEMAS))
def test_each_document_has_the_page_of_its_link(site: Path, name: str) -> None:
    url = Documentation(site.as_uri()).document(name)
    assert f'<h1 id="the-{"job-file" if name == "job" else name}"' in Path(url.removeprefix("file://")).read_text(
        "utf-8"
    )


@pytest.mark.slow
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    targets = ("plan.md#no-such-anchor", "no-such-page.md", "../CONTRIBUTING.md#no-anchor-there")
    for name in ("docs", "scripts"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    for file in PROJECT.glob("*.m*d*"):
        shutil.copy(file, tmp_path)
    shutil.copy(PROJECT / "mkdocs.yml", tmp_path)
    (tmp_path / "tests").symlink_to(PROJECT / "tests")
    with (tmp_path / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write("".join(f"\n[nowhere]({target})\n" for target in targets))
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    warned = "\n".join(re.findall("(?m)^WARNING.*", done.stderr))
    assert [target for target in targets if (target.partition("#")[2] or target) not in warned] == []


@for_each(
    ("page", "link", "there"),
    [
        ("ci.md", "plan.md#a", "plan.md#a"),
        ("ci.md", "../CONTRIBUTING.md", "project/contributing.md"),
        ("tutorials/a.md", "../../README.md#b", "../project/readme.md#b"),
        ("tutorials/a.md", "../ci.md", "../ci.md"),
        ("project/readme.md", "docs/ci.md", "../ci.md"),
        ("project/readme.md", "CHANGELOG.md", "changelog.md"),
        ("ci.md", "https://example.com/a.md", "https://example.com/a.md"),
        ("ci.md", "#here", "#here"),
    ],
)
def test_links_between_files_become_links_between_pages(page: str, link: str, there: str) -> None:
    assert linked(f"see [that]({link}).", page) == f"see [that]({there})."


def test_lists_in_lists_are_indented_as_the_site_expects() -> None:
    """Python-Markdown takes four spaces for a list in a list, where Git servers take two or three, too."""
    pages = sorted((PROJECT / "docs").rglob("*.md"))
    text = {page.name: re.sub(r"(?s)```.*?```", "", page.read_text("utf-8")) for page in pages}
    assert {name: found for name, body in text.items() if (found := re.findall(r"(?m)^ {1,3}[-*] .*", body))} == {}


def test_the_home_page_and_the_readme_do_not_repeat_each_other() -> None:
    """No sentence or line of a picture is in both."""
    home, readme = (
        {
            line.strip()
            for line in re.split(r"\n|(?<=\.) ", (PROJECT / name).read_text("utf-8"))
            if len(line.strip()) > 40
        }
        for name in ("docs/index.md", "README.md")
    )
    assert home & readme <= {"gen init my-jobs --namespace team-a --owner @my-org/platform"}
