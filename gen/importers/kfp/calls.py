"""Calls of templates: the tasks of a pipeline without groups, each with its predecessors and conditions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Route, as_list, at, regex
from gen.importers.draft import is_secret, label
from gen.importers.kfp import graph
from gen.importers.kfp.argo_tasks import why_unknown, with_needs
from gen.importers.kfp.claims import OF_CLAIM, Around, on_kubernetes, with_workspace
from gen.importers.kfp.graph import ARTIFACT
from gen.importers.kfp.ir import QUOTED, artifacts_of, with_files
from gen.importers.kfp.losses import (
    IS_TRUE,
    OF_ITEMS,
    Loss,
    lost_condition,
    lost_field,
    lost_files,
    lost_of_function,
    lost_of_task,
    lost_parallelism,
    lost_uris,
    moved_outputs,
)
from gen.importers.kfp.step_names import MAX_NAMES, most_of_step
from gen.job.names import shortened
from gen.job.search import param_name
from gen.kubernetes.objects import Body

_MAX_CALLS: Final = 64
_MAX_TASKS: Final = 1000  # that are read, so that loops in loops end


_SUBMITS: Final = regex(r"\barena\b|apiVersion")
"""Words of steps that may create an object with pods in roles."""


def with_quoted(parameters: Mapping[str, str]) -> dict[str, str]:
    """Parameters, and those with `'` once more, as they are in quotes. The value of a secret is in neither."""
    own = {name: value for name, value in parameters.items() if "'" in value and not is_secret(name, value)}
    return {**parameters, **{f"{name}{QUOTED}": value.replace("'", r"\u0027") for name, value in own.items()}}


def expression(name: str) -> str:
    """The value of a parameter of a pipeline, as a job has it."""
    plain = name.removesuffix(QUOTED)
    return f"{{{{ params.{param_name(plain)}{_WITH_ESCAPES if plain != name else ''} }}}}"


_WITH_ESCAPES: Final = r' | replace("\u0027", "\\u0027")'
"""Filter of an expression with that value: `'` ends the quotes, and JSON has an escape for it."""


class Call(Struct, frozen=True, kw_only=True):
    """A template that runs, with the values of its inputs."""

    name: str
    """A name that no other call has."""
    task: str
    """Its name in the pipeline."""
    leaf: graph.Leaf
    route: Route
    values: Mapping[str, str]
    item: object = graph.NO_ITEM
    needs: tuple[str, ...] = ()
    when: graph.When = "succeeded"
    retries: graph.Retries = graph.NO_RETRIES
    lost: tuple[Loss, ...] = ()


def claim_of(call: Call, parameters: Mapping[str, str]) -> dict[str, str]:
    """The name of the claim that a step creates, its size, its class and its access mode, as far as they are known.
    `others` are fields that no volume of an overlay has; `unknown` is the part of the name that only a run has.
    """
    claim, given = call.leaf.claim, call.values
    if "inputs" in claim:  # of version 2
        name = given.get("pvc_name") or given.get("pvc_name_suffix", "")
        storage_class = given.get("storage_class_name") or given.get("storage_class", "")
        found = {"size": given.get("size", ""), "storageClass": storage_class}
        modes = given.get("access_modes", "")
        others = " ".join(key for key, text in given.items() if key not in OF_CLAIM and text not in ("", "{}", "null"))
    else:
        name, modes, others = claim["name"], claim["accessModes"], claim["others"]
        found = {key: claim[key] for key in ("size", "storageClass")}
    texts = {"name": name, "accessModes": modes, **found}
    texts = {key: graph.with_item(graph.with_values(text, given), call.item) for key, text in texts.items()}
    texts = {key: graph.with_defaults(text, parameters) for key, text in texts.items()}
    known = {key: "" if graph.PLACEHOLDER.search(text) else text for key, text in texts.items()}
    unknown = graph.PLACEHOLDER.search(graph.OF_RUN.sub("", texts["name"]))
    named = label(graph.PLACEHOLDER.sub("", texts["name"]), call.name)
    return {**known, "name": named, "others": others, "unknown": unknown[0] if unknown is not None else ""}


def _is_optional(template: graph.Leaf | graph.Group | None, name: str) -> bool:
    """Whether a template runs without a value of an input; a graph passes this on."""
    known = template.component if isinstance(template, graph.Leaf) else None
    part = "artifacts" if name.startswith(ARTIFACT) else "parameters"
    return known is None or at(known, "inputDefinitions", part, name.removeprefix(ARTIFACT), "isOptional") is True


class _Scope(Struct, frozen=True, kw_only=True):
    """The surroundings of a template: the values of its inputs, and the calls that it waits for."""

    values: Mapping[str, str]
    around: Mapping[str, str] = {}
    """Values of the inputs of the graph that calls the template."""
    absent: frozenset[str] = frozenset()
    """Inputs of that graph without a value."""
    unset: frozenset[str] = frozenset()
    """Inputs of the template that it passes on without a value."""
    item: object = graph.NO_ITEM
    needs: tuple[str, ...] = ()
    when: graph.When = "succeeded"
    retries: graph.Retries = graph.NO_RETRIES
    """Those of the task that calls the template."""
    lost: tuple[Loss, ...] = ()
    above: tuple[str, ...] = ()
    """Templates that are being read."""
    path: tuple[str, ...] = ()
    """Tasks of the groups around it."""


class _Ends(Struct, frozen=True, kw_only=True):
    """The calls of a task: the last ones, and all."""

    last: tuple[str, ...]
    every: tuple[str, ...]
    artifacts: Mapping[str, tuple[str, ...]] = {}
    """Paths of the artifacts that it makes, by name: one for each item of a loop."""
    is_left_out: bool = False
    """Whether its condition is false."""


def _together(every: Sequence[_Ends], last: tuple[str, ...]) -> _Ends:
    """A task that runs once for each of these."""
    names = dict.fromkeys(name for one in every for name in one.artifacts)
    return _Ends(
        last=tuple(dict.fromkeys(call for one in every for call in one.last)) if every else last,
        every=tuple(call for one in every for call in one.every),
        artifacts=_chosen({name: [(one, name) for one in every] for name in names}),
        is_left_out=not every,
    )


def _chosen(chosen: Mapping[str, Sequence[tuple[_Ends | None, str]]]) -> dict[str, tuple[str, ...]]:
    """The paths of artifacts that other tasks make, by name: those of tasks with a false condition have none. An
    artifact is not known without one of the others.
    """
    made = {}
    for name, every in chosen.items():
        sources = [(one, inner) for one, inner in every if one is None or not one.is_left_out]
        if all(one is not None and inner in one.artifacts for one, inner in sources):
            made[name] = tuple(path for one, inner in sources if one is not None for path in one.artifacts[inner])
    return made


class Reader:
    """Collects the calls of a pipeline."""

    def __init__(self, pipeline: graph.Pipeline) -> None:
        self.pipeline = pipeline
        self.calls: dict[str, Call] = {}
        self.lost: list[tuple[str, Route]] = []
        """Values of groups that no job has, with their routes."""
        self.left: dict[tuple[str, Route], list[str]] = {}
        """Tasks that no step does, with their routes, and the parameters that decide this."""
        self.decided: dict[tuple[str, str, Route], list[str]] = {}
        """Conditions that are true, and loops, of tasks with these routes, and the parameters that decide them."""
        self._tasks, self._most, self._only = 0, MAX_NAMES, ""
        self._homes: dict[str, set[tuple[str, ...]]] = {}
        """The tasks around each name of a task."""
        self._several: set[str] = set()
        """Names of tasks in several groups."""
        self._imported: dict[str, Body | None] = {}
        """Metadata of artifacts of importers, by their URIs; None if they are not known."""
        self._moved: set[str] = set()
        """Paths of artifacts that their functions have elsewhere."""

    def read(self) -> list[Call]:
        """The calls from the entry on. A document without one has each of its templates once. The second reading knows
        which names the tasks of several groups have, how much room is left by the name of the pipeline, and whether a
        single step `main` has that name.
        """
        if len(self._read()) > 1:
            programs = all(
                one.leaf.pod and not _SUBMITS.search(" ".join(one.leaf.words)) for one in self.calls.values()
            )
            most = most_of_step({"kind": "batch"}) if programs else MAX_NAMES
            self._most = max(most - len(label(self.pipeline.name, "pipeline")), most // 2)
        self._only = self.pipeline.name if [one.task for one in self.calls.values()] == ["main"] else ""
        self.calls, self.lost, self.left, self._tasks = {}, [], {}, 0
        self._imported, self._moved = {}, set()
        self._several = {name for name, paths in self._homes.items() if len(paths) > 1}
        return [self._with_claims(one) for one in self._read()]

    def _read(self) -> list[Call]:
        templates = self.pipeline.templates
        names = [name for name in self.pipeline.parameters if not name.startswith(ARTIFACT)]
        values = {f"{start}{name}": graph.of_pipeline(name) for start in ("", ARTIFACT) for name in names}
        if self.pipeline.entry in templates:
            self._template(self.pipeline.entry, "", (), _Scope(values=values))
        if self.pipeline.at_end is not None and self.pipeline.at_end in templates:
            scope = _Scope(values=values, needs=tuple(self.calls), when="ended")
            self._template(self.pipeline.at_end, self.pipeline.at_end, (), scope)
        if self.pipeline.entry not in templates and not self.calls:
            for name, one in templates.items():
                if isinstance(one, graph.Leaf):
                    self._template(name, name, (), _Scope(values={}))
        return list(self.calls.values())

    def _template(self, name: str, task: str, route: Route, scope: _Scope) -> _Ends:
        template = self.pipeline.templates.get(name)
        self._tasks += 1
        full = len(self.calls) >= _MAX_CALLS or self._tasks > _MAX_TASKS
        if name in scope.above and self.calls and template is not None:
            what, last = f"the loop of template `{name}`, which calls itself,", next(reversed(self.calls.values()))
            lost = Loss(what=what, reason="loop", task=task, route=route)
            self.calls[last.name] = replace(last, lost=(*last.lost, lost))
            return _Ends(last=scope.needs, every=())
        if template is None or name in scope.above or full:
            why = "it is a loop of" if name in scope.above else "too many steps before"
            if template is None:
                why = "`components` has no" if "" in self.pipeline.templates else why_unknown(name)
            self.left[f"task `{task}` is not carried: {why} `{name}`", route or self.pipeline.route] = []
            return _Ends(last=scope.needs, every=())
        if isinstance(template, graph.Leaf):
            return self._leaf(template, task or name, scope)
        return self._group(template, name, task, scope)

    def _leaf(self, leaf: graph.Leaf, task: str, scope: _Scope) -> _Ends:
        name = self._free(task, scope.path)
        retries = scope.retries if scope.retries is not graph.NO_RETRIES else leaf.retries
        values, parameters = {**leaf.defaults, **scope.values}, self.pipeline.parameters
        leaf = on_kubernetes(leaf, Around(values=scope.around, absent=scope.absent, parameters=parameters))
        metadata = {uri: known for uri, known in self._imported.items() if known is not None}
        words, made = leaf.words, with_files(leaf, self._folder(name, task), values, parameters, metadata)
        leaf = with_workspace(leaf, made, values, [(one.task, one.leaf.pod) for one in self.calls.values()])
        uris = {
            key.removeprefix(ARTIFACT): [str(one) for one in graph.items_of(text) or [text]]
            for key, value in values.items()
            if key.startswith(ARTIFACT)
            for text in [graph.with_defaults(value, parameters)]
        }
        imported = {
            key.removeprefix(ARTIFACT): set(every) <= metadata.keys()
            for key, value in values.items()
            if key.startswith(ARTIFACT) and set(every := graph.items_of(value) or [value]) & self._imported.keys()
        }
        lost_here = [*lost_of_function(leaf.files, leaf.words, leaf.component, uris, imported)]
        lost_here += [*lost_files(words, leaf.files, leaf.pod, uris), *lost_uris(words, leaf.files, uris, self._moved)]
        self.calls[name] = Call(
            name=name,
            task=task,
            leaf=leaf,
            route=leaf.route,
            values=values,
            item=scope.item,
            needs=scope.needs,
            when=scope.when,
            retries=retries,
            lost=(*map(lost_field, (*leaf.lost, *retries.lost)), *lost_here, *scope.lost),
        )
        made_here = artifacts_of(leaf, self._folder(name, task), values)
        for uri in {uri for uris in made_here.values() for uri in uris} if leaf.imports else ():
            same = self._imported.get(uri, leaf.imported) == leaf.imported
            self._imported[uri] = leaf.imported if same else None
        self._moved.update(*(made_here[one] for one in moved_outputs(leaf.files, leaf.component)))
        return _Ends(last=(name,), every=(name,), artifacts=made_here)

    def _free(self, wanted: str, path: tuple[str, ...]) -> str:
        """A name of a step after `wanted`, which no other has; of a task of several groups, after that of its group."""
        base = label(self._only or wanted, "step")
        self._homes.setdefault(base, set()).add(path)
        if base in self._several and path:
            alone = all(path not in paths for name, paths in self._homes.items() if name != base)
            base = label(path[-1] if alone else f"{path[-1]}-{base}", "step")
        base = shortened(base, self._most)
        base = base if base[:1].isalpha() and base != "main" else f"step-{base}"
        names = (f"{base}-{number}" if number else base for number in (0, *range(2, _MAX_CALLS + 2)))
        return next(name for name in names if name not in self.calls)

    def _folder(self, name: str, task: str) -> str:
        """The folder of the outputs of a step, which has the whole name of its task."""
        return whole if shortened(whole := label(task, "step"), self._most) == name else name

    def _group(self, group: graph.Group, name: str, task: str, scope: _Scope) -> _Ends:
        by_name = {one.name: one for one in group.tasks[:_MAX_TASKS]}
        self.lost += [one for one in group.lost if one not in self.lost]
        values = {**group.defaults, **scope.values}
        path = (*scope.path, task) if task else scope.path
        absent = (scope.unset | group.optional.keys()) - values.keys()
        inner = _Scope(values=values, absent=absent, item=scope.item, above=(*scope.above, name), path=path)
        if group.target:
            by_name, lost = self._wanted(group, task or name, by_name, inner)
            scope = replace(scope, lost=(*scope.lost, *lost))
        ends: dict[str, _Ends] = {}
        pending = list(by_name)
        while pending:
            ready = [one for one in pending if all(need in ends or need not in by_name for need in by_name[one].needs)]
            for one in ready or pending[:1]:  # a circle, which Argo refuses, is cut
                ends[one] = self._task(by_name[one], scope, inner, ends)
                pending.remove(one)
        needed = {need for one in by_name.values() for need in one.needs}
        last = tuple(call for one in ends if one not in needed for call in ends[one].last)
        chosen = {
            name: [(ends.get(maker), inner) for maker, inner in sources] for name, sources in group.artifacts.items()
        }
        return _Ends(
            last=tuple(dict.fromkeys(last)),
            every=tuple(call for one in ends.values() for call in one.every),
            artifacts=_chosen(chosen),
        )

    def _wanted(
        self, group: graph.Group, task: str, tasks: dict[str, graph.Task], inner: _Scope
    ) -> tuple[dict[str, graph.Task], tuple[Loss, ...]]:
        """The tasks that the target of a group selects; the loss of one that is not known."""
        target, wanted = self._known(group.target, inner), with_needs(self._known(group.target, inner), tasks)
        route = next((one.route[:-2] for one in tasks.values()), ())
        if wanted is None:
            return tasks, (
                Loss(what=f"the target `{target}`", reason="condition", task=task, route=(*route, "target")),
            )
        names = graph.PARAMETER.findall(graph.with_values(group.target, inner.values))
        for name in (one for one in tasks if one not in wanted):
            self.left[f"task `{name}` is left out: `target: {target}` does not need it", tasks[name].route] = names
        if names and len(wanted) == len(tasks):
            self.decided[f"the target of `{task}`", OF_ITEMS, route] = names
        return wanted, ()

    def _task(self, task: graph.Task, scope: _Scope, inner: _Scope, ends: Mapping[str, _Ends]) -> _Ends:
        known = [ends[need] for need in task.needs if need in ends]
        parts = [one.every if task.when == "failed" else one.last for one in known]
        needs = tuple(dict.fromkeys(call for one in parts for call in one))
        when: graph.When = task.when
        if not task.needs:
            needs, when = scope.needs, scope.when
        called = self.pipeline.templates.get(task.calls)
        gone = frozenset(
            key
            for key, text in task.values.items()
            if (match := graph.INPUT.fullmatch(text)) and match[1] in inner.absent and _is_optional(called, key)
        )
        values = {key: self._of_outputs(text, ends) for key, text in task.values.items() if key not in gone}
        return self._calls(replace(task, values=values, unset=gone), needs, when, scope.lost, inner)

    def _with_claims(self, call: Call) -> Call:
        """A call with the names of claims that tasks create, also those behind it: older compilers have no order."""
        pod = call.leaf.pod
        if not pod.get("volumes"):
            return call
        volumes = [self._claimed(one) for one in as_list(pod["volumes"])]
        return replace(call, leaf=replace(call.leaf, pod={**pod, "volumes": volumes}))

    def _claimed(self, volume: Body) -> Body:
        """A volume with the name of the claim that a task creates."""
        claim = at(volume, "persistentVolumeClaim")
        match = graph.OUTPUT.fullmatch(str(at(claim, "claimName")))
        made = [one for one in self.calls.values() if match is not None and one.task == match[1] and one.leaf.claim]
        return {**volume, "persistentVolumeClaim": {"claimName": self._claim(made[-1])}} if made else volume

    def _claim(self, call: Call) -> str:
        return claim_of(call, self.pipeline.parameters)["name"]

    def _of_outputs(self, text: str, ends: Mapping[str, _Ends]) -> str:
        """A text with the paths of artifacts, in a list of those of a loop, and names of objects and claims."""

        def known(match: re.Match[str]) -> str:
            if match[2] == "artifacts":
                paths = ends[match[1]].artifacts.get(match[3], ()) if match[1] in ends else ()
                if text.startswith("[") and paths:
                    return ", ".join(map(json.dumps, paths))
                return paths[0] if len(paths) == 1 else match[0]
            calls = [self.calls[one] for one in (ends[match[1]].every if match[1] in ends else ())]
            if len(calls) == 1 and calls[0].leaf.manifest and match[3] in calls[0].leaf.named:
                return f"{graph.RUN_ID}-{calls[0].name}"
            is_claim = len(calls) == 1 and calls[0].leaf.claim and match[3].endswith("name")
            return self._claim(calls[0]) if is_claim else match[0]

        return graph.OUTPUT.sub(known, text)

    def _calls(
        self, task: graph.Task, needs: tuple[str, ...], when: graph.When, lost: tuple[Loss, ...], inner: _Scope
    ) -> _Ends:
        made, of_task = [], partial(lost_of_task, task=task.name, route=task.route)
        if task.retries.limit and isinstance(self.pipeline.templates.get(task.calls), graph.Group):
            lost = (*lost, of_task(lost_field(task.retries.field)))
        items, looped = task.items, any(one.reason == "loop" for one in task.lost)
        if task.loop:
            items = graph.items_of(self._part(self._known(task.loop, inner), task.selected.get("")))
            if items is not None and (names := graph.PARAMETER.findall(graph.with_values(task.loop, inner.values))):
                self.decided[f"the loop of task `{task.name}`", OF_ITEMS, task.route] = names
        lost = (*lost, *(of_task(one) for one in task.lost if items is None or one.reason != "loop"))
        if task.at_once and len(items or ()) > task.at_once:
            lost = (*lost, of_task(lost_parallelism(task.at_once)))
        for item in items if items is not None else (graph.NO_ITEM if looped else inner.item,):
            given = {
                key: text if key in task.joined else graph.with_item(graph.with_values(text, inner.values), item)
                for key, text in task.values.items()
            }
            values = {key: self._part(text, task.selected.get(key)) for key, text in given.items()}
            values |= {key: graph.with_values(values[key], values) for key in task.joined & values.keys()}
            parts = {key: given[key] for key in task.selected if values.get(key) != given.get(key)}
            own = {**inner.values, **{key: values[key] for key in parts}}
            condition = graph.with_item(graph.with_values(task.condition, own), item)
            true = graph.holds(graph.with_defaults(condition, self.pipeline.parameters))
            shown = graph.in_ir(condition) if "" in self.pipeline.templates else condition
            names = graph.PARAMETER.findall(graph.with_values(task.condition, {**inner.values, **parts}))
            if condition and true is False:
                whose = f" for the item `{graph.as_text(item)[:MAX_NAMES]}`" if item is not graph.NO_ITEM else ""
                self.left[f"task `{task.name}` is left out{whose}: its condition `{shown}` is false", task.route] = (
                    names
                )
                continue
            if true and names:
                self.decided[f"the condition `{shown}` of task `{task.name}`", IS_TRUE, task.route] = names
            starts = graph.status_in(condition) if needs else None
            unknown = (of_task(lost_condition(shown)),) if condition and starts is None and true is None else ()
            scope = replace(inner, values=values, around=inner.values, item=item, needs=needs, when=starts or when)
            scope = replace(scope, unset=task.unset, retries=task.retries, lost=(*lost, *unknown))
            made.append(self._template(task.calls, task.name, task.route, scope))
            if self._tasks > _MAX_TASKS:
                break
        return _together(made, needs)

    def _known(self, text: str, inner: _Scope) -> str:
        """A text with the values of inputs and of the parameters of the pipeline."""
        text = graph.with_item(graph.with_values(text, inner.values), inner.item)
        return graph.with_defaults(text, self.pipeline.parameters)

    def _part(self, text: str, route: Route | None) -> str:
        """The part of a value in JSON at a route; the text itself if it has no such part."""
        if not route:
            return text
        try:
            value: Any = json.loads(graph.with_defaults(text, self.pipeline.parameters))
            for step in route:
                value = value[step]
        except (ValueError, RecursionError, LookupError, TypeError):
            return text
        return graph.as_text(graph.whole(value))
