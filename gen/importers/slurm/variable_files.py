"""Files with variables, such as `.env`, that the batch part exports."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.importers.slurm.expansion import shown
from gen.importers.slurm.programs import DroppedPart
from gen.importers.slurm.site import OF_NO_FILE

if TYPE_CHECKING:
    from gen.importers.slurm.conditions import Conditions

_PATH: Final = r"(?:[^\s;&|<>()\"']|\"[^\"]*\"|'[^']*')+"
_IN_LOOP: Final = r"(?:(?!\bdone\b).)*?"
_EXPORTS: Final = regex(
    r"\bexport\s+\"?\$\(\s*(?P<output>(?:<|(?:cat|[ef]?grep|sed|awk|cut|tr|xargs)\b)(?:[^()'\"]|'[^']*'|\"[^\"]*\")*)\)\"?"
    rf"|\bwhile\b{_IN_LOOP}\bread\b{_IN_LOOP}\bexport\s+\"?\${_IN_LOOP}\bdone\s*<\s*(?P<loop>{_PATH})"
    r"|(?<![\w./-])(?:source|\.)[ \t]+(?P<source>\"?(?:[^\s;&|\"]*/)?[\w-]*\.env\"?)(?=[\s;&|]|$)",
    re.DOTALL,
)
_WORDS: Final = regex(r"'[^']*'|\"[^\"]*\"|[|;&]|[^\s|;&<>'\"]+")


def without_exports(reader: Conditions, text: str, place: Location) -> str:
    """A text of the shell at a place without what exports the variables of files. Names each file."""
    for match in _EXPORTS.finditer(text):
        at = replace(place, line=place.line + text.count("\n", 0, match.start()))
        reader.left.append(lost_variables(reader, _file_of(match), at))
    return _EXPORTS.sub("true", text)


def lost_variables(reader: Conditions, file: str, place: Location) -> DroppedPart:
    """The variables of a file that the script exports."""
    hint = "write them into `env`, each secret as `{secret: NAME, key: KEY}`"
    what = f"each variable of the file `{shown(reader.value(file))[:200]}`"
    return DroppedPart(place, what, OF_NO_FILE, hint)


def file_of_exports(text: str) -> str:
    """The word of the file whose variables a declaration or `source` exports; empty for others."""
    match = _EXPORTS.match(text)
    return _file_of(match) if match is not None else ""


def _file_of(match: re.Match[str]) -> str:
    return match["loop"] or match["source"] or _last_word(match["output"])


def _last_word(command: str) -> str:
    """The last word of the first command of a pipe, such as the file of `grep -v '^#' FILE | xargs`."""
    words: list[str] = _WORDS.findall(command)
    return [*takewhile(lambda one: one not in ("|", ";", "&"), words)][-1]
