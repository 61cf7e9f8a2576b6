"""A compiled pipeline of Kubeflow Pipelines v2 has the meaning of the same workflow."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from copy import deepcopy
from typing import Any

import yaml

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, Proof, judge, overlay_text, prove
from gen.render.expressions import evaluate
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, order, pipeline, program, task, values, workflow
from tests.importers.kfp.test_kfp import read
from tests.support import PROJECT

IR: dict[str, Any] = {
    "pipelineInfo": {"name": "flow"},
    "root": {
        "inputDefinitions": {"parameters": {"lr": {"defaultValue": 0.5, "parameterType": "NUMBER_DOUBLE"}}},
        "dag": {
            "tasks": {
                "train": {
                    "componentRef": {"name": "comp-train"},
                    "inputs": {"parameters": {"rate": {"componentInputParameter": "lr"}}},
                },
                "loop": {
                    "componentRef": {"name": "comp-train"},
                    "parameterIterator": {"itemInput": "rate", "items": {"raw": "[1, 2]"}},
                },
                "inner": {
                    "componentRef": {"name": "comp-inner"},
                    "dependentTasks": ["train", "loop"],
                    "triggerPolicy": {"condition": "inputs.parameter_values['lr'] == 0.5"},
                    "inputs": {"parameters": {"lr": {"componentInputParameter": "lr"}}},
                },
                "bye": {
                    "componentRef": {"name": "comp-train"},
                    "dependentTasks": ["inner"],
                    "triggerPolicy": {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"},
                    "inputs": {"parameters": {"rate": {"runtimeValue": {"constant": 9.0}}}},
                },
            }
        },
    },
    "components": {
        "comp-train": {"executorLabel": "exec"},
        "comp-inner": {
            "dag": {
                "tasks": {
                    "eval": {
                        "componentRef": {"name": "comp-train"},
                        "inputs": {
                            "parameters": {
                                "rate": {"taskOutputParameter": {"producerTask": "x", "outputParameterKey": "y"}}
                            }
                        },
                    }
                }
            }
        },
    },
    "deploymentSpec": {
        "executors": {
            "exec": {
                "container": {
                    "image": "busybox:1",
                    "command": ["run"],
                    "args": ["{{$.inputs.parameters['rate']}}"],
                    "resources": {
                        "cpuLimit": 2.0,
                        "memoryLimit": 4.0,
                        "accelerator": {"type": "nvidia.com/gpu", "count": "1"},
                    },
                }
            }
        }
    },
    "schemaVersion": "2.1.0",
}


def test_ir_has_the_same_meaning() -> None:
    steps = pipeline(
        IR,
        "the condition `inputs.parameter_values['lr'] == 0.5` of task `inner` is not carried: it is true for `lr: 0.5`",
        "the output `y` of task `x` of step `eval` is not carried: only a run of the pipeline has its value",
    )
    assert order(steps) == {
        "train": ([], "succeeded"),
        "loop": ([], "succeeded"),
        "loop-2": ([], "succeeded"),
        "eval": (["train", "loop", "loop-2"], "succeeded"),
        "bye": (["eval"], "ended"),
    }
    assert {name: step["command"][1:] for name, step in steps.items() if name} == {
        "train": ["{{ params.lr }}"],
        "loop": ["1"],
        "loop-2": ["2"],
        "eval": ["change-me-tasks-x-outputs-parameters-y"],
        "bye": ["9"],
    }
    assert (steps[""]["params"], steps[""]["gpus"], steps[""]["cpu"], steps[""]["memory"]) == (
        {"lr": "0.5"},
        "1",
        "2",
        "4G",
    )


@for_each(("value", "text"), [(3.0, "3"), (1e-05, "0.00001"), (0.5, "0.5"), (1e21, "1" + "0" * 21), ("3.0", "3.0")])
def test_numbers_are_written_as_the_launcher_does(value: object, text: str) -> None:
    document = deepcopy(IR)
    document["root"]["inputDefinitions"]["parameters"]["lr"]["defaultValue"] = value
    (job,), _ = read(document)
    assert job.fields["params"] == {"lr": text}


def test_integers_are_not_written_as_fractions() -> None:
    number = {"parameterType": "NUMBER_INTEGER"}
    document = deepcopy(IR)
    document["components"]["comp-train"]["inputDefinitions"] = {"parameters": {"rate": number}}
    document["root"]["inputDefinitions"]["parameters"]["lr"] = {"defaultValue": 3.0, **number}
    (job,), _ = read(document)
    assert job.fields["params"] == {"lr": "3"}
    assert job.fields["steps"]["bye"]["command"][1:] == ["9"]


def test_an_else_of_a_known_condition_is_left_out() -> None:
    document = deepcopy(IR)
    document["root"]["dag"]["tasks"]["bye"]["triggerPolicy"] = {
        "condition": "!(inputs.parameter_values['lr'] == 0.5) && double(inputs.parameter_values['lr']) > 0"
    }
    (job,), _ = read(document)
    assert "bye" not in job.fields["steps"]


def test_placeholders_of_components_are_joined_or_reported() -> None:
    rate = "{{$.inputs.parameters['rate']}}"
    document = deepcopy(IR)
    container = document["deploymentSpec"]["executors"]["exec"]["container"]
    container["args"] = [json.dumps({"Concat": ["--lr=", rate, {"Concat": ["-", "x"]}]}), '{"a": 1}']
    (job,), _ = read(document)
    assert job.fields["steps"]["train"]["command"][1:] == ["--lr={{ params.lr }}-x", '{"a": 1}']
    present = {"IfPresent": {"InputName": "rate", "Then": ["--lr", rate], "Else": "--none"}}
    container["args"] = [
        '{"Concat": 1}',
        json.dumps(present),
        json.dumps({"IfPresent": {"InputName": "no", "Then": []}}),
    ]
    (job,), _ = read(document)
    assert job.fields["steps"]["train"]["command"][1:] == ['{"Concat": 1}', "--lr", "{{ params.lr }}"]


SCRIPT = 'printf "%s" "$0" > "$program_path/main.py"\n_KFP_RUNTIME=true python3 -m kfp.dsl.executor_main "$@"\n'
INSTALL = '\npip --version\n\nPIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip install \'kfp==2.7.0\' && "$0" "$@"\n'
DATASET = {"artifactType": {"schemaTitle": "system.Dataset", "schemaVersion": "0.0.1"}}


ARTIFACTS = "the artifacts of the steps are on the volume `pipeline` of the overlay, and its claim must exist"


def _function(name: str) -> dict[str, Any]:
    source = f"\nfrom kfp.dsl import *\n\ndef {name}():\n    pass\n"
    command = ["sh", "-c", INSTALL, "sh", "-ec", SCRIPT, source]
    args = ["--executor_input", "{{$}}", "--function_to_execute", name]
    return {"container": {"image": "python:3.11", "command": command, "args": args}}


FUNCTIONS: dict[str, Any] = {
    "pipelineInfo": {"name": "flow"},
    "root": {
        "inputDefinitions": {"parameters": {"text": {"defaultValue": "it's", "parameterType": "STRING"}}},
        "dag": {
            "tasks": {
                "prepare": {
                    "componentRef": {"name": "comp-prepare"},
                    "inputs": {
                        "parameters": {
                            "text": {"componentInputParameter": "text"},
                            "rows": {"runtimeValue": {"constant": 3.0}},
                        }
                    },
                },
                "train": {
                    "componentRef": {"name": "comp-train"},
                    "dependentTasks": ["prepare"],
                    "inputs": {
                        "artifacts": {
                            "rows": {"taskOutputArtifact": {"producerTask": "prepare", "outputArtifactKey": "rows"}}
                        }
                    },
                },
            }
        },
    },
    "components": {
        "comp-prepare": {
            "executorLabel": "exec-prepare",
            "inputDefinitions": {
                "parameters": {"rows": {"parameterType": "NUMBER_INTEGER"}, "text": {"parameterType": "STRING"}}
            },
            "outputDefinitions": {"artifacts": {"rows": DATASET}, "parameters": {"n": {"parameterType": "STRING"}}},
        },
        "comp-train": {"executorLabel": "exec-train", "inputDefinitions": {"artifacts": {"rows": DATASET}}},
    },
    "deploymentSpec": {"executors": {"exec-prepare": _function("prepare"), "exec-train": _function("train")}},
    "schemaVersion": "2.1.0",
}


PATH = "{{$.outputs.artifacts['rows'].path}}"
RENDERED = "/pipeline/{{ run.id }}/prepare/rows"
FOLDER = "mkdir -p /pipeline/{{ run.id }}/prepare"
TEXT = "{{$.inputs.parameters['text']}}"


def _input_of(step: dict[str, Any], **params: str) -> Any:
    """The inputs and outputs that the program of a step gets, with these values of parameters."""
    command = evaluate(step["command"], {"params": {"text": "it's", **params}, "run": {"id": "flow-1"}})
    words = shlex.split(command)
    return json.loads(words[words.index("--executor_input") + 1])


def test_functions_of_python_get_their_source_as_a_file_and_their_inputs() -> None:
    steps = pipeline(FUNCTIONS, ARTIFACTS)
    assert steps["train"]["files"] == {"/component/main.py": "from kfp.dsl import *\n\ndef train():\n    pass\n"}
    lines = steps["train"]["command"].splitlines()
    assert lines[0] == "python3 -m pip install kfp==2.7.0 &&"
    assert lines[2] == "  --function_to_execute train \\"
    assert _input_of(steps["prepare"])["inputs"] == {"parameterValues": {"rows": 3, "text": "it's"}}
    assert steps[""]["params"] == {"text": "it's"}
    outputs = _input_of(steps["prepare"])["outputs"]
    path = "/pipeline/flow-1/prepare/rows"
    assert outputs["artifacts"]["rows"]["artifacts"][0]["uri"] == path
    assert outputs["parameters"] == {"n": {"outputFile": "/pipeline/flow-1/prepare/n"}}
    assert outputs["outputFile"] == "/pipeline/flow-1/prepare/executor_output.json", "it has the values of metrics"
    assert _input_of(steps["train"])["inputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path
    assert steps[""]["data"] == {"pipeline": "/pipeline"}


@for_each(
    ("kind", "default", "given"),
    [
        ("STRING", "it's", "'$HOME' isn't"),
        ("LIST", ["it's", "'a  b'"], '["\'$HOME\'", "a\'b"]'),
        ("STRUCT", {"it's": "$(date)'"}, '{"\'a": "  \'"}'),
    ],
)
def test_quotes_of_a_shell_in_values_are_escapes_of_json(kind: str, default: object, given: str) -> None:
    document = deepcopy(FUNCTIONS)
    document["components"]["comp-prepare"]["inputDefinitions"]["parameters"]["text"]["parameterType"] = kind
    definition = {"defaultValue": default, "parameterType": kind}
    document["root"]["inputDefinitions"]["parameters"]["text"] = definition
    steps = pipeline(document, ARTIFACTS)
    value = steps[""]["params"]["text"]
    assert value == (default if kind == "STRING" else json.dumps(default))
    assert _input_of(steps["prepare"], text=value)["inputs"]["parameterValues"]["text"] == default
    other = given if kind == "STRING" else json.loads(given)
    assert _input_of(steps["prepare"], text=given)["inputs"]["parameterValues"]["text"] == other


@for_each(
    ("kind", "default", "secret", "expected"),
    [
        ("STRING", None, """say "it's" \\ $HOME\n$(date) %s""", """say "it's" \\ $HOME\n$(date) %s"""),
        ("STRING", "zq-1234", "${API_TOKEN}", "${API_TOKEN}"),
        ("STRUCT", {"a": 1.0}, """{"a": "it's"}""", {"a": "it's"}),
    ],
)
def test_a_secret_of_a_function_gets_into_its_json_in_the_pod(
    kind: str, default: object, secret: str, expected: object
) -> None:
    document = deepcopy(FUNCTIONS)
    inputs = document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"]
    inputs["text"] = {"componentInputParameter": "api_token"}
    document["components"]["comp-prepare"]["inputDefinitions"]["parameters"]["text"]["parameterType"] = kind
    given = {"parameterType": kind} | ({"defaultValue": default} if default is not None else {})
    document["root"]["inputDefinitions"]["parameters"] = {"api_token": given}
    (job,), _ = read(document)
    step = job.fields["steps"]["prepare"]
    assert step["env"] == {"API_TOKEN": {"secret": "api-token", "key": "API_TOKEN"}}
    run = "python3 -m kfp.dsl.executor_main --component_module_path /component/main.py"
    script = step["command"].partition(run)[2].replace("\\\n", " ").replace("python3", sys.executable)
    assert "$(API_TOKEN)" not in script
    made = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {script}"], env={"API_TOKEN": secret}, capture_output=True, check=True
    )
    assert json.loads(made.stdout.splitlines()[-1])["inputs"] == {"parameterValues": {"rows": 3, "text": expected}}


def test_a_text_that_needs_other_escapes_is_not_a_parameter() -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["inputDefinitions"]["parameters"]["text"]["defaultValue"] = text = 'say "it\'s"'
    message = f"the parameter `text` of step `prepare` is not carried: the job is that of its default value `{text}`"
    steps = pipeline(document, ARTIFACTS, message)
    assert "params" not in steps[""]
    assert _input_of(steps["prepare"])["inputs"]["parameterValues"]["text"] == text


def test_outputs_of_containers_are_files_in_folders_of_the_run() -> None:
    document = deepcopy(FUNCTIONS)
    for name, part in (("prepare", "outputs"), ("train", "inputs")):
        executor = document["deploymentSpec"]["executors"][f"exec-{name}"]
        place = f"{{{{$.{part}.artifacts['rows'].path}}}}"
        executor["container"] = {"image": "busybox:1", "command": [name], "args": [place]}
    steps = pipeline(document, ARTIFACTS)
    path = "/pipeline/{{ run.id }}/prepare/rows"
    assert steps["prepare"]["command"] == f"{FOLDER} &&\nprepare {path}\n"
    assert steps["train"]["command"] == ["train", path]


@for_each(
    ("command", "expected"),
    [
        (["sh", "-ec", "cp a $0\n", PATH], ["sh", "-ec", f"{FOLDER}\ncp a $0\n", RENDERED]),
        (["bash", "-c", f"cp a {PATH}"], ["bash", "-c", f"{FOLDER}\ncp a {RENDERED}\n"]),
        (["sh", "-c", f"cp a {PATH}"], f"{FOLDER}\ncp a {RENDERED}\n"),
        (["cp", "a b", PATH], f"{FOLDER} &&\ncp 'a b' {RENDERED}\n"),
        (["cp", TEXT, PATH], ["sh", "-c", f'{FOLDER} && exec "$0" "$@"', "cp", "{{ params.text }}", RENDERED]),
    ],
)
def test_folders_of_outputs_are_made_as_people_write_it(command: list[str], expected: object) -> None:
    document = deepcopy(FUNCTIONS)
    document["deploymentSpec"]["executors"]["exec-prepare"]["container"] = {"image": "busybox:1", "command": command}
    assert pipeline(document, ARTIFACTS)["prepare"]["command"] == expected


@for_each(
    ("body", "is_lost"),
    [
        ("print(rows.metadata['n'])", True),
        ("return rows.metadata.get('n')", True),
        ("for one in rows:\n        print(one.metadata)", True),
        ("return [one.metadata for one in rows]", True),
        ("rows.metadata['n'] = '\\d'", False),
        ("return importlib.metadata.version('kfp')", False),
        ("return open(rows.path", False),
    ],
)
def test_a_function_that_reads_metadata_of_an_input_cannot_run(body: str, is_lost: bool) -> None:
    document = deepcopy(FUNCTIONS)
    command = document["deploymentSpec"]["executors"]["exec-train"]["container"]["command"]
    command[-1] = f"\ndef train(rows: Input[Dataset]):\n    {body}\n"
    (job,), found = read(document)
    expected = ["the metadata of the artifact `rows` of step `train` is not carried"] if is_lost else []
    assert [one.message for one in job.obstacles] == expected
    assert [one.message for one in found] == [ARTIFACTS, *expected]


@for_each(
    ("version", "body", "of_train"),
    [
        ("2.4.0", "return open(rows.path).read()", True),
        ("1.8.22", "return os.path.join(*rows.uri)", False),
        ("2.5.0", "return open(rows.path).read()", None),
        ("2.13.0", "return open(rows.path).read()", None),
    ],
)
def test_sdks_without_paths_on_volumes_cannot_run(version: str, body: str, of_train: bool | None) -> None:
    document = deepcopy(FUNCTIONS)
    for name in ("prepare", "train"):
        command = document["deploymentSpec"]["executors"][f"exec-{name}"]["container"]["command"]
        command[2] = command[2].replace("2.7.0", version)
    command[-1] = f"\ndef train(rows: Input[Dataset]):\n    {body}\n"
    (job,), _ = read(document)
    steps = [] if of_train is None else ["prepare", "train"][: 1 + of_train]
    assert [one.message for one in job.obstacles] == [
        f"the path of the artifact `rows` in kfp {version} of step `{step}` is not carried" for step in steps
    ]


def test_an_output_without_an_artifact_is_only_in_the_pod() -> None:
    document = deepcopy(FUNCTIONS)
    document["components"]["comp-train"]["outputDefinitions"] = {"parameters": {"n": {"parameterType": "STRING"}}}
    steps = pipeline(document, ARTIFACTS, "the output `n` of step `train` is not carried")
    assert _input_of(steps["train"])["outputs"]["parameters"] == {"n": {"outputFile": "/tmp/outputs/n"}}  # noqa: S108
    document["root"]["dag"]["tasks"]["last"] = {
        "componentRef": {"name": "comp-prepare"},
        "inputs": {
            "parameters": {"text": {"taskOutputParameter": {"producerTask": "train", "outputParameterKey": "n"}}}
        },
    }
    _, found = read(document)
    of_last = "the output `n` of task `train` of step `last` is not carried: only a run of the pipeline has its value"
    assert [one.message for one in found] == [of_last, ARTIFACTS]


def test_functions_of_older_compilers_are_files() -> None:
    document = deepcopy(FUNCTIONS)
    command = document["deploymentSpec"]["executors"]["exec-train"]["container"]["command"]
    command[-2] = command[-2].replace("_KFP_RUNTIME=true python3 -m kfp.dsl", "python3 -m kfp.components")
    step = pipeline(document, ARTIFACTS)["train"]
    assert step["files"] == {"/component/main.py": "from kfp.dsl import *\n\ndef train():\n    pass\n"}
    start = "python3 -m kfp.components.executor_main --component_module_path /component/main.py \\"
    assert step["command"].splitlines()[1] == start


def test_a_loop_over_artifacts_cannot_run() -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["dag"]["tasks"]["train"]["artifactIterator"] = {"items": {"inputArtifact": "rows"}}
    (job,), found = read(document)
    expected = ["the loop `artifactIterator` of task `train` is not carried"]
    assert [one.message for one in found] == [*expected, ARTIFACTS]
    assert [one.message for one in job.obstacles] == expected


@for_each(("items", "paths"), [("[1, 2]", ["work/d", "work-2/d"]), ("[1]", ["work/d"]), ("", ["work/d"])])
def test_artifacts_of_all_items_of_a_loop_are_a_list(items: str, paths: list[str]) -> None:
    """As `dsl.Collected` passes them on; without known items, the loop itself is missing."""
    key = "pipelinechannel--work-d"
    selectors = [{"producerSubtask": "work", "outputArtifactKey": "d"}]
    inner: Any = {
        "tasks": {"work": {"componentRef": {"name": "comp-work"}}},
        "outputs": {"artifacts": {key: {"artifactSelectors": selectors}}},
    }
    loop: Any = {"componentRef": {"name": "comp-loop"}, "parameterIterator": {"itemInput": "one"}}
    loop["parameterIterator"]["items"] = {"raw": items}
    source = {"taskOutputArtifact": {"producerTask": "loop", "outputArtifactKey": key}}
    join = {"componentRef": {"name": "comp-join"}, "inputs": {"artifacts": {"ds": source}}, "dependentTasks": ["loop"]}
    container = {"container": {"image": "a:1", "command": ["run", "{{$}}"]}}
    document = {
        "pipelineInfo": {"name": "flow"},
        "root": {"dag": {"tasks": {"loop": loop, "join": join}}},
        "components": {
            "comp-loop": {"dag": inner},
            "comp-work": {"executorLabel": "x", "outputDefinitions": {"artifacts": {"d": DATASET}}},
            "comp-join": {
                "executorLabel": "x",
                "inputDefinitions": {"artifacts": {"ds": {**DATASET, "isArtifactList": True}}},
            },
        },
        "deploymentSpec": {"executors": {"x": container}},
    }
    (job,), _ = read(document)
    given = json.loads(job.fields["steps"]["join"]["command"][1])["inputs"]["artifacts"]["ds"]["artifacts"]
    known = [one["uri"].removeprefix("/pipeline/{{ run.id }}/") for one in given]
    assert known == paths
    assert [one.message for one in job.obstacles] == (
        [] if items else ["the loop `parameterIterator` of task `loop` is not carried"]
    )


def _selectors(*sources: tuple[str, str]) -> dict[str, Any]:
    every = [{"producerSubtask": one, "outputArtifactKey": key} for one, key in sources]
    return {"artifacts": {"model": {"artifactSelectors": every}}}


_FIT: dict[str, Any] = {"componentRef": {"name": "comp-fit"}}
_BRANCH: dict[str, Any] = {
    "componentRef": {"name": "comp-branch"},
    "inputs": {"parameters": {"fast": {"componentInputParameter": "fast"}}},
}


def _when(condition: str) -> dict[str, Any]:
    return {**_BRANCH, "triggerPolicy": {"condition": condition}}


@for_each(
    ("graph", "path"),
    [
        ({"tasks": {"fit": _FIT}, "outputs": _selectors(("fit", "best"))}, "fit/best"),
        ({"tasks": {"fit": _FIT, "other": _FIT}, "outputs": _selectors(("other", "model"))}, "other/model"),
        ({"tasks": {"inner": _BRANCH}, "outputs": _selectors(("inner", "model"))}, "fit/best"),
        (
            {
                "tasks": {
                    "yes": _when("inputs.parameter_values['fast'] == true"),
                    "no": _when("!(inputs.parameter_values['fast'] == true)"),
                },
                "outputs": _selectors(("yes", "model"), ("no", "model")),
            },
            "fit/best",
        ),
        ({"tasks": {"fit": _FIT}, "outputs": _selectors(("fit", "other"))}, None),
        ({"tasks": {"fit": _FIT}, "outputs": _selectors(("other", "model"))}, None),
        ({"tasks": {"fit": _FIT}}, None),
        ({"tasks": {"fit": _FIT, "other": _FIT}, "outputs": _selectors(("fit", "best"), ("other", "best"))}, None),
    ],
    ids=["renamed", "of-one", "inner", "one-of", "no-artifact", "no-task", "no-output", "several"],
)
def test_artifacts_of_a_graph_are_those_that_it_selects(graph: dict[str, Any], path: str | None) -> None:
    source = {"taskOutputArtifact": {"producerTask": "tune", "outputArtifactKey": "model"}}
    use = {"componentRef": {"name": "comp-use"}, "inputs": {"artifacts": {"m": source}}, "dependentTasks": ["tune"]}
    tune = {"componentRef": {"name": "comp-tune"}, "inputs": _BRANCH["inputs"]}
    container = {"image": "a:1", "command": ["use", "{{$.inputs.artifacts['m'].path}}"]}
    document = {
        "pipelineInfo": {"name": "flow"},
        "root": {
            "inputDefinitions": {"parameters": {"fast": {"defaultValue": True, "parameterType": "BOOLEAN"}}},
            "dag": {"tasks": {"tune": tune, "use": use}},
        },
        "components": {
            "comp-tune": {"dag": graph},
            "comp-branch": {"dag": {"tasks": {"fit": _FIT}, "outputs": _selectors(("fit", "best"))}},
            "comp-fit": {
                "executorLabel": "fit",
                "outputDefinitions": {"artifacts": {"model": DATASET, "best": DATASET}},
            },
            "comp-use": {"executorLabel": "use", "inputDefinitions": {"artifacts": {"m": DATASET}}},
        },
        "deploymentSpec": {
            "executors": {"fit": {"container": {"image": "a:1", "command": ["fit"]}}, "use": {"container": container}}
        },
    }
    (job,), _ = read(document)
    known = f"/pipeline/{{{{ run.id }}}}/{path}" if path else "change-me-tasks-tune-outputs-artifacts-model"
    assert job.fields["steps"]["use"]["command"] == ["use", known]
    assert len(job.obstacles) == (not path)


def test_an_artifact_without_a_source_has_the_name_of_the_file() -> None:
    document = deepcopy(FUNCTIONS)
    executor = document["deploymentSpec"]["executors"]["exec-train"]
    executor["container"] = {"image": "busybox:1", "command": ["cat", "{{$.inputs.artifacts['rows'].path}}"]}
    outer = {"componentInputArtifact": "pipelinechannel--rows"}
    document["root"]["dag"]["tasks"]["train"]["inputs"]["artifacts"]["rows"] = outer
    _, found = read(document)
    assert [one.message.partition(" of step")[0] for one in found] == [ARTIFACTS, "the input `pipelinechannel--rows`"]


def test_an_output_of_no_single_step_is_reported() -> None:
    document = deepcopy(FUNCTIONS)
    source = document["root"]["dag"]["tasks"]["train"]["inputs"]["artifacts"]["rows"]["taskOutputArtifact"]
    source["outputArtifactKey"] = "other"
    pipeline(
        document,
        ARTIFACTS,
        "the output `other` of task `prepare` of step `train` is not carried: only a run of the pipeline has its value",
    )


def test_settings_for_kubernetes_are_in_the_steps() -> None:
    document = deepcopy(FUNCTIONS)
    document["deploymentSpec"]["executors"]["exec-claim"] = {"container": {"image": "argostub/createpvc"}}
    document["components"]["comp-claim"] = {"executorLabel": "exec-claim"}
    constants = {"pvc_name": "rows", "size": "5Gi", "storage_class_name": "fast", "access_modes": ["ReadWriteMany"]}
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in constants.items()}
    tasks = document["root"]["dag"]["tasks"]
    tasks["claim"] = {"componentRef": {"name": "comp-claim"}, "inputs": {"parameters": inputs}}
    tasks["prepare"]["dependentTasks"] = ["claim"]
    output = {"taskOutputParameter": {"producerTask": "claim", "outputParameterKey": "name"}}
    settings = {
        "exec-prepare": {"pvcMount": [{"mountPath": "/rows", "pvcNameParameter": output}]},
        "exec-train": {
            "secretAsEnv": [{"secretName": "keys", "keyToEnv": [{"secretKey": "key", "envVar": "KEY"}]}],
            "nodeSelector": {"labels": {"disk": "fast"}},
            "podMetadata": {"labels": {"a": "b"}},
        },
    }
    jobs, found = read(document, {"platforms": {"kubernetes": {"deploymentSpec": {"executors": settings}}}})
    steps = jobs[0].fields["steps"]
    assert steps["prepare"]["data"] == {"rows": "/rows", "pipeline": "/pipeline"}
    assert steps["train"]["env"] == {"KEY": {"secret": "keys", "key": "key"}}
    assert steps["train"]["placement"] == {"nodeSelector": {"disk": "fast"}}
    volume = {"size": "5Gi", "storageClass": "fast", "accessModes": ["ReadWriteMany"]}
    assert jobs[0].overlay["volumes"]["rows"] == volume
    assert steps["train"]["podLabels"] == {"a": "b"}
    assert [one.message for one in found] == [
        ARTIFACTS,
        "step `claim` creates the claim `rows` in each run, and gen never deletes data",
    ]


def test_a_claim_of_an_older_compiler_is_a_volume_of_the_overlay() -> None:
    """The task that mounts it does not name its task as one before it, and can be in front of that."""
    document = deepcopy(FUNCTIONS)
    document["deploymentSpec"]["executors"]["exec-claim"] = {"container": {"image": "argostub/createpvc"}}
    document["components"]["comp-claim"] = {"executorLabel": "exec-claim"}
    constants = {"pvc_name_suffix": "-rows", "size": "5Gi", "storage_class": "fast"}
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in constants.items()}
    document["root"]["dag"]["tasks"]["claim"] = {
        "componentRef": {"name": "comp-claim"},
        "inputs": {"parameters": inputs},
    }
    output = {"taskOutputParameter": {"producerTask": "claim", "outputParameterKey": "name"}, "mountPath": "/rows"}
    settings = {"exec-prepare": {"pvcMount": [output]}}
    jobs, found = read(document, {"platforms": {"kubernetes": {"deploymentSpec": {"executors": settings}}}})
    assert jobs[0].fields["steps"]["prepare"]["data"] == {"rows": "/rows", "pipeline": "/pipeline"}
    assert jobs[0].overlay["volumes"]["rows"] == {"size": "5Gi", "storageClass": "fast"}
    assert [one.message for one in found] == [
        ARTIFACTS,
        "step `claim` creates the claim `rows` in each run, and gen never deletes data",
    ]


def proven(**settings: Any) -> dict[str, Proof]:
    """The proofs of the steps with these settings of the training, which has the path of a run in its command."""
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": settings}}}}}
    (job,), found = read(FUNCTIONS, platforms)
    assert [one.message for one in found] == [ARTIFACTS]
    text, own = overlay_text(fragment([job])), Findings()
    proofs = {one.original.step: one for one in prove(PROJECT, job, NAME, text, own)}
    assert list(own) == []
    return proofs


NEAR = {"matchExpressions": [{"key": "disk", "operator": "Exists"}], "weight": 50.0}
TERMS = {"preferredDuringSchedulingIgnoredDuringExecution": [{"preference": {}, "weight": 7.0}]}
TAINT = {"key": "a", "operator": "Exists"}
SCRATCH = {"accessModes": ["ReadWriteOnce"], "defaultStorageClass": True, "size": "5Gi", "volumeName": "scratch"}
BEFORE = {"name": "before", "image": "busybox:1", "volumeMounts": [{"volumeName": "empty", "mountPath": "/e"}]}


def test_settings_for_kubernetes_are_fields() -> None:
    fields = proven(
        emptyDirMounts=[{"volumeName": "empty", "mountPath": "/empty", "medium": "Memory", "sizeLimit": "1Gi"}],
        enabledSharedMemory={"volumeName": "shm", "size": "2Gi"},
        imagePullSecret=[{"secretNameParameter": {"runtimeValue": {"constant": "pull"}}}],
        activeDeadlineSeconds="20",
        tolerations=[{"tolerationJson": {"runtimeValue": {"constant": [TAINT]}}}],
        nodeSelector={"nodeSelectorJson": {"runtimeValue": {"constant": {"disk": "fast"}}}},
        secretAsEnv=[
            {"secretName": "keys", "optional": True, "keyToEnv": [{"secretKey": "key", "envVar": "KEY"}]},
        ],
    )["train"].job.fields
    step = fields["steps"]["train"]
    assert step["data"] == {"empty": "/empty", "pipeline": "/pipeline"}
    assert (step["sharedMemory"], step["timeout"], step["imagePullSecrets"]) == ("2Gi", "20s", ["pull"])
    assert step["placement"] == {"nodeSelector": {"disk": "fast"}, "tolerations": [TAINT]}
    assert step["env"] == {"KEY": {"secret": "keys", "key": "key", "optional": True}}


@for_each(
    ("settings", "expected"),
    [
        (
            {"nodeAffinity": [NEAR, {"nodeAffinityJson": {"runtimeValue": {"constant": TERMS}}}]},
            {
                "affinity": {
                    "nodeAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 50, "preference": {"matchExpressions": NEAR["matchExpressions"]}},
                            {"weight": 7, "preference": {}},
                        ]
                    }
                }
            },
        ),
        (
            {"genericEphemeralVolume": [{**SCRATCH, "mountPath": "/scratch"}]},
            {
                "containers/0/volumeMounts/-": {"name": "scratch", "mountPath": "/scratch"},
                "volumes/-": {
                    "name": "scratch",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "5Gi"}},
                            }
                        }
                    },
                },
            },
        ),
        (
            {"emptyDirMounts": [{"volumeName": "empty", "mountPath": "/e"}], "initContainers": [BEFORE]},
            {
                "initContainers": [
                    {"name": "before", "image": "busybox:1", "volumeMounts": [{"name": "empty", "mountPath": "/e"}]}
                ]
            },
        ),
        (
            {"securityContext": {"runAsUser": "65534", "runAsGroup": "0"}},
            {
                "containers/0/securityContext": {
                    "runAsUser": 65534,
                    "runAsGroup": 0,
                    "capabilities": {"drop": ["ALL"]},
                }
            },
        ),
    ],
    ids=["affinity", "ephemeral", "init", "security"],
)
def test_settings_without_a_field_are_patches(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    proof = proven(**settings)["train"]
    assert proof.remaining == ()
    assert proof.patch is not None
    assert {one["path"].rpartition("/spec/")[2]: one["value"] for one in proof.patch["patch"]} == expected


@for_each(
    ("settings", "route"),
    [
        ({"podResourceClaims": [{"resourceClaimTemplateName": "gpus"}]}, "podResourceClaims"),
        ({"nodeAffinity": [{"nodeAffinityJson": {"componentInputParameter": "where"}}]}, "affinity"),
        ({"nodeSelector": {"nodeSelectorJson": {"componentInputParameter": "where"}}}, "nodeSelectorJson"),
        ({"tolerations": [{"tolerationJson": {"componentInputParameter": "where"}}]}, "tolerations"),
    ],
)
def test_settings_that_nothing_carries_differ(settings: dict[str, Any], route: str) -> None:
    proofs = proven(**settings)
    assert [str(one.route[-1]) for one in proofs["train"].remaining] == [route]
    assert proofs["prepare"].remaining == ()


@for_each(
    "settings",
    [
        {"volumes": [1]},
        {"initContainers": [{"volumeMounts": [{"volumeName": {}}]}], "securityContext": {"runAsUser": {}}},
        {"tolerations": [{"tolerationJson": {"runtimeValue": {"constant": [1]}}}], "nodeSelector": {"labels": 3}},
        {"nodeAffinity": [{"weight": "x", "matchExpressions": 1}, 1], "activeDeadlineSeconds": [2]},
        {"secretAsEnv": [{"keyToEnv": [1], "secretName": {}}], "emptyDirMounts": [[1]], "enabledSharedMemory": 5},
    ],
)
def test_settings_of_another_type_are_no_bug(settings: dict[str, Any]) -> None:
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": settings}}}}}
    given = ImportInput(file="p.yaml", text=f"{json.dumps(FUNCTIONS)}\n---\n{json.dumps(platforms)}", otherwise="team")
    found = Findings()
    jobs = IMPORTERS["kfp"]().read(given, found)
    assert not [one for one in found if one.code == "internal-error"]
    for job in jobs:
        text, own = overlay_text(fragment([job])), Findings()
        judge(PROJECT, job, NAME, text, lacks=False, found=own)
        assert not [one for one in own if one.code == "internal-error"]


def test_a_claim_of_version_1_is_a_volume_of_the_overlay() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "{{workflow.name}}-rows"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }
    made = {"name": "claim", "resource": {"action": "create", "manifest": json.dumps(claim)}}
    mounts = [{"name": "rows", "mountPath": "/rows"}]
    train = program("train")
    train["container"]["volumeMounts"] = mounts
    train["volumes"] = [
        {"name": "rows", "persistentVolumeClaim": {"claimName": "{{inputs.parameters.claim-name}}"}},
    ]
    given = values(**{"claim-name": "{{tasks.claim.outputs.parameters.claim-name}}"})
    tasks = dag(task("claim"), task("train", dependencies=["claim"], **given))
    (job,), found = read(workflow(tasks, made, train))
    assert (job.name, job.fields["data"]) == ("train", {"rows": "/rows"})
    assert job.overlay["volumes"] == {"rows": {"size": "5Gi", "storageClass": "fast", "accessModes": ["ReadWriteMany"]}}
    assert [one.message for one in found] == [
        "step `claim` creates the claim `rows` in each run, and gen never deletes data"
    ]
    assert job.obstacles == ()
    del train["container"]["volumeMounts"]
    _, found = read(workflow(tasks, made, train))
    assert [one.hint for one in found] == ["create the claim if other programs use it; no step mounts it"]


@for_each(
    ("spec", "expected"),
    [
        (
            {"resources": {"requests": {"storage": "5Gi"}}, "accessModes": ["ReadWriteOnce"]},
            " of 5Gi with ReadWriteOnce",
        ),
        ({"resources": {"requests": {"storage": "5Gi"}}}, " of 5Gi"),
        ({"storageClassName": "fast"}, ""),
    ],
)
def test_a_claim_that_nothing_creates_must_be_created(spec: dict[str, Any], expected: str) -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "rows"}, "spec": spec}
    made = {"name": "claim", "resource": {"action": "create", "manifest": json.dumps(claim)}}
    train = program("train", volumes=[{"name": "rows", "persistentVolumeClaim": {"claimName": "rows"}}])
    train["container"]["volumeMounts"] = [{"name": "rows", "mountPath": "/rows"}]
    (job,), found = read(workflow(dag(task("claim"), task("train", dependencies=["claim"])), made, train))
    assert job.overlay["volumes"] == {"rows": {"claim": "rows"}}
    (item,) = found
    assert item.hint is not None
    assert item.hint.startswith(f"create the claim{expected}, or set `size` and `storageClass` of its volume")


def test_memory_that_gen_refuses_is_a_patch() -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"]["resources"]["memoryLimit"] = 0.256
    document["root"]["dag"]["tasks"].pop("inner")
    (job,), found = read(document)
    assert "memory" not in job.fields
    (item,) = {one.message.partition(" of step")[0] for one in found}
    assert item == "`memory: 0.256G`"
    text, own = overlay_text(fragment([job])), Findings()
    proof = next(iter(prove(PROJECT, job, NAME, text, own)))
    assert proof.patch is not None
    (patch,) = proof.patch["patch"]
    assert (patch["path"].rpartition("/")[2], patch["value"]) == ("memory", "0.256G")


@for_each(
    ("resources", "fields", "limits"),
    [
        ({"cpuRequest": 1.0, "memoryRequest": 2.0}, {"cpu": "1", "memory": "2G"}, {}),
        ({"cpuRequest": 0.5, "cpuLimit": 2.0}, {"cpu": 0.5}, {"cpu": "2"}),
        (
            {"cpuLimit": 9.0, "resourceCpuLimit": "4", "resourceCpuRequest": "1", "resourceMemoryRequest": "2Gi"},
            {"cpu": "1", "memory": "2Gi"},
            {"cpu": "4"},
        ),
    ],
)
def test_requests_are_fields_and_other_limits_patches(
    resources: dict[str, Any], fields: dict[str, str], limits: dict[str, str]
) -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"]["resources"] = resources
    document["root"]["dag"]["tasks"].pop("inner")
    (job,), found = read(document)
    assert {name: job.fields[name] for name in ("cpu", "memory") if name in job.fields} == fields
    assert found == []
    text, own = overlay_text(fragment([job])), Findings()
    proof = next(iter(prove(PROJECT, job, NAME, text, own)))
    assert proof.remaining == ()
    patches = proof.patch["patch"] if proof.patch is not None else []
    assert {one["path"].rpartition("/limits/")[2]: one["value"] for one in patches} == limits


def test_a_text_of_another_step_can_be_a_result() -> None:
    document = deepcopy(IR)
    _, found = read(document)
    (item,) = [one for one in found if " of step `eval`" in one.message]
    assert item.hint is not None
    assert item.hint.startswith("let the other step print it as a number, or a word of letters, digits and `_./:@%+=-`")


def test_findings_have_the_words_of_the_ir() -> None:
    document = deepcopy(IR)
    name = "pipelinechannel--train-Output"
    made = {"taskOutputParameter": {"producerTask": "train", "outputParameterKey": "Output"}}
    document["root"]["dag"]["tasks"]["inner"] |= {
        "inputs": {"parameters": {name: made}},
        "triggerPolicy": {"condition": f"inputs.parameter_values['{name}'] == 'a'"},
    }
    document["deploymentSpec"]["executors"]["exec"]["container"]["args"] = ["{{$.json_escape[1]}}"]
    _, found = read(document)
    texts = (" of step `eval`", " of task `inner`")
    assert [one.message for one in found if any(text in one.message for text in texts)] == [
        f"the condition `inputs.parameter_values['{name}'] == 'a'` of task `inner` is not carried",
        "`{{$.json_escape[1]}}` of step `eval` is not carried: only Vertex AI has this function",
    ]


def test_placeholders_of_steps_are_parameters_of_the_pipeline() -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"]["image"] = "$IMAGE"
    (job,), _ = read(document)
    assert job.fields["params"] == {"image": "change-me-image", "lr": "0.5"}
    assert job.fields["image"] == "{{ params.image }}"


def test_words_are_texts_as_the_server_reads_them() -> None:
    """The server reads IR with go-yaml 3: `y`, `no` and `on` are no truths, in keys and in values."""
    document = deepcopy(IR)
    document["root"]["dag"]["tasks"] = {
        name: {
            "componentRef": {"name": "comp-train"},
            "inputs": {"parameters": {"y": {"runtimeValue": {"constant": word}}}},
        }
        for name, word in (("a", "no"), ("b", "on"))
    }
    container = document["deploymentSpec"]["executors"]["exec"]["container"]
    container["args"] = ["é: {{$.inputs.parameters['y']}}"]
    text = yaml.safe_dump(document, allow_unicode=True).replace("'no'", "no").replace("'on'", "on")
    assert "y:\n" in text
    assert "constant: no\n" in text
    found = Findings()
    (job,) = IMPORTERS["kfp"]().read(ImportInput(file="flow.yaml", text=text, otherwise="team"), found)
    assert [one.message for one in found] == []
    assert [step["command"] for step in job.fields["steps"].values()] == [["run", "é: no"], ["run", "é: on"]]


def test_a_number_without_a_value_has_no_quotes() -> None:
    document = deepcopy(FUNCTIONS)
    for name in ("rows", "text"):
        document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"][name] = {"componentInputParameter": name}
    document["root"]["inputDefinitions"]["parameters"] = {
        "rows": {"parameterType": "NUMBER_INTEGER"},
        "text": {"parameterType": "STRING"},
    }
    (job,), found = read(document)
    assert "the input `rows` of step `prepare` has no value" in [one.message for one in found]
    assert '{"rows": {{ params.rows }}, "text": "{{ params.text }}"}' in job.fields["steps"]["prepare"]["command"]


def test_a_function_keeps_its_environment() -> None:
    """`use_venv` of the SDK, without which pip of newer distributions installs nothing."""
    document = deepcopy(FUNCTIONS)
    made = 'tmp=$(mktemp -d)\npython3 -m venv "$tmp/venv" --system-site-packages\n. "$tmp/venv/bin/activate"'
    for one in document["deploymentSpec"]["executors"].values():
        one["container"]["command"][2] = INSTALL.replace("\n\nPIP", f"\n\nPIP_A=1\n{made}\n PIP")
    lines = pipeline(document, ARTIFACTS)["prepare"]["command"].splitlines()
    assert lines[:3] == [
        "python3 -m venv /tmp/venv --system-site-packages &&",
        ". /tmp/venv/bin/activate &&",
        "python3 -m pip install kfp==2.7.0 &&",
    ]


@for_each(
    ("kind", "default", "is_named"),
    [("STRING", "a", True), ("STRING", None, True), ("STRUCT", {"a": "b"}, True), ("NUMBER_DOUBLE", 0.5, False)],
)
def test_a_job_says_how_its_params_are_written_into_json(kind: str, default: object, is_named: bool) -> None:
    document = deepcopy(FUNCTIONS)
    inputs = document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"]
    inputs["text"] = {"componentInputParameter": "text"}
    document["components"]["comp-prepare"]["inputDefinitions"]["parameters"]["text"]["parameterType"] = kind
    given = {"parameterType": kind} | ({"defaultValue": default} if default is not None else {})
    document["root"]["inputDefinitions"]["parameters"] = {"text": given}
    (job,), found = read(document)
    name, _, escapes = job.comment.partition(".")
    expected = r"""`params` are parts of JSON: write `\u0027` for `'`, and in texts `\"` for `"` and `\\` for `\`."""
    assert (name, escapes.strip()) == ("Imported from the pipeline flow", expected if is_named else "")
    hints = [one.hint for one in found if "has no value" in one.message]
    assert all(one.startswith("replace `change-me-text` in the job, with the escapes at its start,") for one in hints)
    assert bool(hints) == (default is None)


def test_the_folder_of_artifacts_has_the_whole_name_of_the_task() -> None:
    name = "prepare-the-rows-and-upload-them-as-an-artifact"
    text = json.dumps(FUNCTIONS).replace('"prepare": {"componentRef"', f'"{name}": {{"componentRef"')
    text = text.replace('"dependentTasks": ["prepare"]', f'"dependentTasks": ["{name}"]')
    steps = pipeline(json.loads(text.replace('"producerTask": "prepare"', f'"producerTask": "{name}"')), ARTIFACTS)
    (cut,) = [one for one in steps if one and name.startswith(one)]
    path = f"/pipeline/flow-1/{name}/rows"
    assert len(cut) < len(name)
    assert _input_of(steps["train"])["inputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path
    assert _input_of(steps[cut])["outputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path


def _calls(part: str, optional: frozenset[str] = frozenset(), **inputs: str) -> dict[str, Any]:
    """A pipeline with inputs `a` and `b`, and one step whose inputs `a` and `b` are these."""
    kind = "Parameter" if part == "parameters" else "Artifact"
    own = {"parameterType": "STRING"} if part == "parameters" else DATASET
    known = {name: {**own, **({"isOptional": True} if name in optional else {})} for name in "ab"}
    given = {name: {f"componentInput{kind}": outer} for name, outer in inputs.items()}
    words = ['{"IfPresent": {"InputName": "a", "Then": ["--a"], "Else": ["--none"]}}', "{{$}}"]
    return {
        "pipelineInfo": {"name": "flow"},
        "root": {
            "inputDefinitions": {part: known},
            "dag": {"tasks": {"use": {"componentRef": {"name": "comp-use"}, "inputs": {part: given}}}},
        },
        "components": {"comp-use": {"executorLabel": "use", "inputDefinitions": {part: known}}},
        "deploymentSpec": {"executors": {"use": {"container": {"image": "a:1", "command": ["use", *words]}}}},
    }


@for_each("part", ["parameters", "artifacts"])
def test_inputs_without_a_value_have_the_names_of_the_pipeline(part: str) -> None:
    document = _calls(part, a="b", b="a")
    (job,), found = read(document)
    assert job.fields["params"] == {"a": "change-me-a", "b": "change-me-b"}
    assert [one.hint for one in found] == [
        f"replace `change-me-{name}` in the job, or import it again with `--define {name}=VALUE`" for name in "ab"
    ]
    given_words = job.fields["command"][2]
    assert given_words.index("params.b") < given_words.index("params.a")
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team", define={"a": "/x", "b": "/y"})
    own = Findings()
    (job,) = IMPORTERS["kfp"]().read(given, own)
    assert job.fields["params"] == {"a": "/x", "b": "/y"}
    assert [one.message for one in own] == []


def test_optional_artifacts_without_a_value_are_left_out() -> None:
    document = _calls("artifacts", frozenset("ab"), a="a")
    (job,), found = read(document)
    assert [one.message for one in found] == [
        f"the optional input `{name}` of the pipeline has no value, so no step has it" for name in "ab"
    ]
    assert job.fields["command"][1] == "--none"
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team", define={"a": "/x"})
    (job,) = IMPORTERS["kfp"]().read(given, Findings())
    assert job.fields["command"][1] == "--a"


_BUCKET = "gs://bucket/rows.csv"


def _function_with(body: str) -> dict[str, Any]:
    made = _function("train")
    made["container"]["command"][-1] = f"\ndef train(rows: Input[Dataset]):\n    {body}\n"
    return made


def _program_with(words: str) -> dict[str, Any]:
    return {"container": {"image": "a:1", "command": ["run", words]}}


_ITS_URI = _program_with("{{$.inputs.artifacts['rows'].uri}}")
_ITS_PATH = _program_with("{{$.inputs.artifacts['rows'].path}}")


@for_each(
    ("program", "uri", "message"),
    [
        (_ITS_URI, _BUCKET, None),
        (_ITS_PATH, _BUCKET, "the file `gs://bucket/rows.csv` of the artifact `rows`"),
        (_ITS_PATH, "s3://b/rows", "the file `s3://b/rows` of the artifact `rows`"),
        (_ITS_PATH, "/data/rows", "the volume with `/data/rows` of the artifact `rows`"),
        (_function_with("print(rows.uri, len(rows), rows.name)"), _BUCKET, None),
        (_function_with("open(rows.path)"), _BUCKET, "the file `gs://bucket/rows.csv` of the artifact `rows`"),
        (_function_with("load(rows)"), "oci://a/b", "the file `oci://a/b` of the artifact `rows`"),
        (_function_with("x = rows if rows else 1"), "minio://b", "the file `minio://b` of the artifact `rows`"),
        (_function_with("return [one.path for one in rows]"), _BUCKET, "the file `gs://bucket/rows.csv` of the art"),
    ],
)
def test_only_the_server_downloads_files_of_a_store(program: dict[str, Any], uri: str, message: str | None) -> None:
    """`Dataset(uri='gs://bucket/rows.csv').path` is `/gcs/bucket/rows.csv`, which no volume has."""
    document = deepcopy(FUNCTIONS)
    document["root"]["inputDefinitions"] = {"artifacts": {"table": DATASET}}
    inputs = {"artifacts": {"rows": {"componentInputArtifact": "table"}}}
    document["root"]["dag"]["tasks"] = {"train": {"componentRef": {"name": "comp-train"}, "inputs": inputs}}
    document["deploymentSpec"]["executors"]["exec-train"] = program
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team", define={"table": uri})
    found = Findings()
    (job,) = IMPORTERS["kfp"]().read(given, found)
    assert job.fields["params"] == {"table": uri}
    assert [one.message[: len(message or "")] for one in found] == ([message] if message else [])
    assert len(job.obstacles) == (message is not None and "file" in message)


@for_each(
    ("importer", "given", "program", "uri"),
    [
        ({"constant": _BUCKET}, {}, _ITS_URI, _BUCKET),
        ({"constantValue": {"stringValue": _BUCKET}}, {}, _ITS_URI, _BUCKET),
        ({"runtimeParameter": "uri"}, {"runtimeValue": {"constant": _BUCKET}}, _ITS_URI, _BUCKET),
        ({"runtimeParameter": "uri"}, {"componentInputParameter": "text"}, _ITS_URI, "{{ params.text }}"),
        ({"constant": _BUCKET}, {}, _ITS_PATH, None),
    ],
)
def test_readers_have_the_uri_of_an_importer(
    importer: dict[str, Any], given: dict[str, Any], program: dict[str, Any], uri: str | None
) -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"] = {"uri": given}
    document["components"]["comp-prepare"]["inputDefinitions"]["parameters"] = {"uri": {"parameterType": "STRING"}}
    document["deploymentSpec"]["executors"] = {
        "exec-prepare": {"importer": {"artifactUri": importer, "typeSchema": DATASET["artifactType"]}},
        "exec-train": program,
    }
    (job,), found = read(document)
    assert job.fields["command"] == ["run", uri or _BUCKET]
    assert [one.message for one in job.obstacles] == (
        [] if uri else [f"the file `{_BUCKET}` of the artifact `rows` of step `train` is not carried"]
    )
    assert len(found) == 1 + len(job.obstacles)


def test_metadata_of_an_artifact_without_a_value_are_no_loss() -> None:
    document = _calls("artifacts", frozenset("ab"), a="a")
    executor = document["deploymentSpec"]["executors"]["use"] = _function("use")
    executor["container"]["command"][-1] = "\ndef use(a=None, b=None):\n    print(a.metadata)\n"
    (job,), _ = read(document)
    assert job.obstacles == ()


_SECRET_OF_TRAIN = {
    "kubernetes": {"deploymentSpec": {"executors": {"exec-train": {"imagePullSecret": [{"secretName": "pull"}]}}}}
}


@for_each(
    ("form", "given"),
    [
        ({"pipelineSpec": "spec", "runtimeConfig": {"parameterValues": {"text": "x"}}}, "x"),
        ({"run_id": "r", "pipeline_spec": "spec", "runtime_config": {"parameters": {"text": "x"}}}, "x"),
        ({"pipeline_spec": {"pipeline_spec": "spec", "platform_spec": {"platforms": _SECRET_OF_TRAIN}}}, "it's"),
        (
            {
                "kind": "PipelineVersion",
                "metadata": {"name": "v", "namespace": "other"},
                "spec": {"pipelineSpec": "spec", "platformSpec": {"platforms": _SECRET_OF_TRAIN}},
            },
            "it's",
        ),
    ],
    ids=["job", "run", "version", "object"],
)
def test_a_pipeline_is_found_in_a_run_or_a_version(form: dict[str, Any], given: str) -> None:
    document = json.loads(json.dumps(form).replace(': "spec"', f": {json.dumps(FUNCTIONS)}"))
    document |= {"service_account": "runner"} if "run_id" in form else {}
    (job,), found = read(document)
    other = "the pods of programs keep the ServiceAccount `runner`, and the pipeline has another one"
    assert [one.message for one in found] == [*([other] if "run_id" in form else []), ARTIFACTS]
    assert job.fields["params"] == {"text": given}
    assert job.fields["steps"]["train"].get("imagePullSecrets") == (["pull"] if given != "x" else None)
    assert job.namespace == ("other" if "metadata" in form else "team")
    assert job.fields.get("serviceAccount") == ("runner" if "run_id" in form else None)


def test_a_file_without_a_component_says_so() -> None:
    document = deepcopy(FUNCTIONS)
    document["components_1"] = document.pop("components")
    _, found = read(document)
    (error,) = [one for one in found if one.is_error]
    assert error.hint == "correct the file, or write the job by hand"
    assert [one.message for one in found if one is not error] == [
        f"task `{name}` is not carried: `components` has no `comp-{name}`" for name in ("prepare", "train")
    ]
