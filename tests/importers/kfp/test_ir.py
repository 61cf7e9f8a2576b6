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
from gen.render.expressions import evaluate
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, order, pipeline, program, task, values, workflow
from tests.importers.kfp.test_kfp import read

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


def function(name: str) -> dict[str, Any]:
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
    "deploymentSpec": {"executors": {"exec-prepare": function("prepare"), "exec-train": function("train")}},
    "schemaVersion": "2.1.0",
}


PATH = "{{$.outputs.artifacts['rows'].path}}"
RENDERED = "/pipeline/{{ run.id }}/prepare/rows"
FOLDER = "mkdir -p /pipeline/{{ run.id }}/prepare"
TEXT = "{{$.inputs.parameters['text']}}"


def input_of(step: dict[str, Any], **params: str) -> Any:
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
    assert input_of(steps["prepare"])["inputs"] == {"parameterValues": {"rows": 3, "text": "it's"}}
    assert steps[""]["params"] == {"text": "it's"}
    outputs = input_of(steps["prepare"])["outputs"]
    path = "/pipeline/flow-1/prepare/rows"
    assert outputs["artifacts"]["rows"]["artifacts"][0]["uri"] == path
    assert outputs["parameters"] == {"n": {"outputFile": "/pipeline/flow-1/prepare/n"}}
    assert outputs["outputFile"] == "/pipeline/flow-1/prepare/executor_output.json", "it has the values of metrics"
    assert input_of(steps["train"])["inputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path
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
    assert input_of(steps["prepare"], text=value)["inputs"]["parameterValues"]["text"] == default
    other = given if kind == "STRING" else json.loads(given)
    assert input_of(steps["prepare"], text=given)["inputs"]["parameterValues"]["text"] == other


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
    assert input_of(steps["prepare"])["inputs"]["parameterValues"]["text"] == text


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


def test_functions_of_older_compilers_are_files() -> None:
    document = deepcopy(FUNCTIONS)
    command = document["deploymentSpec"]["executors"]["exec-train"]["container"]["command"]
    command[-2] = command[-2].replace("_KFP_RUNTIME=true python3 -m kfp.dsl", "python3 -m kfp.components")
    step = pipeline(document, ARTIFACTS)["train"]
    assert step["files"] == {"/component/main.py": "from kfp.dsl import *\n\ndef train():\n    pass\n"}
    start = "python3 -m kfp.components.executor_main --component_module_path /component/main.py \\"
    assert step["command"].splitlines()[1] == start


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


def test_a_claim_of_version_1_with_other_data_must_exist() -> None:
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "snap"}
    spec = {"storageClassName": "fast", "resources": {"requests": {"storage": "5Gi"}}, "volumeMode": "Filesystem"}
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "rows"}, "spec": {**spec, "dataSource": source}}
    made = {"name": "claim", "resource": {"action": "create", "manifest": json.dumps({"apiVersion": "v1", **claim})}}
    train = program("train", volumes=[{"name": "rows", "persistentVolumeClaim": {"claimName": "rows"}}])
    train["container"]["volumeMounts"] = [{"name": "rows", "mountPath": "/rows"}]
    (job,), found = read(workflow(dag(task("claim"), task("train", dependencies=["claim"])), made, train))
    assert job.overlay["volumes"] == {"rows": {"claim": "rows"}}
    assert [one.message.partition("; ")[2] for one in found] == ["the overlay sets no `dataSource` of it"]


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
