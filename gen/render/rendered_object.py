"""One object of a rendered tree: its identity, and its content when it is needed.

Files in a tree may have been written by anyone, so no form is assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

import orjson
from msgspec import Struct

from gen.base import Findings, Location, at, regex
from gen.base.codes.rendered import NOT_A_MANIFEST
from gen.base.engines import STOPPED, is_stopped
from gen.base.repository.layout import RenderedPath
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.facts import builtin as core
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import JOB_LABEL, RUN_LABEL, VALUES, Body, identity
from gen.render.emit import BARE, HARMLESS, HEADER, WORDS, untouched

DATA = frozenset(resource.kind for resource in core.DATA)

_HEAD = regex(
    r"apiVersion: (?:(?P<group>[a-z0-9.-]+)/)?v[a-z0-9]+\nkind: (?P<kind>\w+)\nmetadata:\n"
    r"  name: (?P<name>[a-z][a-z0-9.-]*)\n(?:  namespace: (?P<namespace>[a-z][a-z0-9-]*)\n)?"
)
"""Start of a generated file. Files with another start are parsed."""
_SPEC: Final = "\nspec:\n"
_NESTED = "args|command|entrypoint|env|securityContext|tolerations|volumeMounts|volumes"
_ON_A_LINE = "app.kubernetes.io/name|entrypoint|gen/job|gen/run|image|subdomain|workingDir"
_UNCOUNTED = regex(
    rf"^( +)(?:(?:{_NESTED}):(?: \|-?)?\n(?:(?:\1(?:- |  ).*)?\n)+|(?:{_ON_A_LINE}): .*\n)", re.MULTILINE
)
"""Fields of pods and jobs that no amount of a plan depends on, with what is below them.

Leaving them out saves two thirds of the time of reading a run (`docs/performance.md`). The price: a new amount has to
be compared with this list."""


class ObjectKey(Struct, frozen=True, order=True):
    """The identity of an object. Two files with the same key define the same object."""

    scope: str
    """The overlay; `argocd/<overlay>` or `flux/<overlay>` for objects that configure an engine."""
    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Kind namespace/name`."""
        return identity(self.kind, self.namespace, self.name)


class RenderedObject(Struct, frozen=True, eq=False, dict=True):
    """An object in a file, compared by identity. Unchanged files are parsed only when their content is needed."""

    key: ObjectKey
    path: str
    text: str
    parsed: Body | None = None

    @cached_property
    def body(self) -> Body:
        return content(self.text) if self.parsed is None else self.parsed

    @cached_property
    def metadata(self) -> Any:
        """Read alone from a text that gen wrote, which has it before `spec`."""
        head, spec, _ = self.text.partition(_SPEC)
        alone = as_emitted(f"{head}\n") if spec and self.parsed is None else None
        return (alone or self.body).get("metadata")

    @property
    def counted(self) -> str:
        """The text of `spec` without `_UNCOUNTED`; empty if the rest does not have the form that gen writes."""
        rest = _UNCOUNTED.sub("", self.text.partition(_SPEC)[2]) if self.parsed is None else ""
        return rest if _is_emitted(rest) else ""

    def may_have(self, key: str) -> bool:
        """Whether it can have a label or annotation, without parsing the text that gen wrote."""
        return self.parsed is not None or key in self.text

    def label(self, key: str) -> str:
        """The value of a label, or an empty string."""
        value = at(self.metadata, "labels", key)
        return "" if value is None else str(value)

    @property
    def run(self) -> str:
        """The hash of the run that it belongs to, or an empty string."""
        return self.label(RUN_LABEL)

    @property
    def values(self) -> str:
        """The values of a run of a sweep, as JSON; empty for other objects."""
        return str(at(self.metadata, "annotations", VALUES) or "")

    @property
    def is_stopped(self) -> bool:
        """Whether it is the record of an object that the engines delete from the cluster."""
        return STOPPED in self.text and is_stopped(self.metadata)

    @property
    def job(self) -> str:
        """The job that it belongs to, or its own name."""
        return self.label(JOB_LABEL) or self.key.name


def generated_object(raw: bytes, path: str) -> RenderedObject | None:
    """The object of a generated file without edits, identified by its first lines; None for all other files."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    header = HEADER.match(text)
    head = _HEAD.match(text, header.end()) if header else None
    if header is None or head is None or not untouched(text, header):
        return None
    scope = RenderedPath.parse(path).scope
    key = ObjectKey(scope, head["group"] or "", head["kind"], head["namespace"] or "", head["name"])
    return RenderedObject(key, path, text)


def parse_object(raw: bytes, path: str, found: Findings) -> RenderedObject | None:
    """The object of any file. Reports manifests without a single object; engines ignore files with other endings."""
    here = Location(path)
    hint = "move it out of `rendered/`"
    if not path.endswith((".yaml", ".yml", ".json")):
        return None
    source = source_of(raw, path, found)
    if source is None:
        return None
    body: Any = typed(source.data)
    kind, version, name = at(body, "kind"), at(body, "apiVersion"), at(body, "metadata", "name")
    if not kind or not version or not name or "items" in body:
        message = "not a single Kubernetes object with `apiVersion`, `kind` and `metadata.name`"
        found.error(NOT_A_MANIFEST, here, message, hint)
        return None
    group, namespace = str(version).rpartition("/")[0], str(at(body, "metadata", "namespace") or "")
    key = ObjectKey(RenderedPath.parse(path).scope, group, str(kind), namespace, str(name))
    return RenderedObject(key, path, source.text, parsed=body)


def content(text: str) -> Body:
    """The object in a text; empty if it is not valid YAML."""
    body = as_emitted(text) or typed(parse(text, "", Findings()) or {})
    return body if isinstance(body, dict) else {}


def workload(one: RenderedObject) -> Resource | None:
    """Facts of the kind if the object is a run, or a schedule or definition of runs, otherwise None."""
    resource = resource_of(one.key.group, one.key.kind)
    return resource if resource is not None and resource.is_workload else None


_OPEN, _KEPT, _STRIPPED, _MAPPING, _LIST = (object() for _ in range(5))
"""Values on the next lines: a mapping or list, a block with or without a line break at its end. Then empty values."""
_VALUES: Final[Mapping[str | None, Any]] = {
    None: _OPEN, "|": _KEPT, "|-": _STRIPPED, "{}": _MAPPING, "[]": _LIST, "true": True, "false": False,
}  # fmt: skip
_QUOTED: Final = r'"(?:[ !#-\[\]-~]|\\["\\nrt])*"'
_LINE: Final = regex(
    rf"(?P<dash>-(?: (?=.)|\Z))?(?:(?P<key>[A-Za-z/]{HARMLESS}{{0,252}}|{_QUOTED}):(?: (?=.)|\Z))?(?P<value>.+)?"
)
_SCALAR: Final = regex(rf"(?P<bare>{BARE.pattern})|{_QUOTED}|(?P<number>0|-?[1-9][0-9]{{0,17}})")
_MAX_LINES, _MAX_INDENT = 5000, 60
"""Far below the limits of the parser."""


class _OtherFormError(Exception):
    """The text has a form that gen does not write, or only seldom."""


def as_emitted(text: str) -> Body | None:
    """The object in a text with the form of `gen.render.emit`; None for other texts, even if they are valid YAML.

    It takes a fifth of the time of the parser, because few lines of a repository are different ones
    (`docs/performance.md`).
    """
    first, *lines = text.split("\n")
    if not text.isascii() or lines.pop() or len(lines) > _MAX_LINES or not (first.isprintable() and first[:2] == "# "):
        return None
    try:
        return _body(lines)
    except _OtherFormError:
        return None


@lru_cache(maxsize=4096)
def _is_emitted(spec: str) -> bool:
    return as_emitted(f"# {_SPEC}{spec}") is not None


def _body(lines: Iterable[str]) -> Body:  # noqa: C901, PLR0912 - a call for each line would take longer
    root: Body = {}
    holder: Any = root
    above: list[tuple[int, Any]] = []
    indent, in_list = 0, False
    key: str | None = None
    value: Any = None
    block: list[str] | None = None
    for line in lines:
        content = line.lstrip(" ")
        depth = len(line) - len(content)
        if block is not None:
            if depth >= indent + 2 or not line:
                block.append(line[indent + 2 :])
                continue
            _put(holder, key, _text_of(block, value))
            block = None
        before, opens = key, value is _OPEN
        dash, key, value = _parts(content)
        if opens:  # the first line of a list or of a mapping
            if depth != (indent if dash and not in_list else indent + 2) or depth > _MAX_INDENT or in_list > dash:
                raise _OtherFormError
            above.append((indent, holder))
            inner: Any = [] if dash else {}
            _put(holder, before, inner)
            indent, holder, in_list = depth, inner, dash
        elif depth != indent or dash is not in_list:
            while depth < indent or (in_list > dash and depth == indent):
                indent, holder = above.pop()
                in_list = holder.__class__ is list
            if depth != indent or dash is not in_list:
                raise _OtherFormError
        if dash and key is not None:
            above.append((indent, holder))
            holder.append(inner := {})
            indent, holder, in_list = indent + 2, inner, False
        if value.__class__ is not object:
            _put(holder, key, value)
        elif value is _MAPPING or value is _LIST:
            _put(holder, key, {} if value is _MAPPING else [])
        elif value is not _OPEN:
            block = []
    if block is not None:
        _put(holder, key, _text_of(block, value))
    if value is _OPEN:
        raise _OtherFormError
    return root


def _put(holder: Any, key: str | None, value: object) -> None:
    if key is None:
        holder.append(value)
    elif key in holder:
        raise _OtherFormError
    else:
        holder[key] = value


def _text_of(block: list[str], form: object) -> str:
    text = "\n".join(block)
    plain = text.replace("\n", "").replace("\t", "").isprintable()
    if (
        not plain
        or text[:1] in {"", "\n", " ", "\t"}
        or text.endswith("\n")
        or "" in map(str.strip, filter(None, block))
    ):
        raise _OtherFormError
    return f"{text}\n" if form is _KEPT else text


@lru_cache(maxsize=65536)
def _parts(line: str) -> tuple[bool, str | None, Any]:
    """Whether a line starts an item of a list; its key, and its value, or where its value is."""
    match = _LINE.fullmatch(line)
    if match is None or (match["key"] is None and match["dash"] is None):
        raise _OtherFormError
    key = _scalar(match["key"]) if match["key"] is not None else None
    value = match["value"]
    return match["dash"] is not None, key, _VALUES[value] if value in _VALUES else _scalar(value)


def _scalar(text: str) -> Any:
    match = _SCALAR.fullmatch(text)
    if match is None or (match["bare"] and text.lower() in WORDS):
        raise _OtherFormError
    return text if match["bare"] else int(text) if match["number"] else orjson.loads(text)
