"""Examples of findings, from the cases of the tests: a file with what gen prints about it, or a part of an object."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from tests.error_cases import error_cases
from tests.kubernetes.rules.support import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINES = 24
"""Lines of a file that are shown; of a longer one, those around the finding."""
_FINDING = re.compile(r"(?m)^(\S+?):(\d+):\d+: (?:error|warning|note): .*\[([a-z0-9-]+)\]\n(?: {4}.*\n)*")


def example(code: str) -> list[str]:
    """The paragraphs of an example; none for a code without a case."""
    if found := _of_files().get(code):
        return found
    return list(_of_object(code))


@cache
def _of_files() -> dict[str, list[str]]:
    """The example of the shortest case of each code. One with the name of the code is preferred."""
    best: dict[str, tuple[tuple[bool, int], list[str]]] = {}
    for case in error_cases():
        for found in _FINDING.finditer(case.expected):
            path, line, code = found.groups()
            text = case.inputs.get(path)
            if text is None or (not text.isprintable() and not text.replace("\n", "").isprintable()):
                continue
            order = case.name != code, len(text) + len(found[0])
            if code not in best or order < best[code][0]:
                shown = _fenced(_around(text, int(line)), "yaml")
                best[code] = order, [f"*Example:* `{path}`\n", shown, _fenced(found[0], "text")]
    return {code: paragraphs for code, (_, paragraphs) in best.items()}


def _around(text: str, line: int) -> str:
    lines = text.splitlines()
    if len(lines) <= MAX_LINES:
        return text
    first = min(max(line - MAX_LINES // 2, 0), len(lines) - MAX_LINES)
    shown = lines[first : first + MAX_LINES]
    return "\n".join([*(["…"] if first else []), *shown, *(["…"] if first + MAX_LINES < len(lines) else [])]) + "\n"


def _fenced(text: str, language: str) -> str:
    marks = "````" if "```" in text else "```"
    return f"{marks}{language}\n{text.rstrip()}\n{marks}\n"


def _of_object(rule: str) -> Iterator[str]:
    """The change of a small object that breaks a rule."""
    case = CASES.get(rule, {})
    for change in case.get("bad", ()):
        paths = {path: value for path, value in change.items() if path not in {"at", "object"}}
        name = change.get("object", case.get("object"))
        if isinstance(name, str) and paths and not any(_later_item(path) for path in paths):
            added: dict[str, Any] = {}
            removed = [path.replace(" ", ".") for path, value in paths.items() if value is None]
            for path, value in paths.items():
                if value is not None:
                    _set(added, path.split(" "), value)
            kind = name.rpartition(" ")[2]
            without = f" without {', '.join(f'`{path}`' for path in removed)}" if removed else ""
            yield f"*Example:* an object of kind `{kind}`{without}{' with' if added else '.'}\n"
            if added:
                yield _fenced(yaml.safe_dump(added, sort_keys=False, allow_unicode=True, width=100), "yaml")
            return


def _later_item(path: str) -> bool:
    """Whether a path leads to an item of a list that is not the first one."""
    return any(step.isdecimal() and step != "0" for step in path.split(" "))


def _set(holder: dict[str, Any], steps: list[str], value: Any) -> None:
    """Set a value below keys, and first items of lists."""
    first, *rest = steps
    if not rest:
        holder[first] = value
    elif rest[0] == "0":
        items = holder.setdefault(first, [{}])
        if rest[1:]:
            _set(items[0], rest[1:], value)
        else:
            items[0] = value
    else:
        _set(holder.setdefault(first, {}), rest, value)
