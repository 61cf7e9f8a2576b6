"""Tasks of Argo: their order and conditions, loops and values.

From `pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows; conditions from `util/resource/` and
`workflow/common/ancestry.go`: a name without a result, and `dependencies`, mean that the task succeeded or was skipped.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from gen.base import Route, as_list, as_mapping, as_texts, at, regex
from gen.importers.kfp.graph import MAX_CONDITION, MAX_ITEMS, Task, When, as_text, items_of
from gen.importers.kfp.losses import Loss, lost_condition, lost_field, lost_loop
from gen.kubernetes.objects import Body

_OTHER: Final = "templateRef"
_OF_OTHER: Final = "` of `"
"""Between the names of a template and of the object that has it."""
_GOES_ON: Final = "continueOn"
_OF_TASK: Final = frozenset(
    {"name", "template", "arguments", "dependencies", "depends", "when", "withItems", "withParam", "withSequence"}
    | {_GOES_ON, _OTHER}
)


def values_of(holder: object, field: str = "arguments") -> dict[str, str]:
    """Parameters with a value or a default value, by name."""
    every = (
        (at(one, "name"), at(one, "value"), at(one, "default")) for one in as_list(at(holder, field, "parameters"))
    )
    known = ((name, default if value is None else value) for name, value, default in every)
    return {str(name): as_text(value) for name, value in known if value is not None}


def others(data: Body, known: frozenset[str]) -> tuple[str, ...]:
    """Fields that no job has, with another value than none and the default of truth values."""
    return tuple(
        str(name)
        for name, value in data.items()
        if name not in known and value is not False and value not in (None, "", [], {})
    )


def tasks_of_dag(data: object, route: Route) -> Iterator[Task]:
    tasks = as_list(at(data, "tasks"))
    goes_on = {at(one, "name") for one in tasks if at(one, "continueOn", "failed") is True}
    for number, one in enumerate(tasks):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            continue
        needs: tuple[str, ...] = tuple(as_texts(one.get("dependencies")))
        when: When | None = "succeeded"
        if needs and goes_on & set(needs):
            when = "ended" if goes_on >= set(needs) else None
        if text := str(one.get("depends") or ""):
            needs, when = depends_on(text)
        lost = () if when is not None else (lost_condition(text or "continueOn"),)
        if text and when in ("failed", "ended"):
            place = (*route, "tasks", number, "depends")
            lost = (Loss(what=f"the success of `{text}`", reason="success", needed=False, route=place),)
        yield task_of(one, (*route, "tasks", number), needs, when or "succeeded", lost)


def tasks_of_steps(data: object, route: Route) -> Iterator[Task]:
    """Each group of steps starts after the group before it."""
    before: tuple[str, ...] = ()
    goes_on: list[bool] = []
    for number, group in enumerate(as_list(data)):
        when: When | None = "succeeded" if not any(goes_on) else "ended" if all(goes_on) else None
        lost = () if when is not None else (lost_condition("continueOn"),)
        now = [one for one in as_list(group) if isinstance(one, dict) and isinstance(one.get("name"), str)]
        for index, one in enumerate(now):
            yield task_of(one, (*route, number, index), before, when or "succeeded", lost)
        if now:
            before = tuple(one["name"] for one in now)
            goes_on = [at(one, "continueOn", "failed") is True for one in now]


def task_of(data: Body, route: Route, needs: tuple[str, ...], when: When, lost: tuple[Loss, ...]) -> Task:
    items, unknown = _items(data)
    more = others(data, _OF_TASK)
    more += ("arguments.artifacts",) if at(data, "arguments", "artifacts") else ()
    if any(as_mapping(data.get(_GOES_ON)).values()):
        place = (*route, _GOES_ON)
        lost = (*lost, Loss(what=f"the success in spite of `{_GOES_ON}`", reason="success", needed=False, route=place))
    return Task(
        name=data["name"],
        route=route,
        calls=str(data.get("template") or "")
        or _OF_OTHER.join(str(at(data, _OTHER, one)) for one in ("template", "name")),
        needs=needs,
        when=when,
        condition=str(data.get("when") or ""),
        values=values_of(data),
        items=items,
        loop=str(data.get("withParam") or "") if items is None else "",
        lost=(*lost, *map(lost_field, more), *unknown),
    )


def _items(data: Body) -> tuple[tuple[object, ...] | None, tuple[Loss, ...]]:
    """The items of a loop; loops over values that only a run of the pipeline has."""
    for field in ("withItems", "withParam", "withSequence"):
        if field not in data:
            continue
        items: Any = data[field]
        if field == "withParam":
            items = list(items_of(str(items)) or ())
        elif field == "withSequence":
            items = _sequence(items)
        if isinstance(items, list) and 0 < len(items) <= MAX_ITEMS:
            return tuple(items), ()
        return None, (lost_loop(field),)
    return None, ()


def _sequence(data: object) -> list[str] | None:
    """Numbers from `start`: as many as `count`, or to `end`, also down to it (`expandSequence` in `steps.go`)."""
    start, number, end, form = (at(data, field) for field in ("start", "count", "end", "format"))
    try:
        first = int(start or 0)
        last = first + int(number) - 1 if number is not None else int(end)
    except (TypeError, ValueError):
        return None
    step = 1 if number is not None or first <= last else -1
    fits = 0 <= (last - first) * step < MAX_ITEMS and _FORMAT.fullmatch(form := str(form or "%d"))
    return [form % one for one in range(first, last + step, step)] if fits else None


def why_unknown(template: str) -> str:
    """Why a template is not known, before its name."""
    return "gen reads no templates of other objects, such as" if _OF_OTHER in template else "unknown template,"


def with_needs(target: str, tasks: Mapping[str, Task]) -> dict[str, Task] | None:
    """The tasks of a target and those before them, in their order; None if it names others."""
    wanted, pending = set[str](), target.split()
    if not pending or any(name not in tasks for name in pending):
        return None
    while pending:
        if (name := pending.pop()) in tasks and name not in wanted:
            wanted.add(name)
            pending += tasks[name].needs
    return {name: one for name, one in tasks.items() if name in wanted}


_FORMAT: Final = regex(r"[^%]{0,64}%[-+0]?[0-9]{0,2}[dxXo][^%]{0,64}")
_ATOM: Final = regex(r"([A-Za-z0-9_][\w-]*)(?:\.([A-Za-z]+))?")
_SUCCEEDED: Final = frozenset({"", "Succeeded", "Skipped", "Daemoned"})
_FAILED: Final = frozenset({"Failed", "Errored"})
_OTHERWISE: Final = frozenset({"Omitted"})
_MAX_NEEDS: Final = 8
"""All outcomes of as many tasks are tried."""


def depends_on(text: str) -> tuple[tuple[str, ...], When | None]:
    """The tasks of a condition such as `a.Succeeded && b.Succeeded`, and how they must have ended.

    None for a condition that means something else.
    """
    names = tuple(dict.fromkeys(match[1] for match in _ATOM.finditer(text)))
    if not names or len(names) > _MAX_NEEDS or len(text) > MAX_CONDITION:
        return names, None
    if (tree := _parsed(text)) is None:
        return names, None
    atoms = [(match[1], match[2] or "") for match in _ATOM.finditer(text)]
    if any(result not in _SUCCEEDED | _FAILED | _OTHERWISE for _, result in atoms):
        return names, None
    outcomes = list(product((True, False), repeat=len(names)))
    starts = [_starts(tree, atoms, dict(zip(names, outcome, strict=True))) for outcome in outcomes]
    if starts == [all(outcome) for outcome in outcomes]:
        return names, "succeeded"
    if starts == [not all(outcome) for outcome in outcomes]:
        return names, "failed"
    return names, "ended" if all(starts) else None


def _parsed(text: str) -> ast.expr | None:
    """The expression with `a0`, `a1`, … in place of tasks with results. Nothing of it is run."""
    numbers = iter(range(len(text)))
    plain = _ATOM.sub(lambda _: f"a{next(numbers)}", text)
    plain = re.sub(r"!(?!=)", " not ", plain.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _starts(tree: ast.expr, atoms: Sequence[tuple[str, str]], succeeded: Mapping[str, bool]) -> bool | None:
    """Whether the condition holds if these tasks have succeeded, and the others failed."""
    if isinstance(tree, ast.BoolOp):
        parts = [_starts(one, atoms, succeeded) for one in tree.values]
        return all(parts) if isinstance(tree.op, ast.And) else any(parts)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return not _starts(tree.operand, atoms, succeeded)
    if isinstance(tree, ast.Name):
        name, result = atoms[int(tree.id[1:])]
        return result in _SUCCEEDED if succeeded[name] else result in _FAILED
    return None
