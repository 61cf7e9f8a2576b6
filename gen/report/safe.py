"""Text of strangers on its way to a terminal or a log: what would act there, or deceive the eye, is made visible."""

from __future__ import annotations

import re

_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff"
)
_ACTING = re.compile(rf"[{_UNSEEN}]|##(?=\[)")
"""Controls and escapes, what has no width or turns the direction, and `##[`, which logs of CI obey inside a line."""


def shown(line: str) -> str:
    """One line that a terminal only shows."""
    return _ACTING.sub("\N{REPLACEMENT CHARACTER}", line.replace("\n", " "))
