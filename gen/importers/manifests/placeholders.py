"""Placeholders: texts of an object that people replace before they apply it. They become parameters of the job."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Route, as_list, as_texts, at, follow, names, regex, with_texts
from gen.base.codes.imports import NOT_CARRIED
from gen.importers import Fields
from gen.importers.draft import JobDraft, is_secret, label, texts_in
from gen.importers.manifests.objects import FORMS, OF_IMAGE, Item, inside
from gen.kubernetes.objects import Body

_PLACEHOLDER: Final = regex(FORMS)
_IN_SHELL: Final = regex(r"()()<([A-Za-z][\w .:/-]*)>()")
"""In a script, where `$NAME` is of the shell or of the pod."""
_IN_PROGRAM: Final = regex(r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|<([A-Za-z][\w .:/-]*)>()")
"""In an argument of a program, which gets `$NAME` as it is."""
_SHELL: Final = frozenset({"command", "args", "entrypoint", "runtimeEnvYAML", "postStart", "preStop"})
_NUMBER_PARENTS: Final = frozenset({"limits", "requests", "resourcesPerNode"})
_NUMBERS: Final = regex(
    r"(?i:.*(?:replicas|seconds|limit|port|count)|parallelism|completions|nprocPerNode|numNodes|numProcPerNode)"
    r"|slotsPerWorker|maxRestarts|minAvailable"
)
_PATHS: Final = frozenset({"mountPath", "workingDir"})
_COUNTS: Final = regex(r"(?i:.*replicas)|parallelism|completions|numNodes|minAvailable")
_SIZES: Final = frozenset({"memory", "ephemeral-storage", "sizeLimit", "storage"})
_WITH_PARAMS: Final = frozenset({"image", "command", "args", "env", "workingDir", "nodeSelector"})
START: Final = "change-me"
"""Start of a value in place of one that the user has to give."""
_UNNAMED: Final = frozenset({"", "change me", "changeme", "replace me", "todo"})


class Placeholder(Struct, frozen=True, kw_only=True):
    """A text that people replace before they apply a manifest."""

    text: str
    name: str
    """Name of its parameter."""
    value: str
    """The text in its place."""
    route: Route

    @property
    def is_number(self) -> bool:
        return not self.value.startswith(START)


def filled(item: Item) -> tuple[Item, list[Placeholder]]:
    """An object with valid values in place of its placeholders. Its name loses them."""
    made: dict[str, Placeholder] = {}
    own = {str(at(entry, "name")) for every in inside(item.body.get("spec"), "env") for entry in as_list(every)}
    spec = _filled(item.body.get("spec"), ("spec",), made, own=own)
    field = "name" if "name" in item.body["metadata"] else "generateName"
    whole = item.body["metadata"].get(field)
    numbers = [found for one in made.values() if one.is_number and (found := _VARIABLE.fullmatch(one.text))]
    for variable in (*numbers, *(_VARIABLE.finditer(whole) if isinstance(whole, str) else ())):
        _add_param(spec, variable, made, own)
    variables = ((_VARIABLE.fullmatch(text), one.value) for text, one in made.items())
    values = {name: value for found, value in variables if found and (name := found[1] or found[2]) not in own}
    # as `envsubst` writes it; containers can have own variables
    of_fields = partial(_VARIABLE.sub, lambda found: values.get(found[1] or found[2], found[0]))
    body = {**item.body, "spec": with_texts(spec, of_fields, _SHELL) if values else spec}
    metadata: Body = _filled(item.body["metadata"], ("metadata",), {})
    if isinstance(whole, str) and _PLACEHOLDER.search(whole):
        known = re.sub(r"-{2,}", "-", _PLACEHOLDER.sub("", whole)).strip("-.")
        metadata["name"] = known or metadata[field]
        made[f"name {whole}"] = Placeholder(text=whole, name="name", value=START, route=("metadata", field))
    if _PLACEHOLDER.search(item.namespace):
        del metadata["namespace"]
    return replace(item, body={**body, "metadata": metadata}), list(made.values())


_NONE: Final = regex(r"(?!)")
_OPTIONS: Final = regex(r"-[^;&|<>`()]*|[^\s;&|<>`()]*")
"""A value of options or one word, in which no program expands a variable: it would get `$NAME` as it is."""
_LATEST: Final = ":latest"
USUAL: Final = names("PATH HOME USER PWD HOSTNAME LD_LIBRARY_PATH PYTHONPATH SHELL TMPDIR")
_VARIABLE: Final = regex(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def _add_param(spec: object, known: re.Match[str], made: dict[str, Placeholder], own: Container[str]) -> None:
    """Give a placeholder of a number or of the name a parameter for commands, which may need another value."""
    name = known[1] or known[2]
    if name in own or any(name in found.groups() for found in map(_VARIABLE.fullmatch, made) if found):
        return
    for route, text in texts_in(spec, ("spec",)):
        if not _SHELL.isdisjoint(route) and any(name in found.groups() for found in _VARIABLE.finditer(text)):
            _param(known[0], known, route, made)
            return


def _filled(
    value: Any, route: Route, made: dict[str, Placeholder], *, shell: bool = True, own: Container[str] = ()
) -> Any:
    if isinstance(value, dict):
        command = as_texts(value.get("command"))
        shell = not command or command[0].endswith("sh")
        if isinstance(value.get("values"), list) and _PLACES.fullmatch(str(value.get("key"))):
            values = [_with_zone(one, (*route, "values", n), made) for n, one in enumerate(value["values"])]
            value = {**value, "values": values}
        return {key: _filled(inner, (*route, key), made, shell=shell, own=own) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, (*route, index), made, shell=shell, own=own) for index, inner in enumerate(value)]
    if not isinstance(value, str):
        return value
    known = _filled_text(value, route, made, shell=shell, own=own)
    return _with_words(value, route, made) if known == value and route[0] == "spec" else known


_CAPITALS: Final = r"[A-Z0-9]+(?:[_-][A-Z0-9]+)*"
_WORDS: Final = (
    rf"(?:(?:{_CAPITALS}[_-])?YOUR[_-]{_CAPITALS}|(?:CHANGE|REPLACE)[_-]?(?:ME|THIS|WITH)(?:[_-]{_CAPITALS})?"
    rf"|(?:{_CAPITALS}[_-])?BE[_-](?:REPLACED|CHANGED)|(?:{_CAPITALS}_)?BUCKET_(?:NAME|URI|PATH))"
)
_START: Final = r"(?:\A|(?<==)|(?<==[\"'])|(?<=://))"
_END: Final = r"(?=\Z|[/\s\"',;])"
_IN_TEXT: Final = regex(rf"{_START}({_WORDS}){_END}|(?<=gs://|s3://)([A-Z][A-Z0-9_-]*){_END}")
"""Words that stand for a value, at the start of a text or behind `=`. No name of a bucket has capitals."""
_IN_WORD: Final = regex(rf"{_IN_TEXT.pattern}|{_START}(your[-_][\w-]+){_END}")
_OF_PLACE: Final = regex(rf"((?:{_CAPITALS}[_-])?(?:ZONE|REGION)(?:[_-]{_CAPITALS})?)")
"""Names of zones can have capitals, too."""
_PLACES: Final = regex(r"(?i:(?:.*[/.])?(?:zone|region))")
_OF_BUCKET: Final = regex(rf"({_CAPITALS})")
_BUCKETS: Final = regex(r"(?i:bucket(?:Name)?)")
"""Fields with names that have no capitals."""


def _with_words(text: str, route: Route, made: dict[str, Placeholder]) -> str:
    """A text with values in place of words that people replace."""
    key = _key(route)
    if key == "name" and isinstance(route[-2], int):
        return text  # of a container or a volume, which nothing else has to know
    form = _IN_TEXT if re.search(r"\s", text) else _IN_WORD
    for field, other in ((_PLACES, _OF_PLACE), (_BUCKETS, _OF_BUCKET)):
        form = other if field.fullmatch(key) and other.fullmatch(text) else form
    return form.sub(lambda one: _param(one[0], one, route, made), text)


def _with_zone(value: object, route: Route, made: dict[str, Placeholder]) -> object:
    """A value of an affinity to a zone or a region."""
    found = _OF_PLACE.fullmatch(value) if isinstance(value, str) else None
    return _param(found[0], found, route, made) if found is not None else value


def _filled_text(
    text: str, route: Route, made: dict[str, Placeholder], *, shell: bool, own: Container[str]
) -> str | int:
    key = _key(route)
    program = not _SHELL.isdisjoint(route)
    form = (_IN_SHELL if shell else _IN_PROGRAM) if program else OF_IMAGE if key == "image" else _PLACEHOLDER
    whole = form.fullmatch(text)
    several = program and re.search(r"\s|<<", re.sub("<[^<>]*>", "", text)) is not None
    if key == "value" and whole is None and _OPTIONS.fullmatch(text):
        found = [one[1] or one[2] for one in _VARIABLE.finditer(text)]
        form = _VARIABLE if found and not any(name in own or name in USUAL for name in found) else _NONE
    elif key == "value" and whole is None:
        return text
    if several or not form.search(text):
        return text
    if _NUMBERS.fullmatch(key) or key in _SIZES or not _NUMBER_PARENTS.isdisjoint(route):
        given = "1Gi" if key in _SIZES else "1"
        made.setdefault(f"number {text}", Placeholder(text=text, name=key, value=given, route=route))
        return given if key in _SIZES else 1
    is_one = whole is not None or key == "image"
    value = _param(text, whole, route, made) if is_one else form.sub(lambda one: _param(one[0], one, route, made), text)
    of_root = (key in _PATHS or route[-2:] == ("hostPath", "path")) and not value.startswith("/")
    return f"/{value}" if of_root else value


def _key(route: Route) -> str:
    return next(str(step) for step in reversed(route) if isinstance(step, str))


def _param(text: str, found: re.Match[str] | None, route: Route, made: dict[str, Placeholder]) -> str:
    """The value of a placeholder; each has a parameter of its own. An image without a tag has `latest`."""
    if _key(route) == "image" and text not in made:
        text = next((one for one in (f"{text}{_LATEST}", text.removesuffix(_LATEST)) if one in made), text)
    if text not in made:
        inner = next(filter(None, found.groups()), "") if found is not None else ""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", inner.removeprefix(".Values")).lower()
        slug = label(words if words.replace("-", " ") not in _UNNAMED else _key(route).lower(), "value")[:40].strip("-")
        names = chain([slug], (f"{slug}-{number}" for number in count(2)))
        slug = next(one for one in names if f"{START}-{one}" not in {known.value for known in made.values()})
        name = re.sub("-(.)", lambda one: one[1].upper(), slug)
        made[text] = Placeholder(text=text, name=name, value=f"{START}-{slug}", route=route)
    return made[text].value


_NO_EFFECT: Final = ("template", "metadata", "name")
"""Pods have the names that their controller makes."""


def _is_of_other(route: Route, mains: Sequence[Route]) -> bool:
    """Whether a value is that of a container that is not one of `mains`."""
    in_one = any(step in ("containers", "initContainers") for step in route)
    return in_one and not any(route[: len(main)] == main for main in mains)


def report_placeholders(
    draft: JobDraft, item: Item, placeholders: list[Placeholder], values: Mapping[str, object], mains: Sequence[Route]
) -> None:
    """A finding for each placeholder, since its job cannot run, unless its values are not carried. Containers other
    than `mains` are in patches.
    """
    lost = {one.place for one in draft.found if one.code == NOT_CARRIED.name}
    texts = [one for one in texts_in(item.body["spec"], ("spec",)) if one[0][-len(_NO_EFFECT) :] != _NO_EFFECT]
    others = [(route, text) for route, text in texts if _is_of_other(route, mains)]
    for one in placeholders:
        if one.route[-1] == "value" and is_secret(str(follow(item.body, (*one.route[:-1], "name"))), one.value):
            continue  # the job reads it from a Secret
        place, field, named = item.place(*one.route), _key(one.route), _PLACEHOLDER.fullmatch(one.text)
        variable = next(filter(None, named.groups()[:4]), "").rpartition(".")[2] if named is not None else ""
        variable = variable if re.fullmatch(r"[\w-]+", variable) else "image" if field == "image" else ""
        again = f", or import it again with `--define {variable}=VALUE`" if variable else ""
        message = f"`{field}` has the placeholder `{one.text}`"
        parts = {"job": {**draft.fields, "params": {}}, "overlay": [draft.overlay, draft.grants]}
        left = [part for part, value in parts.items() if any(one.value in text for _, text in texts_in(value))]
        if one.name in values:
            patched = any(one.value in text and item.place(*route) not in lost for route, text in others)
            left += ["patch"] if patched else []
            more = f", and replace `{one.value}` in the {' and the '.join(left)}" if left else ""
            hint = f"set `params.{one.name}` of the job{more}{again}"
            if patched and variable:
                hint = f"import it again with `--define {variable}=VALUE`: a patch has `{one.value}`, too"
            draft.cannot_run(place, message, hint)
        elif one.route[0] == "metadata":
            what = f"the placeholder in the name `{one.text}`"
            draft.drop(place, what, f"the job is `{draft.name}`", "rename the file of the job, if you like")
        elif (
            one.is_number or left or any(one.value in text and item.place(*route) not in lost for route, text in texts)
        ):
            where = "job" if one.is_number else next(iter(left), "patch")
            is_count = one.is_number and _COUNTS.fullmatch(field)
            remedy = (
                "set the number of pods, such as `workers`, in the job" if is_count else f"replace it in the {where}"
            )
            draft.cannot_run(place, f"{message}; `{one.value}` stands in its place", f"{remedy}{again}")


def with_params(fields: Fields, placeholders: list[Placeholder]) -> Fields:
    """Fields of a job with a parameter for each placeholder, where people write parameters."""
    known = {one.value: one.name for one in placeholders if not one.is_number}
    if not known:
        return fields
    form = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))
    used: dict[str, str] = {}

    def expression(found: re.Match[str]) -> str:
        used[known[found[0]]] = found[0]
        return f"{{{{ params.{known[found[0]]} }}}}"

    changed: Fields = with_texts(fields, lambda text: form.sub(expression, text), _WITH_PARAMS)
    return {**changed, "params": used} if used else fields
