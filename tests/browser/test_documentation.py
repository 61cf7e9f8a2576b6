"""The site of the documentation in a real Chromium: axe finds no violation, and a search for a title its page."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.rules.catalogue import CATALOGUE
from tests.support import PROJECT
from tests.test_site import build

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow  # starts a browser
pytest.importorskip("material", reason="install the extra `docs`")

OF_EACH_FORM = {"index", "plan", "reference-job", "tutorials/first-job", "decisions", "findings/unknown-field"}
"""One page of each form: an overview, tables, references, code, links in text."""
VIEWS = (("light", 1280), ("dark", 390), ("light", 390), ("dark", 1280))
"""Colour scheme and width: two for each page, all for one page of each form."""
_FINDING = "findings/"
_ONE_OF = 40
"""Pages of findings have one form, so a few of them are read; of the others, all."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(PROJECT, folder)
    assert done.returncode == 0, done.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as its parent names it
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site on a server: its search needs one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def pages_of(site: Path) -> list[str]:
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    alike = [name for name in names if name.startswith(_FINDING)]
    read = {*alike[::_ONE_OF], *(name for name in names if name.removesuffix(".html") in OF_EACH_FORM)}
    return [name for name in names if not name.startswith(_FINDING) or name in read]


def test_axe_finds_no_violation_in_any_page(site: Path, address: str, chromium: Any, axe: str) -> None:
    """On a screen and on a phone, in both colour schemes."""
    context = chromium.new_context(bypass_csp=True)
    page, found, names = context.new_page(), [], pages_of(site)
    for name in names:
        page.goto(f"{address}/{name}")
        page.add_style_tag(content="* { transition: none !important }")  # colours would be those between two schemes
        page.add_script_tag(content=axe)
        for scheme, width in VIEWS if name.removesuffix(".html") in OF_EACH_FORM else VIEWS[:2]:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            found += [(name, scheme, width, one["id"], one["nodes"][0]["html"][:120]) for one in violations]
    context.close()
    assert len(names) > len(list((PROJECT / "docs").rglob("*.md"))), "those of the top folder and of findings, too"
    assert found == []


def searched(page: Any, words: str, target: str) -> str:
    """The address of the first result, as soon as it is the one of the target."""
    page.locator(".md-search__input").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(words)
    page.keyboard.press("End")
    first = page.locator(".md-search-result__link").first
    for _ in range(100):  # the index is read, and each search takes a moment
        if first.count() and target in (first.get_attribute("href") or ""):
            page.wait_for_timeout(20)
            break
        page.wait_for_timeout(20)
    return str(first.get_attribute("href")) if first.count() else ""


def test_a_search_for_a_title_finds_its_page_first(address: str, chromium: Any) -> None:
    """All codes, of which most words are a part of other names, too, and a page that guides."""
    page = chromium.new_page()
    page.goto(address)
    titles = {name: f"/findings/{name}.html" for name in CATALOGUE} | {"add a volume": "/howto/add-a-volume.html"}
    found = {title: searched(page, title, target) for title, target in titles.items()}
    assert {title: first for title, first in found.items() if titles[title] not in first} == {}
    page.keyboard.press("Enter")
    page.wait_for_url("**/howto/add-a-volume.html*")
    page.close()


WALKS = {
    "add a volume": (("Add a volume",), "overlays/production/overlay.yaml"),
    "add a volume, by the tabs": (("How-to", "Add a volume"), "overlays/production/overlay.yaml"),
    "the reason of a refused job": (("findings", "unknown-volume"), "Remedy:"),
    "upgrade gen": (("upgrade gen",), "gen init --update"),
    "the effects of an edit": (("A table of edits",), "gen stop"),
}
"""Links that are clicked from the home page, and what the user looks for."""


@pytest.mark.parametrize("task", WALKS)
def test_a_task_is_at_most_two_clicks_away(task: str, address: str, chromium: Any) -> None:
    clicks, wanted = WALKS[task]
    assert len(clicks) <= 2
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    for name in clicks:
        link = page.get_by_role("link", name=name, exact=True).locator("visible=true")
        before, inside = page.url, page.locator("article").get_by_role("link", name=name, exact=True)
        (inside if inside.count() else link).first.click()  # rather than one of the contents, which stay on the page
        page.wait_for_url(lambda url, before=before: url != before)
    assert wanted in page.locator("article").inner_text()
    page.close()
