"""The page of a plan, without a browser: its policy, its escaping and its content. `tests/browser` opens it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from gen.base.findings import UsageError
from gen.report.plan.html import as_html
from gen.report.templates import coded, escape, packed
from gen.review.sources import HIDDEN, links_to, without_secrets
from tests.history import JOB, History, branch
from tests.support import OVERLAY


def started(history: History) -> None:
    """A pull request that adds a job."""
    history.job(JOB, name="other")
    branch(history)
    history.job(JOB)
    history.rendering()


VOID = {"meta", "link", "input", "rect"}


class Parsed(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.inside: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        where = self._open[-1] if self._open else ""
        self.inside[where] = self.inside.get(where, "") + data


@pytest.fixture
def text(history: History) -> str:
    started(history)
    return as_html(history.plan())


def details(text: str) -> Any:
    packed_text = re.search(r'id="details">([A-Za-z0-9+/=]+)</script>', text)
    assert packed_text is not None
    return json.loads(gzip.decompress(base64.b64decode(packed_text[1])))


def test_the_policy_permits_the_style_and_the_script_of_gen_only(text: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for element, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"(?s)<{element}>(.*?)</{element}>", text)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_the_page_loads_nothing_and_has_no_handlers(text: str) -> None:
    parsed = Parsed(text)
    assert not {"img", "iframe", "form", "object", "base"} & set(parsed.tags)
    assert [name for name, _ in parsed.attributes if name.startswith("on") or name in ("style", "src")] == []
    assert {value for name, value in parsed.attributes if name == "href" and not value.startswith("#")} == {"data:,"}


def test_the_same_plan_is_the_same_page(history: History, text: str) -> None:
    assert as_html(history.plan()) == text


def test_details_have_the_job_file_and_the_objects(history: History, text: str) -> None:
    data = details(text)
    assert [job["path"] for job in data["jobs"]] == ["jobs/team/demo.yaml"]
    assert data["jobs"][0]["text"] == (history.root / "jobs/team/demo.yaml").read_text()
    (run,) = data["runs"]
    assert run["objects"][0]["text"] == history.file("pytorchjob-demo").read_text()


def test_details_that_are_too_large_are_cut(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    started(history)
    monkeypatch.setattr("gen.report.plan.cards._MAX_PACKED", 900)
    (run,) = details(as_html(history.plan()))["runs"]
    assert run["objects"][0]["text"].endswith("more characters")


def test_a_header_cannot_name_another_file(history: History) -> None:
    """Anyone can write the first line of a rendered file. The page shows job files only."""
    history.write("secret.txt", "hidden")
    started(history)
    path = history.file("pytorchjob-demo")
    for named in ("secret.txt", "jobs/../secret.txt", "/etc/hostname", "jobs/team/../../secret.txt"):
        path.write_text(path.read_text().replace("jobs/team/demo.yaml", named))
        assert details(as_html(history.plan()))["jobs"] == []


PRICES = "currency: EUR\naccelerators: {h100: {nvidia: H100, price: 2.5}}\n"


@pytest.mark.parametrize(
    ("grant", "beyond"), [("gpus: 9000", 1), ("gpus: 30", 0), ("budget: 99999999", 1), ("budget: 900", 0)]
)
def test_a_limit_beyond_the_bars_has_a_mark(history: History, grant: str, beyond: int) -> None:
    history.overlay(OVERLAY.replace('  "*":\n', f'  "*":\n    {grant}\n') + PRICES)
    branch(history)
    history.job(JOB + "accelerator: h100\n")
    charts = history.report("html").partition('<p class="legend">')[2]
    charts = re.sub(r'<p class="legend">.*?</p>', "", charts.partition("</p>")[2], flags=re.DOTALL)
    assert charts.count("b-limit") == 1
    assert charts.count("M990 3l10 7l-10 7z") == beyond


def test_links_are_not_followed(history: History) -> None:
    secret = history.write("../outside/demo.yaml", "hidden: true\n")
    started(history)
    job = history.root / "jobs/team/demo.yaml"
    job.unlink()
    job.symlink_to(secret)
    assert "jobs/team/demo.yaml" not in history.plan().sources


def test_lines_with_secrets_are_not_shown() -> None:
    key = "AKIA" + "Q3EGRZ7YHJ2VBN4K"
    assert without_secrets(f"a: 1\nkey: {key}\nb: 2") == f"a: 1\n{HIDDEN}\nb: 2"
    assert without_secrets("a: 1") == "a: 1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<script>", "&lt;script&gt;"),
        ("a\"b'c&d", "a&quot;b&#x27;c&amp;d"),
        ("a\x1b[31m\u202eb", "a\ufffd[31m\ufffdb"),
    ],
)
def test_texts_are_escaped(value: str, expected: str) -> None:
    assert escape(value) == expected


def test_values_in_messages_are_code() -> None:
    assert coded("`a<b` is not `c`, and ` alone") == "<code>a&lt;b</code> is not <code>c</code>, and ` alone"


def test_packed_data_has_no_character_of_html() -> None:
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed({"a": "</script>\udc80"}))


@pytest.mark.parametrize(
    ("environment", "web"),
    [
        ({}, None),
        ({"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b"}, "https://github.com/a/b"),
        ({"CI_PROJECT_URL": "https://gitlab.com/a/b"}, "https://gitlab.com/a/b/-"),
        ({"CI_PROJECT_URL": 'https://gitlab.com/a"onclick=x/b'}, None),
    ],
)
def test_links_of_ci(environment: dict[str, str], web: str | None) -> None:
    links = links_to(None, "0123456789", "sub/", environment)
    assert (links.web if links is not None else None) == web
    if links is not None:
        assert links.file("jobs/a b/c.yaml", 3) == f"{web}/blob/0123456789/sub/jobs/a%20b/c.yaml#L3"


@pytest.mark.parametrize(
    ("web", "commit"),
    [
        ("javascript:alert(1)", "0123456"),
        ("https://user:password@example.com/a", "0123456"),
        ("https://example.com/a?b", "0123456"),
        ("https://example.com/a/b", "main"),
    ],
)
def test_other_addresses_are_refused(web: str, commit: str) -> None:
    with pytest.raises(UsageError):
        links_to(web, commit, "", {})
