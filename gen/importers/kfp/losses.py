"""Parts of pipelines that no job has, with the reasons, and the decisions of an import."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Route, as_list, as_mapping, as_texts, at, follow, names, regex
from gen.importers import ImportedJob

OWN: Final = "/tmp/outputs"  # noqa: S108 - in the pod
"""Folder for outputs of a step without artifacts, which no other step reads."""
HINTS: Final = {
    "field": "check whether the step needs it",
    "files": "let steps pass files on in a folder `{{ run.id }}` of a volume, and commands download and upload others",
    "sdk": "compile the pipeline again with kfp 2.5 or newer: older versions only have paths of objects in a store",
    "store": "only Kubeflow Pipelines downloads it: put it on a volume, or name its store in `inputs` of the step, and "
    "write its path there in place of the URI",
    "volume": "add its volume to `data` of the step, if the image does not have the file",
    "metadata": "read them from `executor_output.json` next to the artifact, which the step that sets them writes",
    "imported": "write the metadata that its importer gives it in place of `metadata` of the artifact",
    "uri": "the function that makes it sets its URI or its path, which only Kubeflow Pipelines hands on: write what it "
    "sets in place of the path of the artifact",
    "output": f"it is only in `{OWN}` of the pod: print it, or write it to a volume, if it is needed",
    "loop": "write its steps for each item, or a loop in their commands",
    "parallel": "all items run at once: let the steps of one need those of the one before, if too many would run",
    "condition": "its steps run without it: remove them, or test it in their commands",
    "start": "steps that need it start after the end of its object: remove it from `needs` of those that work with a "
    "running object",
    "folder": "only the program of the image starts: write it in `command`, with `mkdir -p` of the folder before it",
    "success": "the pipeline fails if any step fails, also if other steps go on: let the command of that step end with "
    "success, such as with `|| true`, if the run should",
    "executor": "only the executor of Argo sets it: remove what uses it, or set it in `env`",
    "failure": "the step fails with its object: set `retries` to the failures that it may have",
}
"""What to do about a part of a step that no job has, by the reason."""


PRINTED: Final = (
    "let the other step print it as a number, or a word of letters, digits and `_./:@%+=-`, on a line `NAME=VALUE`, "
    "and read it from `results` of that step"
)
"""What to do about a value that another step makes."""


class Loss(Struct, frozen=True, kw_only=True):
    """A part of a step that no job has."""

    what: str
    """As messages name it."""
    reason: Literal[
        "field",
        "files",
        "sdk",
        "store",
        "volume",
        "metadata",
        "imported",
        "uri",
        "output",
        "loop",
        "parallel",
        "condition",
        "start",
        "failure",
        "folder",
        "success",
        "executor",
    ] = "field"
    needed: bool = True
    """Whether the step cannot run without it."""
    task: str = ""
    """The task that has it, with all of its steps; empty for the step itself."""
    route: Route = ()
    """Route of that task, or of the field of the template."""


def with_places(losses: Iterable[Loss], template: Route, document: object) -> Iterator[Loss]:
    """The losses of a step, with the routes of the fields that its template has. `template` is a route in it."""
    size = template.index("templates") + 2 if "templates" in template else len(template)
    spec = template[: size - 2]  # with values of all templates
    for one in losses:
        field = one.what.strip("`").split(".")
        routes = ((*start, *field) for start in (template[:size], (*spec, "templateDefaults"), spec))
        known = [route for route in routes if follow(document, route) is not None]
        yield one if one.task or not known else replace(one, route=known[0])


_FILES: Final = frozenset({"arguments.artifacts", "inputs.artifacts", "outputs"})
_NEEDED: Final = frozenset({"arguments.artifacts", "daemon", "inputs.artifacts", "podSpecPatch", "sidecars"})


def lost_field(name: str) -> Loss:
    """The loss of a field of a task or of a template, or of a variable `$NAME` that only the pipeline sets."""
    if name.startswith("$"):
        return Loss(what=f"`{name}`", reason="executor", needed=False)
    return Loss(what=f"`{name}`", reason="files" if name in _FILES else "field", needed=name in _NEEDED)


def lost_of_task(loss: Loss, task: str, route: Route) -> Loss:
    """A loss of all steps of a task, at the field that has it if that is known."""
    return replace(loss, task=task, route=loss.route or route)


def lost_condition(text: str) -> Loss:
    return Loss(what=f"the condition `{text}`", reason="condition")


def lost_loop(field: str) -> Loss:
    return Loss(what=f"the loop `{field}`", reason="loop")


def lost_parallelism(at_once: int) -> Loss:
    return Loss(what=f"`iteratorPolicy.parallelismLimit: {at_once}`", reason="parallel", needed=False)


def lost_metadata(files: Mapping[str, str], artifacts: Collection[str], imported: Mapping[str, bool]) -> Iterator[Loss]:
    """The losses of functions in Python that read metadata of these inputs, which only the server of Kubeflow Pipelines
    hands on from the step that sets them. `imported` are those of importers, and whether their metadata are known.
    """
    nodes = (_nodes(files) if artifacts else []) or []
    origins = _origins(nodes, artifacts)
    written = {id(one.value) for one in nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)}
    read = [
        one for one in nodes if isinstance(one, ast.Attribute) and one.attr == "metadata" and id(one) not in written
    ]
    for name in dict.fromkeys(origins.get(_name(one.value), "") for one in read):
        if name in artifacts and not imported.get(name):
            reason: Literal["imported", "metadata"] = "imported" if name in imported else "metadata"
            yield Loss(what=f"the metadata of the artifact `{name}`", reason=reason)


def _nodes(files: Mapping[str, str]) -> list[ast.AST] | None:
    """The nodes of functions in Python; None if they are not valid."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return [one for source in files.values() for one in ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _origins(nodes: Iterable[ast.AST], artifacts: Iterable[str]) -> dict[str, str]:
    """The names of inputs, and of the items of loops over them, with the input of each."""
    loops = [one for one in nodes if isinstance(one, ast.For | ast.comprehension)]
    return {**{name: name for name in artifacts}, **{_name(one.target): _name(one.iter) for one in loops}}


_URIS: Final = names("custom_path path uri")


def moved_outputs(files: Mapping[str, str], component: object) -> set[str]:
    """The artifacts whose URI or path a function in Python sets: `_set_path` in `kfp/dsl/types/artifact_types.py`, and
    `mergeRuntimeArtifacts` in `backend/src/v2/component/launcher_v2.go` of kubeflow/pipelines. If a function returns
    several artifacts and sets the URI of one, all of them count.
    """
    made = as_mapping(at(component, "outputDefinitions", "artifacts"))
    nodes = (_nodes(files) if made else []) or []
    given = {name for one in nodes if isinstance(one, ast.arg) for name in (one.arg, _OF_PATH.sub("", one.arg))}
    returned = set(made) - given
    types = {str(at(one, "artifactType", "schemaTitle")).rpartition(".")[2] for one in made.values()}
    assigned: dict[str, list[ast.expr]] = {}
    for one in (node for node in nodes if isinstance(node, ast.Assign)):
        for target in one.targets:
            assigned.setdefault(_name(target), []).append(one.value)
    assigned.pop("", None)  # of other targets
    stored = {
        _name(one.value)
        for one in nodes
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and one.attr in _URIS
    }
    calls = [one for one in nodes if isinstance(one, ast.Call)]
    new = [one for one in calls if _last_name(one.func) in types]
    handed = {_name(one.value) for one in nodes if isinstance(one, ast.Return) and one.value is not None}
    if returned and handed:
        uris = [uri for one in new if (uri := _argument(one, 1, "uri")) is not None]
        uris = [value for one in uris for value in assigned.get(_name(one), [one])]
        uris = uris if new else [one for one in calls if _last_name(one.func) == _OF_TASK]
        again = any(value in new for name in stored for value in assigned.get(name, ()))
        inputs = as_mapping(at(component, "inputDefinitions", "artifacts"))
        if again or not handed.isdisjoint(inputs) or not all(_is_own(one, returned) for one in uris):
            stored |= returned
    return stored & set(made)


_OF_TASK: Final = "get_uri"
_OF_PATH: Final = regex("_(?:path|file)$")
"""Ends of names of arguments that the names of their outputs do not have."""


def _is_own(uri: ast.expr, outputs: Container[str]) -> bool:
    """Whether a URI is that of one of these outputs: in the folder of the task, with the name of the output."""
    if not isinstance(uri, ast.Call) or _last_name(uri.func) != _OF_TASK:
        return isinstance(uri, ast.Constant) and not uri.value
    suffix = _argument(uri, 0, "suffix")
    return (suffix.value if isinstance(suffix, ast.Constant) else None if suffix else "Output") in outputs


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), (*call.args, *[None] * 2)[place])


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else _name(function)


def lost_uris(
    words: Iterable[str], files: Mapping[str, str], uris: Mapping[str, Sequence[str]], moved: Container[str]
) -> Iterator[Loss]:
    """The losses of a program that uses the URIs or the files of artifacts, of which functions set those in `moved`."""
    used = (
        _read_files(files, uris, _NO_URI) if files else {one[1] for word in words for one in _PLACE_OF.finditer(word)}
    )
    for name in uris:
        if name in used and any(uri in moved for uri in uris[name]):
            yield Loss(what=f"the URI of the artifact `{name}`", reason="uri")


def _read_files(files: Mapping[str, str], artifacts: Collection[str], others: Collection[str] = ()) -> set[str]:
    """The inputs of functions in Python that may read files: which use more of them than their URI or their metadata,
    or `others`, or hand them on.
    """
    others = others or _OF_ARTIFACT
    nodes = _nodes(files)
    if nodes is None or any("InputPath" in source for source in files.values()):
        return set(artifacts)
    parents = {id(inner): one for one in nodes for inner in ast.iter_child_nodes(one)}
    origins = _origins(nodes, artifacts)

    def is_read(node: ast.AST) -> bool:
        outer = parents.get(id(node))
        while isinstance(outer, ast.Subscript | ast.BoolOp) or (
            isinstance(outer, ast.IfExp) and node is not outer.test
        ):
            node, outer = outer, parents.get(id(outer))
        if isinstance(outer, ast.Call):
            return _name(outer.func) not in _WITHOUT_FILES
        if isinstance(outer, ast.Attribute):
            return outer.attr not in others
        return not isinstance(outer, _TESTS)

    used = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return {origins[one.id] for one in used if origins.get(one.id) in artifacts and is_read(one)}


_WITHOUT_FILES: Final = names("bool len print repr str type")
_NO_URI: Final = names("metadata name schema_title schema_version")
_OF_ARTIFACT: Final = _NO_URI | {"uri"}
_TESTS: Final = (ast.For, ast.comprehension, ast.Compare, ast.If, ast.IfExp, ast.UnaryOp, ast.FormattedValue)


_URI: Final = regex(r"(?s)[a-z][a-z0-9+.-]*://.*")
_PLACE_OF: Final = regex(r"""\$\.inputs\.artifacts\[['"]([\w.-]+)['"]\]\.(path|uri)""")


def lost_files(
    words: Iterable[str], files: Mapping[str, str], pod: object, uris: Mapping[str, Sequence[str]]
) -> Iterator[Loss]:
    """The losses of a program that reads the files of artifacts with these URIs. Those of a store are downloaded by the
    launcher of Kubeflow Pipelines, and the path of another is on a volume.
    """
    mounts = [
        str(at(one, "mountPath"))
        for container in as_list(at(pod, "containers"))
        for one in as_list(at(container, "volumeMounts"))
    ]
    read = (
        _read_files(files, uris)
        if files
        else {match[1] for word in words for match in _PLACE_OF.finditer(word) if match[2] == "path"}
    )
    for name in (one for one in uris if one in read):
        for uri in uris[name]:
            if _URI.fullmatch(uri):
                yield Loss(what=f"the file `{uri[:_MAX_SHOWN]}` of the artifact `{name}`", reason="store")
            elif uri.startswith("/") and not any(uri.startswith(f"{mount.rstrip('/')}/") for mount in mounts):
                what = f"the volume with `{uri[:_MAX_SHOWN]}` of the artifact `{name}`"
                yield Loss(what=what, reason="volume", needed=False)


_PIN: Final = regex(r"\bkfp(?:\[[\w,-]*\])?==(([0-9]{1,4})\.([0-9]{1,4})[\w.]*)")
_FIRST_WITH_PATHS: Final = (2, 5)
_WITHOUT_VALUE: Final = "{{workflow.parameters."  # which has a finding of its own


def lost_of_function(
    files: Mapping[str, str],
    words: Iterable[str],
    component: object,
    uris: Mapping[str, Sequence[str]],
    imported: Mapping[str, bool],
) -> Iterator[Loss]:
    """The losses of a function in Python with artifacts of these URIs. Before version 2.5 of the SDK, one has only a
    path if its URI is that of a store: `_get_path` in `kfp/dsl/types/artifact_types.py`. Its executor makes those of
    outputs.
    """
    made = as_mapping(at(component, "outputDefinitions", "artifacts"))
    given = [name for name in uris if not all(one.startswith(_WITHOUT_VALUE) for one in uris[name])]
    yield from lost_metadata(files, given, imported)
    pin = next((match for word in words if (match := _PIN.search(word))), None) if files else None
    if pin is not None and (int(pin[2]), int(pin[3])) < _FIRST_WITH_PATHS:
        read = _read_files(files, uris)
        used = [name for name in uris if name in read and not all(map(_URI.fullmatch, uris[name]))]
        for name in (*used, *made):
            yield Loss(what=f"the path of the artifact `{name}` in kfp {pin[1]}", reason="sdk")


LIMIT: Final = "activeDeadlineSeconds"


def losses_of_all(
    fields: Iterable[str], route: Route, optional: Mapping[str, Route]
) -> Iterator[tuple[str, str, Route]]:
    """Messages about parts of a document that the job does not have, with remedies and routes: of fields below a route,
    and of optional inputs without a value.
    """
    for name in fields:
        why, hint = "a job has no such field", "check whether it is needed"
        if name == LIMIT:
            why, hint = "no field limits all steps together", "set `timeout`, which holds for each step"
        elif name == "volumeClaimTemplates":
            hint = "create the claims; runs share them, so write to folders `{{ run.id }}` on them"
        yield f"`{name}` of the pipeline is not carried: {why}", hint, (*route, name)
    for name, place in optional.items():
        message = f"the optional input `{name}` of the pipeline has no value, so no step has it"
        yield message, f"add `--define {name}=VALUE` to give it one", place


def of_steps(said: Iterable[tuple[str, Findings]], *, several: bool) -> Iterator[Diagnostic]:
    """Findings about the objects of steps, which have the names of the steps in a pipeline with several."""
    for step, found in said:
        run = f"{_RUN}-{step}" if several else _RUN
        for one in found:
            yield replace(one, message=one.message.replace(_RUN, run), hint=one.hint.replace(_RUN, run))


_RUN: Final = "{{ run.id }}"


def lost_outputs(leaf: Any, task: str, read: Container[str]) -> Iterator[Loss]:
    """The losses of values that only the pod of a task has, because no artifact gives it a folder on the volume. One
    that another task reads, by the placeholders of those, is a loss of that task. A program without a command cannot
    make the folder of its outputs.
    """
    outputs = as_mapping(at(leaf.component, "outputDefinitions"))
    container = next(iter(as_list(at(leaf.pod, "containers"))), None)
    if any(outputs.values()) and at(container, "args") and not at(container, "command"):
        yield Loss(what="the folder of the outputs", reason="folder")
    for name in as_mapping(outputs.get("parameters")) if not outputs.get("artifacts") else ():
        if f"{{{{tasks.{task}.outputs.parameters.{name}}}}}" not in read:
            yield Loss(what=f"the output `{name}`", reason="output", needed=False)


def remedy_without_value(name: str, value: str, *, of_function: bool = False) -> str:
    """What to do about an input that has `value` in its place, since nothing gives it one."""
    if name.lower() in _TRUTHS:
        return f"write the name `{name}` in quotes: without them, YAML reads a truth value"
    escaped = ", with the escapes at its start," if of_function else ","
    return f"replace `{value}` in the job{escaped} or import it again with `--define {name}=VALUE`"


def with_escapes(job: ImportedJob) -> ImportedJob:
    """The job with a remark if texts of `params` are parts of the inputs of functions, which are JSON in a shell."""
    steps = job.fields.get("steps", {"": job.fields}).values()
    texts = [" ".join(as_texts(as_list(one.get("command")) or [one.get("command")])) for one in steps]
    used = {name for text in texts for line in _INPUTS.findall(text) for name in _PARAM.findall(line)}
    if all(_PLAIN.fullmatch(str(value)) for name, value in job.fields.get("params", {}).items() if name in used):
        return job
    return replace(job, comment=f"{job.comment} {_ESCAPES}")


_INPUTS: Final = regex(r'"parameterValues": \{[^\n]*')
_PARAM: Final = regex(r"\{\{ params\.(\w+)")
_PLAIN: Final = regex(r"[0-9.eE+-]+|true|false|null")
_ESCAPES: Final = r"""`params` are parts of JSON: write `\u0027` for `'`, and in texts `\"` for `"` and `\\` for `\`."""


def remedy_of_left(parameters: Sequence[str]) -> str:
    """What to do about a task that no step does, because of the values of these parameters."""
    if not parameters:
        return "add the step by hand if it is needed"
    return f"import it again with `--define {parameters[0]}=VALUE` if the step is needed"


_TRUTHS: Final = names("y n yes no on off true false")


IS_TRUE: Final = "is not carried: it is true for"
OF_ITEMS: Final = "is decided at the import: its steps are those of"
_MAX_SHOWN: Final = 100


def decisions(
    decided: Mapping[tuple[str, str, Route], list[str]], values: Mapping[str, str], kept: Mapping[str, str]
) -> Iterator[tuple[str, str, Route]]:
    """The decisions of an import by parameters with these values, and remedies. `kept` are those of the job with their
    names there.
    """
    known: set[tuple[Route, str]] = set()
    for (what, why, route), given in decided.items():
        for name in [*(one for one in given if one in kept), *(one for one in given if one in values)][:1]:
            if (route, name) in known:
                continue  # of another item of a loop
            known.add((route, name))
            hint = f"import it again with `--define {name}=VALUE` if the value should be another one"
            if name in kept:
                param = f"`params.{kept[name]}`"
                hint = f"set {param} only to values for which it is true, or test it in the command"
                hint = f"add or remove steps with each change of {param}" if why == OF_ITEMS else hint
            yield f"{what} {why} `{name}: {values.get(name, '').strip()[:_MAX_SHOWN]}`", hint, route


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
