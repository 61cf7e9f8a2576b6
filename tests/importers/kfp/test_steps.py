"""Order, conditions, loops and parameters of pipelines, and the proof of their steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.diagnostics import Findings
from gen.edit.needs import fragment
from gen.edit.proof import NAME, overlay_text, prove
from gen.importers.kfp.order import depends_on, holds, status_in
from tests.importers.kfp.test_kfp import OBJECT, read
from tests.importers.support import run_import
from tests.support import PROJECT

if TYPE_CHECKING:
    from gen.edit.proof import Proof
    from gen.importers.base import ImportedJob
    from tests.support import Repository


def program(name: str, *words: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "container": {"image": "busybox:1", "command": ["run", *words]}, **more}


def dag(*tasks: dict[str, Any], name: str = "dag", **more: Any) -> dict[str, Any]:
    return {"name": name, "dag": {"tasks": list(tasks)}, **more}


def task(name: str, template: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "template": template or name, **more}


def workflow(*templates: dict[str, Any], **spec: Any) -> dict[str, Any]:
    spec = {"entrypoint": "dag", "templates": list(templates), **spec}
    return {"kind": "Workflow", "metadata": {"generateName": "flow-"}, "spec": spec}


def values(**parameters: str) -> dict[str, Any]:
    return {"arguments": {"parameters": [{"name": name, "value": value} for name, value in parameters.items()]}}


def pipeline(document: Any, *expected: str) -> dict[str, Any]:
    """The steps of the only job, with these findings."""
    (job,), found = read(document)
    assert [item.message for item in found] == list(expected)
    assert job.fields["kind"] == "pipeline"
    return {"": job.fields, **job.fields["steps"]}


def order(steps: dict[str, Any]) -> dict[str, Any]:
    return {name: (step.get("needs", []), step.get("when", "succeeded")) for name, step in steps.items() if name}


def proofs(job: ImportedJob) -> list[Proof]:
    found = Findings()
    every = list(prove(PROJECT, job, NAME, overlay_text(fragment([job])), found))
    assert not list(found), list(found)
    return every


def test_dependencies_are_needs() -> None:
    steps = pipeline(
        workflow(
            dag(
                task("report", depends="train.Failed || train.Errored"),
                task("train", dependencies=["prepare"]),
                task("clean", depends="(train.Succeeded || train.Failed || train.Errored)"),
                task("prepare"),
            ),
            *(program(name) for name in ("prepare", "train", "report", "clean")),
        )
    )
    assert order(steps) == {
        "prepare": ([], "succeeded"),
        "train": (["prepare"], "succeeded"),
        "report": (["train"], "failed"),
        "clean": (["train"], "ended"),
    }
    assert steps[""]["image"] == "busybox:1"


def test_groups_of_steps_follow_each_other() -> None:
    groups = [[task("a", "x"), task("b", "x")], [task("c", "x", when="{{steps.a.status}} != Succeeded")]]
    steps = pipeline(workflow({"name": "dag", "steps": groups}, program("x")))
    assert order(steps) == {"a": ([], "succeeded"), "b": ([], "succeeded"), "c": (["a", "b"], "failed")}


def test_tasks_of_inner_graphs_are_steps() -> None:
    inner = dag(task("d", "x"), task("e", "x", dependencies=["d"]), name="inner")
    outer = dag(task("first", "x"), task("both", "inner", dependencies=["first"]), task("z", "x", depends="both"))
    steps = pipeline(workflow(outer, inner, program("x")))
    assert order(steps) == {
        "first": ([], "succeeded"),
        "d": (["first"], "succeeded"),
        "e": (["d"], "succeeded"),
        "z": (["e"], "succeeded"),
    }


def test_what_runs_at_the_end_needs_all() -> None:
    steps = pipeline(workflow(dag(task("a", "x"), task("b", "x")), program("x"), program("bye"), onExit="bye"))
    assert order(steps)["bye"] == (["a", "b"], "ended")


def test_a_step_waits_for_what_a_step_without_a_job_waits_for() -> None:
    steps = pipeline(
        workflow(
            dag(task("a", "x"), task("pause", dependencies=["a"]), task("b", "x", dependencies=["pause"])),
            {"name": "pause", "suspend": {}},
            program("x"),
        ),
        "step `pause` is not carried: it needs the launcher of the pipeline, or runs no program",
    )
    assert order(steps) == {"a": ([], "succeeded"), "b": (["a"], "succeeded")}


def test_a_loop_over_known_items_has_a_step_for_each() -> None:
    loop = task("train", "x", withItems=[{"lr": 1}, {"lr": 2}], **values(lr="{{item.lr}}"))
    count = task("count", "x", withSequence={"start": "3", "count": "2"}, **values(lr="{{item}}"))
    param = task("param", "x", withParam='["a"]', dependencies=["train"], **values(lr="{{item}}"))
    steps = pipeline(workflow(dag(loop, count, param), program("x", "--lr={{inputs.parameters.lr}}")))
    rates = {name: step["command"][1] for name, step in steps.items() if name}
    assert rates == {
        "train": "--lr=1",
        "train-2": "--lr=2",
        "param": "--lr=a",
        "count": "--lr=3",
        "count-2": "--lr=4",
    }
    assert steps["param"]["needs"] == ["train", "train-2"]


def test_parameters_are_params() -> None:
    steps = pipeline(
        workflow(
            dag(task("a", "x", **values(lr="{{workflow.parameters.learning-rate}}")), task("b", "y")),
            program(
                "x",
                "{{inputs.parameters.lr}}",
                "{{inputs.parameters.z}}",
                inputs={"parameters": [{"name": "z", "default": "7"}]},
            ),
            program("y"),
            **values(**{"learning-rate": "0.1", "unused": "{{ 7 }}"}),
        )
    )
    assert steps[""]["params"] == {"learning_rate": "0.1"}
    assert steps["a"]["command"] == ["run", "{{ params.learning_rate }}", "7"]


def test_a_parameter_of_a_field_without_expressions_is_reported() -> None:
    words = [
        "arena",
        "submit",
        "mpijob",
        "--name=a",
        "--image=i:1",
        "--workers=2",
        "--gang={{workflow.parameters.g}}",
        "x",
    ]
    (job,), found = read(
        workflow(dag(task("a", "x")), {"name": "x", "container": {"command": words}}, **values(g="true"))
    )
    assert "params" not in job.fields
    assert any("the parameter `g` of step `a` is not carried" in item.message for item in found)


@pytest.mark.parametrize(
    ("task_fields", "message"),
    [
        ({"when": "{{tasks.a.outputs.result}} == 1"}, "the condition `{{tasks.a.outputs.result}} == 1` of step `b` is"),
        ({"withParam": "{{tasks.a.outputs.result}}"}, "the loop `withParam` of step `b` is not carried"),
        ({"depends": "a.AnySucceeded"}, "the condition `a.AnySucceeded` of step `b` is not carried"),
        ({"when": "{{workflow.parameters.p}} == yes"}, "task `b`: its condition `{{workflow.parameters.p}} == yes` is"),
        ({"template": "?"}, "task `b`: unknown template, `?`, is not carried"),
        ({"template": "dag"}, "task `b`: too many steps, or a template that calls itself, `dag`, is not carried"),
        ({"hooks": {"exit": {}}}, "`hooks` of step `b` is not carried"),
        ({"arguments": {"artifacts": [1]}}, "`arguments.artifacts` of step `b` is not carried"),
    ],
)
def test_what_steps_cannot_say_is_reported(task_fields: dict[str, Any], message: str) -> None:
    tasks = (task("a", "x"), task("c", "x"), {**task("b", "x", dependencies=["a"]), **task_fields})
    _, found = read(workflow(dag(*tasks), program("x"), **values(p="no")))
    assert any(item.message.startswith(message) for item in found), list(found)


def test_each_step_with_an_object_renders_it() -> None:
    steps = workflow(
        dag(task("a", "x"), task("b", "object", dependencies=["a"], **values(n="{{workflow.parameters.n}}"))),
        program("x", activeDeadlineSeconds=60),
        {
            "name": "object",
            "resource": {"action": "create", "manifest": OBJECT.replace("train.py", "{{inputs.parameters.n}}")},
        },
        serviceAccountName="runner",
        **values(n="other.py"),
    )
    (job,), found = read(steps)
    assert [item.message for item in found] == [
        "`{{workflow.uid}}` of step `b` is not carried: only a run of the pipeline has its value"
    ]
    assert job.overlay["pipelines"] == {"argo": {"serviceAccount": "runner"}}
    assert (job.fields["steps"]["a"]["timeout"], job.fields["params"]) == ("60s", {"n": "other.py"})
    every = proofs(job)
    assert [(one.original.step, one.patch, one.remaining) for one in every] == [("a", None, ()), ("b", None, ())]


def test_the_proof_of_a_step_names_what_differs() -> None:
    body = json.loads(OBJECT)
    body["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priority"] = 5
    steps = workflow(
        dag(task("a", "x"), task("b", "o")), program("x"), {"name": "o", "resource": {"manifest": json.dumps(body)}}
    )
    (job,), _ = read(steps)
    every = proofs(job)
    assert every[1].patch is not None or every[1].remaining


IR = {
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
    assert {name: step["args"] for name, step in steps.items() if name} == {
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "succeeded"),
        ("a && b.Succeeded", "succeeded"),
        ("(a.Succeeded || a.Skipped) && b", "succeeded"),
        ("a.Failed", "failed"),
        ("!a.Succeeded", "failed"),
        ("a.Failed || b.Errored", "failed"),
        ("a || a.Failed", "ended"),
        ("a.Succeeded && b.Failed", None),
        ("a || b", None),
        ("a &&", None),
        ("", None),
        ("__import__('os')", None),
        ("a.b.c", None),
        ("(" * 500 + "a" + ")" * 500, None),
        (" && ".join(f"t{n}" for n in range(40)), None),
    ],
)
def test_conditions_of_dependencies(text: str, expected: str | None) -> None:
    assert depends_on(text)[1] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a" == "a"', True),
        ("a != a", False),
        ("1.0 == 1", True),
        ("2 > 10", False),
        ("a > b", None),
        ("{{x}} == 1", None),
        ("a == b && c == d", None),
    ],
)
def test_comparisons_of_known_values(text: str, expected: bool | None) -> None:
    assert holds(text) is expected


def test_loops_in_loops_end() -> None:
    inner = [dag(task("t", f"d{n + 1}", withSequence={"count": "64"}), name=f"d{n}") for n in range(6)]
    for last in (program("d6"), dag(name="d6")):
        _, found = read(workflow(*inner, last, entrypoint="d0"))
        assert any("too many steps" in item.message for item in found) or found


def test_status_of_tasks() -> None:
    assert status_in("{{tasks.a.status}} == Failed") == status_in('"{{workflow.status}}" != "Succeeded"') == "failed"
    assert status_in("{{tasks.a.status}} == Succeeded") == "succeeded"
    assert status_in("{{tasks.a.status}} == Running") is None


def test_an_imported_pipeline_renders(repo: Repository) -> None:
    steps = workflow(
        dag(task("a", "x"), task("b", "object", dependencies=["a"])),
        program("x", "{{workflow.parameters.n}}"),
        {"name": "object", "resource": {"action": "create", "manifest": OBJECT}},
        **values(n="7"),
    )
    file = repo.root.parent / "flow.yaml"
    file.write_text(json.dumps(steps))
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team", overlay="dev", yes=True)
    assert code == 0, report
    report, code = repo.render()
    assert code == 0, report
    (text,) = [text for path, text in repo.rendered().items() if "workflow-flow" in path]
    assert "b-wait" in text


def test_two_parameters_with_one_name_are_one() -> None:
    (job,), found = read(
        workflow(
            dag(task("a", "x")),
            program("x", "{{workflow.parameters.a-b}} {{workflow.parameters.a_b}}"),
            **values(**{"a-b": "1", "a_b": "2"}),
        )
    )
    assert (job.fields["params"], job.fields["command"]) == ({"a_b": "1"}, ["run", "{{ params.a_b }} 2"])
    assert any("the parameter `a_b` of step `a` is not carried" in item.message for item in found)


def test_values_in_values_have_a_bound() -> None:
    twice = {"parameters": [{"name": "p", "value": "{{inputs.parameters.p}}" * 2}]}
    inputs = {"parameters": [{"name": "p", "value": "word"}]}
    groups = [dag(task("t", f"g{level + 1}", arguments=twice), name=f"g{level}", inputs=inputs) for level in range(20)]
    (job,), _ = read(workflow(*groups, program("g20", "{{inputs.parameters.p}}", inputs=inputs), entrypoint="g0"))
    assert job.fields["image"] == "busybox:1"
    assert len(str(job.fields)) < 200_000
