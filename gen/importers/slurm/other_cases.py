"""Decisions that the machines of a script may take in another way than the job, or values from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gen.base import Location, regex
from gen.base.shell_script import assigned_in
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.conditions import CONTINUES, RESTART_COUNT, RESTARTS, Conditions
from gen.importers.slurm.programs import DroppedPart
from gen.importers.slurm.site import is_of_pods
from gen.importers.slurm.variable_files import without_exports

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVES: Final = regex(r"(?m)(?:^|[;{&|]|\b(?:then|else|do)\b)[ \t]*(?:exit|return|break|continue)\b")
_CHANGES: Final = regex(r"(?m)(?:^|[;&|{(]|\bthen|\belse)\s*(?:rm|rmdir|touch|source|cd|pushd|\.)\s")
"""Commands that change files, or the shell by another script."""
_TAKEN: Final = "the job runs the commands of this case always: remove them from `command`, if the check skips them"
_COMPARED: Final = regex(r"(?<==)\s*[\"']?([\w./@-]+)")
_EXPORTS: Final = regex(r"\bexport\s[^;&|\n]*")
_EXPORTS_OUTPUT: Final = regex(r"\b(?:export|declare|typeset)\s+(?:-\w+\s+)*\"?\$\(")
"""A declaration of variables whose names a program prints."""


def name_branch(reader: Conditions, condition: Node, branches: Iterable[Node], *, alone: bool = False) -> None:
    """Name a decision that the machines may take in another way, or values from outside, if it starts a program or
    sets a value. `alone` is a case that the job has always, without another one.
    """
    others = [one for one in branches if one.is_named and one.type != "comment"]
    texts = [without_exports(reader, reader.text(one), reader.place(one)) for one in others]
    exports = any(map(_EXPORTS_OUTPUT.search, texts))
    texts = [re.sub(r"\$\([^()]*\)", "_", one) for one in texts]
    set_there = {name for one in texts for name in assigned_in(one)} - reader.decided_by
    acts = exports or any(reader.is_program(one) or _CHANGES.search(one) for one in texts)
    leaves = any(map(_LEAVES.search, texts))
    given = {name for text in texts for one in _EXPORTS.findall(text) for name in assigned_in(one)} & set_there
    reads = any(re.search(rf"\$\{{?{one}\b", reader.source) for one in set_there)
    if acts or leaves or reads or not all(map(is_of_pods, given)):
        what, why = f"the other case of `{cut(reader.text(condition))}`", "gen does not see files of machines"
        hint = _TAKEN if alone and reader.assumed else "write the commands of this case without the check"
        hint = "write the check into `command`, if the job must end there" if leaves and not acts else hint
        if not reader.assumed:
            name = min(reader.decided_by)
            hint = f"give it with `--define {name}=VALUE`, if it is set"
            why = f"the script gets `${name}` from outside"
            if name == RESTART_COUNT:
                why, hint = f"no pod has {RESTARTS}", CONTINUES
        reader.left.append(DroppedPart(reader.place(condition), what, why, hint))
    if not reader.assumed and any(reader.is_program(reader.text(one)) for one in others):
        note_decision(reader, reader.place(condition), _COMPARED.findall(reader.text(condition)))


def note_decision(reader: Conditions, place: Location, values: Iterable[str]) -> None:
    """Note the values of the variable that decides, for which a program starts."""
    for name in sorted(reader.decided_by)[:1]:
        known = reader.deciding.setdefault(name, (place, []))[1]
        known += [one for one in values if one not in known and "$" not in one]
