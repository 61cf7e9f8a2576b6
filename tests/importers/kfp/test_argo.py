"""Workflows of Argo: which templates run, the parts that only its controller has, and the end of a run."""

from __future__ import annotations

from typing import Any

import yaml

from gen.base import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, pipeline, program, task, values, workflow
from tests.importers.kfp.test_kfp import read


def single(*found: str, document: Any) -> dict[str, Any]:
    """The fields of the only job of a document, with these findings."""
    (job,), items = read(document)
    assert [one.message for one in items] == list(found)
    return job.fields


def test_a_default_that_is_written_out_does_not_count() -> None:
    single(document=workflow(program("dag", daemon=False), suspend=False))


LETTERS = {"A": [], "B": ["A"], "C": ["A"], "D": ["B", "C"], "E": ["C"]}


def targeted(target: str, **more: Any) -> Any:
    tasks = [task(name, "run", dependencies=needs) for name, needs in LETTERS.items()]
    document = workflow(dag(*tasks), program("run"), **more)
    document["spec"]["templates"][0]["dag"]["target"] = target
    return document


LEFT = "task `{}` is left out: `target: E` does not need it"


@for_each(
    ("target", "more", "steps", "found"),
    [
        ("E", {}, {"a", "c", "e"}, [LEFT.format("B"), LEFT.format("D")]),
        ("D  E", {}, set("abcde"), []),
        ("{{workflow.parameters.x}}", values(x="E"), {"a", "c", "e"}, [LEFT.format("B"), LEFT.format("D")]),
        (
            "{{workflow.parameters.x}}",
            values(x="D E"),
            set("abcde"),
            ["the target of `dag` is decided at the import: its steps are those of `x: D E`"],
        ),
        ("F", {}, set("abcde"), ["the target `F` of task `dag` is not carried"]),
    ],
)
def test_a_target_selects_tasks(target: str, more: dict[str, Any], steps: set[str], found: list[str]) -> None:
    assert pipeline(targeted(target, **more), *found).keys() - {""} == steps


def test_a_target_that_is_not_known_cannot_run() -> None:
    (job,), found = read(targeted("{{workflow.creationTimestamp}}"))
    assert [one.code for one in found] == ["cannot-run"]
    assert job.obstacles


@for_each("kind", ["Workflow", "WorkflowTemplate"])
def test_an_entrypoint_without_a_template_is_an_error(kind: str) -> None:
    jobs, found = read({**workflow(program("a"), program("b"), entrypoint="missing"), "kind": kind})
    assert jobs == []
    assert [(one.message, one.is_error) for one in found] == [("no template has the name `missing`", True)]


@for_each(
    ("kind", "found"),
    [
        ("Workflow", []),
        ("WorkflowTemplate", ["the template `train` is not carried: the entrypoint does not reach it"]),
    ],
)
def test_templates_that_other_workflows_may_call_are_named(kind: str, found: list[str]) -> None:
    document = workflow(
        dag(task("a")), program("a"), program("train"), program("clean"), onExit="clean", entrypoint="dag"
    )
    pipeline({**document, "kind": kind}, *found)


def test_a_pipeline_without_a_step_is_an_error_next_to_others() -> None:
    lost = workflow({"name": "dag", "http": {"url": "https://example.com"}})
    _, found = read(workflow(program("dag")), lost)
    assert [one.message for one in found if one.is_error] == ["no step can run without the pipeline"]


@for_each("kind", ["WorkflowTemplate", "CronWorkflow"])
def test_metadata_of_runs_are_those_of_the_job(kind: str) -> None:
    document = {**workflow(program("dag"), workflowMetadata={"labels": {"team": "a"}}), "kind": kind}
    if kind == "CronWorkflow":
        spec = {**document["spec"], "workflowMetadata": {}}
        spec = {"workflowSpec": spec, "schedules": ["0 * * * *"], "workflowMetadata": {"labels": {"team": "a"}}}
        document["spec"] = {**spec, "concurrencyPolicy": "Forbid"}
    assert single(document=document)["labels"] == {"team": "a"}


def test_a_strategy_of_all_templates_has_its_own_line() -> None:
    document = workflow(dag(task("a"), task("b")), program("a"), program("b"))
    document["spec"]["retryStrategy"] = "HERE"
    text = yaml.safe_dump(document).replace("HERE", "{retryPolicy: OnError, limit: 1}")
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "OnError" in one)
    found = Findings()
    IMPORTERS["kfp"]().read(ImportInput(file="p.yaml", text=text), found)
    assert {one.place.line for one in found if "retryStrategy" in one.message} == {line}, list(found)


HANDLED = "the success {} of task `{}` is not carried"


@for_each(
    ("tasks", "found"),
    [
        ([task("a", "run", continueOn={"failed": True})], [HANDLED.format("in spite of `continueOn`", "a")]),
        ([task("a", "run", continueOn={"failed": False})], []),
        (
            [task("a", "run"), task("b", "run", depends="a.Failed")],
            [HANDLED.format("of `a.Failed`", "b")],
        ),
        ([task("a", "run"), task("b", "run", depends="a.Succeeded")], []),
    ],
)
def test_a_failure_that_other_steps_handle_is_one_of_the_pipeline(
    tasks: list[dict[str, Any]], found: list[str]
) -> None:
    _, items = read(workflow(dag(*tasks), program("run")))
    assert [one.message for one in items] == found


@for_each(
    ("words", "env", "found"),
    [
        (["echo 1/2 > $ARGO_PROGRESS_FILE"], {}, ["ARGO_PROGRESS_FILE"]),
        (["echo ${ARGO_NODE_ID}", "os.environ['ARGO_TEMPLATE']"], {}, ["ARGO_NODE_ID", "ARGO_TEMPLATE"]),
        (["echo $ARGO_NODE_ID"], {"env": [{"name": "ARGO_NODE_ID", "value": "x"}]}, []),
        (["ARGO_PROGRESS_FILE $ARGO_TOKEN"], {}, []),
    ],
)
def test_variables_of_the_executor_are_not_carried(words: list[str], env: dict[str, Any], found: list[str]) -> None:
    step = program("dag", *words)
    step["container"] |= env
    single(*(f"`${name}` of step `dag` is not carried" for name in found), document=workflow(step))


def test_templates_of_other_objects_are_named() -> None:
    call = {"name": "b", "templateRef": {"name": "other", "template": "x"}}
    single(
        "task `b` is not carried: gen reads no templates of other objects, such as `x` of `other`",
        document=workflow(dag(task("a"), call), program("a")),
    )


def test_a_template_that_the_input_does_not_have_is_an_error_where_a_workflow_names_it() -> None:
    document = {**workflow(), "spec": {"workflowTemplateRef": {"name": "other"}}}
    _, found = read(document)
    assert [(one.message, one.is_error) for one in found] == [("the file has no WorkflowTemplate `other`", True)]
    other = {**workflow(program("dag")), "kind": "WorkflowTemplate", "metadata": {"name": "other"}}
    assert single(document=other)["kind"] == "batch"
    assert read(document, other)[1] == []
    document["spec"] |= values(x="1")
    _, found = read(document, other)
    assert [one.message for one in found] == ["`arguments` of the workflow is not carried: gen reads only its template"]
