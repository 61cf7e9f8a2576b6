"""The IR of Kubeflow Pipelines, version 2.

From `api/v2alpha1/pipeline_spec.proto` of kubeflow/pipelines.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gen.base import Route, as_list, as_mapping, as_texts, at, regex, with_texts
from gen.importers.kfp.claims import VOLUME, WORKSPACE, pod_of, with_claim, with_folder
from gen.importers.kfp.graph import (
    ARTIFACT,
    PARAMETER,
    PLACEHOLDER,
    RUN_ID,
    TASK_NAME,
    Group,
    Leaf,
    Pipeline,
    Task,
    as_text,
    imported,
    items_of,
    joined,
    number_of,
    of_ir,
    of_pipeline,
    retries_of_task,
    whole,
    with_defaults,
    with_values,
)
from gen.importers.kfp.losses import OWN, Loss, lost_field, lost_loop
from gen.kubernetes.objects import Body, present

_VALUE: Final = r"""inputs\.parameter_values\[['"]([\w.-]+)['"]\]"""
_IN_CONDITION: Final = regex(rf"(?:int|double|string|bool)\({_VALUE}\)|{_VALUE}")
_WORDS: Final = 4
"""Words of the shell that runs the function, which others can precede."""
_SOURCE: Final = "/component/main.py"
_FOLDER: Final = "/pipeline"
_EXECUTORS: Final = ("deploymentSpec", "executors")
_STUBS: Final = "argostub/"
"""Start of the images of steps that Kubeflow Pipelines does itself, without a container."""
QUOTED: Final = ".genquotedz"
"""End of the name of a parameter in place of its value in JSON in quotes of a shell."""
_ALWAYS: Final = "ALL_UPSTREAM_TASKS_COMPLETED"
_OF_TASK: Final = frozenset(
    {"componentRef", "dependentTasks", "inputs", "triggerPolicy", "parameterIterator", "taskInfo", "cachingOptions"}
    | {"retryPolicy", "artifactIterator", "iteratorPolicy"}
)


_SPECS: Final[tuple[Route, ...]] = (
    (),
    ("pipelineSpec",),
    ("pipeline_spec", "pipeline_spec"),
    ("pipeline_spec",),
    ("spec", "pipelineSpec"),
)
"""Routes of a pipeline: of the compiler, for Vertex AI, in a run or a version of the API, in a `PipelineVersion`."""


def pipeline_of_ir(document: Body, platforms: object = None) -> Pipeline | None:
    """The pipeline of a document, which may be a run with the values of its parameters. `platforms` has its settings on
    Kubernetes, those of pods by executor.
    """
    if at(platforms, "pipelineConfig", "workspace") is not None:
        document = with_texts(document, lambda text: text.replace("{{$.workspace_path}}", WORKSPACE))
    start = next((one for one in _SPECS if isinstance(at(document, *one, *_EXECUTORS), dict)), None)
    if start is None:
        return None
    executors = at(spec := at(document, *start), *_EXECUTORS)
    components, account = at(spec, "components"), str(at(document, "service_account") or "")
    templates: dict[str, Leaf | Group] = {"": _group(at(spec, "root"), (*start, "root"), components)}
    for name, component in components.items() if isinstance(components, dict) else ():
        if not name:  # the name of the root here
            continue
        if isinstance(at(component, "dag"), dict):
            templates[str(name)] = _group(component, (*start, "components", str(name)), components)
        else:
            label = str(at(component, "executorLabel") or "")
            route = (*start, *_EXECUTORS, label, "container")
            leaf = _leaf(str(name), component, at(executors, label, "container"), route)
            settings = as_mapping(at(platforms, *_EXECUTORS, label))
            pod = {**leaf.pod, **present(serviceAccountName=account)} if leaf.pod else {}
            uri, metadata = imported(at(executors, label, "importer"))
            leaf = replace(leaf, pod=pod, settings=settings, imports=uri, imported=metadata)
            templates[str(name)] = leaf
    given = at(document, "runtimeConfig", "parameterValues") or at(document, "runtime_config", "parameters")
    parameters = _defaults(at(spec, "root")) | {str(name): _constant(one) for name, one in as_mapping(given).items()}
    return Pipeline(
        name=str(at(spec, "pipelineInfo", "name") or ""),
        route=start,
        entry="",
        templates=_with_parameters(templates, parameters, as_mapping(at(spec, "root", "inputDefinitions"))),
        parameters=parameters,
        account=account,
        namespace=str(at(document, "metadata", "namespace") or ""),
    )


def _with_parameters(
    templates: dict[str, Leaf | Group], parameters: Mapping[str, str], definitions: Body
) -> dict[str, Leaf | Group]:
    """The inputs of the root are the parameters of the pipeline, also those without a value."""
    root = templates[""]
    assert isinstance(root, Group)  # made above
    named = {str(name): str(name) for name in (*as_mapping(definitions.get("parameters")), *parameters)}
    named |= {f"{ARTIFACT}{name}": str(name) for name in as_mapping(definitions.get("artifacts"))}
    needed = {key: name for key, name in named.items() if key in parameters or key not in root.optional}
    return {**templates, "": replace(root, defaults={key: of_pipeline(name) for key, name in needed.items()})}


def _defaults(component: object) -> dict[str, str]:
    inputs = at(component, "inputDefinitions", "parameters")
    return {
        str(name): _constant(at(one, "defaultValue"))
        for name, one in (inputs.items() if isinstance(inputs, dict) else ())
        if at(one, "defaultValue") is not None
    }


def _constant(value: object) -> str:
    """A constant as text; numbers as in `backend/src/v2/component/launcher_v2.go`, without exponents and zeros."""
    value = whole(value)
    return format(Decimal(repr(value)), "f") if isinstance(value, float) else as_text(value)


def _group(component: object, route: Route, components: object) -> Group:
    tasks = at(component, "dag", "tasks")
    return Group(
        tasks=tuple(
            _task(str(name), one, (*route, "dag", "tasks", str(name)), components)
            for name, one in (tasks.items() if isinstance(tasks, dict) else ())
            if isinstance(one, dict)
        ),
        defaults=_defaults(component),
        optional={
            f"{start}{name}": (*route, "inputDefinitions", part, str(name))
            for start, part in (("", "parameters"), (ARTIFACT, "artifacts"))
            for name, one in as_mapping(at(component, "inputDefinitions", part)).items()
            if at(one, "isOptional") is True and at(one, "defaultValue") is None
        },
        artifacts={
            str(name): tuple(
                (str(at(each, "producerSubtask")), str(at(each, "outputArtifactKey")))
                for each in as_list(at(one, "artifactSelectors"))
            )
            for name, one in as_mapping(at(component, "dag", "outputs", "artifacts")).items()
        },
    )


def _task(name: str, data: Body, route: Route, components: object) -> Task:
    called = at(components, str(at(data, "componentRef", "name") or ""), "inputDefinitions", "artifacts")
    before, given = data.get("dependentTasks"), at(data, "inputs", "parameters")
    items, loop, unknown = _items(data.get("parameterIterator"))
    ended = at(data, "triggerPolicy", "strategy") == _ALWAYS
    values = {key: text.replace(TASK_NAME, name) for key, text in _values(given)}
    item = at(data, "parameterIterator", "itemInput")
    if isinstance(item, str):
        values[item] = "{{item}}"
    lost = [
        lost_field(str(key)) for key, value in data.items() if key not in _OF_TASK and value not in (None, "", [], {})
    ]
    lost += [lost_loop("artifactIterator")] if data.get("artifactIterator") else []
    selected = dict(_selected(given, at(data, "parameterIterator", "items")))
    plain = {key: text for key, text in values.items() if key not in selected}
    condition = str(at(data, "triggerPolicy", "condition") or "")
    condition = _IN_CONDITION.sub(lambda match: f"{{{{inputs.parameters.{match[1] or match[2]}}}}}", condition)
    values |= _artifacts(at(data, "inputs", "artifacts"), called)
    return Task(
        name=name,
        route=route,
        calls=str(at(data, "componentRef", "name") or ""),
        needs=tuple(str(one) for one in before) if isinstance(before, list) else (),
        when="ended" if ended else "succeeded",
        condition=with_values(condition, plain),
        values=values,
        joined=frozenset(
            str(name)
            for name, one in as_mapping(given).items()
            if "{{$.inputs." in str(at(one, "runtimeValue", "constant"))
        ),
        selected=selected,
        items=items,
        loop=with_values(loop, values),
        at_once=number_of(whole(at(data, "iteratorPolicy", "parallelismLimit"))) or 0,
        retries=retries_of_task(data),
        lost=(*lost, *unknown),
    )


def _values(inputs: object) -> Iterator[tuple[str, str]]:
    for name, one in inputs.items() if isinstance(inputs, dict) else ():
        if isinstance(outer := at(one, "componentInputParameter"), str):
            yield str(name), f"{{{{inputs.parameters.{outer}}}}}"
        elif (constant := at(one, "runtimeValue", "constant")) is not None:
            yield str(name), of_ir(_constant(constant))
        elif isinstance(producer := at(one, "taskOutputParameter", "producerTask"), str):
            key = at(one, "taskOutputParameter", "outputParameterKey")
            yield str(name), f"{{{{tasks.{producer}.outputs.parameters.{key}}}}}"
        elif isinstance(producer := at(one, "taskFinalStatus", "producerTask"), str):
            yield str(name), f"{{{{tasks.{producer}.status}}}}"


_SELECTOR: Final = regex(r"""parseJson\(string_value\)((?:\[(?:"[^"\]]+"|'[^'\]]+'|[0-9]{1,4})\])+)""")
_STEP: Final = regex(r"""\[(?:["']([^\]]+)["']|([0-9]+))\]""")


def _selected(inputs: object, items: object) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Inputs that get a part of a value in JSON, as those of loops over objects, with its route; empty for `items`."""
    for name, one in as_mapping(inputs).items():
        if (match := _SELECTOR.fullmatch(str(at(one, "parameterExpressionSelector") or ""))) is not None:
            route = tuple(step[1] or int(step[2]) for step in _STEP.finditer(match[1]))
            yield str(name), route
            if at(items, "inputParameter") == name:
                yield "", route


def _artifacts(inputs: object, definitions: object) -> dict[str, str]:
    """The placeholders of artifacts; in a list for all of a loop."""
    found = {}
    for name, one in as_mapping(inputs).items():
        outer, producer = at(one, "componentInputArtifact"), at(one, "taskOutputArtifact", "producerTask")
        text = f"inputs.parameters.{ARTIFACT}{outer}"
        if outer is None:
            text = f"tasks.{producer}.outputs.artifacts.{at(one, 'taskOutputArtifact', 'outputArtifactKey')}"
        is_list = outer is None and at(definitions, str(name), "isArtifactList") is True
        found[f"{ARTIFACT}{name}"] = f"[{{{{{text}}}}}]" if is_list else f"{{{{{text}}}}}"
    return found


def _items(loop: object) -> tuple[tuple[object, ...] | None, str, tuple[Loss, ...]]:
    """The items of a loop, the text of the list that depends on others, and the loop if both are unknown."""
    items = items_of(str(at(loop, "items", "raw")))
    name = at(loop, "items", "inputParameter")
    text = f"{{{{inputs.parameters.{name}}}}}" if isinstance(name, str) else ""
    return items, text, (lost_loop("parameterIterator"),) if loop is not None and items is None else ()


def _leaf(name: str, component: object, container: object, route: Route) -> Leaf:
    command = [*as_texts(at(container, "command")), *as_texts(at(container, "args"))]
    words = tuple(of_ir(joined(one)) for one in command)
    image = str(at(container, "image") or "")
    return Leaf(
        name=name,
        route=route,
        words=words,
        pod={} if image.startswith(_STUBS) else pod_of(container, words),
        claim={"name": "", "inputs": True} if image == f"{_STUBS}createpvc" else {},
        defaults=_defaults(component),
        component=component if isinstance(component, dict) else {},
    )


def artifacts_of(leaf: Leaf, step: str, values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The paths of the artifacts that a step makes, by name, or their URI."""
    made = as_mapping(at(leaf.component, "outputDefinitions", "artifacts")) if leaf.pod or leaf.imports else {}
    folder = f"{_FOLDER}/{RUN_ID}/{step}"
    return {str(name): (with_values(leaf.imports, values) or f"{folder}/{name}",) for name in made}


def with_files(
    leaf: Leaf, step: str, values: Mapping[str, str], parameters: Mapping[str, str], known: Mapping[str, Body]
) -> Leaf:
    """A component with the paths and the values that the launcher of Kubeflow Pipelines gives it. `known` are metadata
    of artifacts by their URIs.
    """
    if not leaf.component or not leaf.pod:
        return leaf
    paths = {f"$.inputs.artifacts.{name.removeprefix(ARTIFACT)}": text for name, text in values.items()}
    parts = {part: as_mapping(at(leaf.component, "outputDefinitions", part)) for part in ("artifacts", "parameters")}
    paths["$.outputs"] = folder = f"{_FOLDER}/{RUN_ID}/{step}" if parts["artifacts"] else OWN
    outputs = {f"$.outputs.{part}.{name}": f"{folder}/{name}" for part, known in parts.items() for name in known}
    paths |= outputs
    given = _executor_input(leaf, values, parameters, paths, known)
    container = leaf.pod["containers"][0]
    words = {
        part: [
            _with_paths(inner, paths).replace("{{$}}", given)
            for one in as_texts(container.get(part))
            for inner in _present(one, values)
        ]
        for part in ("command", "args")
    }
    used = any(RUN_ID in one for part in words.values() for one in part)
    launched = any("{{$}}" in one for one in leaf.words)
    if not launched and outputs and words["command"]:
        words = with_folder(words, folder)
    container = {key: one for key, one in container.items() if key not in words} | present(**words)
    files: dict[str, str] = {}
    if (program := _python(words["command"])) is not None:
        text, files[_SOURCE] = program
        options = " \\\n  ".join(_lines(words["args"]))
        container = {key: value for key, value in container.items() if key != "args"}
        container["command"] = ["sh", "-c", f"{text} \\\n  {options}" if options else text]
    pod = {**leaf.pod, "containers": [container]}
    pod = with_claim(pod, VOLUME, _FOLDER) if used else pod
    fixed = (*leaf.fixed, *(_fixed(given, leaf, values, parameters) if launched else ()))
    return replace(leaf, pod=pod, words=(*words["command"], *words["args"]), files=files, fixed=fixed)


def _fixed(given: str, leaf: Leaf, values: Mapping[str, str], parameters: Mapping[str, str]) -> Iterator[str]:
    """Parameters with values in the inputs of a component in their place."""
    kept = {match[1].removesuffix(QUOTED) for match in PARAMETER.finditer(given)}
    for name in as_mapping(at(leaf.component, "inputDefinitions", "parameters")):
        names = (match[1] for match in PARAMETER.finditer(values.get(name, "")))
        yield from (one for one in names if one in parameters and one not in kept)


def _lines(args: Sequence[str]) -> Iterator[str]:
    """Options as people write them: the function first, each with its value on a line."""
    starts = [number for number, word in enumerate(args) if word.startswith("--")]
    ends = [*starts[1:], len(args)] if starts else []
    groups = [args[start:end] for start, end in zip(starts, ends, strict=True)]
    first = args[: starts[0] if starts else None]
    yield from (shlex.join(first),) if first else ()
    yield from map(shlex.join, sorted(groups, key=lambda one: one[0] == "--executor_input"))


_EXECUTOR: Final = regex(r"(?:_KFP_RUNTIME=true )?python3 -m kfp\.(?:\w+\.)+executor_main")
_PREPARED: Final = regex(r"(?m)python3 -m (?:pip install|venv) .*?(?=\s+&&|$)|^\. .*/activate\"?$")


def _python(command: Sequence[str]) -> tuple[str, str] | None:
    """The script that starts a function of Python, without its options, and the source; None for another command."""
    started = _EXECUTOR.search(command[-2]) if len(command) >= _WORDS and "$0" in command[-2] else None
    if started is None:
        return None
    before = command[2].replace("$tmp/", "/tmp/") if len(command) > _WORDS else ""  # noqa: S108 - in the pod
    installs = [_plain(one.strip()) for one in _PREPARED.findall(before)]
    start = f"{started[0]} --component_module_path {_SOURCE}"
    return " &&\n".join([*installs, start]), f"{command[-1].strip()}\n"


def with_secrets(script: str, variables: Iterable[str]) -> str:
    """A script that starts a function, whose inputs get the values of these variables in the pod: JSON has escapes for
    characters that Kubernetes would write as they are in place of `$(NAME)`.
    """
    start, option, given = script.partition(_INPUTS)
    made = ""
    for name in (one for one in variables if f"$({one})" in given):
        given, value = given.replace(f"$({name})", f"${{{name}}}"), f'os.environ["{name}"]'
        is_text = re.search(rf'(?<!\\)": \$\{{{name}\}}', given) is None
        made += f'.replace("${{{name}}}", {f"json.dumps({value})[1:-1]" if is_text else value})'
    program = f"import json, os, sys; print(sys.argv[1]{made})"
    return f"""{start}{option}"$(python3 -c '{program}' {given})\"""" if made else script


_INPUTS: Final = "--executor_input "


def _plain(command: str) -> str:
    """A command without quotes that its words do not need."""
    try:
        return shlex.join(shlex.split(command))
    except ValueError:
        return command


def _executor_input(
    leaf: Leaf,
    values: Mapping[str, str],
    parameters: Mapping[str, str],
    paths: Mapping[str, str],
    metadata: Mapping[str, Body],
) -> str:
    """The inputs and outputs of a component as the JSON that its program reads."""
    definitions = as_mapping(at(leaf.component, "inputDefinitions", "parameters"))
    own = (
        f"{json.dumps(name)}: {_as_json(values[name], at(definitions, name, 'parameterType'), parameters)}"
        for name in definitions
        if name in values
    )

    def artifacts(part: str) -> dict[str, object]:
        known = as_mapping(at(leaf.component, f"{part}Definitions", "artifacts"))
        made: dict[str, object] = {}
        for name, one in known.items():
            if (path := paths.get(f"$.{part}s.artifacts.{name}")) is not None:
                known_type = {"name": name, "type": at(one, "artifactType")}
                uris = items_of(path) or [path]
                every = [{**known_type, "uri": uri, "metadata": metadata.get(str(uri), {})} for uri in uris]
                made[name] = {"artifacts": every}
        return made

    outputs = as_mapping(at(leaf.component, "outputDefinitions", "parameters"))
    results = {name: {"outputFile": paths[f"$.outputs.parameters.{name}"]} for name in outputs}
    inputs = present(artifacts=artifacts("input"))
    made = present(
        parameters=results, artifacts=artifacts("output"), outputFile=f"{paths['$.outputs']}/executor_output.json"
    )
    joined = "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in inputs.items())
    return f'{{"inputs": {{"parameterValues": {{{", ".join(own)}}}{joined}}}, "outputs": {json.dumps(made)}}}'


def _as_json(text: str, kind: object, parameters: Mapping[str, str]) -> str:
    """A value of an input as JSON; a text with a parameter of the pipeline keeps it if no filter is needed but that for
    `'`. Only texts have quotes, also if their value is unknown.
    """
    known = with_defaults(text, parameters)
    quoted = {name: f"{{{{workflow.parameters.{name}{QUOTED}}}}}" for name in parameters if name + QUOTED in parameters}
    text = with_defaults(text, quoted)
    if kind == "STRING":
        return json.dumps(text if json.dumps(known) == f'"{known}"' else known)
    try:
        json.loads(known)
    except (ValueError, RecursionError):
        return known if PLACEHOLDER.fullmatch(known) else json.dumps(known)
    return text


def _present(word: str, values: Mapping[str, str]) -> Iterator[str]:
    """The words of a placeholder `IfPresent`; other words as they are."""
    try:
        chosen = json.loads(word)["IfPresent"] if word.startswith('{"IfPresent"') else None
    except (ValueError, RecursionError):
        chosen = None
    if not isinstance(chosen, dict):
        yield word
        return
    name = str(chosen.get("InputName"))
    branch = chosen.get("Then" if name in values or f"{ARTIFACT}{name}" in values else "Else") or []
    for one in branch if isinstance(branch, list) else [branch]:
        yield from _present(of_ir(joined(one if isinstance(one, str) else json.dumps(one))), values)


def _with_paths(text: str, paths: Mapping[str, str]) -> str:
    """A text with paths; of a list of artifacts, `getPlaceholders` of the launcher has that of the first."""

    def path(match: re.Match[str]) -> str:
        known = paths.get(f"$.{match[1]}.{match[2]}.{match[3]}", match[0])
        return str(next(iter(items_of(known) or [known])))

    return _FILE.sub(path, text)


_FILE: Final = regex(
    r"""\{\{\$\.(inputs|outputs)\.(artifacts|parameters)\[['"]([\w.-]+)['"]\]\.(?:path|uri|output_file)\}\}"""
)
