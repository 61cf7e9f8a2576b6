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


_CREATES = "step `claim` creates the claim `rows` in each run, and gen never deletes data"
_UNNAMED = "step `claim` creates a claim in each run, and gen never deletes data; its name is not carried"
_VOLUME: dict[str, Any] = {"size": "5Gi", "storageClass": "fast"}


def with_created(given: dict[str, Any], define: dict[str, str]) -> tuple[dict[str, Any], Any, str, str]:
    """The volumes of a pipeline whose task creates a claim with these inputs, what is mounted, and the finding."""
    constants = {"pvc_name": "rows", "size": "5Gi", "storage_class_name": "fast"}
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in constants.items()} | given
    output = {"taskOutputParameter": {"producerTask": "claim", "outputParameterKey": "name"}}
    named = {"parameters": {"claim": {"parameterType": "STRING"}, "gb": {"defaultValue": "7Gi"}}}
    program = {"container": {"image": "a:1", "command": ["train"]}}
    document = {
        "pipelineInfo": {"name": "flow"},
        "components": {name: {"executorLabel": name} for name in ("claim", "g", "t")},
        "deploymentSpec": {"executors": {"claim": {"container": {"image": "argostub/createpvc"}}, "t": program}},
        "root": {
            "inputDefinitions": named,
            "dag": {
                "tasks": {
                    "claim": {"componentRef": {"name": "claim"}, "inputs": {"parameters": inputs}},
                    "t": {"componentRef": {"name": "t"}, "dependentTasks": ["claim"]},
                }
            },
        },
    }
    settings = {"t": {"pvcMount": [{"mountPath": "/rows", "pvcNameParameter": output}]}}
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": settings}}}}
    (job,), (finding,) = read(document, platforms, define=define)
    return job.overlay["volumes"], job.fields["data"], finding.message, finding.hint


@for_each(
    ("given", "volume", "needed"),
    [
        ({"data_source": {"kind": "VolumeSnapshot", "name": "snap"}}, None, "data_source"),
        ({"volume_name": "pv1"}, None, "volume_name"),
        ({"annotations": {"a/b": "c"}}, _VOLUME, "annotations"),
        ({"annotations": {}, "volume_name": "", "access_modes": ["a"]}, {**_VOLUME, "accessModes": ["a"]}, ""),
    ],
)
def test_a_claim_with_other_data_must_exist(given: dict[str, Any], volume: dict[str, Any], needed: str) -> None:
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in given.items()}
    volumes, data, message, hint = with_created(inputs, {})
    assert (volumes, data) == ({"rows": volume or {"claim": "rows"}}, {"rows": "/rows"})
    assert message == (f"{_CREATES}; the overlay sets no `{needed}` of it" if needed else _CREATES)
    created = f"create the claim `rows` of 5Gi and with `{needed}`; "
    assert hint.startswith("the jobs mount the volume `rows` of the overlay; " if volume else created)


@for_each(
    ("given", "define", "name", "size", "message"),
    [
        ({"size": {"componentInputParameter": "gb"}}, {}, "rows", "7Gi", _CREATES),
        ({"size": {"componentInputParameter": "gb"}}, {"gb": "9Gi"}, "rows", "9Gi", _CREATES),
        ({"pvc_name": {"componentInputParameter": "claim"}}, {"claim": "rows"}, "rows", "5Gi", _CREATES),
        (
            {"pvc_name": {"componentInputParameter": "claim"}},
            {},
            "claim",
            "5Gi",
            f"{_UNNAMED}: the parameter `claim` has no value",
        ),
        (
            {"pvc_name": {"taskOutputParameter": {"producerTask": "g", "outputParameterKey": "n"}}},
            {},
            "claim",
            "5Gi",
            f"{_UNNAMED}: only a run of the pipeline has it",
        ),
    ],
)
def test_the_name_and_the_size_of_a_claim_can_be_parameters(
    given: dict[str, Any], define: dict[str, str], name: str, size: str, message: str
) -> None:
    volumes, data, said, hint = with_created(given, define)
    assert (volumes, data) == ({name: {**_VOLUME, "size": size}}, {name: "/rows"})
    assert said == message
    assert hint.startswith("add `--define claim=VALUE`") == message.endswith("no value")
