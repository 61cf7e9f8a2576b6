"""Hints about unknown fields and kinds: a similar name, the name that gen uses, or the level where a field belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Rename, Route, did_you_mean, near, only_near
from gen.base.codes.jobs import RENAMED_FIELD
from gen.base.yaml.source import Source
from gen.base.yaml.strict import Data
from gen.job.kinds import ALL_KINDS
from gen.job.model import RENAMED, CurrentName, Form, Model, fields_at, form_at, models_at, reachable, renamed_fields
from gen.job.synonyms import normal

if TYPE_CHECKING:
    from pydantic import BaseModel


_MOST_FIELDS = 24
"""Fields in a hint: all those of a role. `gen explain` lists those of a job and of an overlay."""
_MAX_DEPTH = 3
"""Levels that are searched for a field of the same name."""


class Suggestion(Struct, frozen=True, kw_only=True):
    """The hint about an unknown field."""

    hint: str
    meant: str = ""
    """The field at the same level that was probably meant, or the field that contains it; empty if unknown."""
    certain: Route | None = None
    """The route that was certainly meant, if the value fits there."""


def suggest(model: type[BaseModel], route: Route, value: object = None) -> Suggestion:
    """The remedy for the unknown field at `route`."""
    return _suggest(model, route, None if value is None else isinstance(value, dict))


@lru_cache(maxsize=1024)
def _suggest(model: type[BaseModel], route: Route, is_mapping: bool | None) -> Suggestion:
    """Kept, because all runs of a sweep have the same unknown fields. `is_mapping` is None for an unknown value."""
    *parents, last = route
    above, name = tuple(parents), str(last)
    known = fields_at(model, above)
    if (exact := _same(name, known)) is not None:
        return Suggestion(hint=f"did you mean `{exact}`?", meant=exact, certain=(*above, exact))
    guess = near(name, known)
    if normal(guess) in (f"{normal(name)}s", normal(name)[:-1]) and _may_contain(model, (*above, guess), is_mapping):
        return Suggestion(hint=f"did you mean `{guess}`?", meant=guess, certain=(*above, guess))
    if (path := _synonym(model, above, name)) is not None:
        return _at_path(path)
    if (inner := _inside(model, above, name)) is not None:
        found = _at_path(".".join(map(str, inner[0])))
        return replace(found, certain=(*above, *inner[0])) if len(inner) == 1 else found
    if (other := _outside(model, above, name) or _in_entries(model, above, name)) is not None:
        return other
    lacking = _lacking(model, above, name)
    only = only_near(name, known) if not lacking else None
    certain = (*above, only) if only else None
    main = "" if guess or lacking else _main(model, above)
    hint = did_you_mean(name, known, otherwise="remove it", most=_MOST_FIELDS)
    listed = "" if above or guess or len(known) <= _MOST_FIELDS else _explained(model)
    hint = f"remove it, or correct it; {listed}" if listed else hint
    hint = f"move it below `{main}`: `{main}: {{<name>: …}}`" if main else hint
    hint = f"remove it; jobs of this kind have no `{lacking}`" if lacking else hint
    return Suggestion(hint=hint, meant="" if lacking else guess or main, certain=certain)


def _explained(model: type[BaseModel]) -> str:
    """The commands that list the fields of a model; empty if there is none."""
    document = model.listed_as if issubclass(model, Model) else ""
    kind = next((kind for kind, job in ALL_KINDS.items() if job is model), "")
    if kind:
        return f"`gen explain {kind}` and `gen explain {document}` list the fields"
    return f"`gen explain {document}` lists the fields" if document else ""


_MAX_UNKNOWN = 100
"""Misspelled fields that are looked up; a file can have thousands."""


def intended_fields(model: type[BaseModel], routes: Iterable[Route]) -> set[str]:
    """Fields that misspelt ones among the routes were probably meant to be."""
    known = [field.alias for field in model.model_fields.values()]
    unknown = (route for route in routes if len(route) == 1 and route[0] not in known)
    return {suggest(model, route).meant for route in islice(unknown, _MAX_UNKNOWN)}


def _same(name: str, known: Collection[str]) -> str | None:
    return next((field for field in known if normal(field) == normal(name)), None)


def _may_contain(model: type[BaseModel], route: Route, is_mapping: bool | None) -> bool:
    """Whether the field takes a mapping if the value is one, and a scalar or a list otherwise."""
    takes_mapping = bool(models_at(model, route)) or form_at(model, route) is Form.KEYS
    return is_mapping is None or is_mapping == takes_mapping


def _at_path(path: str) -> Suggestion:
    """A path of fields, or a whole hint."""
    if " " in path:
        # the first word in backticks, such as `data` in a hint that begins with a verb and a form of it
        return Suggestion(hint=path, meant=path.partition("`")[2].partition("`")[0].partition(":")[0])
    first, *inner = path.split(".")
    if not inner:
        return Suggestion(hint=f"did you mean `{first}`?", meant=first)
    form = "…"
    for step in reversed(inner):
        form = f"{{{step}: {form}}}"
    return Suggestion(hint=f"write `{first}: {form}` instead", meant=first)


def _synonym(model: type[BaseModel], above: Route, name: str) -> str | None:
    """What another tool's name means here; None if the model does not have the field that is meant."""
    for found in models_at(model, above):
        path = found.synonyms.get(normal(name)) if issubclass(found, Model) else None
        *holder, field = (path or "").split(".")
        if path is not None and (" " in path or field in fields_at(found, tuple(holder))):
            return str(path)
    return None


def _lacking(model: type[BaseModel], above: Route, name: str) -> str:
    """The field of other kinds that another tool's name means, which must not be taken for one that looks like it."""
    for found in models_at(model, above):
        path = found.synonyms.get(normal(name), " ") if issubclass(found, Model) else " "
        first = path.partition(".")[0]
        if " " not in path and first not in fields_at(found, ()):
            return first
    return ""


def _main(model: type[BaseModel], above: Route) -> str:
    """The main field at this level, if it contains names that authors choose; empty if there is none."""
    mains = (found.main for found in models_at(model, above) if issubclass(found, Model) and found.main)
    return next((main for main in mains if form_at(model, (*above, main)) is Form.KEYS), "")


def _inside(model: type[BaseModel], above: Route, name: str) -> list[Route] | None:
    """The paths, relative to `above`, of the fields of this name at deeper levels, if one is nearer than the others."""
    paths = [path for path in _all_paths(model, above) if normal(str(path[-1])) == normal(name)]
    shortest = [path for path in paths if len(path) == min(map(len, paths))]
    return sorted(paths, key=len) if len(shortest) == 1 else None


def _in_entries(model: type[BaseModel], above: Route, name: str) -> Suggestion | None:
    """The field of this name in the entries of the only mapping at this level whose entries have it."""
    found = [
        f"{field}.<name>.{exact}"
        for field in fields_at(model, above)
        if form_at(model, (*above, field)) is Form.KEYS
        and (exact := _same(name, fields_at(model, (*above, field, "<name>")))) is not None
    ]
    return _at_path(found[0]) if len(found) == 1 else None


@lru_cache(maxsize=64)
def _all_paths(model: type[BaseModel], above: Route) -> tuple[Route, ...]:
    return tuple(_paths(model, above, ()))


def _paths(model: type[BaseModel], above: Route, path: Route) -> Iterator[Route]:
    for field in fields_at(model, (*above, *path)):
        if path:
            yield (*path, field)
        if len(path) + 1 < _MAX_DEPTH:
            yield from _paths(model, above, (*path, field))


def _outside(model: type[BaseModel], above: Route, name: str) -> Suggestion | None:
    """The nearest level above that has a field of this name."""
    for length in range(len(above) - 1, -1, -1):
        field = _same(name, fields_at(model, above[:length]))
        if field is not None:
            inside = ".".join(map(str, above[length:]))
            where = f"to `{'.'.join(map(str, above[:length]))}`" if length else "to the top level"
            return Suggestion(hint=f"move `{field}` out of `{inside}`, {where}", certain=(*above[:length], field))
    return None


def intended_kind(name: str) -> str:
    """The kind of job for a Kubernetes kind or a kind of another tool; empty if it is not obvious."""
    word = name.lower()
    for kind, model in ALL_KINDS.items():
        if word in (model.facts.kind.lower(), *model.called):
            return kind
    return near(name, ALL_KINDS)


def field_of_others(name: str) -> str:
    """Hint about a field that only other kinds have; empty if none has it."""
    owners = [kind for kind, model in ALL_KINDS.items() if name in fields_at(model, ())]
    if not owners:
        return ""
    *others, last = (f"`{kind}`" for kind in owners)
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"remove it; only jobs of kind {listed} have it"


Models = Mapping[Route, "type[BaseModel]"]
"""The models of a file: that of the file, and those of values that it does not describe, by their routes."""


@lru_cache(maxsize=256)
def old_names(models: tuple[type[BaseModel], ...]) -> frozenset[str]:
    """All older names of fields in models, and in those that they contain."""
    return frozenset(old for model in reachable(models) for old in renamed_fields(model)) if RENAMED else frozenset()


def with_new_names(source: Source, models: Models, found: Findings) -> Source:
    """The file as if it had the names of today, with a warning for each field that has an older one."""
    if not any(old in source.text for old in old_names(tuple(models.values()))):
        return source
    renamed: dict[Route, tuple[str, CurrentName]] = {}
    data = _with_names(source.data, models, (), renamed, back=False)
    source = replace(source, data=data, old_names={route: old for route, (old, _) in renamed.items()})
    for route, (old, new) in renamed.items():
        message = f"`{old}` is named `{new.name}` since {new.since}"
        hint = f"write `{new.name}`; `{old}` works for a year after that version"
        fixes = (Rename(source.written_route(route), new.name),)
        found.warning(RENAMED_FIELD, source.place(route, key=True), message, hint, fixes=fixes)
    return source


def with_old_names(data: Data, models: Models) -> Data:
    """The data with the oldest name of each field, so that the record of a run does not change with a name."""
    return _with_names(data, models, (), {}, back=True) if old_names(tuple(models.values())) else data


def _with_names(
    data: Data, models: Models, route: Route, renamed: dict[Route, tuple[str, CurrentName]], *, back: bool
) -> Data:
    """The data with other names. `renamed` gets the fields that have an older one, by their new routes."""
    if isinstance(data, list):
        return [_with_names(one, models, (*route, at), renamed, back=back) for at, one in enumerate(data)]
    if not isinstance(data, dict):
        return data
    own = (models_at(model, route[len(root) :]) for root, model in models.items() if route[: len(root)] == root)
    names = {old: new for group in own for model in group for old, new in renamed_fields(model).items()}
    olds = {new.name: old for old, new in reversed(names.items())} if back else {}
    result: dict[str, Data] = {}
    for key, value in data.items():
        new = names.get(key)
        inner = (*route, key)
        if new is not None and new.name not in data:  # with both, the old one is an unknown field
            inner = (*route, new.name)
            renamed[inner] = key, new
        result[olds.get(key, str(inner[-1]))] = _with_names(value, models, inner, renamed, back=back)
    return result
