"""The IR of Kubeflow Pipelines, version 2.

From `api/v2alpha1/pipeline_spec.proto` of kubeflow/pipelines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from gen.base import Route, as_texts, at, regex
from gen.importers.kfp.graph import Group, Leaf, Pipeline, Task, as_text, items_of, retries_of_task
from gen.kubernetes.objects import Body, present

_INPUT: Final = regex(r"""\{\{\$\.inputs\.parameters\[['"]([\w.-]+)['"]\]\}\}""")
_VALUE: Final = r"""inputs\.parameter_values\[['"]([\w.-]+)['"]\]"""
_IN_CONDITION: Final = regex(rf"(?:int|double|string|bool)\({_VALUE}\)|{_VALUE}")
_LAUNCHED: Final = frozenset({"{{$}}", "--executor_input"})
"""Words of a component that only the launcher of Kubeflow Pipelines can start."""
_ALWAYS: Final = "ALL_UPSTREAM_TASKS_COMPLETED"
_OF_TASK: Final = frozenset(
    {"componentRef", "dependentTasks", "inputs", "triggerPolicy", "parameterIterator", "taskInfo", "cachingOptions"}
    | {"retryPolicy"}
)


def pipeline_of_ir(document: Body) -> Pipeline | None:
    """The pipeline of a document, which may have it in `pipelineSpec`, with the values of its parameters next to it."""
    spec = at(document, "pipelineSpec") or document
    start: Route = ("pipelineSpec",) if spec is not document else ()
    executors = at(spec, "deploymentSpec", "executors")
    if not isinstance(executors, dict):
        return None
    components = at(spec, "components")
    templates: dict[str, Leaf | Group] = {"": _group(at(spec, "root"), (*start, "root"), components)}
    for name, component in components.items() if isinstance(components, dict) else ():
        if not name:  # the name of the root here
            continue
        if isinstance(at(component, "dag"), dict):
            templates[str(name)] = _group(component, (*start, "components", str(name)), components)
        else:
            label = str(at(component, "executorLabel") or "")
            route = (*start, "deploymentSpec", "executors", label, "container")
            templates[str(name)] = _leaf(str(name), component, at(executors, label, "container"), route)
    parameters = {name: value for name, value in _defaults(at(spec, "root")).items() if value}
    given = at(document, "runtimeConfig", "parameterValues")
    types = at(spec, "root", "inputDefinitions", "parameters")
    for name, value in given.items() if isinstance(given, dict) else ():
        parameters[str(name)] = _constant(value, at(types, str(name)))
    return Pipeline(
        name=str(at(spec, "pipelineInfo", "name") or ""),
        route=start,
        entry="",
        templates=_with_parameters(templates, parameters),
        parameters=parameters,
    )


def _with_parameters(templates: dict[str, Leaf | Group], parameters: dict[str, str]) -> dict[str, Leaf | Group]:
    """The inputs of the root are the parameters of the pipeline."""
    root = templates[""]
    assert isinstance(root, Group)  # made above
    values = {name: f"{{{{workflow.parameters.{name}}}}}" for name in parameters}
    return {**templates, "": Group(tasks=root.tasks, defaults=values)}


def _defaults(component: object) -> dict[str, str]:
    inputs = at(component, "inputDefinitions", "parameters")
    return {
        str(name): _constant(at(one, "defaultValue"), one)
        for name, one in (inputs.items() if isinstance(inputs, dict) else ())
        if at(one, "defaultValue") is not None
    }


def _constant(value: object, definition: object) -> str:
    """A constant as text. The compiler writes all numbers as those of JSON, so integers get a fraction."""
    whole = isinstance(value, float) and value.is_integer() and at(definition, "parameterType") == "NUMBER_INTEGER"
    return str(int(value)) if whole and isinstance(value, float) else as_text(value)


def _group(component: object, route: Route, components: object) -> Group:
    tasks = at(component, "dag", "tasks")
    return Group(
        tasks=tuple(
            _task(str(name), one, (*route, "dag", "tasks", str(name)), components)
            for name, one in (tasks.items() if isinstance(tasks, dict) else ())
            if isinstance(one, dict)
        ),
        defaults=_defaults(component),
    )


def _task(name: str, data: Body, route: Route, components: object) -> Task:
    called = at(components, str(at(data, "componentRef", "name") or ""), "inputDefinitions", "parameters")
    before = data.get("dependentTasks")
    items, loop, unknown = _items(data.get("parameterIterator"))
    ended = at(data, "triggerPolicy", "strategy") == _ALWAYS
    values = dict(_values(at(data, "inputs", "parameters"), called))
    item = at(data, "parameterIterator", "itemInput")
    if isinstance(item, str):
        values[item] = "{{item}}"
    lost = [f"`{key}`" for key, value in data.items() if key not in _OF_TASK and value not in (None, "", [], {})]
    lost += ["`inputs.artifacts`"] if at(data, "inputs", "artifacts") else []
    return Task(
        name=name,
        route=route,
        calls=str(at(data, "componentRef", "name") or ""),
        needs=tuple(str(one) for one in before) if isinstance(before, list) else (),
        when="ended" if ended else "succeeded",
        condition=_IN_CONDITION.sub(
            lambda match: f"{{{{inputs.parameters.{match[1] or match[2]}}}}}",
            str(at(data, "triggerPolicy", "condition") or ""),
        ),
        values=values,
        items=items,
        loop=loop,
        retries=retries_of_task(data),
        lost=(*lost, *unknown),
    )


def _values(inputs: object, definitions: object) -> Iterator[tuple[str, str]]:
    for name, one in inputs.items() if isinstance(inputs, dict) else ():
        if isinstance(outer := at(one, "componentInputParameter"), str):
            yield str(name), f"{{{{inputs.parameters.{outer}}}}}"
        elif (constant := at(one, "runtimeValue", "constant")) is not None:
            yield str(name), _inputs(_constant(constant, at(definitions, str(name))))
        elif isinstance(producer := at(one, "taskOutputParameter", "producerTask"), str):
            key = at(one, "taskOutputParameter", "outputParameterKey")
            yield str(name), f"{{{{tasks.{producer}.outputs.parameters.{key}}}}}"


def _inputs(text: str) -> str:
    return _INPUT.sub(lambda match: f"{{{{inputs.parameters.{match[1]}}}}}", text)


def _items(loop: object) -> tuple[tuple[object, ...] | None, str, tuple[str, ...]]:
    """The items of a loop, the text of the list that depends on others, and the names of both if they are unknown."""
    items = items_of(str(at(loop, "items", "raw")))
    name = at(loop, "items", "inputParameter")
    text = f"{{{{inputs.parameters.{name}}}}}" if isinstance(name, str) else ""
    return items, text, ("the loop `parameterIterator`",) if loop is not None and items is None else ()


def _leaf(name: str, component: object, container: object, route: Route) -> Leaf:
    command = [*as_texts(at(container, "command")), *as_texts(at(container, "args"))]
    words = tuple(_inputs(_joined(one)) for one in command)
    lost = ["IfPresent"] if any('{"IfPresent"' in one for one in words) else []
    lost += [field for field in ("inputDefinitions.artifacts", "outputDefinitions") if at(component, *field.split("."))]
    return Leaf(
        name=name,
        route=route,
        words=words,
        pod={} if _LAUNCHED & set(words) else _pod(container, words),
        defaults=_defaults(component),
        lost=tuple(lost),
    )


def _joined(text: str) -> str:
    """The text of a placeholder `Concat`; other texts as they are."""
    try:
        parts = json.loads(text)["Concat"] if text.startswith('{"Concat"') else ()
    except (ValueError, RecursionError):
        return text
    known = parts if isinstance(parts, list) else ()
    return "".join(_joined(one if isinstance(one, str) else json.dumps(one)) for one in known) or text


def _pod(container: Any, words: tuple[str, ...]) -> Body:
    if not isinstance(at(container, "image"), str):
        return {}
    count = len(as_texts(at(container, "command")))
    made = present(
        name="main",
        image=_inputs(container["image"]),
        command=list(words[:count]),
        args=list(words[count:]),
        env=at(container, "env"),
        resources=present(limits=_limits(at(container, "resources"))),
    )
    return {"containers": [made]}


def _limits(resources: object) -> Body:
    """Limits by name; older compilers write numbers, of memory in units of 10^9 bytes."""
    cpu = at(resources, "resourceCpuLimit") or at(resources, "cpuLimit")
    memory = at(resources, "resourceMemoryLimit") or at(resources, "memoryLimit")
    if isinstance(memory, int | float):
        memory = f"{memory:g}G"
    device = at(resources, "accelerator", "resourceType") or at(resources, "accelerator", "type")
    number = at(resources, "accelerator", "resourceCount") or at(resources, "accelerator", "count")
    limits = present(cpu=str(cpu) if cpu else None, memory=memory)
    return {**limits, device: str(number)} if isinstance(device, str) and "/" in device and number else limits
