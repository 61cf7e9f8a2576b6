"""Artifacts of steps, of graphs and of stores: files of a volume, their URIs, and those that no job has."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.kfp.pipelines import pipeline
from tests.importers.kfp.test_ir import ARTIFACTS, DATASET, FUNCTIONS, function, input_of
from tests.importers.kfp.test_kfp import read

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_an_output_without_an_artifact_is_only_in_the_pod() -> None:
    document = deepcopy(FUNCTIONS)
    document["components"]["comp-train"]["outputDefinitions"] = {"parameters": {"n": {"parameterType": "STRING"}}}
    steps = pipeline(document, ARTIFACTS, "the output `n` of step `train` is not carried")
    assert input_of(steps["train"])["outputs"]["parameters"] == {"n": {"outputFile": "/tmp/outputs/n"}}  # noqa: S108
    document["root"]["dag"]["tasks"]["last"] = {
        "componentRef": {"name": "comp-prepare"},
        "inputs": {
            "parameters": {"text": {"taskOutputParameter": {"producerTask": "train", "outputParameterKey": "n"}}}
        },
    }
    _, found = read(document)
    of_last = "the output `n` of task `train` of step `last` is not carried: only a run of the pipeline has its value"
    assert [one.message for one in found] == [of_last, ARTIFACTS]


def test_a_loop_over_artifacts_cannot_run() -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["dag"]["tasks"]["train"]["artifactIterator"] = {"items": {"inputArtifact": "rows"}}
    (job,), found = read(document)
    expected = ["the loop `artifactIterator` of task `train` is not carried"]
    assert [one.message for one in found] == [*expected, ARTIFACTS]
    assert [one.message for one in job.obstacles] == expected


def looped_artifacts(*words: str, items: str = "[1, 2]", command: Sequence[str] = ("run",)) -> dict[str, Any]:
    """A step that reads the artifacts of all items of a loop."""
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
    container = {"container": {"image": "a:1", "command": [*command], "args": [*words]}}
    return {
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


@for_each(("items", "paths"), [("[1, 2]", ["work/d", "work-2/d"]), ("[1]", ["work/d"]), ("", ["work/d"])])
def test_artifacts_of_all_items_of_a_loop_are_a_list(items: str, paths: list[str]) -> None:
    """As `dsl.Collected` passes them on; without known items, the loop itself is missing."""
    document = looped_artifacts("{{$}}", items=items)
    (job,), _ = read(document)
    given = json.loads(job.fields["steps"]["join"]["command"][1])["inputs"]["artifacts"]["ds"]["artifacts"]
    known = [one["uri"].removeprefix("/pipeline/{{ run.id }}/") for one in given]
    assert known == paths
    assert [one.message for one in job.obstacles] == (
        [] if items else ["the loop `parameterIterator` of task `loop` is not carried"]
    )


def test_a_list_of_artifacts_in_a_command() -> None:
    """The launcher replaces the path of the first one, and no text for the whole list."""
    document = looped_artifacts("{{$.inputs.artifacts['ds'].path}}", "{{$.inputs.artifacts['ds']}}")
    (job,), _ = read(document)
    command = job.fields["steps"]["join"]["command"]
    assert command == ["run", "/pipeline/{{ run.id }}/work/d", "change-me-inputs-artifacts-ds"]
    why = "Kubeflow Pipelines replaces only its `path` and its `uri`, those of the first artifact of a list"
    assert f"`{{{{$.inputs.artifacts['ds']}}}}` of step `join` is not carried: {why}" in [
        one.message for one in job.obstacles
    ]


@for_each("command", [[], ["run"]])
def test_a_program_without_a_command_finds_no_folder_for_its_outputs(command: list[str]) -> None:
    document = looped_artifacts("{{$.outputs.artifacts['d'].path}}", command=command)
    (job,), _ = read(document)
    message = "the folder of the outputs of step `work` is not carried"
    assert (message in [one.message for one in job.obstacles]) == (not command)


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


def test_the_folder_of_artifacts_has_the_whole_name_of_the_task() -> None:
    name = "prepare-the-rows-and-upload-them-as-an-artifact"
    text = json.dumps(FUNCTIONS).replace('"prepare": {"componentRef"', f'"{name}": {{"componentRef"')
    text = text.replace('"dependentTasks": ["prepare"]', f'"dependentTasks": ["{name}"]')
    steps = pipeline(json.loads(text.replace('"producerTask": "prepare"', f'"producerTask": "{name}"')), ARTIFACTS)
    (cut,) = [one for one in steps if one and name.startswith(one)]
    path = f"/pipeline/flow-1/{name}/rows"
    assert len(cut) < len(name)
    assert input_of(steps["train"])["inputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path
    assert input_of(steps[cut])["outputs"]["artifacts"]["rows"]["artifacts"][0]["uri"] == path


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
    made = function("train")
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
    executor = document["deploymentSpec"]["executors"]["use"] = function("use")
    executor["container"]["command"][-1] = "\ndef use(a=None, b=None):\n    print(a.metadata)\n"
    (job,), _ = read(document)
    assert job.obstacles == ()


_OPEN: Final = "open(rows.path)"


@for_each(
    ("maker", "reader", "is_lost"),
    [
        ("rows: Output[Dataset]):\n    rows.uri = 'gs://bucket/data.csv'", _OPEN, True),
        ("rows: Output[Dataset]):\n    rows.path += '.csv'", "print(rows.uri)", True),
        ("rows: Output[Dataset]):\n    rows.path += '.csv'", "print(rows.name)", False),
        ("rows: Output[Dataset], o=None):\n    o.uri = rows.path", _OPEN, False),
        ("rows_path: OutputPath('Dataset')):\n    return 1", _OPEN, False),
        (") -> Dataset:\n    return Dataset(uri='s3://b/d.csv')", _OPEN, True),
        (") -> Dataset:\n    return dsl.Dataset('rows', dsl.get_uri('train.csv'))", _OPEN, True),
        (") -> Dataset:\n    return Dataset(uri=dsl.get_uri())", _OPEN, True),
        (") -> Dataset:\n    return Dataset(uri=dsl.get_uri(suffix='rows'))", _OPEN, False),
        (") -> Dataset:\n    uri = get_uri('rows')\n    return Dataset(uri=uri)", _OPEN, False),
        (") -> Dataset:\n    uri = get_uri('rows') + '.csv'\n    return Dataset(uri=uri)", _OPEN, True),
        (") -> Dataset:\n    a = Dataset(uri=get_uri('rows'))\n    a.path = 'x'\n    return a", _OPEN, True),
        (") -> Dataset:\n    a = Dataset(uri=get_uri('rows'))\n    a.metadata['n'] = 1\n    return a", _OPEN, False),
        (") -> Dataset:\n    return 'text'", _OPEN, False),
        ("table: Input[Dataset]) -> Dataset:\n    return table", _OPEN, True),
    ],
)
def test_a_reader_of_an_artifact_whose_uri_a_function_sets_cannot_run(maker: str, reader: str, is_lost: bool) -> None:
    document = deepcopy(FUNCTIONS)
    executors = document["deploymentSpec"]["executors"]
    executors["exec-prepare"]["container"]["command"][-1] = f"\ndef prepare({maker}\n"
    document["components"]["comp-prepare"]["inputDefinitions"]["artifacts"] = {"table": DATASET}
    executors["exec-train"]["container"]["command"][-1] = f"\ndef train(rows: Input[Dataset]):\n    {reader}\n"
    (job,), _ = read(document)
    message = "the URI of the artifact `rows` of step `train` is not carried"
    assert [one.message for one in job.obstacles] == [message] * is_lost
    container = {"image": "a:1", "command": ["cat", "{{$.inputs.artifacts['rows'].path}}"]}
    executors["exec-train"]["container"] = container
    (job,), _ = read(document)
    assert [one.message for one in job.obstacles] == [message] * (is_lost or ".name" in reader)


def test_the_output_of_a_function_without_a_name_keeps_its_uri() -> None:
    document = json.loads(json.dumps(FUNCTIONS).replace('"rows": {"artifactType"', '"Output": {"artifactType"'))
    document["root"]["dag"]["tasks"]["train"]["inputs"]["artifacts"] = {
        "Output": {"taskOutputArtifact": {"producerTask": "prepare", "outputArtifactKey": "Output"}}
    }
    executors = document["deploymentSpec"]["executors"]
    source = "\ndef prepare() -> Dataset:\n    return Dataset(uri=dsl.get_uri())\n"
    executors["exec-prepare"]["container"]["command"][-1] = source
    executors["exec-train"]["container"]["command"][-1] = "\ndef train(Output):\n    open(Output.path)\n"
    (job,), _ = read(document)
    assert job.obstacles == ()
    executors["exec-prepare"]["container"]["command"][-1] = source.replace("uri()", "uri('x')")
    (job,), _ = read(document)
    assert len(job.obstacles) == 1


@for_each(
    ("metadata", "body", "expected"),
    [
        ({"rows": 10.0, "of": {"a": ["b"]}}, "print(rows.metadata['rows'])", {"rows": 10, "of": {"a": ["b"]}}),
        (None, "print(rows.metadata)", {}),
        ({"rows": "{{$.inputs.parameters['n']}}"}, "print(rows.metadata)", None),
        ({"rows": "{{$.inputs.parameters['n']}}"}, "print(rows.uri)", {}),
    ],
)
def test_readers_have_the_metadata_of_an_importer(
    metadata: dict[str, Any] | None, body: str, expected: dict[str, Any] | None
) -> None:
    document = deepcopy(FUNCTIONS)
    executors = document["deploymentSpec"]["executors"]
    executors["exec-prepare"] = {"importer": {"artifactUri": {"constant": _BUCKET}, "metadata": metadata}}
    executors["exec-train"] = _function_with(body)
    (job,), found = read(document)
    (artifact,) = input_of(job.fields)["inputs"]["artifacts"]["rows"]["artifacts"]
    assert artifact["metadata"] == (expected or {})
    lost = ["the metadata of the artifact `rows` of step `train` is not carried"] * (expected is None)
    assert [one.message for one in job.obstacles] == lost
    hints = [one.hint for one in found if one.message in lost]
    assert hints == ["write the metadata that its importer gives it in place of `metadata` of the artifact"] * len(lost)


def test_an_artifact_without_a_value_has_one_finding() -> None:
    document = deepcopy(FUNCTIONS)
    document["root"]["inputDefinitions"] = {"artifacts": {"table": DATASET}}
    inputs = {"artifacts": {"rows": {"componentInputArtifact": "table"}}}
    document["root"]["dag"]["tasks"] = {"train": {"componentRef": {"name": "comp-train"}, "inputs": inputs}}
    document["deploymentSpec"]["executors"]["exec-train"] = _function_with("print(rows.metadata)")
    (job,), _ = read(document)
    assert [one.message for one in job.obstacles] == ["the input `table` of step `train` has no value"]


def test_metadata_of_importers_of_the_same_uri_are_not_mixed_up() -> None:
    document = deepcopy(FUNCTIONS)
    executors, tasks = document["deploymentSpec"]["executors"], document["root"]["dag"]["tasks"]
    executors["exec-prepare"] = {"importer": {"artifactUri": {"constant": _BUCKET}, "metadata": {"n": 1}}}
    executors["exec-other"] = {"importer": {"artifactUri": {"constant": _BUCKET}, "metadata": {"n": 2}}}
    document["components"]["comp-other"] = {**document["components"]["comp-prepare"], "executorLabel": "exec-other"}
    tasks["other"] = {"componentRef": {"name": "comp-other"}}
    tasks["train"]["dependentTasks"] = ["prepare", "other"]
    executors["exec-train"] = _function_with("print(rows.metadata)")
    (job,), _ = read(document)
    message = "the metadata of the artifact `rows` of step `train` is not carried"
    assert [one.message for one in job.obstacles] == [message]
