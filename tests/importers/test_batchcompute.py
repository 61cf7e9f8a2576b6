"""Requests of BatchCompute: every value is carried or reported."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from gen.base.findings import Findings, Severity
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from gen.importers.batchcompute import TASK
from gen.importers.draft import check_text, text_of
from tests.cases import for_each
from tests.importers.support import run_import
from tests.support import Repository, rendered

TASK_1: dict[str, Any] = {
    "TaskName": "Task1",
    "TaskInstanceNum": 3,
    "Application": {"DeliveryForm": "LOCAL", "Command": "python a.py", "Docker": {"Image": "hub/x:1"}},
    "EnvVars": [{"Name": "LR", "Value": "1e-3"}],
    "MaxRetryCount": 2,
    "Timeout": 86400,
}
REQUEST: dict[str, Any] = {
    "Version": "2017-03-12",
    "Placement": {"Zone": "ap-guangzhou-2"},
    "Job": {"JobName": "TestJob", "Tasks": [TASK_1]},
}
ENVIRONMENT = {
    "ComputeEnv": {
        "EnvName": "gpu",
        "DesiredComputeNodeCount": 2,
        "EnvData": {"InstanceType": "GN10X.2XLARGE40", "ImageId": "img-1", "LoginSettings": {"Password": "x"}},
    }
}


def read(*requests: Any, image: str = "", **define: str) -> tuple[list[ImportedJob], list[Any]]:
    found = Findings()
    given = ImportInput(file="a.json", text=json.dumps(list(requests)), otherwise="team", image=image, define=define)
    jobs = list(IMPORTERS["batchcompute"]().read(given, found))
    for job in jobs:
        check_text(job, text_of(job, ""), found)
    return jobs, list(found)


def with_task(**fields: Any) -> dict[str, Any]:
    request = deepcopy(REQUEST)
    request["Job"]["Tasks"][0] |= fields
    return request


def test_an_environment_that_no_task_names_is_reported() -> None:
    (job,), found = read(ENVIRONMENT, REQUEST)
    assert "instanceType" not in job.fields["placement"]
    assert "the environment is not carried: no task names it" in [item.message for item in found]
    _, found = read(ENVIRONMENT, with_task(EnvId="gpu"))
    assert not [item for item in found if "no task names it" in item.message]


def test_a_task_is_an_indexed_job() -> None:
    (job,), found = read(REQUEST)
    assert job.fields == {
        "kind": "batch",
        "command": "python a.py",
        "image": "hub/x:1",
        "workers": 3,
        "retries": 2,
        "array": True,
        "attemptTimeout": "1d",
        "env": {"LR": "1e-3"},
        "placement": {"zone": "ap-guangzhou-2"},
    }
    assert [item.message for item in found] == ["`Version` is not carried: it concerns the client"]


def test_buckets_and_file_systems_are_volumes() -> None:
    source = "cos://data-125.cos.ap-guangzhou.myqcloud.com/in/"
    mappings = [
        {"SourcePath": source, "DestinationPath": "/in", "MountType": "GooseFS-Lite"},
        {"SourcePath": "cfs://10.0.0.1/a", "DestinationPath": "/cfs"},
    ]
    (job,), found = read(with_task(InputMappings=mappings))
    assert ("needs-secret", "the account of the bucket is a secret") in [(one.code, one.message) for one in found]
    assert job.fields["data"] == {"in": "/in", "cfs": "/cfs"}
    assert job.overlay["volumes"] == {
        "in": {
            "cos": {
                "bucket": "data-125",
                "url": "http://cos.ap-guangzhou.myqcloud.com",
                "path": "/in",
                "secret": "cos",
                "mounter": "goosefs-lite",
            },
            "size": "1Ti",
            "readOnly": True,
        },
        "cfs": {"cfs": {"host": "10.0.0.1", "path": "/a"}, "size": "1Ti"},
    }


def test_outputs_and_logs_are_copied_to_stores() -> None:
    bucket = "cos://out-125.cos.ap-guangzhou.myqcloud.com"
    (job,), found = read(
        with_task(
            OutputMappings=[{"SourcePath": "/out/", "DestinationPath": f"{bucket}/results/"}],
            RedirectInfo={"StdoutRedirectPath": f"{bucket}/logs/", "StderrRedirectPath": f"{bucket}/logs/"},
        )
    )
    assert job.fields["outputs"] == {"/out": {"store": "out-125", "path": "results"}}
    assert job.fields["logs"] == {"store": "out-125", "path": "logs"}
    assert job.overlay["stores"] == {"out-125": {"cos": "ap-guangzhou", "bucket": "out-125", "secret": "cos"}}
    assert "the exact folder of the output is not carried: each run has its own" in [one.message for one in found]
    assert ("needs-secret", "the account of the bucket is a secret") in [(one.code, one.message) for one in found]
    (job,), found = read(
        with_task(
            OutputMappings=[{"SourcePath": "/out", "DestinationPath": "s3://a/b"}],
            RedirectInfo={"StdoutRedirectPath": f"{bucket}/a", "StderrRedirectPath": f"{bucket}/b"},
        )
    )
    assert "outputs" not in job.fields
    lost = {one.message.split(" is not")[0] for one in found}
    assert {"`OutputMappings`", f"the log folder `{bucket}/b`"} <= lost


def test_what_a_request_needs_renders(repo: Repository) -> None:
    bucket = "cos://out-125.cos.ap-guangzhou.myqcloud.com"
    request = with_task(
        OutputMappings=[{"SourcePath": "/out", "DestinationPath": f"{bucket}/results/"}],
        InputMappings=[{"SourcePath": f"{bucket}/in/", "DestinationPath": "/in"}],
    )
    file = repo.root.parent / "request.json"
    file.write_text(json.dumps(request))
    report, code = run_import(repo.root, str(file), importer="batchcompute", namespace="team", overlay="dev", yes=True)
    assert code == 0, report
    assert [one.message for one in rendered(repo.root)[0].findings if one.severity is Severity.ERROR] == []


def test_tasks_find_their_environment() -> None:
    (job,), found = read(ENVIRONMENT, with_task(EnvId="gpu"))
    assert job.fields["placement"] == {"zone": "ap-guangzhou-2", "instanceType": "GN10X.2XLARGE40"}
    assert {"`ImageId`", "`LoginSettings`"} <= {item.message.split(" is not")[0] for item in found}
    assert "Password" not in text_of(job, "")


def test_instances_at_the_same_time_are_limited() -> None:
    (job,), _ = read(with_task(MaxConcurrentNum=2))
    assert job.fields["array"] == {"parallel": 2}
    (job,), found = read(with_task(TaskInstanceNum=1, MaxConcurrentNum=2))
    assert "array" not in job.fields
    assert any(one.message.startswith("`MaxConcurrentNum` is not carried") for one in found)


def test_commands_of_instances_are_one_command() -> None:
    (job,), _ = read(
        with_task(Application={"Commands": [{"Command": "a"}, {"Command": "b $BATCH_TASK_INSTANCE_INDEX"}]})
    )
    assert job.fields["workers"] == 2
    assert job.fields["command"] == (
        'export BATCH_TASK_INSTANCE_INDEX="$JOB_COMPLETION_INDEX"\n'
        'case "$JOB_COMPLETION_INDEX" in\n  0) a ;;\n  1) b $BATCH_TASK_INSTANCE_INDEX ;;\nesac\n'
    )


@for_each("name", sorted(set(TASK) - {"TaskInstanceNum", "MaxConcurrentNum"}))
def test_a_value_without_a_field_is_reported(name: str) -> None:
    _, found = read(with_task(**{name: {"a": 1}}))
    (item,) = [one for one in found if one.message.startswith(f"`{name}` is not carried")]
    assert item.hint


@for_each(
    ("requests", "severity", "message"),
    [
        ([], "error", "no request with tasks found"),
        ([{"Job": {"Tasks": []}}], "error", "`JobName` is missing"),
        ([with_task(Unknown=1)], "warning", "`Unknown` is not carried: it has no field"),
        ([with_task(EnvId="env-1")], "warning", "environment `env-1` is not carried: the input does not have it"),
        (
            [with_task(Application={"Command": "x"})],
            "warning",
            "the program is not carried: the task has no container image",
        ),
        (
            [with_task(EnvVars=[{"Name": "SECRET_KEY", "Value": "abcdefgh12345"}])],
            "warning",
            "the value of `SECRET_KEY`",
        ),
        (
            [with_task(InputMappings=[{"SourcePath": "s3://a", "DestinationPath": "/a"}])],
            "warning",
            "`InputMappings` is not carried: expected a source `cos://` or `cfs://`",
        ),
        (
            [{"Job": {**REQUEST["Job"], "Dependences": [{"StartTask": "a", "EndTask": "Task1"}]}}],
            "warning",
            "the order of `a` and `Task1` is not carried: jobs have no order, only steps of a pipeline",
        ),
        ([{"Job": {**REQUEST["Job"], "Notifications": [{}], "Priority": 1}}], "warning", "`Priority` is not carried"),
    ],
)
def test_reports(requests: list[Any], severity: str, message: str) -> None:
    _, found = read(*requests)
    assert any(item.message.startswith(message) and item.severity == severity for item in found), found


@for_each(
    "field, remedy",
    [
        ({"Dependences": [{"StartTask": "Prep_1", "EndTask": "Task1"}]}, "the later one with `needs: [prep-1]`"),
        ({"TaskExecutionDependOn": "PRE_TASK_FINISHED"}, "`when: ended` of a step"),
        ({"Notifications": [{"TopicName": "a"}]}, "`argocd.notify`"),
        ({"NotificationTarget": "CMQ"}, "`pipelines.argo.notify`"),
    ],
)
def test_a_remedy_names_what_gen_has_for_it(field: dict[str, Any], remedy: str) -> None:
    _, found = read({"Job": {**REQUEST["Job"], **field}})
    assert any(
        item.message.startswith(("the order", f"`{next(iter(field))}`")) and remedy in item.hint for item in found
    )


@for_each(
    "value",
    [
        None,
        1,
        "x",
        [1, [2]],
        {"Job": 1},
        {"Job": {"JobName": [1], "Tasks": {}}},
        {"Job": {"JobName": "a", "Tasks": [1]}},
    ],
)
def test_any_value_gives_findings(value: Any) -> None:
    _, found = read(value)
    assert found


def test_expressions_stay_texts() -> None:
    (job,), found = read(with_task(Application={"Command": "echo {{ 7 }} ${{ x }}"}), image="a/b:1")
    assert job.fields["command"] == "echo {{ '{{' }} 7 }} {{ '$' }}{{ '{{' }} x }}"
    assert not any(item.severity is Severity.ERROR for item in found)


DOCKER = "docker run -t --network host --gpus all -e RATE=1 -w /work hub/x:2 bash concurrent/task.sh -a 'b c' -r $RANK"


def test_docker_run_is_opened() -> None:
    command = f"sudo service docker restart && sudo service docker status && set -x && {DOCKER}"
    (job,), found = read(with_task(Application={"Command": command}))
    assert (job.fields["image"], job.fields["command"]) == ("hub/x:2", "bash concurrent/task.sh -a 'b c' -r $RANK")
    assert (job.fields["workingDir"], job.fields["env"]["RATE"]) == ("/work", "1")
    messages = [one.message for one in found]
    for lost in ("--network host", "sudo service docker restart", "set -x"):
        assert f"`{lost}` is not carried: it starts or configures the container" in messages
    assert [one.message for one in job.obstacles] == [
        "`--gpus all` takes GPUs of a machine, and a pod has only those that it asks for"
    ]
    (job,), _ = read(with_task(Application={"Command": command}), GPUS="2")
    assert (job.fields["gpus"], job.obstacles) == (2, ())


def test_a_placeholder_of_the_document_takes_the_image_of_the_option() -> None:
    request = with_task(Application={"Command": DOCKER.replace("hub/x:2", "<image-name>")})
    (job,), found = read(request, image="a/b:1")
    assert job.fields["image"] == "a/b:1"
    assert not [item for item in job.obstacles if "placeholder" in item.message]
    (job,), found = read(request)
    assert (job.fields["image"], job.fields["params"]) == ("{{ params.image }}", {"image": "change-me-image"})
    why = next(item for item in found if "placeholder" in item.message)
    assert (why.message, why.hint) == (
        "`image` has the placeholder `<image-name>`",
        "set `params.image` of the job, or import it again with `--image IMAGE`",
    )


@for_each("command", ["docker run a/b:1 x && docker run a/b:1 y", "make && docker run a/b:1 x", "docker run 'a"])
def test_other_commands_around_docker_stay(command: str) -> None:
    (job,), _ = read(with_task(Application={"Command": command, "Docker": {"Image": "hub/x:1"}}))
    assert (job.fields["image"], job.fields["command"]) == ("hub/x:1", command)


@for_each(
    ("command", "array"),
    [
        (DOCKER, None),
        ("torchrun --nnodes 3 a.py", None),
        ("python a.py -nr $RANK", None),
        ("python a.py --shard $BATCH_TASK_INSTANCE_INDEX", True),
    ],
)
def test_instances_that_meet_are_no_array(command: str, array: bool | None) -> None:
    (job,), _ = read(with_task(Application={"Command": command, "Docker": {"Image": "hub/x:1"}}))
    assert (job.fields["workers"], job.fields.get("array")) == (3, array)


@for_each(
    ("field", "value"),
    [("MaxRetryCount", "often"), ("Timeout", {"a": 1}), ("EnvId", True), ("InputMappings", "cos://a"), ("Docker", "a")],
)
def test_a_value_of_another_type_is_reported(field: str, value: Any) -> None:
    _, found = read(with_task(**{field: value}))
    assert any(one.message.startswith(f"`{field}` is not carried") for one in found)


def test_the_zone_of_an_environment_is_that_of_its_job() -> None:
    env = {**ENVIRONMENT, "Placement": {"Zone": "ap-guangzhou-1"}, "X": 1}
    request = with_task(EnvId="gpu")
    del request["Placement"]
    (job,), found = read(env, request)
    assert job.fields["placement"]["zone"] == "ap-guangzhou-1"
    assert any(one.message == "`X` is not carried: it has no field" for one in found)
    (job,), found = read(env, with_task(EnvId="gpu"))
    assert job.fields["placement"]["zone"] == "ap-guangzhou-2"
    assert any("the zone `ap-guangzhou-1` of the environment is not carried" in one.message for one in found)


def test_a_document_of_another_form_is_reported() -> None:
    _, found = read({"Image": "a"}, REQUEST)
    assert [one.message for one in found if one.place.line == 1 and "document" in one.message] == [
        "a document is not carried: it has neither `Job` nor `ComputeEnv`"
    ]


@for_each("route", [(), ("ComputeEnv",), ("ComputeEnv", "EnvData")])
def test_the_zone_of_an_environment_is_that_of_its_jobs(route: tuple[str, ...]) -> None:
    env, request = deepcopy(ENVIRONMENT), with_task(EnvId="gpu")
    del request["Placement"]
    holder: dict[str, Any] = env
    for name in route:
        holder = holder[name]
    holder["Placement"] = {"Zone": "ap-guangzhou-3"}
    (job,), found = read(env, request)
    assert job.fields["placement"]["zone"] == "ap-guangzhou-3"
    assert not [item.message for item in found if "Placement" in item.message or "Zone" in item.message]
