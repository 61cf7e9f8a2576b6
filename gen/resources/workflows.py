"""The steps of a workflow: the tasks of its graph, and the objects that they create.

A rendered file can have been edited by anyone, so any part of it can have any form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson
from msgspec import Struct

from gen.kubernetes import RESULT, TRIAL, identity_of, with_results
from gen.regex import regex
from gen.resources.argo import WORKFLOW
from gen.resources.pods import follow

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from gen.kubernetes import Body
    from gen.resources.base import Resource

_NAMES = regex(r"([A-Za-z0-9][A-Za-z0-9-]*)(?:\.[A-Z][A-Za-z]*)?")
"""Tasks in `depends`, each with its result."""

_UNSEEN = regex("[\x7f-\xa0\xad\u0600-\u0605\u2000-\u200f\u2028-\u202f\u205f-\u2069\ufdd0-\ufdef\ufeff\ufff0-\uffff]")
"""Characters that readers of YAML drop or take for the end of a line, or that are invisible.

YAML and JSON have no common escape for larger codes; the writer of files escapes a text with them as a whole.
"""


_BRACE = regex(rf"\{{(?=[{TRIAL}{RESULT}])")
NAME_OF_RUN: Final = "{{workflow.name}}"
STATUS_OF_RUN: Final = "{{workflow.status}}"
"""Argo replaces both; the status only at the end."""
_PARAMETER = r"{{inputs.parameters.\1_\2}}"
"""A result of another step; names of steps have no `_`."""


def parameter(step: str, name: str) -> str:
    """The name of the parameter with a result of another step."""
    return f"{step}_{name}"


class Task(Struct, frozen=True, kw_only=True):
    """A task of the graph of a workflow."""

    name: str
    needs: frozenset[str]
    body: Body | None
    """The object that it creates."""


def tasks_of(body: Body, kind: Resource) -> tuple[Task, ...]:
    """The tasks of all graphs of a workflow. ValueError if an object cannot be read."""
    templates = [one for one in _list(follow(body, (*kind.workflow, "templates"))) if isinstance(one, dict)]
    manifests = {
        str(one.get("name")): follow(one, ("resource", "manifest"))
        for one in templates
        if follow(one, ("resource", "action")) == "create"
    }
    return tuple(_task(task, manifests) for one in templates for task in _list(follow(one, ("dag", "tasks"))))


def _task(task: Any, manifests: dict[str, Any]) -> Task:
    name, template = str(follow(task, ("name",))), str(follow(task, ("template",)))
    written = follow(task, ("depends",))
    needs = _NAMES.findall(written) if isinstance(written, str) else ()
    body = manifest_body(manifests[template]) if template in manifests else None
    return Task(name=name, needs=frozenset(needs), body=body)


def manifest_body(text: Any) -> Body:
    """The object in a manifest as gen writes it. ValueError for other texts."""
    body = orjson.loads(text) if isinstance(text, str) else None
    if not isinstance(body, dict):
        raise ValueError("a step has no object")  # noqa: TRY004 - an unreadable value, and not a wrong argument
    return body


def manifest_text(body: Body) -> str:
    """An object as a text in a workflow.

    Argo replaces `{{…}}` in it, which JSON can write without two braces, so that no value of a job becomes a template.
    `TRIAL` is the name of the workflow, and results of other steps are parameters. The text is YAML, too, so characters
    that a reviewer cannot see are escaped.
    """
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode().replace("{{", r"\u007b\u007b")
    text = _BRACE.sub(r"\\u007b", text)  # which would be the first of two braces
    text = with_results(text, _PARAMETER)
    return _UNSEEN.sub(_escaped, text.replace(TRIAL, NAME_OF_RUN)) + "\n"


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def embedded(body: Body, kind: Resource) -> Iterator[tuple[int, Body]]:
    """The objects that the templates create, with their places; without those that cannot be read."""
    for index, one in enumerate(_list(follow(body, (*kind.workflow, "templates")))):
        text = follow(one, ("resource", "manifest"))
        if isinstance(text, str):
            try:
                yield index, manifest_body(text)
            except ValueError:
                continue


def created_by(bodies: Iterable[Body]) -> tuple[str, ...]:
    """The objects that workflows create, as `Kind namespace/name`."""
    return tuple(identity_of(created) for body in bodies for _, created in embedded(body, WORKFLOW))


def without_objects(body: Body, kind: Resource) -> list[Any]:
    """The templates without the objects that `embedded` returns."""
    templates = list(_list(follow(body, (*kind.workflow, "templates"))))
    for index, _ in embedded(body, kind):
        resource = {key: value for key, value in templates[index]["resource"].items() if key != "manifest"}
        templates[index] = {**templates[index], "resource": resource}
    return templates


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
