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
    rf"|(?<![\w./-])(?:source|\.)[ \t]+(?P<source>{_PATH})(?=[\s;&|]|$)",
    re.DOTALL,
)
_NAME: Final = regex(r"(?:^|[\"/])[\w-]*\.env\"?$")
_WORDS: Final = regex(r"'[^']*'|\"[^\"]*\"|[|;&]|[^\s|;&<>'\"]+")


def without_exports(reader: Conditions, text: str, place: Location) -> str:
    """A text of the shell at a place without what exports the variables of files. Names each file."""

    def one(match: re.Match[str]) -> str:
        at = replace(place, line=place.line + text.count("\n", 0, match.start()))
        lost = _lost(reader, match, at)
        reader.left += lost
        return "true" if lost else match[0]

    return _EXPORTS.sub(one, text)


def lost_variables(reader: Conditions, text: str, place: Location) -> list[DroppedPart]:
    """The variables of the file that a declaration or `source` exports; none for others."""
    match = _EXPORTS.match(text)
    return [] if match is None else _lost(reader, match, place)


def _lost(reader: Conditions, match: re.Match[str], place: Location) -> list[DroppedPart]:
    early, asked, unset = {*reader.early}, {*reader.asked}, {*reader.unset_names}
    file = shown(reader.value(match["loop"] or match["source"] or _last_word(match["output"])))
    reader.early, reader.asked, reader.unset_names = early, asked, unset  # no program reads them here
    if match["source"] and not _NAME.search(file):
        return []
    hint = "write them into `env`, each secret as `{secret: NAME, key: KEY}`"
    what = f"each variable of the file `{file[:200]}`"
    return [DroppedPart(place, what, OF_NO_FILE, hint)]


def _last_word(command: str) -> str:
    """The last word of the first command of a pipe, such as the file of `grep -v '^#' FILE | xargs`."""
    words: list[str] = _WORDS.findall(command)
    return [*takewhile(lambda one: one not in ("|", ";", "&"), words)][-1]
