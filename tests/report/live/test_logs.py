"""Log lines, which programs of strangers write."""

from __future__ import annotations

from gen.report.live.logs import plain
from tests.cases import for_each


@for_each(
    ("text", "shown"),
    [
        ("plain\ttext", "plain\ttext"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("10%\r50%\r100%", "100%"),
        ("100%\r", "100%"),
        (
            "\x1b[2Jclear \x1b]8;;http://a\x07link",
            "\N{REPLACEMENT CHARACTER}[2Jclear \N{REPLACEMENT CHARACTER}]8;;http://a\N{REPLACEMENT CHARACTER}link",
        ),
        ("\u202eabc\x9b31m", "\N{REPLACEMENT CHARACTER}abc\N{REPLACEMENT CHARACTER}31m"),
        ("::error::x ##[error]y", "::error::x \N{REPLACEMENT CHARACTER}[error]y"),
    ],
)
def test_control_characters_have_no_effect(text: str, shown: str) -> None:
    assert plain(text) == shown
