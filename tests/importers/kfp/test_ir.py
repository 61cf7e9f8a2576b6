"""A compiled pipeline of Kubeflow Pipelines v2 has the meaning of the same workflow."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from tests.importers.kfp.pipelines import order, pipeline
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
        IR, "`{{tasks.x.outputs.parameters.y}}` of step `eval` is not carried: only a run of the pipeline has its value"
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
        "eval": ["tasks-x-outputs-parameters-y"],
        "bye": ["9.0"],
    }
    assert (steps[""]["params"], steps[""]["gpus"], steps[""]["cpu"], steps[""]["memory"]) == (
        {"lr": "0.5"},
        "1",
        "2.0",
        "4G",
    )


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
    (job,), found = read(document)
    assert job.fields["steps"]["train"]["command"][1:] == ["--lr={{ params.lr }}-x", '{"a": 1}']
    known = {one.message for one in found}
    container["args"] = ['{"Concat": 1}', json.dumps({"IfPresent": {"InputName": "rate", "Then": ["--lr", rate]}})]
    (job,), found = read(document)
    new = "`IfPresent` of step `train` is not carried"
    assert new in {one.message for one in found} - known
    assert new in {one.message for one in job.obstacles}
