"""Parameters and loops of pipelines."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, pipeline, program, task, values, workflow
from tests.importers.kfp.test_ir import IR
from tests.importers.kfp.test_kfp import read
from tests.importers.support import run_import
from tests.support import Repository


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


@for_each(
    ("sequence", "items"),
    [
        ({"start": "1", "end": "3", "format": "m%02d"}, ["m01", "m02", "m03"]),
        ({"count": "2", "format": "%x%"}, None),
        ({"count": 2, "format": "0x%X"}, ["0x0", "0x1"]),
        ({"start": "2", "end": "0"}, ["2", "1", "0"]),
        ({"count": "0"}, None),
        ({"count": "2", "format": "%s"}, None),
    ],
)
def test_a_sequence_has_a_format(sequence: dict[str, Any], items: list[str] | None) -> None:
    loop = task("a", "x", withSequence=sequence, **values(lr="{{item}}"))
    (job,), found = read(workflow(dag(loop), program("x", "{{inputs.parameters.lr}}")))
    every = [step["command"][1] for step in job.fields.get("steps", {"": job.fields}).values()]
    assert (every if items is not None else None) == items
    assert [one.message for one in found][:1] == (
        ["the loop `withSequence` of task `a` is not carried"] if items is None else []
    )


def test_a_loop_over_a_parameter_with_a_list_has_a_step_for_each() -> None:
    loop = task("train", "x", withParam="{{workflow.parameters.rates}}", **values(lr="{{item.lr}}"))
    given = values(rates='[{"lr": 1}, {"lr": 2}]')
    message = (
        'the loop of task `train` is decided at the import: its steps are those of `rates: [{"lr": 1}, {"lr": 2}]`'
    )
    steps = pipeline(workflow(dag(loop), program("x", "--lr={{inputs.parameters.lr}}"), **given), message)
    assert {name: step["command"][1] for name, step in steps.items() if name} == {
        "train": "--lr=1",
        "train-2": "--lr=2",
    }


def test_a_loop_of_version_2_over_a_parameter_has_a_step_for_each() -> None:
    document = deepcopy(IR)
    document["root"]["inputDefinitions"]["parameters"]["rates"] = {"defaultValue": [3, 4], "parameterType": "LIST"}
    loop = {"itemInput": "rate", "items": {"inputParameter": "rates"}}
    document["root"]["dag"]["tasks"]["loop"]["parameterIterator"] = loop
    (job,), found = read(document)
    steps = job.fields["steps"]
    assert [steps[name]["command"][1:] for name in ("loop", "loop-2")] == [["3"], ["4"]]
    assert [one.message for one in found if "loop" in one.message] == [
        "the loop of task `loop` is decided at the import: its steps are those of `rates: [3, 4]`"
    ]


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


def test_loops_in_loops_end() -> None:
    inner = [dag(task("t", f"d{n + 1}", withSequence={"count": "64"}), name=f"d{n}") for n in range(6)]
    for last in (program("d6"), dag(name="d6")):
        _, found = read(workflow(*inner, last, entrypoint="d0"))
        assert any("too many steps" in item.message for item in found) or found


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


def test_the_inputs_of_the_entry_are_the_arguments_of_the_workflow() -> None:
    inputs: Any = {"inputs": {"parameters": [{"name": "lr"}]}}
    train = task("a", "x", **values(lr="{{inputs.parameters.lr}}"))
    other = task("b", "x", when='"{{inputs.parameters.lr}}" == "0.5"', **values(lr="1"))
    last = task("c", "x", when='"{{inputs.parameters.lr}}" == "0.1"', **values(lr="2"))
    program_with_rate = program("x", "{{inputs.parameters.lr}}", **inputs)
    (job,), found = read(workflow(dag(train, other, last, **inputs), program_with_rate, **values(lr="0.1")))
    assert job.fields["params"] == {"lr": "0.1"}
    assert job.fields["steps"]["a"]["command"] == ["run", "{{ params.lr }}"]
    assert [one.message for one in found] == [
        'task `b` is left out: its condition `"{{workflow.parameters.lr}}" == "0.5"` is false',
        'the condition `"{{workflow.parameters.lr}}" == "0.1"` of task `c` is not carried: it is true for `lr: 0.1`',
    ]


@for_each(
    ("step", "words", "more", "why"),
    [
        ({}, ["{{tasks.a.outputs.parameters.o}}"], {}, "only a run of the pipeline has its value"),
        ({}, ["{{workflow.parameters.lr}}"], {}, "`{{workflow.parameters.lr}}` of step `b` has no value"),
        ({"when": "{{tasks.a.outputs.parameters.o}} == 1"}, [], {}, "the condition `"),
        ({"withParam": "{{tasks.a.outputs.parameters.o}}"}, [], {}, "the loop `withParam` of task `b`"),
        ({}, [], {"inputs": {"artifacts": [{"name": "x", "path": "/x"}]}}, "`inputs.artifacts` of step `b`"),
        ({}, [], {"container": {"command": ["run"]}}, "step `b` is not carried"),
    ],
)
def test_a_step_without_a_value_of_the_run_cannot_run(
    repo: Repository, step: dict[str, Any], words: list[str], more: dict[str, Any], why: str
) -> None:
    document = workflow(
        dag(task("a", "x"), task("c", "x"), task("b", "y", dependencies=["a"], **step)),
        program("x"),
        {**program("y", *words), **more},
    )
    file = repo.root.parent / "flow.yaml"
    file.write_text(json.dumps(document), "utf-8")
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team", overlay="dev", yes=True)
    assert code == 1
    assert "renders, but cannot run" in report.summary
    assert why in report.summary
    assert "renders the original" not in report.summary
    assert "team/flow-a renders its step; gen adds" in report.summary
    assert ("team/flow-b lacks a part of the original: " in report.summary) == bool(step or words or "inputs" in more)


def test_values_of_parameters_can_be_given(repo: Repository) -> None:
    file = repo.root.parent / "flow.yaml"
    document = workflow(dag(task("a", "x")), program("x", "{{workflow.parameters.lr}}"), **values(lr="1"))
    del document["spec"]["arguments"]["parameters"][0]["value"]
    file.write_text(json.dumps(document), "utf-8")
    options: Any = {"importer": "kfp", "namespace": "team", "overlay": "dev", "yes": True, "define": ("lr=0.1",)}
    report, code = run_import(repo.root, str(file), **options)
    assert (code, report.findings) == (0, ())
    assert "lr: 0.1\n" in (repo.root / "jobs/team/a.yaml").read_text("utf-8")


@for_each(("name", "expected"), [("n", "write the name `n` in quotes"), ("m", "replace `change-me-m` in the job")])
def test_the_remedy_for_a_name_that_yaml_reads_as_a_truth_value(name: str, expected: str) -> None:
    given = {"arguments": {"parameters": [{"name": name if name == "m" else False}]}}
    _, found = read(workflow(dag(task("a", "x", **given)), program("x", f"{{{{inputs.parameters.{name}}}}}")))
    assert [one.hint.startswith(expected) for one in found] == [True]


@for_each(("importer", "name"), [("kfp", "rl"), ("kfp", "l"), ("manifests", "LR")])
def test_a_value_for_an_unknown_name_is_reported(repo: Repository, importer: str, name: str) -> None:
    file = repo.root.parent / "flow.yaml"
    document = workflow(dag(task("a", "x")), program("x", "{{workflow.parameters.lr}}"), **values(lr="1"))
    file.write_text(json.dumps({"apiVersion": "argoproj.io/v1alpha1", **document}), "utf-8")
    (repo.root / "jobs/team/a.yaml").unlink(missing_ok=True)
    options: Any = {"importer": importer, "namespace": "team", "define": ("lr=0.1", f"{name}=0.1")}
    report, _ = run_import(repo.root, str(file), **options)
    message = f"`--define {name}=…` is not carried: the input has no `{name}`"
    assert [one.message for one in report.findings] == [message]


def test_parameters_without_a_value_are_params_of_the_job(repo: Repository) -> None:
    document = workflow(
        dag(task("a", "x"), task("b", "y", dependencies=["a"])),
        program("x", "--lr", "{{workflow.parameters.learning-rate}}"),
        program("y", "--out={{inputs.parameters.out}}"),
    )
    file = repo.root.parent / "flow.yaml"
    file.write_text(json.dumps(document), "utf-8")
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team", overlay="dev", yes=True)
    assert code == 1
    text = (repo.root / "jobs/team/flow.yaml").read_text("utf-8")
    assert "params:\n  learning_rate: change-me-learning-rate\n  out: change-me-out\n" in text
    assert "- '{{ params.learning_rate }}'" in text
    assert "- --out={{ params.out }}" in text
    hints = [one.hint for one in report.findings if one.code == "cannot-run"]
    again = "import it again with `--define learning-rate=VALUE`"
    assert hints[0].startswith(f"replace `change-me-learning-rate` in the job, or {again}")
    values_of: Any = {"overlay": "dev", "yes": True, "define": ("learning-rate=0.1", "out=/out")}
    (repo.root / "jobs/team/flow.yaml").unlink()
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team", **values_of)
    assert (code, report.findings) == (0, ())


def test_an_item_of_a_loop_is_not_given_by_the_user() -> None:
    text = "{{inputs.parameters.pipelinechannel--train-Output-loop-item}}"
    (job,), found = read(workflow(dag(task("a", "x")), program("x", text)))
    assert "params" not in job.fields
    assert [one.message for one in found] == [
        f"`{text}` of step `a` is not carried: only a run of the pipeline has its value"
    ]


def test_a_limit_that_only_a_run_has_is_left_out() -> None:
    template = program("y")
    template["container"]["resources"] = {"limits": {"cpu": "{{tasks.a.outputs.parameters.cpu}}", "memory": "2Gi"}}
    (job,), found = read(workflow(dag(task("a", "x"), task("b", "y", dependencies=["a"])), program("x"), template))
    step = job.fields["steps"]["b"]
    assert ("cpu" in step, step["memory"]) == (False, "2Gi")
    assert [one.message for one in found] == [
        "`{{tasks.a.outputs.parameters.cpu}}` of step `b` is not carried: only a run of the pipeline has its value"
    ]
    assert job.obstacles == (), "it runs without the limit"


def test_a_limit_that_is_a_list_is_no_bug() -> None:
    template = program("x")
    template["container"]["resources"] = {"limits": {"memory": ["2Gi"]}}
    _, found = read(workflow(dag(task("a", "x")), template))
    assert [one.message for one in found if one.is_error]


@for_each("value", [None, "YOUR_TOKEN", "zq-1234"])
def test_a_parameter_that_is_a_secret_is_a_variable(value: str | None) -> None:
    document = workflow(
        dag(task("a", "x", **values(key="{{workflow.parameters.api_token}}"))),
        program("x", "--key", "{{inputs.parameters.key}}", "{{workflow.parameters.lr}}"),
        **values(lr="0.1", **({"api_token": value} if value is not None else {})),
    )
    (job,), found = read(document)
    assert job.fields["command"] == ["run", "--key", "$(API_TOKEN)", "{{ params.lr }}"]
    assert job.fields["params"] == {"lr": "0.1"}
    assert job.fields["env"] == {"API_TOKEN": {"secret": "api-token", "key": "API_TOKEN"}}
    assert [(one.code, one.message) for one in found] == [
        ("needs-secret", "the parameter `api_token` is a secret; the variable `API_TOKEN` has its value")
    ]
    assert job.obstacles == ()


@for_each("value", [None, "keys"])
def test_a_parameter_with_the_name_of_a_secret_stays(value: str | None) -> None:
    source = {"secretKeyRef": {"name": "{{workflow.parameters.secret_name_secret}}", "key": "a"}}
    step = program("x")
    step["container"]["env"] = [{"name": "A", "valueFrom": source}]
    given = {"secret_name_secret": value} if value is not None else {}
    (job,), found = read(workflow(dag(task("a", "x")), step, **values(**given)))
    expected = value or "change-me-secret-name-secret"
    assert job.fields["env"] == {"A": {"secret": expected, "key": "a"}}
    assert "params" not in job.fields
    first = next(iter(found))
    assert ("is that of its default value" if value else "has no value") in first.message
    assert "params" not in first.hint, "gen refuses a parameter with the name of a secret"


def test_the_name_of_a_secret_is_no_result_of_a_step() -> None:
    step = program("x")
    step["container"]["env"] = [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "{{inputs.parameters.keys}}", "key": "a"}}}
    ]
    given = values(keys="{{tasks.make.outputs.parameters.name}}")
    _, found = read(workflow(dag(task("make", "y"), task("a", "x", **given)), program("y"), step))
    assert [one.hint for one in found if "only a run" in one.message] == ["set the value in the job"]


def test_the_remedy_for_a_fixed_value_names_the_parameter_of_the_job() -> None:
    """`{{ params.my-claim }}` is a difference of two names."""
    step = program("x")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "{{workflow.parameters.my-claim}}"}}
    document = workflow(dag(task("a", "x")), {**step, "volumes": [volume]}, **values(**{"my-claim": "data"}))
    hints = [one.hint for one in read(document)[1] if "is that of its default value" in one.message]
    expected = (
        "a field that takes an expression can have `{{ params.my_claim }}`, if `params` of the job has `my_claim`"
    )
    assert hints == [f"check the value; {expected}"]
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team", define={"my-claim": "rows"})
    IMPORTERS["kfp"]().read(given, found := Findings())
    message = "the parameter `my-claim` of step `a` is not carried: the job is that of its value `rows`"
    assert [one.message for one in found] == [message], "which is not a default value"


def test_a_token_of_texts_is_a_param() -> None:
    given = {"boundary_token": "\\n"}
    document = workflow(dag(task("a", "x")), program("x", "{{workflow.parameters.boundary_token}}"), **values(**given))
    (job,), found = read(document)
    assert job.fields["params"] == given
    assert list(found) == []


def test_names_of_runs_are_that_of_the_run() -> None:
    (job,), found = read(workflow(dag(task("a", "x")), program("x", "/out/{{workflow.name}}", "{{workflow.uid}}")))
    assert job.fields["command"] == ["run", "/out/{{ run.id }}", "{{ run.id }}"]
    assert list(found) == []


def test_an_expression_of_argo_is_reported() -> None:
    text = "{{=sprig.default('a', workflow.parameters.lr)}}"
    (job,), found = read(workflow(dag(task("a", "x")), program("x", text), **values(lr="0.1")))
    assert [one.message for one in found] == [f"`{text}` of step `a` is not carried: gen reads no expressions"]
    assert job.obstacles


def test_the_comment_has_the_whole_name_of_the_pipeline() -> None:
    document = workflow(dag(task("a", "x"), task("b", "x")), program("x", "run"))
    document["metadata"] = {"name": "a-name-that-is-longer-than-the-name-of-the-job-can-be"}
    (job,), _ = read(document)
    assert job.name == "a-name-that-is-longer-than-the-name-of-the-job"
    assert job.comment == "Imported from the pipeline a-name-that-is-longer-than-the-name-of-the-job-can-be."


def test_long_values_in_findings_end_with_dots() -> None:
    _, found = read(workflow(dag(task("a", "x")), program("x", "{{tasks.b.outputs.parameters." + "o" * 100 + "}}")))
    assert found[0].message.startswith("`{{tasks.b.outputs.parameters." + "o" * 70 + "…` of step `a`")


def test_a_condition_of_a_loop_is_decided_for_each_item() -> None:
    loop = task("train", "x", withItems=["a", "b"], when="{{item}} != a", **values(lr="{{item}}"))
    report = task("report", "x", dependencies=["train"], **values(lr="all"))
    (job,), found = read(workflow(dag(loop, report), program("x", "{{inputs.parameters.lr}}")))
    assert {name: step["command"][1] for name, step in job.fields["steps"].items()} == {"train": "b", "report": "all"}
    message = "task `train` is left out for the item `a`: its condition `a != a` is false"
    assert [one.message for one in found] == [message]


def test_a_known_loop_in_an_unknown_one_is_no_known_loop() -> None:
    inner = dag(task("x", withParam="{{workflow.parameters.rates}}", **values(lr="{{item}}")), name="inner")
    outer = dag(task("inner", withParam="{{tasks.a.outputs.parameters.o}}"))
    program_of = program("x", "{{inputs.parameters.lr}}")
    (job,), found = read(workflow(outer, inner, program_of, **values(rates="[1, 2]")))
    assert [step["command"][1] for step in job.fields["steps"].values()] == ["1", "2"]
    assert {one.message for one in found} == {
        "the loop `withParam` of task `inner` is not carried",
        "the loop of task `x` is decided at the import: its steps are those of `rates: [1, 2]`",
    }
    assert len(job.obstacles) == 1


@for_each(
    ("condition", "word", "what"),
    [
        ("{{workflow.parameters.epochs}} > 2", "{{workflow.parameters.epochs}}", "{{workflow.parameters.epochs}} > 2"),
        ("{{workflow.parameters.epochs}} > 2", "3", "{{workflow.parameters.epochs}} > 2"),
        ("3 > 2", "{{workflow.parameters.epochs}}", ""),
    ],
)
def test_a_true_condition_of_a_parameter_of_the_job_is_reported(condition: str, word: str, what: str) -> None:
    """Another value of the parameter does not leave the task out."""
    tasks = dag(task("first", "run"), task("last", "run", dependencies=["first"], when=condition))
    document = workflow(tasks, program("run", word), **values(epochs="3"))
    message = f"the condition `{what}` of task `last` is not carried: it is true for `epochs: 3`"
    pipeline(document, *([message] if what else []))


def test_a_decision_says_how_to_change_it() -> None:
    """A value that the user gives is the one that counts."""
    loop = task("x", withParam="{{workflow.parameters.rates}}", when="{{item}} > 0", **values(lr="{{item}}"))
    last = task("y", when="{{workflow.parameters.last}} == 1")
    words = ("{{inputs.parameters.lr}}", "{{workflow.parameters.rates}}")
    document = workflow(dag(loop, last), program("x", *words), program("y"), **values(rates="[1, 2]\n", last="1"))
    _, found = read(document)
    assert found[0].message.endswith("its steps are those of `rates: [1, 2]`")
    assert [one.hint for one in found] == [
        "add or remove steps with each change of `params.rates`",
        "import it again with `--define last=VALUE` if the value should be another one",
    ]
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team", define={"last": "1"})
    own = Findings()
    IMPORTERS["kfp"]().read(given, own)
    assert [one.hint for one in own] == [found[0].hint]


def test_values_with_long_names_have_different_names() -> None:
    outputs = [f"{{{{tasks.make.outputs.parameters.an-output-with-a-long-name-{end}}}}}" for end in ("x", "y")]
    made = program("make")
    used = {**program("use"), "inputs": {"parameters": [{"name": "a"}, {"name": "b"}]}}
    used["container"] = {**used["container"], "command": ["{{inputs.parameters.a}}", "{{inputs.parameters.b}}"]}
    given = values(a=outputs[0], b=outputs[1])
    (job,), _ = read(workflow(dag(task("make"), task("use", dependencies=["make"], **given)), made, used))
    one, other = job.fields["steps"]["use"]["command"]
    assert one != other
    assert all(re.fullmatch("change-me-tasks-make-outputs-parameters-an-[a-z-]*[0-9a-f]{5}", x) for x in (one, other))
