"""Checks of programs that the machines may lack. An image has those of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.base import regex
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.programs import DroppedPart

if TYPE_CHECKING:
    from gen.base import Location

_CHECK: Final = regex(r"if\s+(!\s+(?:command\s+-v|which|type|hash)\s[^;\n]*?)\s*[;\n]\s*then\s+([^`]*?)\s*;?\s*fi")
_NOTE: Final = regex(
    r"\s*(?:(?:\w+\+?=(?:\([^()]*\)|\"[^\"]*\"|'[^']*'|[^\s;&|()`'\"]*)|(?:echo|printf)\s(?:\"[^\"]*\"|[^;&|\n\"])*)\s*)?"
)
_PART: Final = regex(r"[;\n]")


def lack_of_program(text: str, place: Location) -> DroppedPart | None:
    """The part of a script that only notes in a variable that a program is missing: `if ! command -v A; then
    MISSING+=(A); fi`. None for other constructs.
    """
    match = _CHECK.fullmatch(text)
    if match is None or "=" not in match[2] or not all(map(_NOTE.fullmatch, _PART.split(match[2]))):
        return None
    what, why = f"the check `{cut(match[1])}`", "the image of the job has the programs that it needs"
    return DroppedPart(place, what, why, "check that the image has them, or write the check into `command`")
