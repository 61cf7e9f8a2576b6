"""An Experiment of Katib without its trial, in the form of gen, for the comparison with that of an imported job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gen.base import Findings, as_list, as_mapping, as_mappings, as_texts, at, regex, with_field
from gen.base.codes.imports import NOT_CARRIED
from gen.base.placeholders import TRIAL, parameters_in
from gen.importers.cleaning import cleaned
from gen.importers.comparison import without_defaults
from gen.importers.draft import texts_in
from gen.importers.manifests.objects import Item, container_route, templates
from gen.importers.manifests.pods import script_place, without_metadata
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.katib import (
    ALGORITHMS,
    EXPERIMENT,
    OF_TRIAL,
    TRIAL_NAME,
    TRIAL_RESOURCES,
    condition,
    trial_resource,
    with_trial_parameters,
)
from gen.kubernetes.objects import Body, present

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
    algorithms = {name: _algorithm(spec[name], names) for name in ("algorithm", "earlyStopping") if name in spec}
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


def _algorithm(given: object, names: Mapping[str, str]) -> Body:
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
