"""Values of graphs in graphs: those of loops, of conditions, and of settings of pods."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import yaml

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, program, task, workflow
from tests.importers.kfp.test_ir import FUNCTIONS, IR
from tests.importers.kfp.test_kfp import read

ITEM = "pipelinechannel--rates-loop-item"
LIST = "pipelinechannel--rates"


def given(name: str, **more: Any) -> dict[str, Any]:
    return {"componentInputParameter": name, **more}


def looped(rates: Any, *, condition: str = "", selector: str = "") -> dict[str, Any]:
    """A loop over a parameter, as the compiler writes it: a graph with an input for the list, and one for the item."""
    document = deepcopy(IR)
    rate = given(ITEM, **({"parameterExpressionSelector": selector} if selector else {}))
    task: dict[str, Any] = {"componentRef": {"name": "comp-train"}, "inputs": {"parameters": {"rate": rate}}}
    if condition:
        task["triggerPolicy"] = {"condition": condition}
    document["components"]["comp-loop"] = {"dag": {"tasks": {"train": task}}}
    document["root"]["inputDefinitions"]["parameters"] = {"rates": {"parameterType": "LIST", "defaultValue": rates}}
    document["root"]["dag"]["tasks"] = {
        "loop": {
            "componentRef": {"name": "comp-loop"},
            "inputs": {"parameters": {LIST: given("rates")}},
            "parameterIterator": {"itemInput": ITEM, "items": {"inputParameter": LIST}},
        }
    }
    return document


def rates_of(document: dict[str, Any]) -> tuple[list[str], list[str]]:
    (job,), found = read(document)
    steps = job.fields.get("steps", {"": job.fields}).values()
    return [step["command"][-1] for step in steps], [one.message for one in found if DECIDED not in one.message]


DECIDED = "the loop of task `loop` is decided at the import: its steps are those of `rates: "


def test_a_loop_over_an_input_has_a_step_for_each_item() -> None:
    assert rates_of(looped([1.0, 2.5])) == (["1", "2.5"], [])


def test_a_condition_on_an_item_is_decided_for_each() -> None:
    condition = f"int(inputs.parameter_values['{ITEM}']) == 3"
    left_out = [
        f"task `train` is left out for the item `{number}`: its condition `{number} == 3` is false" for number in (1, 2)
    ]
    assert rates_of(looped([1.0, 2.0, 3.0], condition=condition)) == (["3"], left_out)


def test_a_condition_on_an_unknown_item_is_not_decided() -> None:
    document = looped("", condition=f"int(inputs.parameter_values['{ITEM}']) == 3")
    _, found = rates_of(document)
    assert found == [
        "the loop `parameterIterator` of task `loop` is not carried",
        "the condition `{{item}} == 3` of task `train` is not carried",
    ]


@for_each(
    ("default", "condition", "steps"),
    [
        (2.0, "int(inputs.parameter_values['pipelinechannel--x']) == 2", ["first", "train"]),
        (2.0, "int(inputs.parameter_values['pipelinechannel--x']) > 2", ["first"]),
        ("a", "inputs.parameter_values['pipelinechannel--x'] == 'a'", ["first", "train"]),
        (True, "inputs.parameter_values['pipelinechannel--x'] == false", ["first"]),
    ],
)
def test_a_condition_on_a_parameter_with_a_default_is_decided(default: Any, condition: str, steps: list[str]) -> None:
    container = {"container": {"image": "train:1", "command": ["train"]}}
    inputs = {"parameters": {"pipelinechannel--x": {"componentInputParameter": "threshold"}}}
    call = {"componentRef": {"name": "comp-train"}}
    tasks = {"train": {**call, "inputs": inputs, "triggerPolicy": {"condition": condition}}, "first": call}
    definitions = {"parameters": {"threshold": {"defaultValue": default, "parameterType": "NUMBER_INTEGER"}}}
    document = {
        "pipelineInfo": {"name": "p"},
        "components": {"comp-train": {"executorLabel": "exec-train"}},
        "deploymentSpec": {"executors": {"exec-train": container}},
        "root": {"dag": {"tasks": tasks}, "inputDefinitions": definitions},
        "schemaVersion": "2.1.0",
    }
    (job,), _ = read(document)
    assert (sorted(job.fields.get("steps", {"first": {}})), job.obstacles) == (steps, ())


def test_the_remedy_for_a_step_that_is_left_out_names_the_parameter() -> None:
    document = looped([1.0], condition="inputs.parameter_values['pipelinechannel--x'] == 'a'")
    document["root"]["inputDefinitions"]["parameters"]["other"] = {"parameterType": "STRING", "defaultValue": "b"}
    document["root"]["dag"]["tasks"]["loop"]["inputs"]["parameters"]["pipelinechannel--x"] = given("other")
    left = [one.hint for one in read(document)[1] if "is left out" in one.message]
    assert left == ["import it again with `--define other=VALUE` if the step is needed"]


def test_no_component_runs_if_all_tasks_are_left_out() -> None:
    jobs, found = read(looped([1.0], condition=f"int(inputs.parameter_values['{ITEM}']) == 3"))
    assert jobs == []
    assert {one.message for one in found} == {
        "task `train` is left out for the item `1`: its condition `1 == 3` is false",
        "no task of the pipeline is carried",
    }


def test_a_part_of_an_item_is_its_value() -> None:
    rates = [{"a": {"b": [4.0, 5.0]}}, {"a": {"b": [6.0, 7.0]}}]
    assert rates_of(looped(rates, selector='parseJson(string_value)["a"]["b"][1]')) == (["5", "7"], [])


@for_each(
    ("rates", "steps", "left"),
    [
        ([{"kind": "a", "b": 1.0}, {"kind": "c", "b": 2.0}], ["{{item}}"], "c == 'a'"),
        ([{"kind": "a"}, {"other": 1.0}], ["{{item}}", "{{item}}"], ""),
    ],
)
def test_a_condition_on_a_part_of_an_item_is_decided_for_each(rates: list[Any], steps: list[str], left: str) -> None:
    document = looped(rates, condition="inputs.parameter_values['kind'] == 'a'")
    inputs = document["components"]["comp-loop"]["dag"]["tasks"]["train"]["inputs"]["parameters"]
    inputs["kind"] = given(ITEM, parameterExpressionSelector='parseJson(string_value)["kind"]')
    made, found = rates_of(document)
    assert len(made) == len(steps)
    assert [one for one in found if "is left out" in one] == [
        f"task `train` is left out for the item `{json.dumps({'kind': 'c', 'b': 2})}`: its condition `{left}` is false"
    ] * bool(left)
    assert any("is not carried" in one for one in found) is not bool(left), "an item without this part is not decided"


def test_a_condition_on_a_part_of_a_parameter_is_reported() -> None:
    document = looped([{"kind": "a"}], condition="inputs.parameter_values['kind'] == 'a'")
    document["root"]["dag"]["tasks"]["loop"].pop("parameterIterator")
    inputs = document["components"]["comp-loop"]["dag"]["tasks"]["train"]["inputs"]["parameters"]
    inputs["kind"] = given(LIST, parameterExpressionSelector='parseJson(string_value)[0]["kind"]')
    inputs["rate"] = {"runtimeValue": {"constant": 1.0}}
    _, found = rates_of(document)
    assert [one.partition(" is not carried")[0] for one in found] == ["the condition `a == 'a'` of task `train`"]


def test_a_loop_over_a_part_of_a_value_has_a_step_for_each_item() -> None:
    document = looped([{"a": [1.0, 2.0]}])
    inputs = document["root"]["dag"]["tasks"]["loop"]["inputs"]["parameters"]
    inputs[LIST]["parameterExpressionSelector"] = 'parseJson(string_value)[0]["a"]'
    assert rates_of(document) == (["1", "2"], [])


def test_numbers_in_lists_are_whole() -> None:
    document = deepcopy(FUNCTIONS)
    inputs = document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"]
    inputs["rows"] = {"runtimeValue": {"constant": [1.0, {"x": 2.0}]}}
    document["components"]["comp-prepare"]["inputDefinitions"]["parameters"]["rows"]["parameterType"] = "LIST"
    (job,), _ = read(document)
    assert '{"rows": [1, {"x": 2}],' in job.fields["steps"]["prepare"]["command"]


def test_the_name_of_a_task_is_known() -> None:
    document = deepcopy(IR)
    constant = {"runtimeValue": {"constant": "{{$.pipeline_task_name}}"}}
    document["root"]["dag"]["tasks"]["train"]["inputs"]["parameters"]["rate"] = constant
    document["deploymentSpec"]["executors"]["exec"]["container"]["args"] += ["of {{$.pipeline_task_name}}"]
    (job,), _ = read(document)
    steps = job.fields["steps"]
    assert steps["train"]["command"] == ["run", "train", "of train"]
    assert steps["loop-2"]["command"] == ["run", "2", "of loop"]


def in_graph(settings: dict[str, Any], **inputs: Any) -> tuple[dict[str, Any], list[str]]:
    """The pod of a component in a graph with the input `inner`, which is `outer` of the pipeline, and the findings."""
    document = deepcopy(IR)
    document["components"]["comp-inner"]["dag"]["tasks"]["eval"]["inputs"] = {}
    document["components"]["comp-train"]["inputDefinitions"] = {
        "parameters": {"rate": {"parameterType": "STRING", "isOptional": True, "defaultValue": "1"}}
    }
    document["root"]["inputDefinitions"]["parameters"] = {"outer": {"parameterType": "STRING", **inputs}}
    document["root"]["dag"]["tasks"] = {
        "inner": {"componentRef": {"name": "comp-inner"}, "inputs": {"parameters": {"inner": given("outer")}}}
    }
    optional = {"inner": {"parameterType": "STRING", "isOptional": True}}
    document["components"]["comp-inner"]["inputDefinitions"] = {"parameters": optional}
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec": settings}}}}}
    (job,), found = read(document, platforms)
    return job.originals[0].body["spec"]["template"]["spec"], [one.message for one in found]


NODES = {"nodeSelector": {"nodeSelectorJson": given("inner")}}
SECRET = {"secretAsVolume": [{"mountPath": "/keys", "secretNameParameter": given("inner")}]}
ENV = {"secretAsEnv": [{"keyToEnv": [{"envVar": "A", "secretKey": "a"}], "secretNameParameter": given("inner")}]}
FIXED = "the parameter `outer` of step `eval` is not carried: the job is that of its default value `{}`"


@for_each(
    ("settings", "value", "expected"),
    [
        (SECRET, "keys", {"volumes": [{"name": "secret-0", "secret": {"secretName": "keys"}}]}),
        (SECRET | ENV, "keys", {"volumes": [{"name": "secret-0", "secret": {"secretName": "keys"}}]}),
        (NODES, {"disk": "fast"}, {"nodeSelector": {"disk": "fast"}}),
        ({"tolerations": [{"tolerationJson": given("inner")}]}, [{"key": "x"}], {"tolerations": [{"key": "x"}]}),
    ],
)
def test_settings_have_the_inputs_of_the_graph(settings: dict[str, Any], value: object, expected: Any) -> None:
    pod, found = in_graph(settings, defaultValue=value)
    assert {name: pod[name] for name in expected} == expected
    assert found == [FIXED.format(value if isinstance(value, str) else json.dumps(value))]


def test_a_fixed_setting_is_at_its_own_line() -> None:
    document = deepcopy(IR)
    document["root"]["inputDefinitions"]["parameters"]["outer"] = {"defaultValue": "keys", "parameterType": "STRING"}
    secret = {"secretAsVolume": [{"mountPath": "/keys", "secretNameParameter": given("outer")}]}
    document["root"]["dag"]["tasks"] = {"train": document["root"]["dag"]["tasks"]["train"]}
    text = yaml.safe_dump_all(
        [document, {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec": secret}}}}}]
    )
    IMPORTERS["kfp"]().read(ImportInput(file="p.yaml", text=text, otherwise="team"), found := Findings())
    (item,) = found
    assert "the parameter `outer` of step `train` is not carried" in item.message
    assert "secretAsVolume" in "".join(text.splitlines()[item.place.line - 2 : item.place.line])


@for_each(
    "settings",
    [SECRET, NODES, {"tolerations": [{"tolerationJson": given("inner")}]}, {"imagePullSecret": [given("inner")]}],
)
def test_settings_without_a_value_are_left_out(settings: dict[str, Any]) -> None:
    pod, found = in_graph(settings, isOptional=True)
    assert pod.keys() == {"restartPolicy", "containers"}
    assert found == ["the optional input `outer` of the pipeline has no value, so no step has it"]


def test_a_claim_needs_a_value() -> None:
    claims = {"pvcMount": [{"mountPath": "/rows", "pvcNameParameter": given("inner")}]}
    _, found = in_graph(claims, isOptional=True)
    assert "the input `inner` of step `eval` has no value" in found
    _, found = in_graph(claims, defaultValue="rows")
    assert found == [FIXED.format("rows")]


def test_a_component_has_its_default_value_for_an_input_without_one() -> None:
    document = deepcopy(IR)
    rate = {"parameterType": "STRING", "isOptional": True, "defaultValue": "7"}
    document["components"]["comp-train"]["inputDefinitions"] = {"parameters": {"rate": rate}}
    document["root"]["inputDefinitions"]["parameters"] = {"lr": {"parameterType": "STRING", "isOptional": True}}
    (job,), _ = read(document)
    assert job.fields["steps"]["train"]["command"] == ["run", "7"]
    assert "params" not in job.fields


def test_the_status_of_a_task_is_known_to_a_run_only() -> None:
    document = deepcopy(FUNCTIONS)
    document["components"]["comp-train"]["inputDefinitions"] = {
        "parameters": {"status": {"isOptional": True, "parameterType": "TASK_FINAL_STATUS"}}
    }
    status = {"taskFinalStatus": {"producerTask": "prepare"}}
    document["root"]["dag"]["tasks"]["train"]["inputs"] = {"parameters": {"status": status}}
    (job,), _ = read(document)
    (obstacle,) = job.obstacles
    assert obstacle.message.startswith("the status of task `prepare` of step `train` is not carried")


def test_what_a_graph_sets_for_its_tasks_is_reported() -> None:
    own: dict[str, Any] = {"parallelism": 2, "retryStrategy": {"limit": 3}, "outputs": {}, "metadata": {"labels": {}}}
    tasks = dag(task("a", "x"), task("b", "x"), **own)
    tasks["dag"] |= {"failFast": False}
    _, found = read(workflow(tasks, program("x")))
    lost = ("parallelism", "retryStrategy")
    assert {one.message for one in found} == {f"`{name}` of template `dag` is not carried" for name in lost}


def test_a_graph_passes_on_that_an_input_has_no_value() -> None:
    document = deepcopy(IR)
    rate = {"parameterType": "STRING", "isOptional": True}
    document["components"]["comp-train"]["inputDefinitions"] = {"parameters": {"rate": {**rate, "defaultValue": "7"}}}
    document["components"]["comp-inner"]["inputDefinitions"] = {"parameters": {"lr": {"parameterType": "STRING"}}}
    document["components"]["comp-inner"]["dag"]["tasks"]["eval"]["inputs"] = {"parameters": {"rate": given("lr")}}
    document["root"]["inputDefinitions"]["parameters"] = {"lr": rate}
    inner = {"componentRef": {"name": "comp-inner"}, "inputs": {"parameters": {"lr": given("lr")}}}
    document["root"]["dag"]["tasks"] = {"inner": inner}
    (job,), found = read(document)
    assert job.fields["command"] == ["run", "7"]
    assert [one.message for one in found] == ["the optional input `lr` of the pipeline has no value, so no step has it"]
    document["components"]["comp-train"]["inputDefinitions"]["parameters"]["rate"] = {"parameterType": "STRING"}
    _, found = read(document)
    assert "the input `lr` of step `eval` has no value" in [one.message for one in found]


def test_an_empty_text_is_a_value() -> None:
    document = deepcopy(IR)
    document["root"]["inputDefinitions"]["parameters"] = {"lr": {"parameterType": "STRING", "defaultValue": ""}}
    (job,), found = read(document)
    assert job.fields["params"] == {"lr": ""}
    assert job.fields["steps"]["train"]["command"] == ["run", "{{ params.lr }}"]
    assert [one.message for one in found] == [
        "task `inner` is left out: its condition `inputs.parameter_values['lr'] == 0.5` is false"
    ]


@for_each(
    ("accelerator", "gpus", "expected"),
    [
        ({"resourceType": "nvidia.com/gpu", "resourceCount": "2"}, "2", []),
        (
            {"resourceType": "{{$.inputs.parameters['rate']}}", "resourceCount": "1"},
            "1",
            [FIXED.format("nvidia.com/gpu")],
        ),
        (
            {"resourceType": "NVIDIA_TESLA_P4", "resourceCount": "1"},
            None,
            ["`NVIDIA_TESLA_P4: 1` of step `train` is not carried: no resource has this name"],
        ),
        (
            {"resourceType": "{{$.inputs.parameters['other']}}", "resourceCount": "1"},
            None,
            ["the input `other` of step `train` has no value"],
        ),
    ],
)
def test_accelerators_have_the_name_of_a_resource(accelerator: Any, gpus: str | None, expected: list[str]) -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"] |= {
        "args": [],
        "resources": {"accelerator": accelerator},
    }
    document["root"]["inputDefinitions"]["parameters"] = {
        "outer": {"parameterType": "STRING", "defaultValue": "nvidia.com/gpu"}
    }
    train = {"componentRef": {"name": "comp-train"}, "inputs": {"parameters": {"rate": given("outer")}}}
    document["root"]["dag"]["tasks"] = {"train": train}
    (job,), found = read(document)
    assert job.fields.get("gpus") == gpus
    assert [one.message for one in found] == [one.replace("`eval`", "`train`") for one in expected]


@for_each("part", ["triggerPolicy", "parameterIterator"])
def test_losses_of_a_graph_are_one_finding_at_its_own_line(part: str) -> None:
    document = looped([1.0], condition="inputs.parameter_values['pipelinechannel--rates'] == 'x'")
    tasks = document["components"]["comp-loop"]["dag"]["tasks"]
    tasks["other"] = tasks["train"] = {"componentRef": {"name": "comp-train"}}
    loop = document["root"]["dag"]["tasks"]["loop"]
    output = {"taskOutputParameter": {"producerTask": "first", "outputParameterKey": "n"}}
    loop["inputs"]["parameters"][LIST] = output
    loop["dependentTasks"] = ["first"]
    if part == "triggerPolicy":
        loop[part] = {"condition": f"inputs.parameter_values['{LIST}'] == 'x'"}
        loop["parameterIterator"] = {"itemInput": ITEM, "items": {"raw": "[1]"}}
    document["root"]["dag"]["tasks"]["first"] = {"componentRef": {"name": "comp-train"}}
    text = yaml.safe_dump(document)
    given = ImportInput(file="p.yaml", text=text, otherwise="team")
    (job,) = IMPORTERS["kfp"]().read(given, found := Findings())
    (item,) = [one for one in found if " of task `loop` is not carried" in one.message]
    assert text.splitlines()[item.place.line - 2].strip() == "loop:"
    own = {one.step: one.lacks for one in job.originals}
    assert own == {"first": (), "train": (item,), "other": (item,)}


@for_each(("limit", "is_lost"), [(1, True), (2.0, True), (3, False), (0, False)])
def test_a_limit_of_items_is_lost_if_there_are_more(limit: float, is_lost: bool) -> None:
    document = looped([1.0, 2.0, 3.0])
    document["root"]["dag"]["tasks"]["loop"]["iteratorPolicy"] = {"parallelismLimit": limit}
    message = f"`iteratorPolicy.parallelismLimit: {int(limit)}` of task `loop` is not carried"
    assert rates_of(document) == (["1", "2", "3"], [message] if is_lost else [])


@for_each(
    ("source", "expected"),
    [
        ({"componentInputParameter": "lr"}, "lr={{ params.lr }}, ={{ params.lr }}"),
        ({"runtimeValue": {"constant": 3.0}}, "lr=3, =3"),
        (
            {"taskOutputParameter": {"producerTask": "first", "outputParameterKey": "n"}},
            "lr=change-me-tasks-first-outputs-parameters-n, =change-me-tasks-first-outputs-parameters-n",
        ),
    ],
)
def test_a_constant_has_other_inputs_of_its_task(source: dict[str, Any], expected: str) -> None:
    """As the compiler writes `f"lr={lr}, ={lr}"`."""
    document = deepcopy(IR)
    value = "{{$.inputs.parameters['pipelinechannel--lr']}}"
    inputs = {"pipelinechannel--lr": source, "rate": {"runtimeValue": {"constant": f"lr={value}, ={value}"}}}
    train = {"componentRef": {"name": "comp-train"}, "inputs": {"parameters": inputs}}
    document["root"]["dag"]["tasks"] = {"train": train}
    (job,), found = read(document)
    assert job.fields["command"][1:] == [expected]
    messages = [
        "the output `n` of task `first` of step `train` is not carried: only a run of the pipeline has its value"
    ]
    assert [one.message for one in found] == (messages if "change-me" in expected else [])


def test_a_text_with_a_parameter_gets_the_escapes_of_json() -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["inputDefinitions"]["parameters"]["text"]["defaultValue"] = 'say "no"'
    inputs = document["root"]["dag"]["tasks"]["prepare"]["inputs"]["parameters"]
    inputs |= {"pipelinechannel--text": inputs["text"]}
    inputs["text"] = {"runtimeValue": {"constant": "I {{$.inputs.parameters['pipelinechannel--text']}}"}}
    (job,), _ = read(document)
    assert r'"text": "I say \"no\""' in job.fields["steps"]["prepare"]["command"]
