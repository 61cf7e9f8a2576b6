"""Placeholders in manifests become params, and a value of `--define` takes their place."""

from __future__ import annotations

from typing import Any

from gen.base.findings import Findings, Severity
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.manifests.changes import PYTORCH, changed, of_container
from tests.importers.manifests.forms import an_object, pod
from tests.importers.manifests.proofs import read

FROM_TEMPLATE = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}-tune
spec:
  parallelism: $NODES
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: tune
          image: ${IMAGE_URI}
          command: [sh, -c, 'python train.py --seed $SEED']
          args: ["--bucket=<your bucket>"]
          env:
            - {name: LEVEL, value: "<CHANGE ME>"}
"""


def from_template(text: str, **define: str) -> tuple[Any, list[Any]]:
    found = Findings()
    given = ImportInput(file="a.yaml", files=(("a.yaml", text.encode()),), otherwise="team", define=define)
    return IMPORTERS["manifests"]().read(given, found), list(found)


def test_placeholders_become_params() -> None:
    (job,), found = from_template(FROM_TEMPLATE)
    assert job.name == "tune"
    assert job.fields["image"] == "{{ params.imageUri }}"
    assert job.fields["command"][2] == "python train.py --seed $SEED", "the shell of the pod has its own variables"
    assert job.fields["args"] == ["--bucket={{ params.yourBucket }}"]
    assert job.fields["env"] == {"LEVEL": "{{ params.value }}"}
    assert set(job.fields["params"]) == {"imageUri", "yourBucket", "value"}
    assert [(one.place.line, one.message) for one in job.obstacles] == [
        (6, "`parallelism` has the placeholder `$NODES`; `1` stands in its place"),
        (12, "`image` has the placeholder `${IMAGE_URI}`"),
        (14, "`args` has the placeholder `<your bucket>`"),
        (16, "`value` has the placeholder `<CHANGE ME>`"),
    ]
    assert not [one for one in found if one.severity is Severity.ERROR]


def test_variables_in_commands_are_those_of_other_fields() -> None:
    """`envsubst` and `sed` replace them everywhere, and no shell does in arguments of a program."""
    text = FROM_TEMPLATE.replace("<your bucket>", "data").replace("<CHANGE ME>", "high")
    (job,), _ = from_template(
        text.replace("$SEED", "$SEED of $NODES and $LEVEL").replace("LEVEL, value", "NODES, value")
    )
    assert job.fields["command"][2] == "python train.py --seed $SEED of $NODES and $LEVEL"
    (job,), _ = from_template(text.replace("$SEED", "$SEED of ${NODES}"))
    assert job.fields["command"][2] == "python train.py --seed $SEED of {{ params.nodes }}"
    text = text.replace("[sh, -c, 'python train.py --seed $SEED']", "[python, --seed=$SEED, --nodes=$NODES, $(RANK)]")
    (job,), _ = from_template(text)
    assert job.fields["command"] == ["python", "--seed={{ params.seed }}", "--nodes={{ params.nodes }}", "$(RANK)"]
    messages = [f"`command` has the placeholder `${name}`" for name in ("SEED", "NODES")]
    assert [one.message for one in job.obstacles][2:] == messages


@for_each(
    ("value", "expected"),
    [
        ("--cache=$CACHE_DIR -x", "--cache={{ params.cacheDir }} -x"),
        ("cd $CACHE_DIR && ls", "cd $CACHE_DIR && ls"),
        ("/lib:$LD_LIBRARY_PATH", "/lib:$LD_LIBRARY_PATH"),
        ("--own=$FLAGS", "--own=$FLAGS"),
    ],
)
def test_placeholders_in_a_longer_value(value: str, expected: str) -> None:
    """Kubernetes does not expand them, but a shell that runs the value would."""
    (job,), _ = read(of_container(env=[{"name": "FLAGS", "value": value}]))
    assert job.fields["env"]["FLAGS"] == expected


def test_a_placeholder_of_a_secret_is_that_secret() -> None:
    text = FROM_TEMPLATE.replace('{name: LEVEL, value: "<CHANGE ME>"}', "{name: HF_TOKEN, value: $HF_TOKEN}")
    (job,), found = from_template(text)
    assert job.fields["env"] == {"HF_TOKEN": {"secret": "tune-env", "key": "HF_TOKEN"}}
    assert [one.message for one in found if "HF_TOKEN" in one.message] == ["the value of `HF_TOKEN` is a secret"]
    assert not [one for one in job.obstacles if "HF_TOKEN" in one.message]


NO_BUCKET = "the variable `BUCKET` of `command` is not carried: nothing in the file gives it a value"


@for_each(
    ("script", "message"),
    [
        ("x ${BUCKET}", NO_BUCKET),
        ("x $BUCKET ${LEVEL} ${HOME} ${JOB_COMPLETION_INDEX} ${BUCKET:-a}", None),
        ("BUCKET=a; x ${BUCKET}", None),
        ("export BUCKET=${BUCKET}; x $BUCKET", NO_BUCKET),
        ("export BUCKET=$BUCKET\n              x", NO_BUCKET),
        ("export BUCKET=$BUCKET:a; x", None),
        ("BUCKET=a; export BUCKET=$BUCKET", None),
        ("for BUCKET in a b; do x ${BUCKET}; done", None),
    ],
)
def test_variables_in_scripts_of_a_file_for_envsubst_are_reported(script: str, message: str | None) -> None:
    text = FROM_TEMPLATE.replace("python train.py --seed $SEED", script).replace("<CHANGE ME>", "1")
    given = {"IMAGE_URI": "a:1", "NODES": "2", "Name": "my"}
    _, found = from_template(text.replace("<your bucket>", "b"), **given)
    assert [one.message for one in found] == ([message] if message else [])
    _, found = from_template(text, other="1")
    lacks = [one.message for one in found if "nothing in the file" in one.message]
    assert lacks == ([message] if message else []), "`${IMAGE_URI}` shows the same"
    _, found = from_template(text.replace("$NODES", "1").replace("${IMAGE_URI}", "a:1"), other="1")
    assert not [one for one in found if "nothing in the file" in one.message]


@for_each(
    ("name", "command", "expected"),
    [
        ("name: '${RUN}'", "train --run=${RUN} $SEED", "train --run={{ params.run }} $SEED"),
        ("name: my-$RUN", "train --run=${RUN} $SEED", "train --run={{ params.run }} $SEED"),
        ("generateName: '${RUN}-'", "train --run=$RUN", "train --run={{ params.run }}"),
        ("name: my", "train --run=$RUN", "train --run=$RUN"),
    ],
)
def test_a_placeholder_of_the_name_is_one_of_commands_too(name: str, command: str, expected: str) -> None:
    """No name has `$`, so what makes the object of the file replaces it everywhere."""
    text = FROM_TEMPLATE.replace("name: {{.Name}}-tune", name).replace("python train.py --seed $SEED", command)
    (job,), _ = from_template(text)
    assert job.fields["command"][2] == expected
    messages = [one.message for one in job.obstacles if "RUN}`" in one.message or "$RUN`" in one.message]
    assert len(messages) == (expected != command)


def test_a_placeholder_of_the_name_and_of_the_image_has_both_findings() -> None:
    text = FROM_TEMPLATE.replace("{{.Name}}-tune", "'${RUN}'").replace("${IMAGE_URI}", "${RUN}")
    (job,), found = from_template(text)
    assert job.fields["image"] == "{{ params.run }}"
    assert "`image` has the placeholder `${RUN}`" in [one.message for one in job.obstacles]
    name = "the placeholder in the name `${RUN}` is not carried: the job is `change-me-run`"
    assert name in [one.message for one in found]


def test_placeholders_have_the_values_of_define() -> None:
    text = (
        FROM_TEMPLATE.replace("<CHANGE ME>", "high").replace("<your bucket>", "data").replace("{{.Name}}-tune", "tune")
    )
    (job,), _ = from_template(text, IMAGE_URI="registry.example.com/a:1", NODES="4", SEED="7")
    assert (job.fields["image"], job.fields["workers"]) == ("registry.example.com/a:1", "4")
    assert job.fields["command"][2] == "python train.py --seed 7"
    assert "params" not in job.fields
    assert not job.obstacles


@for_each(
    ("define", "image"),
    [
        ({"image": "hub/a:1"}, "hub/a:1"),
        ({"image": "hub/a:1", "tag": "2"}, "hub/a:1"),
        ({"account": "1", "image": "a", "tag": "2"}, "1.ecr.com/a:2"),
        ({"tag": "2"}, "{{ params.image }}"),
    ],
)
def test_an_image_of_several_placeholders_is_one(define: dict[str, str], image: str) -> None:
    """`--define image=…` was written inside of it, and the rest stayed."""
    text = FROM_TEMPLATE.replace("${IMAGE_URI}", "<account>.ecr.com/<image>:<tag>")
    (job,), found = from_template(text, **define)
    assert job.fields["image"] == image
    hints = [one.hint for one in found if one.message.startswith("`image` has the placeholder")]
    again = ["set `params.image` of the job, or import it again with `--define image=VALUE`"]
    assert hints == (again if "params" in image else [])


@for_each("image", ["<CHANGE ME>", "'<CHANGE ME>'", "CHANGE ME", "<your image>", "{{ .repo }}:{{ .tag }}", "<image>"])
def test_the_whole_placeholder_of_an_image_is_replaced(image: str) -> None:
    """Also in braces, where a comma follows it."""
    text = FROM_TEMPLATE.replace("<CHANGE ME>", "high").replace("${IMAGE_URI}", image)
    (job,), found = from_template(text, image="hub/a:1")
    assert job.fields["image"] == "hub/a:1"
    text = text.replace(
        "containers:", f"initContainers: [{{name: i, image: {image}, command: [a]}}]\n      containers:"
    )
    (job,), found = from_template(text, image="hub/a:1")
    (init,) = job.originals[0].body["spec"]["template"]["spec"]["initContainers"]
    assert (init["image"], init["command"]) == ("hub/a:1", ["a"])
    assert not [one.message for one in found if "image" in one.message]


@for_each(
    ("value", "name"),
    [
        ("{{ .Values.job.pool }}", "pool"),
        ("{{- .Values.pool -}}", "pool"),
        ("<node-pool>", "node-pool"),
        ("$POOL", "POOL"),
        ("TODO", ""),
        ("<node pool>", ""),
    ],
)
def test_the_option_of_a_remedy_gives_the_value(value: str, name: str) -> None:
    text = FROM_TEMPLATE.replace(
        "restartPolicy: Never", f"restartPolicy: Never\n      nodeSelector: {{pool: '{value}'}}"
    )
    _, found = from_template(text)
    (hint,) = [one.hint for one in found if one.message.startswith("`pool` has the placeholder")]
    assert (f"`--define {name}=VALUE`" in hint) if name else ("--define" not in hint)
    (job,), _ = from_template(text, **({name: "fast"} if name else {}))
    assert (job.fields["placement"] == {"nodeSelector": {"pool": "fast"}}) is bool(name)


def test_places_are_those_of_the_file_without_the_values() -> None:
    text = FROM_TEMPLATE.replace("{{.Name}}-tune", "tune").replace(
        '["--bucket=<your bucket>"]', '[--a=<a>, "--bucket=<your bucket>"]'
    )
    places = {
        one.place
        for define in ({}, {"a": "value"})
        for one in from_template(text, **define)[1]
        if "bucket" in one.message
    }
    assert [(one.line, one.column) for one in places] == [(14, text.split("\n")[13].index('"--bucket') + 1)]


@for_each(("value", "revoked"), [("${HF_TOKEN}", False), ("<HF_token>", False), ("0123456789abcdef", True)])
def test_only_a_known_secret_has_to_be_revoked(value: str, revoked: bool) -> None:
    _, found = read(of_container(env=[{"name": "HF_TOKEN", "value": value}]))
    assert ["revoke" in one.hint for one in found] == [revoked]


@for_each(
    ("changes", "hint"),
    [
        ({"serviceAccountName": "${X}"}, "replace it in the job"),
        ({"priorityClassName": "${X}"}, "replace it in the job"),
        ({"volumes": [{"name": "dshm", "nfs": {"server": "${X}", "path": "/a"}}]}, "replace it in the patch"),
        ({"hostname": "${X}"}, "replace it in the patch"),
    ],
)
def test_a_placeholder_is_replaced_where_it_is(changes: dict[str, Any], hint: str) -> None:
    _, found = read(changed(PYTORCH, **changes))
    assert [one.hint for one in found if "placeholder" in one.message] == [
        f"{hint}, or import it again with `--define X=VALUE`"
    ]


@for_each(
    ("changes", "more"),
    [
        ({"nodeSelector": {"pool": "$X"}}, ", and replace `change-me-x` in the overlay"),
        ({"serviceAccountName": "$X"}, ", and replace `change-me-x` in the job and the overlay"),
        ({}, ""),
    ],
)
def test_a_placeholder_of_a_command_and_another_field_has_both_remedies(changes: dict[str, Any], more: str) -> None:
    (job,), found = read(changed(of_container(command=["train", "--x=$X"]), **changes))
    assert job.fields["command"] == ["train", "--x={{ params.x }}"]
    hints = [one.hint for one in found if "placeholder" in one.message]
    assert hints == [f"set `params.x` of the job{more}, or import it again with `--define X=VALUE`"]
    assert job.fields.get("placement", {}).get("nodeSelector", {}).get("pool", "{{ params.x }}") == "{{ params.x }}"


@for_each(
    ("volume", "path"),
    [
        ({"hostPath": {"path": "${DATA_DIR}"}}, "/change-me-data-dir"),
        ({"hostPath": {"path": "${DATA_DIR}/a"}}, "/change-me-data-dir/a"),
        ({"hostPath": {"path": "/a/${DATA_DIR}"}}, "/a/change-me-data-dir"),
    ],
)
def test_a_placeholder_of_a_path_is_absolute(volume: dict[str, Any], path: str) -> None:
    mount = {"name": "e", "mountPath": "${MOUNT}"}
    body = of_container(volumeMounts=[mount], workingDir="$WORK")
    (job,), found = read(changed(body, volumes=[{"name": "e", **volume}]))
    assert job.fields["workingDir"] == "/{{ params.work }}"
    assert job.overlay["volumes"] == {"e": {"hostPath": {"path": path}}}
    assert job.fields["data"] == {"e": "/change-me-mount"}
    assert [one.message for one in job.obstacles if "`workingDir`" not in one.message] == [
        "`mountPath` has the placeholder `${MOUNT}`; `change-me-mount` stands in its place",
        "`path` has the placeholder `${DATA_DIR}`; `change-me-data-dir` stands in its place",
    ]
    assert not found.failed()


def test_a_placeholder_of_a_value_that_is_not_carried_is_no_obstacle() -> None:
    body = an_object("batch/v1", "Job", {"completionMode": "Indexed", "template": pod("main")}, name="${NAME}")
    body["spec"]["template"]["spec"] |= {"subdomain": "svc-${NAME}", "restartPolicy": "Never"}
    (job,), found = read(body)
    assert job.obstacles == ()
    assert [one.message.partition(":")[0] for one in found] == [
        "the placeholder in the name `${NAME}` is not carried",
        "`subdomain",
    ]
    other = {"name": "other", "image": "a/b:1", "workingDir": "/${NAME}"}
    body["spec"]["template"]["spec"]["containers"].append(other)
    (job,), _ = read(body)
    assert [one.hint.partition(",")[0] for one in job.obstacles] == ["replace it in the patch"]


@for_each(("test", "what"), [(".Values.on", "a template of Helm"), (".UseKueue", "a Go template")])
def test_templates_with_conditions_are_refused(test: str, what: str) -> None:
    jobs, found = from_template(f"{{{{- if {test} }}}}\napiVersion: batch/v1\n{{{{- end }}}}\n")
    assert not jobs
    assert (found[0].place.line, found[0].message) == (1, f"the file is {what}")


@for_each(
    ("value", "expected"),
    [
        ("--dest=your-bucket-here", "--dest={{ params.yourBucketHere }}"),
        ("--token=YOUR_TOKEN", "--token={{ params.yourToken }}"),
        ("--a=CHANGE_ME", "--a={{ params.changeMe }}"),
        ("--a=REPLACE_WITH_YOUR_PATH", "--a={{ params.replaceWithYourPath }}"),
        ("WILL_BE_REPLACED", "{{ params.willBeReplaced }}"),
        ("-o=gs://BUCKET_NAME/x", "-o=gs://{{ params.bucketName }}/x"),
        ("s3://MY-DATA", "s3://{{ params.myData }}"),
        ("--bucket=GEMMA_BUCKET_NAME", "--bucket={{ params.gemmaBucketName }}"),
        ("--a=FULL_SHARD", "--a=FULL_SHARD"),
        ("--mode=REPLACE", "--mode=REPLACE"),
        ("--on=REPLACE_EXISTING", "--on=REPLACE_EXISTING"),
        ("NCCL_DEBUG=INFO", "NCCL_DEBUG=INFO"),
        ("--text=what is your-name", "--text=what is your-name"),
        ("gs://bucket/BUCKET_NAME", "gs://bucket/BUCKET_NAME"),
        ("ZONE", "ZONE"),
    ],
)
def test_words_that_stand_for_a_value(value: str, expected: str) -> None:
    (job,), _ = read(of_container(args=[value], command=["x"]))
    assert (job.fields["args"], len(job.obstacles)) == ([expected], int(value != expected))


def test_names_of_places_and_buckets() -> None:
    zone = "topology.kubernetes.io/zone"
    for of_pod in ({"nodeSelector": {zone: "ZONE"}}, {"affinity": affinity(zone, "ZONE")}):
        (job,), _ = read(changed(PYTORCH, **of_pod))
        assert job.fields["placement"] == {"zone": "change-me-zone"}
        field = "values" if "affinity" in of_pod else zone
        message = f"`{field}` has the placeholder `ZONE`; `change-me-zone` stands in its place"
        assert [one.message for one in job.obstacles] == [message]
    for key, value in (("pool", "ZONE"), ("topology.kubernetes.io/region", "ORD1")):
        (job,), _ = read(changed(PYTORCH, nodeSelector={key: value}))
        assert (job.fields["placement"], job.obstacles) == ({"nodeSelector": {key: value}}, ())
    csi = {"driver": "gcsfuse", "volumeAttributes": {"bucketName": "BUCKET"}}
    (job,), _ = read(changed(PYTORCH, volumes=[{"name": "d", "csi": csi}]))
    assert [one.message.partition(";")[0] for one in job.obstacles] == ["`bucketName` has the placeholder `BUCKET`"]


def affinity(key: str, *values: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [*values]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_a_claim_that_people_name() -> None:
    claim = {"name": "your-volume", "persistentVolumeClaim": {"claimName": "REPLACE_WITH_YOUR_PVC"}}
    body = changed(of_container(volumeMounts=[{"name": "your-volume", "mountPath": "/data"}]), volumes=[claim])
    (job,), _ = read(body)
    name = "change-me-replace-with-your-pvc"
    assert (job.fields["data"], job.overlay["volumes"]) == ({name: "/data"}, {name: {"claim": name}})
    message = f"`claimName` has the placeholder `REPLACE_WITH_YOUR_PVC`; `{name}` stands in its place"
    assert [one.message for one in job.obstacles] == [message]


def of_tpu(command: str, resource: str) -> list[str]:
    """The variables without a value in a command next to a placeholder, in a container with this resource."""
    resources = {"limits": {resource: 4}}
    container = {"name": "x", "image": "$IMAGE", "command": ["sh", "-c", command], "resources": resources}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    _, found = read(an_object("batch/v1", "Job", spec))
    return sorted(one.message.split("`")[1] for one in found if "nothing in the file" in one.message)


def test_variables_of_tpus_have_values_of_the_cluster() -> None:
    command = "run ${TPU_WORKER_ID} ${MEGASCALE_SLICE_ID} ${LEVEL}"
    assert of_tpu(command, "google.com/tpu") == ["LEVEL"]
    assert of_tpu(command, "nvidia.com/gpu") == ["LEVEL", "MEGASCALE_SLICE_ID", "TPU_WORKER_ID"]


def with_init(image: str, *, init: str) -> Any:
    main = {"name": "x", "image": image, "command": ["run"]}
    own = {"initContainers": [{"name": "y", "image": init}], "containers": [main], "restartPolicy": "Never"}
    return read(an_object("batch/v1", "Job", {"template": {"spec": own}}))


@for_each(
    ("image", "hint"),
    [
        ("${IMAGE}", "import it again with `--define IMAGE=VALUE`: a patch has `change-me-image`, too"),
        ("<your image>", "import it again with `--define image=VALUE`: a patch has `change-me-your-image`, too"),
    ],
)
def test_a_placeholder_that_is_in_a_patch_too_needs_a_value(image: str, hint: str) -> None:
    _, found = with_init(image, init=image)
    assert [one.hint for one in found if "placeholder" in one.message] == [hint]


def test_an_image_without_a_tag_is_the_latest_one() -> None:
    (job,), _ = with_init("${REGISTRY}/app", init="${REGISTRY}/app:latest")
    assert [*job.fields["params"]] == ["image"]
    assert len(job.obstacles) == 1


def test_a_placeholder_in_the_name_of_a_pod_template_has_no_effect() -> None:
    template = {"metadata": {"name": "run-$JOB"}, "spec": {**pod("x")["spec"], "restartPolicy": "Never"}}
    (job,), found = read(an_object("batch/v1", "Job", {"template": template}))
    assert (job.obstacles, [*found]) == ((), [])


def test_a_variable_without_a_value_is_reported_in_its_word() -> None:
    text = FROM_TEMPLATE.replace(
        "[sh, -c, 'python train.py --seed $SEED']", "\n            - sh\n            - -c\n            - x ${SEED}"
    )
    _, found = from_template(text)
    assert [one.place.line for one in found if "nothing in the file" in one.message] == [16]


def test_a_variable_next_to_a_placeholder_does_not_hide_it() -> None:
    containers = [{"name": name, "image": "$IMAGE", "command": ["sh", "-c", "x ${IMAGE} ${A}"]} for name in "xy"]
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": containers}}}
    _, found = read(an_object("batch/v1", "Job", spec))
    hints = [one.hint for one in found if "placeholder" in one.message]
    assert hints == ["import it again with `--define IMAGE=VALUE`: a patch has `change-me-image`, too"]
    assert [one.place for one in found if "nothing in the file" in one.message]
