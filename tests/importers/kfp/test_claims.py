"""The workspace of a pipeline is a volume of the overlay; its other settings on Kubernetes are reported."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.importers.kfp.test_kfp import read


def with_config(**config: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A pipeline with a step that writes to the workspace, and its settings."""
    container = {"image": "a:1", "command": ["touch"], "args": ["{{$.inputs.parameters['p']}}/x"]}
    given = {"parameters": {"p": {"runtimeValue": {"constant": "{{$.workspace_path}}"}}}}
    document = {
        "pipelineInfo": {"name": "flow"},
        "components": {"c": {"executorLabel": "e", "inputDefinitions": {"parameters": {"p": {}}}}},
        "deploymentSpec": {"executors": {"e": {"container": container}}},
        "root": {"dag": {"tasks": {"w": {"componentRef": {"name": "c"}, "inputs": given}}}},
    }
    return document, {"platforms": {"kubernetes": {"pipelineConfig": config}}}


@for_each(
    ("workspace", "volume", "hint"),
    [
        (
            {"size": "1Gi", "kubernetes": {"pvcSpecPatch": {"accessModes": ["a"], "storageClassName": "fast"}}},
            {"size": "1Gi", "storageClass": "fast", "accessModes": ["a"]},
            "write to a folder `{{ run.id }}` on it",
        ),
        ({"size": "1Gi"}, {"claim": "kfp-workspace"}, "create the claim `kfp-workspace` of 1Gi, or set `size`"),
    ],
)
def test_the_workspace_of_a_pipeline_is_a_volume(workspace: dict[str, Any], volume: dict[str, Any], hint: str) -> None:
    (job,), (finding,) = read(*with_config(workspace=workspace))
    assert (job.fields["command"], job.fields["data"]) == (
        ["touch", "/kfp-workspace/x"],
        {"kfp-workspace": "/kfp-workspace"},
    )
    assert job.overlay["volumes"] == {"kfp-workspace": volume}
    assert (finding.message, job.obstacles) == (
        "each run of the pipeline has a workspace, and runs of the job share one",
        (),
    )
    assert finding.hint.startswith(hint)


@for_each(
    ("kind", "maker", "expected"),
    [
        ("STRING", "w", ["r", "w"]),
        ("NUMBER_DOUBLE", "w", ["w"]),
        ("STRING", "v", ["w"]),
        ("STRING", "graph", ["r", "w"]),
    ],
)
def test_a_step_that_gets_a_path_of_a_step_with_the_workspace_mounts_it(
    kind: str, maker: str, expected: list[str]
) -> None:
    document, config = with_config(workspace={"size": "1Gi"})
    reader = {"executorLabel": "r", "inputDefinitions": {"parameters": {"p": {"parameterType": kind}}}}
    document["components"] |= {"r": reader, "v": {"executorLabel": "v"}}
    document["components"]["graph"] = {"dag": {"tasks": {"w": document["root"]["dag"]["tasks"]["w"]}}}
    program = {"container": {"image": "a:1", "command": ["cat"], "args": ["{{$.inputs.parameters['p']}}"]}}
    document["deploymentSpec"]["executors"] |= {"r": program, "v": {"container": {"image": "a:1", "command": ["v"]}}}
    given = {"p": {"taskOutputParameter": {"producerTask": maker, "outputParameterKey": "o"}}}
    reads = {"componentRef": {"name": "r"}, "dependentTasks": [maker], "inputs": {"parameters": given}}
    tasks = document["root"]["dag"]["tasks"]
    tasks |= {"v": {"componentRef": {"name": "v"}}, "r": reads}
    if maker == "graph":
        tasks["graph"] = {"componentRef": {"name": "graph"}}
        del tasks["w"]
    (job,), _ = read(document, config)
    assert (
        sorted(name for name, step in job.fields["steps"].items() if "kfp-workspace" in step.get("data", {}))
        == expected
    )


def test_other_settings_of_a_pipeline_are_reported() -> None:
    settings = {"mutexName": "m", "semaphoreKey": "s", "resourceTtl": 9, "nosuch": 1}
    document, config = with_config(workspace={"size": "1Gi", "other": 1}, **settings)
    document["root"]["dag"]["tasks"]["w"]["inputs"]["parameters"]["p"] = {"runtimeValue": {"constant": "/x"}}
    (job,), found = read(document, config)
    messages = {one.message.partition(":")[0] for one in found}
    lost = [f"`{name}` of the pipeline is not carried" for name in settings]
    assert messages == {
        *lost,
        "`other` of the workspace is not carried",
        "the workspace of the pipeline is not carried",
    }
    assert "data" not in job.fields
