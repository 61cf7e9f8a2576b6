"""Pipelines with `kfp`: their form, their parameters, and what changes make a new version."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.render.starters.kubeflow_pipeline import KubeflowPipeline
from tests.kfp import defining, steps_of
from tests.support import HERE, OVERLAY, Repository

JOB = """\
kind: pipeline
kfp: {params: [rate]}
params: {rate: "0.1", seed: "3"}
image: a:1
steps:
  first: {kind: batch, command: "a {{ params.rate }} {{ params.seed }}", results: {best: best}}
  second: {kind: pytorch, needs: [first], command: "b {{ steps.first.results.best }} {{ run.id }}"}
"""
VERSIONS = sorted(HERE.glob("golden/*/rendered/*/jobs/*/*/pipelineversion-*.yaml"))


@pytest.fixture(autouse=True)
def _granted(repo: Repository) -> None:
    repo.overlay(defining(OVERLAY))


@pytest.mark.parametrize("path", VERSIONS, ids=lambda path: path.stem)
def test_the_definition_of_its_format_accepts_a_version(path: Any) -> None:
    """Its parser accepts no unknown field, as that of the webhook of Kubeflow Pipelines."""
    pytest.importorskip("google.rpc", reason="googleapis-common-protos is not installed")
    formats = pytest.importorskip("kfp.pipeline_spec.pipeline_spec_pb2", reason="kfp-pipeline-spec is missing")
    parser = pytest.importorskip("google.protobuf.json_format")
    spec = yaml.safe_load(path.read_text("utf-8"))["spec"]["pipelineSpec"]
    read = parser.ParseDict(spec, formats.PipelineSpec())
    written = json.loads(json.dumps(spec).replace('{"enableCache": false}', "{}"))  # the form omits false values
    assert json.loads(parser.MessageToJson(read)) == written
    parser.ParseDict(spec["deploymentSpec"], formats.PipelineDeploymentConfig())
    with pytest.raises(parser.ParseError):
        parser.ParseDict({**spec, "more": 1}, formats.PipelineSpec())


def test_a_version_has_steps_of_every_kind(repo: Repository) -> None:
    one_pod = {"batch": {"workers": 1}}  # several need a Service, which Kubeflow Pipelines cannot create
    examples = {kind: model.example for kind, model in KINDS.items() if not model.own_fields}
    steps = {kind: {"kind": kind, **example, **one_pod.get(kind, {})} for kind, example in examples.items()}
    repo.job(json.dumps({"kind": "pipeline", "kfp": {}, "steps": steps}))  # examples share values
    kinds = {name: step.object()["kind"] for name, step in steps_of(repo.one("PipelineVersion")).items()}
    assert kinds == {kind: KINDS[kind].facts.kind for kind in steps}


def test_a_parameter_is_an_input_of_the_pipeline_and_of_the_steps_that_use_it(repo: Repository) -> None:
    repo.job(JOB)
    version = repo.one("PipelineVersion")
    root = version["spec"]["pipelineSpec"]["root"]
    parameter = {"parameterType": "STRING", "defaultValue": "0.1"}
    assert root["inputDefinitions"] == {"parameters": {"rate": parameter}}
    steps = steps_of(version)
    assert steps["first"].task["inputs"]["parameters"]["_rate"] == {"componentInputParameter": "rate"}
    assert set(steps["second"].task["inputs"]["parameters"]) == {"run", "first_best"}
    (container,) = steps["first"].object()["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["sh", "-c", "a <params/rate> 3"]


def test_parameters_of_the_overlay_are_immutable(repo: Repository) -> None:
    repo.overlay(defining(OVERLAY + 'params: {rate: "0.5"}\n'))
    repo.job(JOB)
    assert repo.codes() == ["not-granted"]


def test_the_metadata_of_an_object_is_a_part_of_the_version(repo: Repository) -> None:
    """The webhook of Kubeflow Pipelines refuses another `spec` under the same name."""
    repo.job(JOB)
    before = repo.one("PipelineVersion")
    patch = "patches: [{target: {kind: Job}, patch: 'metadata: {annotations: {example.com/a: b}}'}]\n"
    repo.overlay(defining(OVERLAY + patch))
    after = repo.one("PipelineVersion")
    assert before["spec"] != after["spec"]
    assert before["metadata"]["name"] != after["metadata"]["name"]


def test_a_patch_that_removes_the_place_of_an_object_is_no_bug(repo: Repository) -> None:
    patch = "[{op: remove, path: /spec/pipelineSpec/deploymentSpec}]"
    repo.overlay(defining(f"{OVERLAY}patches: [{{target: {{kind: PipelineVersion}}, patch: '{patch}'}}]\n"))
    repo.job(JOB)
    assert "deploymentSpec" not in repo.one("PipelineVersion")["spec"]["pipelineSpec"]


def test_a_step_runs_after_those_that_it_needs_and_is_never_taken_from_a_cache(repo: Repository) -> None:
    repo.job(JOB)
    steps = steps_of(repo.one("PipelineVersion"))
    assert [step.task.get("dependentTasks") for step in steps.values()] == [None, ["first"]]
    assert all(step.task["cachingOptions"] == {"enableCache": False} for step in steps.values())
    assert steps["first"].results == ["best"]


def test_the_pipeline_is_applied_before_its_version(repo: Repository) -> None:
    """Argo CD sorts by name, kubectl by the names of files."""
    repo.job(JOB)
    pipeline, version = repo.one("Pipeline"), repo.one("PipelineVersion")
    assert version["spec"]["pipelineName"] == pipeline["metadata"]["name"] == "demo"
    assert version["metadata"]["name"] > pipeline["metadata"]["name"]
    files = [path.rpartition("/")[2] for path in repo.rendered() if "/jobs/" in path]
    assert sorted(files) == ["pipeline-demo.yaml", "pipelineversion-demo.yaml"]


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (("a:1", "a:2"), True),
        (('"0.1"', '"0.2"'), True),
        (("kind: batch,", "kind: batch, retries: 3,"), True),
        (("image: a:1", "image: a:1\nlabels: {cost: a}"), False),
        (("image: a:1", "image: a:1\nmetrics: [loss]"), False),
    ],
)
def test_a_version_has_the_name_of_its_content(change: tuple[str, str], new: bool, repo: Repository) -> None:
    repo.job(JOB)
    before = repo.one("PipelineVersion")
    repo.job(JOB.replace(*change))
    after = repo.one("PipelineVersion")
    assert (before["metadata"]["name"] != after["metadata"]["name"]) == new
    assert (before["spec"] != after["spec"]) == new


def test_a_version_follows_the_overlay(repo: Repository) -> None:
    """It starts nothing, so it is not kept like a run."""
    repo.job(JOB)
    before = repo.one("PipelineVersion")["metadata"]["name"]
    repo.overlay(defining(OVERLAY).replace("tools:1", "tools:2"))
    assert repo.one("PipelineVersion")["metadata"]["name"] != before


@pytest.mark.parametrize(("steps", "size"), [(1, 25 << 10), (20, (KubeflowPipeline.most_bytes >> 4))])
def test_an_object_must_fit_into_an_argument_and_a_workflow(steps: int, size: int, repo: Repository) -> None:
    one = {"kind": "batch", "command": "x" * min(size, 23 << 10 if steps > 1 else size)}
    repo.job(
        yaml.safe_dump(
            {"kind": "pipeline", "kfp": {}, "image": "a:1", "steps": {f"s{n}": dict(one) for n in range(steps)}}
        )
    )
    assert set(repo.codes()) == {"too-large"}


def test_one_run_counts_for_the_quota(repo: Repository) -> None:
    repo.overlay(defining(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 7\n')))
    repo.job(JOB.replace("kind: pytorch,", "kind: pytorch, gpus: 8, cpu: 1, memory: 1Gi,"))
    assert "over-quota" in repo.codes()


def test_no_message_and_no_account_of_argo_is_in_a_version(repo: Repository) -> None:
    repo.overlay(defining(OVERLAY.replace("reader:", "notify: {secret: hook}, reader:")))
    repo.job(JOB)
    text = json.dumps(repo.one("PipelineVersion"))
    assert "hook" not in text
    assert "gen-pipeline" not in text


def test_a_parameter_and_a_result_have_different_inputs(repo: Repository) -> None:
    repo.job(
        "kind: pipeline\nkfp: {params: [best, run]}\nparams: {best: a, run: b}\nimage: a:1\nsteps:\n"
        "  params: {kind: batch, command: a, results: {best: best}}\n"
        "  run: {kind: batch, command: a, results: {run: x}}\n"
        '  last: {kind: batch, needs: [params, run], command: "{{ params.best }} {{ params.run }} '
        '{{ steps.params.results.best }} {{ steps.run.results.run }} {{ run.id }}"}\n'
    )
    step = steps_of(repo.one("PipelineVersion"))["last"]
    inputs = step.task["inputs"]["parameters"]
    assert inputs.keys() == step.component["inputDefinitions"]["parameters"].keys()
    given = {name: str(number) for number, name in enumerate(inputs)}
    words = step.command(given, {})
    marks = dict(zip(words[13::2], words[14::2], strict=False))
    assert sorted(marks.values()) == sorted(value for name, value in given.items() if name != "run")
    assert len(marks) == len(inputs) - 1 == 4
