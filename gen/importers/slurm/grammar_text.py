"""Text of bash as the grammar can read it."""

from __future__ import annotations

import re
from typing import Final

from gen.base import regex
from gen.importers.slurm.bash_text import HEREDOC, balanced, raw_parts

_COMMENT: Final = regex(r"(?m)^[ \t]*:?[ \t]*<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*\n(?:.*\n){0,200}?[ \t]*\2[ \t]*$")
"""An input of no program, which people use as a comment."""
_ALONE: Final = regex(r"(?<![\\$])\$(?=\s|$)")
_LATER: Final = regex(r"(?<=[\w./:,@%+}-])\$(?=\w)")
_BASE: Final = regex(r"(?<![\w$])10#(?=[$\w])")


def readable(text: str) -> str:
    """A script with the same lines, without parts that the grammar cannot read: comments as input, `$[1 + 2]`, `time`
    before a construct, assignments before a word such as `else`, which it takes for a command, and `$(((A)) && b)`.
    """
    text = _TIME.sub(r"\1", _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text))
    text = _OLD_NUMBER.sub(lambda match: match[1] or f"$(({match[2]}))", text)
    ends = [match.span() for match in HEREDOC.finditer(text)]

    def ended(match: re.Match[str]) -> str:
        return match[0] if any(start <= match.start() < end for start, end in ends) else f"{match[0]};"

    return _with_apart(_BEFORE_WORD.sub(ended, text))


_NUMBER: Final = regex(r"(?<!\\)\$\(\(")
_PARTS: Final = regex(r"\$\{[^{}$\n]*\}")


def _with_apart(text: str) -> str:
    """A text with a blank in `$((` where no `))` closes it: bash reads the output of a command in brackets."""
    starts = [match.start() for match in _NUMBER.finditer(text)]
    plain = _PARTS.sub(lambda match: "_" * len(match[0]), text) if starts else text
    starts = [at for at in starts if text[balanced(plain, at + 2) :][:1] not in (")", "")]
    quoted = raw_parts(text) if starts else []
    for at in reversed([one for one in starts if not any(one in part for part in quoted)]):
        text = f"{text[: at + 2]} {text[at + 2 :]}"
    return text


def for_grammar(text: str) -> str:
    """A text of the same length without bases of numbers, lines like `ENDS` in an input up to `END`, and `$` alone or
    before a later variable of a word: the grammar ends a word in the middle of `$A/$B.log`.
    """

    def without_start(match: re.Match[str]) -> str:
        return re.sub(rf"(?m)^([ \t]*){match[2]}(?=\S)", rf"\g<1>{'_' * len(match[2])}", match[0])

    text = _LATER.sub("_", _ALONE.sub("_", text))
    return _BASE.sub("  +", HEREDOC.sub(without_start, text))


_TIME: Final = regex(
    r"(?m)(^[ \t]*|[;&|{(][ \t]*|\b(?:then|do|else)[ \t]+)time(?:[ \t]+-p)?[ \t]+"
    r"(?=\((?!\()|\{\s|(?:for|while|until|if)\s.*(?:;|\n\s*(?:do|then)\b))"
)
_OLD_NUMBER: Final = regex(r"('[^'\n]*')|(?<![\\$])\$\[([\w\s+*/%()-]{1,99})\](?!['\"*])")
_BEFORE_WORD: Final = regex(
    r"(?<![\w$])[A-Za-z_]\w*\+?=(?:[^\s;&|#\\\"'()]|\"[^\"\n]*\"|'[^'\n]*')*"
    r"(?=[ \t]*\n\s*(?:(?:elif|else|fi|done|esac)\b|!\s))"
)
