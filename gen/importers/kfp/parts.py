"""The jobs that a step creates: from its object, its commands of Arena, or its container."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, as_texts, at, regex, with_texts
from gen.base.codes.imports import CANNOT_RUN, NEEDS_SECRET, NOT_CARRIED
from gen.importers.arena.importer import ArenaImporter
from gen.importers.draft import is_secret, label, literal
from gen.importers.kfp import graph
from gen.importers.kfp.arena_steps import launcher_of
from gen.importers.kfp.calls import expression
from gen.importers.kfp.graph import ARTIFACT
from gen.importers.kfp.ir import QUOTED, with_secrets
from gen.importers.kfp.losses import remedy_without_value
from gen.importers.manifests.importer import ManifestsImporter
from gen.importers.manifests.placeholders import START, Placeholder, with_params
from gen.job.kinds import ALL_KINDS
from gen.job.search import param_name
from gen.kubernetes import quantity
from gen.kubernetes.objects import Body, present
from gen.render.parts.pods import LEAST_WITH_GPUS

if TYPE_CHECKING:
    from gen.importers import Fields, ImportedJob, ImportInput
    from gen.importers.kfp.calls import Call

_DEFAULTS: Final = frozenset({"restart", "workers"})
"""Fields of a Job from a step, which has one pod that is not restarted, as without them."""
_MAX_SHOWN: Final = 100
_SUBMIT: Final = regex(r"\barena\s+submit\b")
_MARK: Final = "genparameter{}z"
"""In place of a parameter; text that every field of a name, an image or a path takes."""


class Part(Struct, frozen=True, kw_only=True):
    """A job that a step creates."""

    job: ImportedJob
    params: frozenset[str] = frozenset()
    """Parameters of the pipeline that its fields use."""
    obstacles: tuple[Diagnostic, ...] = ()
    """Values that only a run of the pipeline has."""


class _Known(Struct, frozen=True, kw_only=True):
    """The texts of a step with values in place of its inputs."""

    call: Call
    given: ImportInput
    place: Location
    parameters: Mapping[str, str]
    """Values of the parameters of the pipeline, or marks."""
    unknown: dict[str, Diagnostic]
    """Findings about values that it lacks, by the placeholder of each."""
    secrets: dict[str, str] = field(default_factory=dict)
    """Parameters that are secrets, by the variables with their values."""
    places: Mapping[str, Location] = {}
    """Places of settings by the parameters that they have."""
    names: bool = False
    """Whether the texts are names of objects, such as that of a Secret, and no values."""

    def text(self, text: str, found: Findings) -> str:
        """A text with names in place of values that are known only when the pipeline runs."""
        leaf = self.call.leaf
        text = graph.with_item(graph.with_values(text, self.call.values), self.call.item)
        text = text.replace(graph.TASK_NAME, self.call.task)
        text = graph.PARAMETER.sub(lambda match: self._value(match[0], self.parameters.get(match[1])), text)
        text = graph.OF_RUN.sub(graph.RUN_ID, graph.INPUT.sub(lambda match: self._value(match[0], None), text))
        text = text.replace(graph.NAMESPACE, self.given.namespace_of("") or graph.NAMESPACE)
        looped = {"{{item}}"} if any(one.reason == "loop" for one in self.call.lost) else set()
        for unknown in (one for one in dict.fromkeys(graph.PLACEHOLDER.findall(text)) if one not in looped):
            shown = (self.call.leaf.component and graph.named_in_ir(unknown)) or f"`{_shown(unknown)}`"
            what = f"{shown} of step `{self.call.task}`"
            if name := _given_name(unknown):
                message = f"{what} has no value"
                hint = remedy_without_value(name, _name_of(unknown), of_function=bool(leaf.component and leaf.files))
            else:
                why, hint = graph.why_unknown(unknown, of_name=self.names)
                message = f"{what} is not carried: {why}"
            found.warning(NOT_CARRIED, self.places.get(unknown, self.place), message, hint)
            self.unknown[unknown] = replace(found.items[-1], code=CANNOT_RUN.name)
        return graph.PLACEHOLDER.sub(lambda match: _name_of(match[0]), text)

    def _value(self, placeholder: str, known: str | None) -> str:
        """The value of a parameter, if it is known; of a secret, a reference to a variable with it."""
        name = _given_name(placeholder)
        if self.names or not name or not is_secret(name, START if known is None else known):
            return placeholder if known is None else known
        self.secrets[param_name(name).upper()] = name
        return f"$({param_name(name).upper()})"


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def _given_name(placeholder: str) -> str:
    """The name of a parameter that the user of the pipeline gives; empty for a value that only a run has."""
    given = graph.PARAMETER.fullmatch(placeholder) or graph.INPUT.fullmatch(placeholder)
    return str(given[1]).removeprefix(ARTIFACT) if given is not None and _CHANNEL not in given[1] else ""


_CHANNEL: Final = "pipelinechannel--"
"""Part of the names of items of loops and of outputs that inner graphs get."""


def _name_of(placeholder: str) -> str:
    """A text in place of an unknown value, short enough for a label."""
    name = _given_name(placeholder) or next(iter(graph.parameters_read(placeholder)), "")
    return f"{START}-{graph.short(label(name or placeholder, 'value'), placeholder)}"


def _with_given(fields: Fields, unknown: Iterable[str]) -> Fields:
    """The fields with a parameter of the job for each value that the user of the pipeline gives, except for secrets."""
    names = {one: name for one in unknown if (name := _given_name(one)) and not is_secret(name, START)}
    values = [
        Placeholder(text=one, name=param_name(name), value=_name_of(one), route=()) for one, name in names.items()
    ]
    return with_params(fields, values)


def parts_of(
    call: Call,
    given: ImportInput,
    place: Location,
    parameters: Mapping[str, str],
    found: Findings,
    places: Mapping[str, Location],
) -> list[Part]:
    """The jobs of a step, with expressions in place of the parameters of the pipeline. `places` are those of settings
    with parameters.
    """
    call = replace(call, values={**{name: graph.of_pipeline(name) for name in given.define}, **call.values})
    known = _Known(call=call, given=given, place=place, parameters=parameters, unknown={}, places=places)
    own = Findings()
    jobs = _jobs(known, own)
    texts = json.dumps([one.fields for one in jobs])
    lacks = {replace(one, code=NOT_CARRIED.name): one for name, one in known.unknown.items() if _name_of(name) in texts}
    kept = {replace(one, code=NOT_CARRIED.name) for one in known.unknown.values()}
    found.extend(lacks.get(item, item if item in kept else replace(item, place=place)) for item in own)
    used = [name for name in _used(call, parameters) if name not in known.secrets.values()]
    marks = {name: _MARK.format(number) for number, name in enumerate(used)}
    carried: dict[str, str] = {}
    marked = jobs
    for name, mark in marks.items() if not own.failed() else ():
        plain_name = name.removesuffix(QUOTED)
        other = next(one for one in parameters if param_name(one) == param_name(plain_name)) != plain_name
        if other or name in call.leaf.fixed or is_secret(name, parameters[name]):
            _report_fixed(plain_name, known, found)
            continue
        tried = _jobs(replace(known, parameters={**parameters, **carried, name: mark}, unknown={}), Findings())
        if (
            len(tried) == len(jobs)
            and all(
                _without(one.fields, {**carried, name: mark}, parameters) == plain.fields
                for one, plain in zip(tried, jobs, strict=True)
            )
            and not _is_in_patch(mark, tried)
        ):
            carried[name], marked = mark, tried
        else:
            _report_fixed(plain_name, known, found)
    parts = []
    for plain, one in zip(jobs, marked, strict=True):
        part = _part(replace(plain, fields=one.fields), carried, call, place)
        job = replace(part.job, fields=_with_given(part.job.fields, known.unknown))
        parts.append(replace(part, job=job, obstacles=tuple(lacks.values())))
    return parts


def _is_in_patch(mark: str, jobs: Iterable[ImportedJob]) -> bool:
    """Whether a value is in the object of a job and not in its fields, or names the source of a volume: in a patch."""
    texts = [(json.dumps(one.fields), json.dumps([original.body for original in one.originals])) for one in jobs]
    return any(mark in made and (mark not in own or mark in "".join(_SOURCES.findall(made))) for own, made in texts)


def _used(call: Call, parameters: Mapping[str, str]) -> list[str]:
    leaf = call.leaf
    texts = [leaf.manifest, *leaf.words, *leaf.files.values(), json.dumps(leaf.pod)]
    names = [match[1] for text in texts for match in graph.PARAMETER.finditer(graph.with_values(text, call.values))]
    return [name for name in dict.fromkeys((*names, *leaf.fixed)) if name in parameters]


def _without(value: object, carried: Mapping[str, str], parameters: Mapping[str, str]) -> Any:
    """Fields with the values of parameters in place of marks."""

    def plain(text: str) -> str:
        for name, mark in carried.items():
            text = text.replace(mark, parameters[name])
        return text

    return with_texts(value, plain)


def _report_fixed(name: str, known: _Known, found: Findings) -> None:
    value, given = known.parameters[name], "" if name in known.given.define else "default "
    what = f"{given}value `{_shown(value)}`" if value else f"empty {given}value"
    message = f"the parameter `{name}` of step `{known.call.task}` is not carried: the job is that of its {what}"
    own = param_name(name)
    needed = f"; a field that takes an expression can have `{expression(name)}`, if `params` of the job has `{own}`"
    place = known.places.get(name, known.place)
    found.warning(NOT_CARRIED, place, message, f"check the value{'' if is_secret(name, value) else needed}")


def _part(job: ImportedJob, carried: Mapping[str, str], call: Call, place: Location) -> Part:
    text = json.dumps(job.fields)
    params = frozenset(name.removesuffix(QUOTED) for name, mark in carried.items() if mark in text)
    written = {name: expression(name) for name in carried}
    fields = with_texts(job.fields, lambda text: text.replace("{{ run.id }}", graph.OF_STEP))
    fields = _without(fields, {**carried, graph.RUN_ID: graph.RUN_ID}, {**written, graph.RUN_ID: "{{ run.id }}"})
    limited = ALL_KINDS[fields["kind"]].facts.deadline is not None and "timeout" not in fields
    if call.leaf.seconds is not None and limited:
        fields["attemptTimeout" if "retries" in fields else "timeout"] = quantity.duration(call.leaf.seconds)
    name = label(job.name.replace(graph.RUN_ID, ""), "job")
    originals = tuple(replace(one, body=_of_run(one.body, name), place=place, find=None) for one in job.originals)
    places = dict.fromkeys(job.places, place)
    obstacles = tuple(replace(one, place=place) for one in job.obstacles)
    made = replace(job, name=name, fields=fields, place=place, places=places, originals=originals, obstacles=obstacles)
    return Part(job=made, params=params)


def _of_run(body: Body, name: str) -> Body:
    """An object with its name in place of that of the run, as the comparison writes the name of the run of gen."""
    if graph.RUN_ID not in json.dumps(body):
        return body
    made: Body = with_texts(body, lambda text: text.replace(graph.RUN_ID, name))
    return {**made, "metadata": {**made["metadata"], "name": name}}


def _jobs(known: _Known, found: Findings) -> list[ImportedJob]:
    leaf, given = known.call.leaf, known.given
    jobs = [job for text in _manifests(known) for job in _of_object(known, text, found)]
    for words in _submissions(known):
        jobs += _of_arena(words, known, found)
    if (launched := launcher_of([graph.with_values(word, known.call.values) for word in leaf.words])) is not None:
        made = _of_arena(launched.words, known, found)
        fields = {key: _texts(value, known, found) for key, value in launched.fields.items()}
        jobs += [replace(job, fields={**job.fields, **fields}) for job in made]
        for option in launched.lost:
            message = f"`{option}` of step `{known.call.task}` is not carried: it concerns the pipeline"
            found.warning(NOT_CARRIED, known.place, message, "remove it; the job has no files for the pipeline")
    if jobs and known.call.retries.limit:
        what = f"`{known.call.retries.field}` of step `{known.call.task}`"
        hint = "add `retries` to the job if its pods should be repeated"
        found.warning(NOT_CARRIED, known.place, f"{what} is not carried: it repeats the submission", hint)
    if jobs and leaf.metadata:
        what = f"the {' and '.join(leaf.metadata)} of step `{known.call.task}`"
        hint = "add `podLabels` or `podAnnotations` to the job, if its pods should have them"
        found.warning(NOT_CARRIED, known.place, f"{what} are not carried: the step only submits the job", hint)
    if not jobs and leaf.pod and not found.failed():
        made = _of_manifest(json.dumps(_job(known, found)), replace(given, as_is=True), found)
        made = [_with_memory(one, known, found) for one in made]
        texts = leaf.files if leaf.component else _texts(leaf.files, known, found)
        made = [] if any(f"$({name})" in text for text in texts.values() for name in known.secrets) else made
        files = {"files": {path: literal(text) for path, text in texts.items()}} if texts else {}
        jobs += [
            replace(job, fields={k: v for k, v in job.fields.items() if k not in _DEFAULTS} | files) for job in made
        ]
    return [replace(job, fields=_with_secrets(job.fields, known, found)) for job in jobs]


def _with_memory(job: ImportedJob, known: _Known, found: Findings) -> ImportedJob:
    """The job of a step; the memory that gen refuses next to GPUs becomes a patch."""
    amount = quantity.server_amount(str(job.fields.get("memory", "")))
    if "gpus" not in job.fields or amount is None or amount >= LEAST_WITH_GPUS:
        return job
    fields = {name: value for name, value in job.fields.items() if name != "memory"}
    what = f"`memory: {job.fields['memory']}` of step `{known.call.task}`"
    hint = "set `memory` to what the program needs if it uses the GPU; otherwise keep the patch"
    message = f"{what} is not in the job: no program that uses a GPU can start with it"
    found.warning(NOT_CARRIED, known.place, message, hint)
    return replace(job, fields=fields)


def _of_object(known: _Known, text: str, found: Findings) -> list[ImportedJob]:
    """The jobs of an object, which may be none: a container with it as an argument runs then as it is."""
    own = Findings()
    jobs = _of_manifest(known.text(text, found), known.given, own)
    if jobs or not own.failed():
        found.extend(own)
    elif known.call.leaf.manifest:
        error = next(one for one in own if one.is_error)
        message = f"the object of step `{known.call.task}` is not carried: {error.message}"
        found.warning(NOT_CARRIED, known.place, message, error.hint)
    return jobs


def _with_secrets(fields: Fields, known: _Known, found: Findings) -> Fields:
    """The fields with a variable for each parameter that is a secret."""
    env = {one: {"secret": label(name, "keys"), "key": one} for one, name in known.secrets.items()}
    for variable, source in env.items():
        message = f"the parameter `{known.secrets[variable]}` is a secret; the variable `{variable}` has its value"
        hint = f"create a Secret `{source['secret']}` with the key `{variable}` in the namespace"
        found.warning(NEEDS_SECRET, known.place, message, hint)
    return {**fields, "env": {**fields.get("env", {}), **env}} if env else fields


def _of_arena(words: Iterable[str], known: _Known, found: Findings) -> Sequence[ImportedJob]:
    return ArenaImporter().read(replace(known.given, words=tuple(known.text(one, found) for one in words)), found)


def _of_manifest(text: str, given: ImportInput, found: Findings) -> list[ImportedJob]:
    files = ((given.file, text.encode("utf-8", "replace")),)
    return list(ManifestsImporter().read(replace(given, files=files), found))


def _job(known: _Known, found: Findings) -> Any:
    """The container of a step as a Job."""
    pod = {"restartPolicy": "Never", **_texts(known.call.leaf.pod, known, found)}
    container = pod["containers"][0]
    for part in ("limits", "requests"):
        if isinstance(amounts := at(container, "resources", part), dict):  # a number cannot be unknown
            container["resources"][part] = dict(_amounts(amounts, known, found))
    if container.get("command"):  # as one list, so that a shell with a script becomes a text
        words = (*as_texts(container["command"]), *as_texts(container.pop("args", None)))
        container["command"] = [with_secrets(one, known.secrets if known.call.leaf.files else ()) for one in words]
    template = {"spec": pod, **present(metadata=_texts(known.call.leaf.metadata, known, found))}
    limit = known.call.leaf.seconds if not known.call.retries.limit else None  # otherwise that of each attempt
    spec = present(backoffLimit=known.call.retries.limit, activeDeadlineSeconds=limit, template=template)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": known.call.name}, "spec": spec}


def _amounts(amounts: Body, known: _Known, found: Findings) -> Iterator[tuple[str, object]]:
    """Amounts with a known name and a known value. Names of accelerators of Google Cloud are none of Kubernetes."""
    for key, value in amounts.items():
        name = known.text(str(key), found)
        gone = any(_name_of(one) in (name, value) for one in known.unknown)
        if not gone and "/" not in name and not name.startswith(_OWN_RESOURCES):
            message = f"`{_shown(name)}: {value}` of step `{known.call.task}` is not carried: no resource has this name"
            hint = "set `gpus` of the job, and `accelerator` if the cluster has several"
            found.warning(NOT_CARRIED, known.place, message, hint)
        elif not gone:
            yield name, value


_OWN_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage", "hugepages-")


def _texts(value: object, known: _Known, found: Findings) -> Any:
    """A value of any type without placeholders."""
    if isinstance(value, dict):
        names = replace(known, names=True)
        return {str(key): _texts(inner, names if key in _NAMES else known, found) for key, inner in value.items()}
    if isinstance(value, list):
        return [_texts(inner, known, found) for inner in value]
    return known.text(value, found) if isinstance(value, str) else value


_NAMES: Final = frozenset({"name", "secretName"})
_SOURCES: Final = regex(r'"(?:secretName|claimName)": "[^"]*|"configMap": \{[^{}]*')


def _manifests(known: _Known) -> Iterator[str]:
    """Objects that a step creates, or that a launcher has as an argument."""
    leaf = known.call.leaf
    if leaf.manifest:
        yield leaf.manifest
    for word in leaf.words:
        if "apiVersion" in word and "kind" in word and word.lstrip().startswith(("{", "apiVersion", "kind", "---")):
            yield word


def _submissions(known: _Known) -> Iterator[tuple[str, ...]]:
    """`arena submit` commands of a step."""
    words = known.call.leaf.words
    for word in words:
        if _SUBMIT.search(word):
            yield from _commands(word)
    if words[:2] == ("arena", "submit"):
        yield words


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    for line in text.replace("\\\n", " ").split("\n"):
        if (match := _SUBMIT.search(line)) is None:
            continue
        try:
            yield tuple(shlex.split(line[match.start() :]))
        except ValueError:
            yield ("arena", "submit")
