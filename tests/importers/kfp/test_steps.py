"""Order of the steps of pipelines, and the proof of their objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput, renders
from gen.importers.kfp.losses import HINTS
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, Proof, overlay_text, prove
from gen.render.pipeline import render_job
from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, order, pipeline, program, task, values, workflow
from tests.importers.kfp.test_kfp import OBJECT, read
from tests.importers.support import run_import
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from gen.base.yaml.source import Source
    from gen.importers import ImportedJob
    from gen.overlay.overlay import Overlay
    from gen.render.results import JobInOverlay


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
        ),
        "the success of `train.Failed || train.Errored` of task `report` is not carried",
        "the success of `(train.Succeeded || train.Failed || train.Errored)` of task `clean` is not carried",
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


def test_labels_and_annotations_of_templates_are_those_of_pods() -> None:
    labels = {"team": "{{workflow.parameters.team}}", "tier": "low", "pipelines.kubeflow.org/v2_component": "true"}
    component = json.dumps({"metadata": {"annotations": {"author": "me"}}})
    described = {"author": "me", "pipelines.kubeflow.org/component_spec": component}
    metadata = {"labels": labels, "annotations": {"example.com/note": "b c", **described}}
    document = workflow(
        dag(task("a"), task("b")),
        program("a", metadata=metadata),
        program("b", metadata={"labels": {"pipelines.kubeflow.org/cache": "true"}}),
        podMetadata={"labels": {"tier": "gpu"}},
        **values(team="vision"),
    )
    (job,), found = read(document)
    steps = job.fields["steps"]
    assert not list(found)
    assert steps["a"]["podLabels"] == {"tier": "low", "team": "vision"}
    assert steps["a"]["podAnnotations"] == {"example.com/note": "b c"}
    assert steps["b"]["podLabels"] == {"tier": "gpu"}
    assert sorted(job.grants["metadata"]) == ["example.com/note", "team", "tier"]


def test_only_labels_and_annotations_of_the_compiler_are_not_those_of_pods() -> None:
    labels, annotations = {"author-team": "nlp"}, {"sidecar.istio.io/inject": "false", "author": "me"}
    metadata = {"labels": labels, "annotations": annotations}
    document = workflow(dag(task("a"), metadata=metadata), program("a", metadata=metadata))
    (job,), found = read(document)
    assert not list(found)
    assert (job.fields["podLabels"], job.fields["podAnnotations"]) == (labels, annotations)
    assert sorted(job.grants["metadata"]) == ["author-team", "sidecar.istio.io/inject"]


def test_labels_of_a_template_that_submits_a_job_are_named() -> None:
    submit = "arena submit pytorch --name=train --image=a:1 'python train.py'"
    template = {"name": "a", "container": {"image": "arena:1", "command": ["sh", "-c", submit]}}
    _, found = read(workflow(dag(task("a")), {**template, "metadata": {"labels": {"team": "vision"}}}))
    assert [one.message for one in found if "labels" in one.message] == [
        "the labels of step `a` are not carried: the step only submits the job",
    ]


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


@for_each(
    ("task_fields", "message"),
    [
        ({"when": "{{tasks.a.outputs.result}} == 1"}, "the condition `{{tasks.a.outputs.result}} == 1` of task `b` is"),
        ({"withParam": "{{tasks.a.outputs.result}}"}, "the loop `withParam` of task `b` is not carried"),
        ({"depends": "a.AnySucceeded"}, "the condition `a.AnySucceeded` of task `b` is not carried"),
        ({"when": "{{workflow.parameters.p}} == yes"}, "task `b` is left out: its condition `{{work"),
        ({"template": "?"}, "task `b` is not carried: unknown template, `?`"),
        ({"template": "dag"}, "the loop of template `dag`, which calls itself, of task `b` is not carried"),
        ({"hooks": {"exit": {}}}, "`hooks` of task `b` is not carried"),
        ({"arguments": {"artifacts": [1]}}, "`arguments.artifacts` of task `b` is not carried"),
    ],
)
def test_what_steps_cannot_say_is_reported(task_fields: dict[str, Any], message: str) -> None:
    tasks = (task("a", "x"), task("c", "x"), {**task("b", "x", dependencies=["a"]), **task_fields})
    _, found = read(workflow(dag(*tasks), program("x"), **values(p="no")))
    assert any(item.message.startswith(message) for item in found), list(found)


def test_a_step_that_creates_another_object_is_left_out() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    made = {"name": "make", "resource": {"action": "create", "manifest": json.dumps(body)}}
    (job,), found = read(workflow(dag(task("a", "make"), task("b", "x", dependencies=["a"])), made, program("x")))
    assert job.fields["kind"] == "batch"
    assert {one.message for one in found} == {
        "the object of step `a` is not carried: no object of a kind that gen has, only ConfigMap",
        "step `a` is not carried: it creates no run",
    }
    assert [one.message for one in job.obstacles] == ["step `a` is not carried: it creates no run"]


@for_each(
    "field, hint",
    [
        ("computeClass", "check whether the step needs it"),
        ("outputs", HINTS["files"]),
    ],
)
def test_the_remedy_for_a_lost_field_is_that_of_its_meaning(field: str, hint: str) -> None:
    _, found = read(workflow(dag(task("a", "x")), {**program("x"), field: {"parameters": [1]}}))
    assert [(one.message, one.hint) for one in found] == [(f"`{field}` of step `a` is not carried", hint)]


def test_other_containers_of_a_step_are_a_patch_or_an_obstacle() -> None:
    other = {
        "name": "fetch",
        "image": "a/b:1",
        "command": ["fetch"],
        "volumeMounts": [{"name": "w", "mountPath": "/w"}],
    }
    hosts = [{"ip": f"127.0.0.{number}", "hostnames": ["a"]} for number in (1, 2)]
    step = program("x", volumes=[{"name": "w", "emptyDir": {}}], sidecars=[other])
    step["hostAliases"] = hosts[1:]
    step["container"]["volumeMounts"] = [{"name": "w", "mountPath": "/v"}]
    step["initContainers"] = [{**other, "mirrorVolumeMounts": True}]
    (job,), found = read(workflow(dag(task("a", "x")), step, hostAliases=hosts[:1]))
    assert (
        [one.message for one in job.obstacles]
        == ["`sidecars` of step `a` is not carried"]
        == [one.message for one in found]
    )
    (proof,) = proofs(job)
    assert proof.patch is not None
    values_of = {one["path"].rpartition("/")[2]: one["value"] for one in proof.patch["patch"]}
    assert list(values_of) == ["initContainers", "hostAliases"]
    assert [one["mountPath"] for one in values_of["initContainers"][0]["volumeMounts"]] == ["/v", "/w"]
    assert values_of["hostAliases"] == hosts


def test_claims_of_a_run_are_claims_of_all_runs() -> None:
    step = program("x")
    step["container"]["volumeMounts"] = [{"name": "work", "mountPath": "/work"}]
    (job,), found = read(workflow(dag(task("a", "x")), step, volumeClaimTemplates=[{"metadata": {"name": "work"}}]))
    assert (job.fields["data"], job.overlay["volumes"]) == ({"work": "/work"}, {"work": {"claim": "work"}})
    (item,) = found
    assert item.hint == "create the claims; runs share them, so write to folders `{{ run.id }}` on them"


def test_each_step_with_an_object_renders_it() -> None:
    steps = workflow(
        dag(task("a", "x"), task("b", "object", dependencies=["a"], **values(n="{{workflow.parameters.n}}"))),
        program("x", activeDeadlineSeconds=60),
        {
            "name": "object",
            "resource": {"action": "create", "manifest": OBJECT.replace("train.py", "{{inputs.parameters.n}}")},
        },
        **values(n="other.py"),
    )
    (job,), found = read(steps)
    assert list(found) == []
    assert (job.fields["steps"]["a"]["timeout"], job.fields["params"]) == ("1m", {"n": "other.py"})
    every = proofs(job)
    assert [(one.original.step, one.patch, one.remaining) for one in every] == [("a", None, ()), ("b", None, ())]


def test_pods_of_programs_have_the_account_of_the_workflow() -> None:
    own, other = program("x"), program("y", serviceAccountName="other")
    steps = workflow(dag(task("a", "x"), task("b", "y")), own, other, serviceAccountName="runner")
    (job,), found = read(steps)
    assert [job.fields["steps"][name]["serviceAccount"] for name in "ab"] == ["runner", "other"]
    assert job.grants == {"serviceAccounts": ["runner", "other"]}
    assert job.overlay["pipelines"] == {"argo": {"serviceAccount": "gen-pipeline"}}
    (item,) = found
    assert item.message.startswith("the pods of programs keep the ServiceAccount `runner`")
    (alone,), found = read(workflow(dag(task("a", "x")), own, serviceAccountName="runner"))
    assert (alone.fields["serviceAccount"], found) == ("runner", [])


def test_an_account_that_only_creates_objects_is_that_of_the_pipeline() -> None:
    creates = {"name": "object", "resource": {"action": "create", "manifest": OBJECT}}
    steps = workflow(dag(task("a", "object"), task("b", "object")), creates, serviceAccountName="runner")
    (job,), found = read(steps)
    assert (job.overlay["pipelines"], job.grants, found) == ({"argo": {"serviceAccount": "runner"}}, {}, [])
    assert not any("serviceAccount" in step for step in job.fields["steps"].values())


def test_settings_of_the_workflow_are_those_of_pods() -> None:
    common = {"podPriorityClassName": "low", "schedulerName": "volcano", "securityContext": {"runAsUser": 7}}
    step = program("x", priorityClassName="high", securityContext={"runAsUser": 8})
    (job,), found = read(workflow(dag(task("a", "x"), task("b", "y")), step, program("y"), **common))
    assert found == []
    assert [job.fields["steps"][name]["priority"] for name in "ab"] == ["high", "low"]
    bodies = {one.step: one.body["spec"]["template"]["spec"] for one in job.originals}
    assert {name: (pod["securityContext"], pod["schedulerName"]) for name, pod in bodies.items()} == {
        "a": ({"runAsUser": 8}, "volcano"),
        "b": ({"runAsUser": 7}, "volcano"),
    }


def test_the_proof_of_a_step_names_what_differs() -> None:
    body = json.loads(OBJECT)
    body["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priority"] = 5
    steps = workflow(
        dag(task("a", "x"), task("b", "o")), program("x"), {"name": "o", "resource": {"manifest": json.dumps(body)}}
    )
    (job,), _ = read(steps)
    every = proofs(job)
    assert every[1].patch is not None or every[1].remaining


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


def test_a_step_has_no_field_with_a_default() -> None:
    shell = {"name": "y", "container": {"image": "busybox:1", "command": ["sh", "-c"], "args": ["date | tee out"]}}
    steps = pipeline(workflow(dag(task("a", "x"), task("b", "y")), program("x", "1"), shell))
    assert steps == {
        "": {"kind": "pipeline", "image": "busybox:1", "steps": {"a": steps["a"], "b": steps["b"]}},
        "a": {"kind": "batch", "command": ["run", "1"]},
        "b": {"kind": "batch", "command": "date | tee out"},
    }


@pytest.mark.parametrize("lost", [False, True])
def test_the_steps_of_a_pipeline_are_rendered_together(monkeypatch: pytest.MonkeyPatch, *, lost: bool) -> None:
    """A loop of 64 steps must not render 64 steps 64 times."""
    looped = task("x", withItems=list(range(16)), arguments={"parameters": [{"name": "i", "value": "{{item}}"}]})
    shown = json.loads(OBJECT)
    pod = shown["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": "I", "value": "{{inputs.parameters.i}}"}]
    pod |= {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}]} if lost else {}
    body = {"name": "x", "inputs": {"parameters": [{"name": "i"}]}, "resource": {"manifest": json.dumps(shown)}}
    (job,), _ = read(workflow(dag(looped), body))
    rendered: list[str] = []
    render = render_job

    def counted(source: Source, namespace: str, overlay: Overlay, own: Findings) -> JobInOverlay:
        rendered.append(namespace)
        return render(source, namespace, overlay, own)

    monkeypatch.setattr(renders, "render_job", counted)
    found = Findings()
    every = list(prove(PROJECT, job, NAME, overlay_text(fragment([job])), found))
    assert (len(every), [one.remaining for one in every]) == (16, [()] * 16)
    assert all((one.patch is not None) is lost for one in every)
    assert len(rendered) <= 2


def test_a_task_of_several_groups_has_the_name_of_its_group() -> None:
    echo = program("echo", "{{item}}")
    thrice = {"name": "thrice", "steps": [[{"name": "echo", "template": "echo", "withItems": [1, 2]}]]}
    both = dag(task("echo", withItems=[0]), task("count", "echo", withItems=[0]), name="both")
    steps = pipeline(workflow(dag(task("A", "thrice"), task("B", "thrice"), task("C", "both")), echo, thrice, both))
    assert [name for name in steps if name] == ["a", "a-2", "b", "b-2", "c-echo", "count"]


@for_each(
    ("name", "tasks", "expected"),
    [
        ("xgboost-sample-pipeline", ["train", "evaluate"], ("xgboost-sample-pipeline", "train", "evaluate")),
        (
            "pipeline-with-artifact-custom-path",
            ["write-to-workspace", "read-from-workspace"],
            ("pipeline-with-artifact-custom", "write-to-workspace", "read-from-workspace"),
        ),
        (
            "xgboost-sample-pipeline",
            ["chicago-taxi-trips-dataset", "train"],
            ("xgboost-sample-pipeline", "chicago-taxi-trips-dataset", "train"),
        ),
        ("flow", ["chicago-taxi-trips-dataset", "train"], ("flow", "chicago-taxi-trips-dataset", "train")),
        ("flow", ["a" * 50, "b"], ("flow", "a" * 45, "b")),
        (
            "metrics-visualization-pipeline",
            ["markdown-visualization", "b"],
            ("metrics-visualization", "markdown-visualization", "b"),
        ),
        ("x" * 50, ["a-b", "b"], ("x" * 46, "a-b", "b")),
    ],
)
def test_names_are_cut_between_words_if_they_do_not_fit(name: str, tasks: list[str], expected: tuple[str, ...]) -> None:
    document = workflow(dag(*map(task, tasks)), *map(program, tasks))
    document["metadata"]["generateName"] = f"{name}-"
    (job,), _ = read(document)
    assert (job.name, *job.fields["steps"]) == expected


def test_names_of_objects_leave_room_for_those_of_their_pods() -> None:
    name, step = "pipeline-with-many-words", "a-step-of-many-words"
    for template, expected in ((program(step), name), (submits(step), "pipeline-with-many")):
        document = workflow(dag(task(step), task("b")), template, program("b"))
        document["metadata"]["generateName"] = f"{name}-"
        (job,), _ = read(document)
        assert (job.name, [*job.fields["steps"]]) == (expected, [step, "b"])


def test_a_single_step_with_the_usual_name_has_that_of_the_pipeline() -> None:
    (job,), _ = read(workflow(program("main"), entrypoint="main"))
    assert job.name == "flow"
    steps = pipeline(workflow(dag(task("main"), task("last")), program("main"), program("last")))
    assert list(steps) == ["", "step-main", "last"]


def test_the_name_of_a_single_step_is_not_cut() -> None:
    name = "print-hello-with-an-empty-affinity"
    (job,), _ = read(workflow(dag(task(name)), program(name)))
    assert job.name == name


def test_a_patch_of_the_pod_is_part_of_it() -> None:
    limits = '{"containers": [{"name": "main", "resources": {"limits": {"cpu": "{{inputs.parameters.cpu}}"}}}]}'
    more = "containers:\n- name: main\n  env: [{name: B, value: c}]\n- name: wait\nnodeSelector: {disk: fast}\n"
    step = program("x", podSpecPatch=limits)
    step["container"] |= {"env": [{"name": "A", "value": "b"}], "resources": {"limits": {"memory": "2Gi"}}}
    tasks = dag(task("a", "x", **values(cpu="4")))
    (job,), found = read(workflow(tasks, step, podSpecPatch=more))
    assert found == []
    assert (job.fields["cpu"], job.fields["memory"], job.fields["env"]) == ("4", "2Gi", {"A": "b", "B": "c"})
    assert job.fields["placement"] == {"nodeSelector": {"disk": "fast"}}


@for_each(
    "patch",
    ["containers: [{name: other}]", "[", "- a", "containers: [{$patch: delete, name: main}]", "a: 1\n---\nb: 2"],
)
def test_another_patch_of_the_pod_cannot_run(patch: str) -> None:
    (job,), found = read(workflow(dag(task("a", "x")), program("x", podSpecPatch=patch)))
    assert [one.message for one in found] == ["`podSpecPatch` of step `a` is not carried"]
    assert len(job.obstacles) == 1


@for_each(
    ("seconds", "expected"),
    [("90", ("1m30s", [])), (90, ("1m30s", [])), ("{{inputs.parameters.t}}", (None, ["`activeDeadlineSeconds`"]))],
)
def test_a_time_limit_is_a_number_or_named(seconds: object, expected: tuple[str | None, list[str]]) -> None:
    (job,), found = read(workflow(dag(task("a", "x")), program("x", activeDeadlineSeconds=seconds)))
    assert (job.fields.get("timeout"), [one.message.partition(" of")[0] for one in found]) == expected


def test_a_step_after_a_daemon_never_starts() -> None:
    (job,), _ = read(
        workflow(dag(task("a", "x"), task("b", "y", dependencies=["a"])), program("x", daemon=True), program("y"))
    )
    assert [one.message for one in job.obstacles] == ["`daemon` of step `a` is not carried"]


@for_each("shell", ["python3.9", "/usr/bin/python", "zsh"])
def test_a_script_of_any_shell_is_a_command(shell: str) -> None:
    script = {"name": "x", "script": {"image": "busybox:1", "command": [shell, "-u"], "source": "1"}}
    (job,), _ = read(workflow(dag(task("a", "x")), script))
    assert job.fields["command"] == [shell, "-u", "-c", "1"]


def test_metadata_and_namespace_are_those_of_the_workflow() -> None:
    document = workflow(dag(task("a", "x"), task("b", "x")), program("x", "{{workflow.namespace}}"))
    labels = {"team": "{{ a }}", "example.com/x": "y", "pipelines.kubeflow.org/kfp_sdk_version": "1"}
    document["metadata"] |= {"namespace": "ml", "labels": labels, "annotations": {"note": "b c"}}
    given = ImportInput(file="p.yaml", text=json.dumps(document), otherwise="team")
    (job,) = IMPORTERS["kfp"]().read(given, Findings())
    assert (job.namespace, job.fields["command"]) == ("ml", ["run", "ml"])
    assert job.fields["labels"] == {"example.com/x": "y"}, "the other is no valid label"
    assert (job.fields["annotations"], job.grants["metadata"]) == ({"note": "b c"}, ["example.com/x"])


@for_each(
    ("own", "limit"),
    [({}, "1h"), ({"activeDeadlineSeconds": 60}, "1m"), ({"activeDeadlineSeconds": 7200}, "1h")],
)
def test_the_time_limit_of_a_workflow_is_that_of_its_only_step(own: dict[str, Any], limit: str) -> None:
    (job,), found = read(workflow(dag(task("a", "x")), program("x", **own), activeDeadlineSeconds=3600))
    assert (job.fields["timeout"], found) == (limit, [])
    (proof,) = proofs(job)
    assert (proof.patch, proof.remaining) == (None, ())
    assert not [one for one in proof.added if "activeDeadlineSeconds" in one]


def test_the_time_limit_of_a_workflow_with_several_steps_is_reported() -> None:
    document = workflow(dag(task("a", "x"), task("b", "x")), program("x"), activeDeadlineSeconds=3600)
    assert (
        "timeout"
        not in pipeline(
            document, "`activeDeadlineSeconds` of the pipeline is not carried: no field limits all steps together"
        )[""]
    )


@for_each(
    ("hooks", "messages"),
    [
        ({}, []),
        ({"exit": {"expression": "a"}}, ["`hooks` of the pipeline is not carried: a job has no such field"]),
        ({"running": {"template": "y"}}, ["`hooks` of the pipeline is not carried: a job has no such field"]),
    ],
)
def test_the_hook_at_the_end_of_a_workflow_is_a_step(hooks: dict[str, Any], messages: list[str]) -> None:
    bye = program("bye", "{{inputs.parameters.x}}", inputs={"parameters": [{"name": "x"}]})
    hook = {"template": "bye", **values(x="end"), **hooks.get("exit", {})}
    document = workflow(dag(task("a", "x"), task("b", "x")), program("x"), bye, hooks={**hooks, "exit": hook})
    steps = pipeline(document, *messages)
    expected: dict[str, tuple[list[str], str]] = {"a": ([], "succeeded"), "b": ([], "succeeded")}
    assert order(steps) == (expected if messages else expected | {"bye": (["a", "b"], "ended")})
    assert messages or steps["bye"]["command"] == ["run", "end"]


def scheduled(*templates: dict[str, Any], **spec: Any) -> tuple[list[Any], list[str]]:
    """The jobs of a CronWorkflow, and the messages of findings."""
    spec = {"schedule": "0 3 * * *", "workflowSpec": workflow(*templates)["spec"], **spec}
    jobs, found = read({"kind": "CronWorkflow", "metadata": {"name": "flow"}, "spec": spec})
    return jobs, [one.message for one in found]


OVERLAP = "the policy `Allow` is not carried: runs that overlap need a time limit"
MORE = {
    "timezone": "Europe/Berlin",
    "suspend": True,
    "startingDeadlineSeconds": 600,
    "successfulJobsHistoryLimit": 5,
    "failedJobsHistoryLimit": 0,
}
LONG = {"cron": "0 3 * * *", "timeZone": "Europe/Berlin", "history": {"succeeded": 5, "failed": 0}}


@for_each(
    ("spec", "limit", "schedule", "state", "messages"),
    [
        ({"concurrencyPolicy": "Forbid"}, None, "0 3 * * *", None, []),
        ({}, None, "0 3 * * *", None, [OVERLAP]),
        ({"startingDeadlineSeconds": 0}, 60, {"cron": "0 3 * * *", "concurrency": "Allow"}, None, []),
        (
            {"concurrencyPolicy": "Replace", **MORE},
            None,
            {**LONG, "concurrency": "Replace", "deadline": "10m"},
            "suspended",
            [],
        ),
        (
            {"schedule": None, "schedules": ["@daily", "@weekly"], "when": "a", "concurrencyPolicy": "Forbid"},
            None,
            "@daily",
            None,
            [
                "the time `@weekly` is not carried: a schedule has one",
                "`when` of the schedule is not carried: a job has no such field",
            ],
        ),
        (
            {"timezone": "{{ a }}", "concurrencyPolicy": "Forbid"},
            None,
            {"cron": "0 3 * * *", "timeZone": "{{ '{{' }} a }}"},
            None,
            [],
        ),
        ({"schedule": None, "suspend": True}, None, None, "suspended", ["`schedule` is not carried: it has no time"]),
    ],
)
def test_a_cron_workflow_is_a_job_with_a_schedule(
    spec: dict[str, Any], limit: int | None, schedule: object, state: str | None, messages: list[str]
) -> None:
    template = program("x", **({"activeDeadlineSeconds": limit} if limit else {}))
    (job,), found = scheduled(dag(task("a", "x")), template, **spec)
    assert (job.fields.get("schedule"), job.fields.get("state")) == (schedule, state)
    assert found == messages


def test_a_cron_workflow_renders_as_a_cron_job() -> None:
    (job,), _ = scheduled(dag(task("a", "x")), program("x", "y"), concurrencyPolicy="Replace", **MORE)
    (proof,) = prove(PROJECT, job, NAME, overlay_text(fragment([job])), Findings())
    assert (proof.patch, proof.remaining) == (None, ())
    assert not [one for one in proof.added if "Cron" in one or "istory" in one or "ime" in one or "Policy:" in one]


def test_a_cron_workflow_with_several_steps_is_a_pipeline_with_a_schedule() -> None:
    tasks = dag(task("a", "x"), task("b", "x", dependencies=["a"]))
    more = {"concurrencyPolicy": "Replace", "failedJobsHistoryLimit": 2}
    (job,), found = scheduled(tasks, program("x", "{{workflow.name}}"), **more)
    assert job.fields["schedule"] == {"cron": "0 3 * * *", "concurrency": "Replace"}
    assert found == ["`failedJobsHistoryLimit` is not carried: a run that was replaced would go on"]
    proofs = list(prove(PROJECT, job, NAME, overlay_text(fragment([job])), Findings()))
    assert [(one.original.step, one.patch, one.remaining) for one in proofs] == [("a", None, ()), ("b", None, ())]
    _, found = scheduled(tasks, program("x"))
    assert found == ["the policy `Allow` is not carried: runs of a pipeline do not overlap"]


def test_a_cron_workflow_that_submits_a_job_is_that_job_with_a_schedule() -> None:
    (job,), found = scheduled(dag(task("a", "train")), submits("train"), concurrencyPolicy="Forbid")
    assert (job.fields["kind"], job.fields["schedule"], found) == ("pytorch", "0 3 * * *", [])
    assert job.overlay["pipelines"] == {"argo": {"serviceAccount": "gen-pipeline"}}
    (proof,) = prove(PROJECT, job, NAME, overlay_text(fragment([job])), Findings())
    assert (proof.patch, proof.remaining) == (None, ())


def test_a_cron_job_has_no_name_of_its_run() -> None:
    (job,), found = scheduled(dag(task("a", "x")), program("x", "{{workflow.name}}"))
    assert "schedule" not in job.fields
    why = "its runs have no `{{ run.id }}`, and the job starts with each change of its file"
    assert found == [f"`schedule` is not carried: {why}"]


def submits(name: str, *words: str) -> dict[str, Any]:
    """A template that creates an object with the name `train`, whose program gets these words."""
    template = {"spec": {"containers": [{"name": "pytorch", "image": "train:1", "command": ["run", *words]}]}}
    body = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"template": template}}},
    }
    return {"name": name, "resource": {"action": "create", "manifest": json.dumps(body)}}


@for_each(
    ("words", "expected"),
    [
        (["logs", "pytorchjob/train"], ["logs", "pytorchjob/{{ run.id }}-submit"]),
        (["pytorchjobs.kubeflow.org/train"], ["pytorchjobs.kubeflow.org/{{ run.id }}-submit"]),
        (["-l", "training.kubeflow.org/job-name=train"], ["-l", "training.kubeflow.org/job-name={{ run.id }}-submit"]),
        (["train-master-0:22"], ["{{ run.id }}-submit-master-0:22"]),
        (["job/train", "pytorchjob/trainer", "/pytorchjob/train", "name=train"], None),
    ],
)
def test_a_step_finds_the_object_of_another_step(words: list[str], expected: list[str] | None) -> None:
    document = workflow(dag(task("submit"), task("look")), submits("submit"), program("look", *words))
    (job,), found = read(document)
    assert job.fields["steps"]["look"]["command"] == ["run", *(expected or words)]
    assert (list(found), job.obstacles) == ([], ())
    assert [(one.patch, one.remaining) for one in proofs(job)] == [(None, ())] * 2


@for_each(
    ("words", "parameters", "name"),
    [
        (["kubectl logs pytorchjob train"], {}, "pytorchjob train"),
        (["kubectl", "wait", "pytorchjob", "train"], {}, "pytorchjob train"),
        (["pytorchjob/{{workflow.parameters.name}}"], {"name": "train"}, "train"),
    ],
)
def test_other_names_of_the_object_of_a_step_are_reported(
    words: list[str], parameters: dict[str, str], name: str
) -> None:
    look = {"name": "look", "container": {"image": "busybox:1", "command": words}}
    (job,), _ = read(workflow(dag(task("submit"), task("look")), submits("submit"), look, **values(**parameters)))
    message = f"`{name}` of step `look` is the object of step `submit`, which has another name"
    assert [one.message for one in job.obstacles] == [message]


@for_each(("path", "expected"), [("{.metadata.name}", "job/{{ run.id }}-submit"), ("{.status.x}", None)])
def test_the_output_with_the_name_of_an_object_is_its_name(path: str, expected: str | None) -> None:
    outputs = {"parameters": [{"name": "name", "valueFrom": {"jsonPath": path}}]}
    submit = {**submits("submit"), "outputs": outputs}
    look = {**program("look", "job/{{inputs.parameters.n}}"), "inputs": {"parameters": [{"name": "n"}]}}
    given = values(n="{{tasks.submit.outputs.parameters.name}}")
    (job,), _ = read(workflow(dag(task("submit"), task("look", **given)), submit, look))
    assert (job.fields["steps"]["look"]["command"][1] == expected) is (expected is not None)
    assert bool(job.obstacles) is (expected is None)
    assert [(one.patch, one.remaining) for one in proofs(job)] == [(None, ())] * 2


def test_hosts_of_a_step_have_its_name() -> None:
    words = ("--host=train-master-0", "{{workflow.name}}")
    (job,), _ = read(workflow(dag(task("a"), task("b")), submits("a", *words), program("b")))
    assert job.fields["steps"]["a"]["command"] == ["run", "--host={{ run.id }}-a-master-0", "{{ run.id }}"]
    (job,), _ = read(workflow(dag(task("a")), submits("a", *words)))
    assert job.fields["command"] == ["run", "--host={{ run.id }}-master-0", "{{ run.id }}"]


def test_a_script_in_any_language_is_a_file() -> None:
    """Argo runs the program with the path behind its arguments."""
    source = "console.log({{workflow.parameters.epochs}}, '{{ mine }}')\n"
    script = {"image": "node:20", "command": ["node"], "args": ["--trace-warnings"], "source": source}
    (job,), found = read(workflow({"name": "run", "script": script}, entrypoint="run", **values(epochs="3")))
    assert list(found) == []
    assert job.fields["command"] == ["node", "--trace-warnings", "/argo/staging/script"]
    text = "console.log({{ params.epochs }}, '{{ '{{' }} mine }}')\n"
    assert job.fields["files"] == {"/argo/staging/script": text}
    assert job.fields["params"] == {"epochs": "3"}


def test_an_artifact_with_its_text_in_the_document_is_a_file() -> None:
    raw = {"name": "settings", "path": "/etc/train/a.yaml", "raw": {"data": "lr: {{inputs.parameters.lr}}\n"}}
    stored = {"name": "rows", "path": "/rows"}
    every = {"parameters": [{"name": "lr", "value": "0.1"}], "artifacts": [raw]}
    (job,), found = read(workflow(program("dag", "/etc/train/a.yaml", inputs=every)))
    assert not list(found)
    assert job.fields["files"] == {"/etc/train/a.yaml": "lr: 0.1\n"}
    for other in (stored, {**raw, "path": "/a", "mode": 0o755}):
        (job,), found = read(workflow(program("dag", inputs={**every, "artifacts": [raw, other]})))
        assert [one.message for one in found] == ["`inputs.artifacts` of step `dag` is not carried"]
        assert [*job.fields["files"]] == ["/etc/train/a.yaml"]


def test_a_script_with_a_secret_in_it_is_no_file() -> None:
    script = {"image": "node:20", "command": ["node"], "source": "login('{{workflow.parameters.api_key}}')"}
    jobs, _ = read(workflow({"name": "run", "script": script}, entrypoint="run", **values(api_key="zq-1234")))
    assert jobs == []


def test_a_step_finds_the_container_of_another_step() -> None:
    volcano = json.dumps(
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {"generateName": "x-"},
            "spec": {"tasks": [{"name": "m", "template": {"spec": {"containers": [{"name": "box", "image": "i:1"}]}}}]},
        }
    )
    submit = {"name": "submit", "resource": {"action": "create", "manifest": volcano}}
    words = ("kubectl logs -l volcano.sh/task-spec=m -c box", "-c box")
    (job,), _ = read(workflow(dag(task("submit"), task("look")), submit, program("look", *words)))
    assert job.fields["steps"]["look"]["command"] == ["run", words[0].replace("box", "trainer"), "-c box"]


def test_remedies_have_the_name_of_the_object_of_a_step() -> None:
    template = submits("a")
    body = json.loads(template["resource"]["manifest"])
    wait = {"name": "wait", "image": "kubectl", "command": ["kubectl", "wait", "pod", "-l", "training/job-name=train"]}
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["initContainers"] = [wait]
    template["resource"]["manifest"] = json.dumps(body)
    remedy = "write `{{ run.id }}%s` in a program of the job, which no patch can do"
    for tasks, name in ((dag(task("a"), task("b")), "-a"), (dag(task("a")), "")):
        _, found = read(workflow(tasks, template, program("b")))
        assert [one.hint for one in found if one.code == "cannot-run"] == [remedy % name]


def server(**spec: Any) -> str:
    pods = {"spec": {"containers": [{"name": "a", "image": "busybox:1", "command": ["run"]}], "restartPolicy": "Never"}}
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "server-"}}
    return json.dumps({**body, "spec": {"backoffLimit": 0, "template": pods, **spec}})


CLAIM = json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}})


@for_each(
    ("template", "why"),
    [
        ({"containerSet": {"containers": []}}, "no job has `containerSet`"),
        ({"http": {"url": "https://example.com"}}, "no job has `http`"),
        ({"resource": {"action": "create", "manifestFrom": {}}}, "no job has `manifestFrom`"),
        ({"resource": {"action": "delete", "manifest": server()}}, "no job has the action `delete` of an object"),
        ({"suspend": {}}, None),
        ({"resource": {"action": "delete", "manifest": CLAIM}}, None),
    ],
)
def test_a_step_without_a_job_that_does_something_cannot_run(template: dict[str, Any], why: str | None) -> None:
    (job,), found = read(workflow(dag(task("a"), task("b")), program("a"), {"name": "b", **template}))
    codes = [(one.code, one.message) for one in found]
    otherwise = "it needs the launcher of the pipeline, or runs no program"
    assert codes == [("cannot-run" if why else "not-carried", f"step `b` is not carried: {why or otherwise}")]
    assert bool(job.obstacles) is (why is not None)


CREATED = "the end right after the creation of the object"


def test_options_of_kubectl_are_reported() -> None:
    resource = {"manifest": server(), "flags": ["--namespace=x"], "successCondition": "status.succeeded > 0"}
    _, found = read(workflow({"name": "train", "resource": resource}, entrypoint="train"))
    assert [one.message for one in found] == ["`flags` of step `train` is not carried"]


@for_each(
    ("resource", "waited", "expected"),
    [
        ({"successCondition": "status.active > 0"}, True, ("cannot-run", "`successCondition: status.active > 0`")),
        ({"successCondition": "status.active > 0"}, False, ("not-carried", "`successCondition: status.active > 0`")),
        ({"successCondition": "status.x == y"}, True, ("not-carried", "`successCondition: status.x == y`")),
        ({}, True, ("not-carried", CREATED)),
        ({}, False, None),
        ({"failureCondition": "status.failed > 0"}, True, ("not-carried", CREATED)),
        ({"successCondition": "status.succeeded > 0", "failureCondition": "status.failed > 0"}, True, None),
        ({"successCondition": "status.conditions.0.type == Complete"}, True, None),
        ({"successCondition": "status.phase in (Failed, Succeeded)"}, True, None),
        ({"successCondition": "status.active == 0, status.completionTime"}, True, None),
        (
            {"successCondition": "status.succeeded > 0", "manifest": server(completions=2, parallelism=2)},
            True,
            ("not-carried", "`successCondition: status.succeeded > 0`"),
        ),
        ({"successCondition": "status.succeeded == 2", "manifest": server(completions=2, parallelism=2)}, True, None),
        (
            {"failureCondition": "status.failed > 1", "manifest": server(backoffLimit=6)},
            False,
            ("not-carried", "`failureCondition: status.failed > 1`"),
        ),
        ({"failureCondition": "status.failed > 3", "manifest": server(backoffLimit=3)}, False, None),
    ],
)
def test_other_ends_than_those_of_the_object_are_reported(
    resource: dict[str, str], waited: bool, expected: tuple[str, str] | None
) -> None:
    train = {"name": "train", "resource": {"action": "create", "manifest": server(), **resource}}
    order: dict[str, Any] = {"dependencies": ["train"]} if waited else {}
    _, found = read(workflow(dag(task("train"), task("look", **order)), train, program("look")))
    ends = [(one.code, one.message) for one in found if "Condition" in one.message or CREATED in one.message]
    assert ends == ([(expected[0], f"{expected[1]} of step `train` is not carried")] if expected else [])


def test_a_template_that_calls_itself_is_a_loop() -> None:
    (job,), found = read(workflow(dag(task("a", "x"), task("b", "dag", dependencies=["a"])), program("x")))
    message = "the loop of template `dag`, which calls itself, of task `b` is not carried"
    assert ([one.message for one in found], [one.message for one in job.obstacles]) == ([message], [message])
    jobs, found = read(workflow(dag(task("b", "dag"))))
    assert not jobs
    assert "task `b` is not carried: it is a loop of `dag`" in [one.message for one in found]


def test_findings_of_a_template_are_at_their_own_lines() -> None:
    step = {
        "name": "x",
        "inputs": {"artifacts": [{"name": "in", "path": "/in"}]},
        "container": {"image": "r/x:1", "command": ["run", "{{workflow.parameters.rate}}"]},
        "outputs": {"parameters": [{"name": "out", "valueFrom": {"path": "/out"}}]},
    }
    text = yaml.safe_dump(workflow(dag(task("a", "x"), task("b", "x")), step), sort_keys=False)
    (job,) = IMPORTERS["kfp"]().read(ImportInput(file="p.yaml", text=text, otherwise="team"), found := Findings())
    lines = text.splitlines()
    shown = {lines[one.place.line - 1].strip() for one in found if "of step `a`" in one.message}
    assert shown == {"artifacts:", "outputs:", "- '{{workflow.parameters.rate}}'"}
    assert {one.step: len(one.lacks) for one in job.originals} == {"a": 2, "b": 2}
