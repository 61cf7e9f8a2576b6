"""The site of the documentation in a real Chromium: axe finds no violation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support import PROJECT
from tests.test_site import build

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # starts a browser
pytest.importorskip("material", reason="install the extra `docs`")

PAGES = ("index.html", "plan.html", "reference-job.html", "tutorials/first-job.html", "decisions.html")
"""One page of each form: an overview, tables, references, code, links in text."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(PROJECT, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(site: Path, chromium: Any, axe: str, scheme: str, width: int) -> None:
    context = chromium.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, offline=True, bypass_csp=True
    )
    found = []
    for name in PAGES:
        page = context.new_page()
        page.goto((site / name).as_uri())
        page.add_script_tag(content=axe)
        violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        found += [(name, one["id"], one["nodes"][0]["html"][:120]) for one in violations]
        page.close()
    context.close()
    assert found == []
