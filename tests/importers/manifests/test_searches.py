"""Experiments of Katib as jobs with a `search`."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base import Findings, follow
from gen.importers.draft import check_text, text_of
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, Proof, overlay_text, prove
from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL, an_object, pod
from tests.importers.manifests.proofs import messages, proof_of, read
from tests.importers.support import run_import
from tests.support import HERE, PROJECT, Repository

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = ["python", "train.py", "--lr=${trialParameters.rate}"]
TEMPLATE: dict[str, Any] = {
    "primaryContainerName": "main",
    "trialParameters": [{"name": "rate", "description": "learning rate", "reference": "lr"}],
    "trialSpec": {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {"template": {"spec": {**pod("main", command=COMMAND)["spec"], "restartPolicy": "Never"}}},
    },
}
SPEC: dict[str, Any] = {
    "objective": {"type": "maximize", "goal": 0.97, "objectiveMetricName": "accuracy"},
    "algorithm": {"algorithmName": "random"},
    "maxTrialCount": 12,
    "maxFailedTrialCount": 3,
    "parameters": [
        {"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.05"}},
    ],
    "trialTemplate": TEMPLATE,
}


def experiment(**changes: Any) -> dict[str, Any]:
    """An Experiment with other fields of `spec`; None removes one."""
    spec = {name: value for name, value in {**SPEC, **changes}.items() if value is not None}
    return an_object("kubeflow.org/v1beta1", "Experiment", deepcopy(spec))


def with_template(**changes: Any) -> dict[str, Any]:
    return experiment(trialTemplate={**TEMPLATE, **changes})


def with_trial(*reads: tuple[str, str], **container: Any) -> dict[str, Any]:
    """An Experiment whose trials have other fields of the container, and trial parameters with their references."""
    template = deepcopy(TEMPLATE)
    template["trialSpec"]["spec"]["template"]["spec"]["containers"][0] |= container
    template["trialParameters"] += [{"name": name, "reference": reference} for name, reference in reads]
    return experiment(trialTemplate=template)


def proofs_of(body: dict[str, Any]) -> list[Proof]:
    """The proofs of the trial and of the object around it."""
    jobs, found = read(body)
    assert not found.failed(), list(found)
    (job,) = jobs
    check_text(job, text_of(job, ""), found)
    made = [*prove(PROJECT, job, NAME, overlay_text(fragment([job])), found)]
    assert not found.failed(), list(found)
    assert [one.remaining for one in made] == [(), ()]
    return made


def search_of(body: dict[str, Any]) -> Any:
    """The search of a job without patches."""
    trial, around = proofs_of(body)
    assert (trial.patch, around.patch) == (None, None)
    return trial.job.fields["search"]


def operations(body: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """The kinds, paths and values of the patches."""
    patches = [one.patch for one in proofs_of(body) if one.patch is not None]
    return [(one["target"]["kind"], op["path"], op["value"]) for one in patches for op in one["patch"]]


def problems(body: dict[str, Any]) -> list[tuple[str, str]]:
    _, found = read(body)
    return [(item.message, item.hint) for item in found if item.is_error]


def test_an_experiment_is_a_job_of_the_kind_of_its_trials_with_a_search() -> None:
    (job,), found = read(experiment())
    assert [*found] == []
    assert job.fields == {
        "kind": "batch",
        "image": "registry.example.com/train:1",
        "command": ["python", "train.py", "--lr={{ params.lr }}"],
        "metrics": ["accuracy"],
        "search": {
            "maximize": "accuracy",
            "goal": 0.97,
            "params": {"lr": {"min": "0.01", "max": "0.05"}},
            "maxTrials": 12,
            "parallelTrials": 3,
        },
    }
    assert job.grants == {"search": {"maxTrials": 12, "parallelTrials": 3}}
    search_of(experiment())


@for_each(
    ("kind", "space", "expected"),
    [
        ("double", {"min": "1", "max": "2"}, {"min": "1", "max": "2", "type": "double"}),
        ("int", {"min": "1", "max": "9", "step": "2"}, {"min": "1", "max": "9", "step": "2", "type": "int"}),
        (
            "double",
            {"min": "0.1", "max": "1", "distribution": "logUniform"},
            {"min": "0.1", "max": "1", "distribution": "logUniform"},
        ),
        ("double", {"min": "0.1", "max": "1", "distribution": "uniform"}, {"min": "0.1", "max": "1"}),
        ("discrete", {"list": ["0.1", "0.2"]}, ["0.1", "0.2"]),
        ("categorical", {"list": ["sgd", "adam"]}, ["sgd", "adam"]),
        ("categorical", {"list": ["1", "2"]}, {"values": ["1", "2"], "type": "categorical"}),
    ],
)
def test_each_space_has_its_form(kind: str, space: dict[str, Any], expected: object) -> None:
    given = [{"name": "lr", "parameterType": kind, "feasibleSpace": space}]
    assert search_of(experiment(parameters=given))["params"] == {"lr": expected}


@for_each(
    ("changes", "expected"),
    [
        ({"parallelTrialCount": 1, "maxFailedTrialCount": 2}, {"parallelTrials": None, "maxFailedTrials": 2}),
        ({"maxFailedTrialCount": None}, {"maxFailedTrials": 12}),
        (
            {"objective": {"type": "minimize", "objectiveMetricName": "accuracy"}},
            {"minimize": "accuracy", "maximize": None, "goal": None},
        ),
        ({"algorithm": {"algorithmName": "tpe"}}, {"algorithm": "tpe"}),
        (
            {"algorithm": {"algorithmName": "tpe", "algorithmSettings": [{"name": "random_state", "value": "7"}]}},
            {"algorithm": {"name": "tpe", "settings": {"random_state": "7"}}},
        ),
        ({"earlyStopping": {"algorithmName": "medianstop"}}, {"earlyStopping": "medianstop"}),
        ({"resumePolicy": "Never", "metricsCollectorSpec": {"collector": {"kind": "StdOut"}}}, {}),
    ],
)
def test_each_setting_has_its_field(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    search = search_of(experiment(**changes))
    assert {name: search.get(name) for name in expected} == expected


def test_metrics_besides_the_objective_are_metrics_of_the_job() -> None:
    objective = {**SPEC["objective"], "additionalMetricNames": ["loss"]}
    assert proofs_of(experiment(objective=objective))[0].job.fields["metrics"] == ["accuracy", "loss"]


def test_parameters_get_names_of_a_job_also_in_settings() -> None:
    body = experiment(
        algorithm={
            "algorithmName": "hyperband",
            "algorithmSettings": [{"name": "r_l", "value": "3"}, {"name": "resource_name", "value": "num-epochs"}],
        },
        parameters=[{"name": "num-epochs", "parameterType": "int", "feasibleSpace": {"min": "1", "max": "9"}}],
        trialTemplate={**TEMPLATE, "trialParameters": [{"name": "rate", "reference": "num-epochs"}]},
    )
    search = search_of(body)
    assert search["params"].keys() == {"num_epochs"}
    assert search["algorithm"]["settings"] == {"r_l": "3", "resource_name": "num_epochs"}
    known = "the parameter `num-epochs` is `num_epochs` in the job, where names have no other characters"
    assert messages(body) == [known]


def test_values_of_the_trial_itself() -> None:
    reads = [
        ("name", "${trialSpec.Name}"),
        ("space", "${trialSpec.Namespace}"),
        ("kind", "${trialSpec.Kind}"),
        ("version", "${trialSpec.APIVersion}"),
    ]
    names = [name for name, _ in reads]
    env = [{"name": name.upper(), "value": f"${{trialParameters.{name}}}"} for name in names]
    trial, _ = proofs_of(with_trial(*reads, env=env))
    assert trial.job.fields["env"] == {
        "NAME": "{{ run.id }}",
        "SPACE": "team",
        "KIND": "Job",
        "VERSION": "batch/v1",
    }


def test_labels_of_the_experiment_are_those_of_the_job_and_those_of_trials_a_patch() -> None:
    body = experiment()
    body["metadata"]["labels"] = {"team": "vision"}
    trial = {**deepcopy(TEMPLATE["trialSpec"]), "metadata": {"labels": {"stage": "search"}}}
    body["spec"]["trialTemplate"]["trialSpec"] = trial
    assert read(body)[0][0].fields["labels"] == {"team": "vision"}
    assert operations(body) == [("Job", "/metadata/labels/stage", "search")]


@for_each(
    ("changes", "expected"),
    [
        (
            {"metricsCollectorSpec": {"collector": {"kind": "File"}, "source": {"fileSystemPath": {"path": "/log"}}}},
            "/spec/metricsCollectorSpec",
        ),
        (
            {"metricsCollectorSpec": {"source": {"filter": {"metricsFormat": ["(a)=(b)"]}}}},
            "/spec/metricsCollectorSpec",
        ),
        (
            {"objective": {**SPEC["objective"], "metricStrategies": [{"name": "accuracy", "value": "latest"}]}},
            "/spec/objective/metricStrategies",
        ),
        ({"trialTemplate": {**TEMPLATE, "primaryPodLabels": {"a": "b"}}}, "/spec/trialTemplate/primaryPodLabels"),
        ({"trialTemplate": {**TEMPLATE, "successCondition": "a"}}, "/spec/trialTemplate/successCondition"),
    ],
)
def test_what_has_no_field_is_a_patch_of_the_experiment(changes: dict[str, Any], expected: str) -> None:
    assert [(kind, path) for kind, path, _ in operations(experiment(**changes))] == [("Experiment", expected)]


def test_a_collector_without_a_kind_gets_one_in_its_patch() -> None:
    collector = {"source": {"filter": {"metricsFormat": ["(a)=(b)"]}}}
    ((_, _, value),) = operations(experiment(metricsCollectorSpec=collector))
    assert value == {"collector": {"kind": "StdOut"}, **collector}


def test_defaults_of_katib_change_nothing() -> None:
    strategies = [{"name": "accuracy", "value": "max"}]
    objective = {**SPEC["objective"], "metricStrategies": strategies}
    succeeded = 'status.conditions.#(type=="Complete")#|#(status=="True")#'
    body = experiment(
        objective=objective,
        parallelTrialCount=3,
        trialTemplate={**TEMPLATE, "retain": False, "successCondition": succeeded},
    )
    assert search_of(body) == search_of(experiment())


def test_a_policy_to_resume_is_reported() -> None:
    body = experiment(resumePolicy="LongRunning")
    why = "an edited search is another one, which starts from the beginning"
    assert messages(body) == [f"`resumePolicy: LongRunning` is not carried: {why}"]
    search_of(body)


def test_words_that_the_shell_of_katib_changes_are_reported() -> None:
    body = with_trial(command=["python", "train.py", "--lr=${trialParameters.rate}", '--name="a"'])
    (message,) = messages(body)
    assert message.startswith('the program gets `--name="a"` as it is: Katib joins the words')
    script = ["sh", "-c", 'python train.py --lr ${trialParameters.rate} --name="a"\n']
    assert messages(with_trial(command=script)) == []
    assert search_of(with_trial(command=script))


@for_each(
    ("body", "message", "hint"),
    [
        (experiment(algorithm={"algorithmName": "enas"}), "unsupported algorithm `enas` of a search", "`random`"),
        (
            experiment(nasConfig={"graphConfig": {"numLayers": 1}}),
            "unsupported `nasConfig`: a `search` looks for values of parameters, and not for a network",
            "keep the manifest",
        ),
        (
            experiment(maxTrialCount=None),
            "`maxTrialCount` is missing, and a `search` needs a number of trials at which it ends",
            "add `maxTrialCount`",
        ),
        (
            with_template(trialSpec=None, configMap={"configMapName": "templates"}),
            "`spec.trialTemplate.trialSpec` is missing, and the input does not have the ConfigMap with it",
            "write the object there",
        ),
        (with_template(trialSpec=None), "`spec.trialTemplate.trialSpec` is missing", "write the object there"),
        (
            with_template(trialSpec={"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {}}),
            "unsupported kind of trials: Workflow of argoproj.io/v1alpha1",
            "PyTorchJob",
        ),
        (
            with_template(trialParameters=[{"name": "rate", "reference": "other"}]),
            "the trial parameter `rate` refers to the unknown parameter `other`",
            "refer to one of `parameters`",
        ),
        (
            with_template(trialParameters=[]),
            "`${trialParameters.rate}` is missing in `trialParameters`",
            "add it there",
        ),
    ],
)
def test_an_experiment_that_cannot_be_a_job_is_refused(body: dict[str, Any], message: str, hint: str) -> None:
    ((found, remedy),) = problems(body)
    assert (found, hint in remedy) == (message, True)


def test_a_parameter_where_a_value_must_be_known_is_refused_at_its_line(repo: Repository) -> None:
    path = repo.root.parent / "search.yaml"
    path.write_text(yaml.safe_dump(with_trial(workingDir="/${trialParameters.rate}")), "utf-8")
    report, code = run_import(repo.root, str(path), importer="manifests", namespace="team")
    (found,) = [item for item in report.findings if "the parameter `lr` has no value here" in item.message]
    assert (code, found.hint) == (1, "use it in `command`, `args` or `env`")
    lines = path.read_text("utf-8").splitlines()
    assert lines.index("    trialSpec:") < found.place.line <= len(lines)


def test_a_field_of_a_search_is_refused_at_its_line(repo: Repository) -> None:
    space = {"min": "0.5", "max": "0.1"}
    parameters = [*SPEC["parameters"], {"name": "decay", "parameterType": "double", "feasibleSpace": space}]
    path = repo.root.parent / "search.yaml"
    path.write_text(yaml.safe_dump(experiment(parameters=parameters), sort_keys=False), "utf-8")
    report, _ = run_import(repo.root, str(path), importer="manifests", namespace="team")
    (found,) = [item for item in report.findings if "is not less than `max`" in item.message]
    assert path.read_text("utf-8").splitlines()[found.place.line - 1] == "  - name: decay"


def test_a_job_with_a_shell_of_its_own_stays_as_it_is() -> None:
    trial = with_trial(command=["sh", "-c", "(\npython train.py --lr ${trialParameters.rate}\n)"])
    assert search_of(trial)
    script = {"template": pod("main", command=["sh", "-c", "(\npython train.py\n)"])}
    assert proof_of(an_object("batch/v1", "Job", script)).remaining == ()


def test_a_file_that_has_only_trials_is_refused() -> None:
    trial = an_object("kubeflow.org/v1beta1", "Trial", {})
    ((message, hint),) = problems(trial)
    assert (message, "Experiment" in hint) == ("no object of a kind that gen has, only Trial", True)


def test_a_trial_in_a_config_map_of_the_input() -> None:
    source = {"configMapName": "templates", "configMapNamespace": "team", "templatePath": "job.yaml"}
    body = with_template(trialSpec=None, configMap=source)
    data = {"job.yaml": yaml.safe_dump(TEMPLATE["trialSpec"])}
    metadata = {"name": "templates", "namespace": "team"}
    (job,), found = read(body, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    assert [*found] == []
    assert job.fields == read(experiment())[0][0].fields
    made = [*prove(PROJECT, job, NAME, overlay_text(fragment([job])), found)]
    assert [(one.patch, one.remaining) for one in made] == [(None, ()), (None, ())]


def test_a_step_of_a_pipeline_cannot_be_a_search_and_a_pipeline_of_one_step_can() -> None:
    step = {"name": "s", "resource": {"action": "create", "manifest": json.dumps(experiment())}}
    other = {"name": "t", "container": {"image": "x:1", "command": ["python", "x.py"]}}
    tasks = [{"name": "s", "template": "s"}, {"name": "t", "template": "t"}]

    def workflow(number: int) -> dict[str, Any]:
        templates = [{"name": "m", "dag": {"tasks": tasks[:number]}}, step, other][: number + 1]
        return an_object("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "m", "templates": templates})

    (job,), found = read(workflow(1))
    assert (job.fields["search"], found.failed()) == (read(experiment())[0][0].fields["search"], False)
    assert job.grants["search"] == {"maxTrials": 12, "parallelTrials": 3}
    assert problems(workflow(2)) == [
        (
            "step `s` cannot have a `search`: Katib cannot read the metrics of steps",
            "import its object as a job of its own",
        )
    ]


def test_kinds_that_katib_does_not_watch_as_shipped_are_declared_in_the_overlay() -> None:
    trial = {name: value for name, value in EQUAL["jax"].items() if name != "metadata"}
    text = json.dumps(trial).replace("train.py", "train.py --lr=${trialParameters.rate}")
    body = with_template(trialSpec=json.loads(text), primaryContainerName="jax")
    (job,), _ = read(body)
    assert job.overlay["katib"] == {"trialResources": ["JAXJob.v1.kubeflow.org"]}


def test_several_searches_of_a_namespace_share_the_larger_limits() -> None:
    other = experiment(maxTrialCount=20, parallelTrialCount=1)
    other["metadata"]["name"] = "other"
    jobs, found = read(experiment(), other)
    assert not found.failed()
    assert fragment(jobs)["namespaces"] == {"team": {"search": {"maxTrials": 20, "parallelTrials": 3}}}


def golden() -> list[Path]:
    return sorted((HERE / "golden").glob("*/rendered/*/jobs/*/*/experiment-*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", golden(), ids=lambda path: f"{path.parts[-7]}-{path.stem}")
def test_what_gen_renders_is_imported_and_rendered_again(path: Path) -> None:
    body = yaml.safe_load(path.read_text("utf-8"))
    body["metadata"]["name"] = "demo"
    proofs_of(body)


@for_each(
    "route",
    [
        (),
        ("objective",),
        ("algorithm",),
        ("algorithm", "algorithmSettings", 0),
        ("earlyStopping",),
        ("parameters", 0),
        ("parameters", 0, "feasibleSpace"),
        ("metricsCollectorSpec",),
        ("trialTemplate",),
        ("trialTemplate", "trialSpec", "spec", "template", "spec"),
    ],
)
def test_an_added_field_is_rendered_or_reported(route: tuple[str | int, ...]) -> None:
    settings = [{"name": "random_state", "value": "7"}]
    algorithm = {"algorithmName": "random", "algorithmSettings": settings}
    collector = {"collector": {"kind": "StdOut"}}
    stopping = {"algorithmName": "medianstop"}
    body = experiment(algorithm=algorithm, earlyStopping=stopping, metricsCollectorSpec=collector)
    search_of(body)
    follow(body["spec"], route)["zq"] = 7
    jobs, found = read(body)
    made = [one for job in jobs for one in prove(PROJECT, job, NAME, overlay_text(fragment([job])), Findings())]
    assert "zq" in str([[one.patch, one.remaining] for one in made] + [one.message for one in found])
