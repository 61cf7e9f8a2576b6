"""An Experiment of Katib as a job with a `search`: its trial is imported as an object of its own kind.

Meanwhile, the texts of the trial have the placeholders of gen in place of `${trialParameters.…}`. The trial and the
object around it are compared with their originals one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, Final

from msgspec.structs import replace

from gen.base import (
    Findings,
    Location,
    Route,
    as_list,
    as_mapping,
    as_mappings,
    as_texts,
    at,
    regex,
    with_field,
    with_texts,
)
from gen.base.codes.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.base.placeholders import PARAMETER, TRIAL, parameter, parameters_in, readable
from gen.base.yaml.user_text import written
from gen.importers import Fields, ImportedJob, Original
from gen.importers.cleaning import cleaned
from gen.importers.comparison import without_defaults
from gen.importers.draft import JobDraft, literals, texts_in
from gen.importers.manifests.objects import Item, container_route, templates
from gen.importers.manifests.others import KEPT, kind_of
from gen.importers.manifests.pods import carry_metadata, script_place, without_metadata
from gen.importers.overlay_needs import merge
from gen.job.kinds import ALL_KINDS
from gen.job.search import NUMBER, WHOLE, param_name
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.katib import (
    ALGORITHMS,
    EXPERIMENT,
    OF_TRIAL,
    STOPPERS,
    TRIAL_NAME,
    TRIAL_RESOURCES,
    condition,
    trial_resource,
    with_trial_parameters,
)
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.objects import Body, present

Make = Callable[[Item, tuple[str, Resource]], Iterable[ImportedJob]]
"""Imports the object of a kind."""

_ALGORITHM: Final = ("spec", "algorithm", "algorithmName")
_DIRECTIONS: Final = ("maximize", "minimize")
_MOST_FAILED: Final = 3
_AT_ONCE: Final = 3
"""Trials at the same time without `parallelTrialCount` (`experiment_defaults.go`)."""
_USE: Final = regex(r"\$\{trialParameters\.([^{}]+)\}")
_OF_OBJECT: Final = regex(r"\$\{trialSpec\.(\w+)(?:\[(.+)\])?\}")
_METADATA: Final = {"Labels": "labels", "Annotations": "annotations"}


def is_search(item: Item) -> bool:
    facts = resource_of_object(item.body["apiVersion"], item.body["kind"])
    return facts is not None and facts.holds is not None


def with_source(item: Item, every: Sequence[Item], used: dict[int, bool]) -> Item:
    """An Experiment with the object of its trials, if it is a text of a ConfigMap of the same input."""
    source = as_mapping(at(item.body, *TEMPLATE, "configMap"))
    for one in every if source else ():
        is_named = (one.body["kind"], one.name) == ("ConfigMap", source.get("configMapName"))
        text = at(one.body, "data", str(source.get("templatePath")))
        if is_named and one.namespace in ("", source.get("configMapNamespace")) and isinstance(text, str):
            read = read_manifests(text.encode("utf-8", "surrogateescape"), "", Findings())
            trial = next(iter(read.documents if read is not None else ()), None)
            used[id(one)] = True
            body = with_field(with_field(item.body, (*TEMPLATE, "configMap"), None), TRIAL_ROUTE, trial)
            return replace(item, body=body)
    return item


def read_search(item: Item, namespace: str, make: Make, found: Findings) -> Iterator[ImportedJob]:
    """The job of an Experiment with a name in a namespace; none after an error."""
    before = len(found.items)
    for place, message, hint in _problems(item):
        found.error(INVALID_MANIFEST, place, message, hint)
    if len(found.items) > before:
        return
    names = _names(item, found)
    values = dict(_values(item, namespace, names, found))
    spec = with_texts(at(item.body, *TRIAL_ROUTE), lambda text: _USE.sub(lambda use: values.get(use[1], use[0]), text))
    trial = _trial(item, spec)
    known = kind_of(trial.body)
    if known is None or any(one.is_error for one in found.items[before:]):
        return
    for job in make(trial, known):
        if _has_places(job, item, found):
            yield _with_search(job, item, known, names, found)


def _problems(item: Item) -> Iterator[tuple[Location, str, str]]:
    """Why an Experiment cannot be a job, with the remedies."""
    spec = as_mapping(item.body.get("spec"))
    trial, source = at(item.body, *TRIAL_ROUTE), at(item.body, *TEMPLATE, "configMap")
    if spec.get("nasConfig") is not None:
        message = "unsupported `nasConfig`: a `search` looks for values of parameters, and not for a network"
        yield item.place("spec", "nasConfig"), message, KEPT
    for route, known in ((_ALGORITHM, ALGORITHMS), (("spec", "earlyStopping", "algorithmName"), STOPPERS)):
        name = at(item.body, *route)
        if name is not None and str(name) not in known:
            hint = f"choose one of {', '.join(f'`{one}`' for one in known)}, or {KEPT}"
            yield item.place(*route), f"unsupported algorithm `{name}` of a search", hint
    if not isinstance(at(item.body, "spec", "maxTrialCount"), int):
        message = "`maxTrialCount` is missing, and a `search` needs a number of trials at which it ends"
        yield item.place("spec"), message, "add `maxTrialCount`"
    if not isinstance(trial, dict) or not all(isinstance(trial.get(one), str) for one in ("apiVersion", "kind")):
        where: Route = TEMPLATE if source is None else (*TEMPLATE, "configMap")
        why = ", and the input does not have the ConfigMap with it" if source is not None else ""
        hint = "write the object there, or add the ConfigMap" if source is not None else "write the object there"
        yield item.place(*where), f"`spec.trialTemplate.trialSpec` is missing{why}", hint
        return
    found = kind_of(trial)
    if found is None or found[1].trial is None:
        kinds = sorted({one.facts.kind for one in ALL_KINDS.values() if one.facts.trial is not None})
        message = f"unsupported kind of trials: {trial['kind']} of {trial['apiVersion']}"
        hint = f"use one of these kinds: {', '.join(kinds)}; or {KEPT}"
        yield item.place(*TRIAL_ROUTE, "kind"), message, hint


def _trial(item: Item, spec: Body) -> Item:
    """The object of the trials, with the name and the namespace of the Experiment."""
    own = {name: item.body["metadata"][name] for name in ("namespace",) if name in item.body["metadata"]}
    body = {**spec, "metadata": {**as_mapping(spec.get("metadata")), "name": item.name, **own}}
    return replace(item, body=body, at=(*item.at, *TRIAL_ROUTE))


def _names(item: Item, found: Findings) -> dict[str, str]:
    """The parameters, each with its name in a job."""
    names: dict[str, str] = {}
    for number, one in enumerate(as_list(at(item.body, "spec", "parameters"))):
        given = str(at(one, "name"))
        first = param_name(given)
        free = (one for one in chain([first], (f"{first}_{more}" for more in count(2))) if one not in names.values())
        names[given] = next(free)
        if names[given] != given:
            place = item.place("spec", "parameters", number, "name")
            message = f"the parameter `{given}` is `{names[given]}` in the job, where names have no other characters"
            found.warning(NOT_CARRIED, place, message, "look for the new name in the results of the search")
    return names


def _values(item: Item, namespace: str, names: Mapping[str, str], found: Findings) -> Iterator[tuple[str, str]]:
    """By trial parameter: its placeholder, or its value if all trials have the same."""
    trial = at(item.body, *TRIAL_ROUTE)
    known = {"Namespace": namespace, "Kind": at(trial, "kind"), "APIVersion": at(trial, "apiVersion")}
    declared = set()
    for number, one in enumerate(as_list(at(item.body, *TEMPLATE, "trialParameters"))):
        name, reference = str(at(one, "name")), str(at(one, "reference"))
        declared.add(name)
        of_object = _OF_OBJECT.fullmatch(reference)
        if of_object is not None and of_object[2]:
            value = at(trial, "metadata", _METADATA.get(of_object[1], ""), of_object[2])
        else:
            value = known.get(of_object[1]) if of_object is not None else None
        if reference == TRIAL_NAME:
            yield name, TRIAL
        elif reference in names:
            yield name, parameter(names[reference])
        elif value is not None:
            yield name, str(value)
        else:
            place = item.place(*TEMPLATE, "trialParameters", number)
            message = f"the trial parameter `{name}` refers to the unknown parameter `{reference}`"
            found.error(INVALID_MANIFEST, place, message, "refer to one of `parameters`, such as `reference: lr`")
    for route, text in texts_in(trial, TRIAL_ROUTE):
        for use in _USE.finditer(text):
            if use[1] not in declared:
                message = f"`{use[0]}` is missing in `trialParameters`"
                found.error(INVALID_MANIFEST, item.place(*route), message, "add it there, as Katib requires")
                declared.add(use[1])


def _has_places(job: ImportedJob, item: Item, found: Findings) -> bool:
    """Whether no field of an overlay depends on the trial."""
    texts = [text for _, text in texts_in([job.overlay, job.grants])]
    bad = next((text for text in texts if PARAMETER in text or TRIAL in text), None)
    if bad is not None:
        message = f"`{readable(bad)}` is a value of the overlay, and is the same for all trials"
        found.error(
            INVALID_MANIFEST, item.place(*TRIAL_ROUTE), message, "write the value in place of the trial parameter"
        )
    return bad is None


def _with_search(
    job: ImportedJob, item: Item, known: tuple[str, Resource], names: Mapping[str, str], found: Findings
) -> ImportedJob:
    """The job of the trial with the search around it."""
    draft = JobDraft(job.name, known[0], job.namespace, item.place("metadata"), found)
    carry_metadata(draft, item, item.body, EXPERIMENT)
    search = _search(item, names)
    overlay: Fields = {**job.overlay}
    grants: Fields = {}
    merge(grants, job.grants)
    merge(grants, draft.grants)
    grants["search"] = {"maxTrials": search["maxTrials"], "parallelTrials": search.get("parallelTrials", 1)}
    run = job.originals[0].body
    if (resource := trial_resource(run["kind"], run["apiVersion"])) not in TRIAL_RESOURCES:
        overlay["katib"] = {"trialResources": [resource]}
    report_words(item, run, known[1], found)
    own = {name: draft.fields.get(name) for name in _METADATA.values()}  # those of the trial are in a patch
    objective = as_mapping(at(item.body, "spec", "objective"))
    metrics = [*filter(None, [objective.get("objectiveMetricName")]), *as_list(objective.get("additionalMetricNames"))]
    fields = present(**{**with_texts(job.fields, readable), **own}, metrics=literals(metrics), search=search)
    places = {readable(field): place for field, place in job.places.items()}
    trial = replace(job.originals[0], body=with_texts(run, with_trial_parameters), held=True)
    around = Original(body=experiment(item, known, run, names, found), place=item.place())
    return replace(
        job,
        fields=fields,
        overlay=overlay,
        grants=grants,
        comment=f"Imported from {EXPERIMENT.kind} {item.name}.",
        place=draft.place,
        places={**places, **draft.places, **_places(item, search, names)},
        originals=(trial, around),
    )


def _search(item: Item, names: Mapping[str, str]) -> Fields:
    """The fields of the search; without a limit, as many trials can fail as there are."""
    spec = item.body["spec"]
    objective = as_mapping(spec.get("objective"))
    most, at_once = spec["maxTrialCount"], spec.get("parallelTrialCount", _AT_ONCE)
    failed = spec.get("maxFailedTrialCount", most)
    algorithm = _algorithm(spec.get("algorithm"), names)
    return present(
        **{name: objective.get("objectiveMetricName") for name in _DIRECTIONS if name == objective.get("type")},
        goal=objective.get("goal"),
        params={names[str(one.get("name"))]: _space(one) for one in as_mappings(spec.get("parameters"))},
        algorithm=algorithm if algorithm != "random" else None,
        maxTrials=most,
        parallelTrials=at_once if at_once != 1 else None,
        maxFailedTrials=failed if failed != min(_MOST_FAILED, most) else None,
        earlyStopping=_algorithm(spec.get("earlyStopping"), names),
    )


def _algorithm(given: object, names: Mapping[str, str]) -> Any:
    """An algorithm in its short form, if it has no settings."""
    name, settings = at(given, "algorithmName"), as_mappings(at(given, "algorithmSettings"))
    made = {str(one.get("name")): setting(one, names) for one in settings}
    return {"name": name, "settings": made} if made else name


def _space(one: Body) -> object:
    """The values of a parameter, in the short form if that means the same."""
    space, kind = as_mapping(one.get("feasibleSpace")), one.get("parameterType")
    if "list" in space:
        values = [str(value) for value in as_list(space["list"])]
        short = "discrete" if all(map(NUMBER.fullmatch, values)) else "categorical"
        return literals(values) if kind == short else present(values=literals(values), type=kind)
    numbers = {name: str(space[name]) for name in ("min", "max", "step") if space.get(name) not in (None, "")}
    is_clear = kind == "double" and not all(map(WHOLE.fullmatch, numbers.values()))
    spread = space.get("distribution")
    return {**numbers, **present(type=None if is_clear else kind, distribution=spread if spread != "uniform" else None)}


def _places(item: Item, search: Fields, names: Mapping[str, str]) -> dict[str, Location]:
    """The places of the fields of a search, and of the lines of its parameters."""
    routes: dict[str, Route] = {
        "": (),
        "maximize": ("objective", "objectiveMetricName"),
        "minimize": ("objective", "objectiveMetricName"),
        "goal": ("objective", "goal"),
        "params": ("parameters",),
        "algorithm": ("algorithm",),
        "maxTrials": ("maxTrialCount",),
        "parallelTrials": ("parallelTrialCount",),
        "maxFailedTrials": ("maxFailedTrialCount",),
        "earlyStopping": ("earlyStopping",),
    }
    made = {f"search.{name}".rstrip("."): item.place("spec", *route) for name, route in routes.items()}
    made["metrics"] = item.place("spec", "objective")
    for number, given in reversed([*enumerate(names)]):
        place = item.place("spec", "parameters", number)
        for line in written({names[given]: as_mapping(search.get("params")).get(names[given])}).splitlines():
            made[f"search.{line.strip()}"] = place
    return made


TEMPLATE: Final = ("spec", "trialTemplate")
TRIAL_ROUTE: Final = (*TEMPLATE, "trialSpec")
_OF_SHELL: Final = regex(r"[\s\"'\\`;&|<>()*?\[]|\$(?!\{trialParameters\.)|^$")
"""What a shell reads as something else than a part of a word."""
_OF_KUBELET: Final = regex(r"\$\([\w.-]+\)")
"""A variable that Kubernetes replaces before."""


def experiment(item: Item, known: tuple[str, Resource], run: Body, names: Mapping[str, str], found: Findings) -> Body:
    """The Experiment with the names that parameters have in a job, for a kind and facts of its trials. `run` is the
    trial with placeholders of gen.
    """
    body = without_defaults(cleaned(item.body), EXPERIMENT)
    body = {**_without_policy(item, body, found), "metadata": without_metadata(body["metadata"])}
    spec = body["spec"]
    collector = as_mapping(spec.get("metricsCollectorSpec"))
    spaces = ({**one, "name": names.get(str(one.get("name")), "")} for one in as_mappings(spec.get("parameters")))
    algorithms = {
        name: _rendered_algorithm(spec[name], names) for name in ("algorithm", "earlyStopping") if name in spec
    }
    spec = {
        **spec,
        **algorithms,
        **present(metricsCollectorSpec={"collector": {"kind": "StdOut"}, **collector} if collector else None),
        "objective": _objective(as_mapping(spec.get("objective"))),
        "parameters": sorted(spaces, key=lambda one: str(one["name"])),
        "trialTemplate": _template(item, as_mapping(spec.get("trialTemplate")), known, run),
    }
    return {**body, "spec": spec}


def _without_policy(item: Item, body: Body, found: Findings) -> Body:
    """The Experiment without a policy to resume it, which is reported."""
    policy = body["spec"].get("resumePolicy")
    if policy is None:
        return body
    why = "an edited search is another one, which starts from the beginning"
    hint = "remove it, and choose a `maxTrialCount` that is enough"
    place = item.place("spec", "resumePolicy")
    found.warning(NOT_CARRIED, place, f"`resumePolicy: {policy}` is not carried: {why}", hint)
    return with_field(body, ("spec", "resumePolicy"), None)


def _objective(given: Body) -> Body:
    """The objective without the strategies that Katib has by default (`experiment_defaults.go`)."""
    best = {"minimize": "min", "maximize": "max"}.get(str(given.get("type")))
    kept = [one for one in as_list(given.get("metricStrategies")) if at(one, "value") != best]
    return {
        **{name: one for name, one in given.items() if name != "metricStrategies"},
        **present(metricStrategies=kept),
    }


def _rendered_algorithm(given: object, names: Mapping[str, str]) -> Body:
    every = sorted(as_mappings(at(given, "algorithmSettings")), key=lambda one: str(one.get("name")))
    return {
        **as_mapping(given),
        **present(algorithmSettings=[{**one, "value": setting(one, names)} for one in every]),
    }


def setting(given: Body, names: Mapping[str, str]) -> str:
    """The value of a setting of an algorithm, which can be the name of a parameter."""
    value = str(given.get("value", ""))
    settings = (one for known in ALGORITHMS.values() for one in known.settings.items())
    is_name = any(one.parameter and name == given.get("name") for name, one in settings)
    return names.get(value, value) if is_name else value


def _template(item: Item, given: Body, known: tuple[str, Resource], run: Body) -> Body:
    """The template with the defaults for its kind, the name of the container in a job, and its trial parameters."""
    kind, facts = known
    trial: Body = at(item.body, *TRIAL_ROUTE)
    made = {name: one for name, one in given.items() if name != "trialSpec"}
    containers = [one.container.get("name") for one in templates(facts, trial)]
    if given.get("primaryContainerName") in containers:
        made["primaryContainerName"] = ALL_KINDS[kind].main_container()
    if trial_resource(run["kind"], run["apiVersion"]) in TRIAL_RESOURCES:
        made.setdefault("successCondition", condition(facts.status))
        made.setdefault("failureCondition", condition(facts.status, failed=True))
    texts = [text for _, text in texts_in(run)]
    used = {name: name for text in texts for name in parameters_in(text)}
    used |= {OF_TRIAL: TRIAL_NAME} if any(TRIAL in text for text in texts) else {}
    return {**made, "trialParameters": [{"name": name, "reference": used[name]} for name in sorted(used)]}


def report_words(item: Item, trial: Body, facts: Resource, found: Findings) -> None:
    """Report the first word that the shell of Katib changes, and gen keeps."""
    for one in templates(facts, trial):
        words = [*as_texts(one.container.get("command")), *as_texts(one.container.get("args"))]
        texts = map(with_trial_parameters, words)
        word = next((text for text in texts if _OF_SHELL.search(_OF_KUBELET.sub("-", text))), None)
        if word is not None and script_place(words) is None:
            message = f"the program gets `{word}` as it is: Katib joins the words of a command, and a shell reads them"
            place = item.place(*TRIAL_ROUTE, *container_route(one, facts.container), "command")
            found.warning(NOT_CARRIED, place, message, "write it as the shell would pass it on")
            return
