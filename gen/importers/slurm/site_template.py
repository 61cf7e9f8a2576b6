"""The template of a site file for scripts of Slurm: the names in them, with values to be completed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gen.base import Findings
from gen.base.yaml.user_text import written
from gen.importers import ImportInput
from gen.importers.draft import label
from gen.importers.slurm.importer import read_script
from gen.importers.slurm.options import directives

_NAMES: Final = {"partition": 2, "account": 1, "constraint": 1, "container-image": 2}
"""Options with names of the site, and how many of each a template has."""
_MOST_FOLDERS: Final = 5
_MOST_NAMED: Final = 10
"""Names in a line about others."""
_MOST_LINES: Final = 30
_MOST_CHECKS: Final = 9
"""Checks of values from outside, one behind another, at which a script ends."""


def site_template(scripts: Iterable[tuple[str, str]]) -> str:
    """A site file for scripts, with their most frequent names. The values are to be completed."""
    names: dict[str, Counter[str]] = {one: Counter() for one in _NAMES}
    folders: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for file, text in scripts:
        known: dict[str, str] = {}
        seen = dict[str, None]()
        for _ in range(_MOST_CHECKS):
            given = ImportInput(file=file, text=text, namespace="team", image="a:1", define=known)
            job, lacking = read_script(given, Findings())
            seen |= dict.fromkeys(lacking.folders)
            if job is not None or not {*lacking.values} - known.keys():
                break
            known |= dict.fromkeys(lacking.values, "a")
        folders.update([*seen])
        values.update([*dict.fromkeys((*known, *lacking.values))])
        of_lines = {one.name: one for one in directives(text, file, Findings())[0]}.values()
        known_images = {one.value for one in of_lines}
        names["container-image"].update(one for one in lacking.images if one not in known_images)
        for one in of_lines:
            if one.name in names and not {*"<>{}$"} & {*one.value}:
                names[one.name][one.value.split(",")[0] if one.name == "partition" else one.value] += 1
    return _text(names, folders, values)


def _text(names: Mapping[str, Counter[str]], folders: Counter[str], values: Counter[str]) -> str:
    """A site file with the most frequent of these names, and a line about the others of each field."""
    partitions, accounts, constraints, images = names.values()
    text = written({"image": "<IMAGE>", "nodes": {"gpus": 8}})
    text += _field("partitions", partitions, _NAMES["partition"], lambda _: "")
    text += _field("accounts", accounts, _NAMES["account"], lambda _: "")
    text += _field("constraints", constraints, _NAMES["constraint"], lambda _: {})
    text += _field("images", images, _NAMES["container-image"], lambda _: "<IMAGE>")
    text += _field("paths", folders, _MOST_FOLDERS, lambda name: label(name, "data"))
    room = _MOST_LINES - text.count("\n") - 2  # with the name of the field, and the line about others
    return text + _field("define", values, room, lambda name: f"<{'ARGUMENT_' if name.isdecimal() else ''}{name}>")


def _field(field: str, found: Counter[str], most: int, value_of: Callable[[str], Any]) -> str:
    """A field with the most frequent names, and a line about the others."""
    every = [name for name, _ in found.most_common()]
    first, others = every[:most], every[most:]
    text = written({field: {name: value_of(name) for name in first}}) if first else ""
    more = f"{', '.join(others[:_MOST_NAMED])}{', …' * (len(others) > _MOST_NAMED)}"
    return text + (f"  # and {len(others)} more: {more}\n" if others else "")
