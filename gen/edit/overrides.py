"""Entries of `sweep.overrides` in the text of a job file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import Findings
from gen.edit.change import EditError
from gen.edit.yaml_text import with_additions
from gen.load.strict import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gen.diagnostics import Route

_ROUTE: Route = ("sweep", "overrides")


def unfinished(data: Any) -> list[Mapping[str, str]]:
    """`when` of the entries that keep runs from being finished with their job."""
    sweep = data.get("sweep") if isinstance(data, dict) else None
    entries = sweep.get("overrides") if isinstance(sweep, dict) else None
    known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    others = (entry.get("when") for entry in known if entry.get("state", "finished") != "finished")
    return [when for when in others if isinstance(when, dict)]


def with_finished(text: str, runs: Sequence[Mapping[str, str]]) -> str:
    """The text with `state: finished` for the runs of its sweep with these values. EditError if that is impossible."""
    before: Any = parse(text, "", Findings())
    sweep = before.get("sweep") if isinstance(before, dict) else None
    known = sweep.get("overrides", []) if isinstance(sweep, dict) else None
    if not isinstance(sweep, dict) or not isinstance(known, list):
        raise EditError("the file has no sweep to which entries can be added", "edit the file", _ROUTE[:1])
    entries: list[dict[str, Any]] = [{"when": dict(values), "state": "finished"} for values in runs]
    try:
        new = with_additions(text, {"sweep": {"overrides": entries}})
    except Exception as error:  # ruamel.yaml may raise anything for text that gen can read
        raise EditError("this file cannot be edited safely", "edit the file", _ROUTE[:1]) from error
    wanted = {**before, "sweep": {**sweep, "overrides": [*known, *entries]}}
    if parse(new, "", Findings()) != wanted:
        raise EditError("this sweep is written in a form that cannot be edited safely", "edit the file", _ROUTE[:1])
    return new
