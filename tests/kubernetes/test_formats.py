"""Formats of strings in custom resources; `tests/e2e/test_formats.py` compares random texts with a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.kubernetes.formats import FORMATS
from tests.kubernetes.check.support import inspect
from tests.kubernetes.schemas.definition import definition

if TYPE_CHECKING:
    from pathlib import Path

TEXTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "byte": (("YWI=", "YWJj"), ("", "YWI", "YW I=")),
    "cidr": (("10.0.0.0/8", "010.0.0.0/08", "::/0"), ("10.0.0.0", "10.0.0.0/33", "::/129")),
    "date": (("2024-02-29", "0000-02-29"), ("2023-02-29", "2024-13-01", "24-01-01")),
    "datetime": (
        ("2024-02-29T23:59:59.5+01:00", "2024-01-01t00:00:00z"),
        ("2024-01-01T24:00:00Z", "2024-01-01 00:00Z"),
    ),
    "duration": (("1h30m", "-1.5s", "0", "22 ns", "2 weeks", "1 Hour"), ("", "5", "h", "1x", "9" * 19 + "h")),
    "hostname": (("a", "a-b.example.com", "1.example.com"), ("a_b", "-a", "a..b", "example.c", "a" * 64)),
    "ipv4": (("10.0.0.1", "010.0.0.1", "::ffff:10.0.0.1"), ("10.0.0", "10.0.0.256", "::1")),
    "ipv6": (("::1", "1:2:3:4:5:6:7:8"), ("10.0.0.1", "1::2::3", "fe80::1%eth0")),
    "mac": (("00:00:5e:00:53:01", "0000.5e00.5301"), ("00:00-5e:00:53:01", "00:00:5e")),
    "uri": (
        ("https://u:p@example.com:80/a?b=%zz#c", "mailto:a@b", "/a", "http://[::1]:80/", "http://[fe80::1%25en0]/"),
        ("", "a", "example.com/a", ":a", "http://a b/", "http://a:b/", "http://%41/", "http://[1.2.3.4]/", "/%2"),
    ),
    "uuid": (("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B8109DAD11D180B400C04FD430C8"), ("6ba7b810",)),
    "uuid3": (("6ba7b810-9dad-31d1-80b4-00c04fd430c8",), ("6ba7b810-9dad-11d1-80b4-00c04fd430c8",)),
    "uuid4": (("6ba7b810-9dad-41d1-80b4-00c04fd430c8",), ("6ba7b810-9dad-41d1-c0b4-00c04fd430c8",)),
    "uuid5": (("6ba7b810-9dad-51d1-80b4-00c04fd430c8",), ("6ba7b810-9dad-41d1-80b4-00c04fd430c8",)),
}
"""Accepted and refused texts."""


def test_texts_of_every_format() -> None:
    assert TEXTS.keys() == FORMATS.keys()
    wrong = [(name, text) for name, (valid, _) in TEXTS.items() for text in valid if not FORMATS[name](text)]
    wrong += [(name, text) for name, (_, invalid) in TEXTS.items() for text in invalid if FORMATS[name](text)]
    assert wrong == []


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        ("{home: https://example.com, span: 1h, named: A}", []),
        ("{home: example.com}", ["`example.com` has not the format `uri`"]),
        ("{span: soon}", ["`soon` has not the format `duration`"]),
        ("{day: '2023-02-29T00:00:00Z'}", ["`2023-02-29T00:00:00Z` has not the format `date-time`"]),
    ],
)
def test_formats_of_custom_resources_are_checked(tmp_path: Path, spec: str, messages: list[str]) -> None:
    schema = """\
type: object
properties:
  home: {type: string, format: uri}
  span: {type: string, format: duration}
  day: {type: string, format: date-time}
  named: {type: string, format: phone}
"""
    (tmp_path / "page.yaml").write_text(definition("example.com", "Page", schema))
    body = f"apiVersion: example.com/v1\nkind: Page\nmetadata: {{name: a}}\nspec: {spec}\n"
    report, _ = inspect(tmp_path, body, schemas=(tmp_path / "page.yaml",))
    assert [one.message.partition(": ")[2] for one in report.findings] == messages


@pytest.mark.parametrize("text", ["1" * 40_000, "1" * 40_000 + ".", "1 " * 20_000])
def test_a_long_text_takes_linear_time(text: str) -> None:
    """In quadratic time, the first one would take a minute."""
    assert not FORMATS["duration"](text)
