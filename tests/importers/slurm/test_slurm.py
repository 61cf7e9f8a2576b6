"""Batch scripts: every option is carried or reported."""

from __future__ import annotations

from typing import Any

import pytest

from gen.base.findings import Findings, Severity, UsageError
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from gen.importers.draft import check_text, text_of
from gen.importers.slurm.options import HANDLED, REASONS, SHORT, SWITCHES, VALUED
from tests.cases import for_each

VALUES = {
    "account": "proj", "array": "0-3", "chdir": "/work", "container-image": "nvcr.io#nvidia/pytorch:25.01",
    "container-mounts": "/data:/data", "container-workdir": "/app", "cpus-per-gpu": "8", "cpus-per-task": "16",
    "export": "LR=1", "gpus": "8", "gpus-per-node": "4", "gpus-per-task": "1", "gres": "gpu:4", "job-name": "train",
    "image": "a/c:3",
    "mem": "64G", "mem-per-cpu": "4G", "mem-per-gpu": "32G", "no-requeue": "", "nodes": "2", "ntasks": "2",
    "ntasks-per-node": "1", "partition": "gpu", "requeue": "", "tasks-per-node": "1", "time": "1-00:00:00",
}  # fmt: skip
EXPECTED: dict[str, dict[str, Any]] = {
    "account": {"labels": {"account": "proj"}},
    "array": {"array": True, "workers": 4},
    "chdir": {"workingDir": "/work"},
    "container-image": {"image": "nvcr.io/nvidia/pytorch:25.01"},
    "container-mounts": {"data": {"host-data": "/data"}},
    "container-workdir": {"workingDir": "/app"},
    "cpus-per-gpu": {"cpu": 32},
    "cpus-per-task": {"cpu": 16},
    "export": {"env": {"LR": "1"}},
    "gpus": {"gpus": 8},
    "gpus-per-node": {"gpus": 4},
    "gpus-per-task": {"gpus": 1},
    "gres": {"gpus": 4},
    "image": {"image": "a/c:3"},
    "job-name": {},
    "mem": {"memory": "64Gi"},
    "mem-per-cpu": {"memory": "4Gi"},
    "mem-per-gpu": {"memory": "128Gi"},
    "no-requeue": {},
    "nodes": {"workers": 2},
    "ntasks": {},
    "ntasks-per-node": {},
    "partition": {"queue": "gpu"},
    "requeue": {},
    "tasks-per-node": {},
    "time": {"timeout": "1d"},
}


BASH = "/bin/bash"


def read(text: str, image: str = "a/b:1") -> tuple[list[ImportedJob], list[Any]]:
    found = Findings()
    given = ImportInput(file="train.sh", text=text, otherwise="team", image=image)
    jobs = list(IMPORTERS["slurm"]().read(given, found))
    for job in jobs:
        check_text(job, text_of(job, ""), found)
    return jobs, list(found)


def job(text: str) -> ImportedJob:
    jobs, found = read(text)
    assert [item for item in found if item.severity is Severity.ERROR] == []
    (one,) = jobs
    return one


def script(*directives: str, body: str = "python train.py", interpreter: str = "/bin/sh") -> str:
    return "\n".join([f"#!{interpreter}", *(f"#SBATCH {one}" for one in directives), "", body, ""])


@for_each("name", sorted(HANDLED))
def test_an_option_with_a_field_is_carried(name: str) -> None:
    needed = ["--gpus-per-node=4"] if name in ("cpus-per-gpu", "mem-per-gpu") else []
    option = f"--{name}={VALUES[name]}" if VALUES[name] else f"--{name}"
    body = "srun python train.py $SLURM_ARRAY_TASK_ID" if name == "array" else "srun python train.py"
    fields = job(script(*needed, option, body=body)).fields
    assert EXPECTED[name].items() <= fields.items()


@for_each("name", sorted(REASONS))
def test_an_option_without_a_field_is_reported(name: str) -> None:
    _, found = read(script("--nodes=1", f"--{name}=1"))
    assert any(item.message.startswith(f"`--{name}` is not carried") for item in found), found
    assert all(item.hint for item in found)


def test_no_option_is_in_both_lists_and_all_short_ones_are_known() -> None:
    assert not HANDLED & REASONS.keys()
    known = {*HANDLED, *REASONS, "overcommit"}
    assert set(SHORT.values()) - known == set()


@for_each(
    ("directives", "body", "kind", "fields"),
    [
        (["-N 2", "--ntasks-per-node=1"], "srun torchrun train.py", "pytorch", {"workers": 2}),
        (["-N 2", "--ntasks-per-node=8"], "srun python train.py", "mpi", {"workers": 2, "slotsPerWorker": 8}),
        (["-N 2", "-n 16"], "mpirun python train.py", "mpi", {"workers": 2, "slotsPerWorker": 8}),
        (["-N 2"], "srun python train.py", "batch", {"workers": 2, "command": "python train.py"}),
        (["-n 4", "--ntasks-per-node=2"], "mpirun x", "mpi", {"workers": 2, "slotsPerWorker": 2}),
        (["-c 4"], "python train.py", "batch", {"cpu": 4}),
    ],
)
def test_the_kind_is_that_of_the_program(directives: list[str], body: str, kind: str, fields: dict[str, Any]) -> None:
    made = job(script(*directives, body=body)).fields
    assert made["kind"] == kind
    assert fields.items() <= made.items()


def test_srun_starts_all_processes() -> None:
    made = job(script("-N 2", "--ntasks-per-node=8", body="echo a\nsrun --mpi=pmix python train.py \\\n  --lr 1"))
    assert made.fields["command"] == "mpirun python train.py --lr 1"


def test_variables_of_slurm_have_the_values_of_the_pods() -> None:
    body = "srun bash -c 'run $SLURM_PROCID '${SLURM_NNODES}' $SLURM_JOB_NAME {{ x }} '$SLURM_JOB_ID"
    made = job(script("-N 3", body=body, interpreter="/bin/bash"))
    assert made.fields["command"] == "run $RANK 3 train '{{ '{{' }}' x }} {{ run.id }}"


@pytest.mark.parametrize(
    ("directives", "fields", "index"),
    [
        (["--array=0-99%10"], {"workers": 100, "array": {"parallel": 10}}, "$JOB_COMPLETION_INDEX"),
        (["--array=1-300"], {"workers": 300, "array": True}, "$((JOB_COMPLETION_INDEX + 1))"),
        (["--array=1,3,5"], {"sweep": {"matrix": {"task": [1, 3, 5]}}}, "{{ params.task }}"),
        (["-N 2", "--array=0-1"], {"workers": 2, "sweep": {"matrix": {"task": [0, 1]}}}, "{{ params.task }}"),
        (["-N 1", "-n 2", "--array=0-1"], {"kind": "mpi", "sweep": {"matrix": {"task": [0, 1]}}}, "{{ params.task }}"),
    ],
)
def test_arrays_of_one_node_are_arrays_and_others_sweeps(
    directives: list[str], fields: dict[str, Any], index: str
) -> None:
    made = job(script(*directives, body="srun run $SLURM_ARRAY_TASK_ID")).fields
    assert fields.items() <= made.items()
    assert made["command"].removeprefix("mpirun ") == f"run {index}"


@for_each(
    ("option", "fields"),
    [("0-3", {"workers": 4, "array": True}), ("0-3%2", {"workers": 4, "array": {"parallel": 2}}), ("0-3%1", {})],
)
def test_an_array_whose_program_does_not_read_its_number(option: str, fields: dict[str, Any]) -> None:
    made, found = read(script("-N 1", f"--array={option}", body="wandb agent a/b/c"))
    assert {name: made[0].fields[name] for name in ("workers", "array") if name in made[0].fields} == fields
    assert [one.message.partition(":")[0] for one in found] == ["`--array` is not carried"] * (not fields)


def test_a_variable_has_the_task_of_a_sweep() -> None:
    made = job(script("-N 2", "--array=0-1", body="export A=t$SLURM_ARRAY_TASK_ID B=$SLURM_ARRAY_TASK_ID\na"))
    assert made.fields["env"] == {"A": "t{{ params.task }}", "B": "{{ params.task }}"}


@for_each(
    ("text", "seconds"),
    [("30", "30m"), ("30:15", "30m15s"), ("2:00:00", "2h"), ("1-0", "1d"), ("1-2:30", "1d2h30m"), ("3-0:0:5", "3d5s")],
)
def test_times(text: str, seconds: str) -> None:
    assert job(script(f"--time={text}")).fields["timeout"] == seconds


@pytest.mark.parametrize("text", ["INFINITE", "UNLIMITED", "0"])
def test_no_limit(text: str) -> None:
    assert "timeout" not in job(script(f"-t {text}")).fields


@for_each(
    ("text", "severity", "message"),
    [
        ("python train.py\n", "error", "no `#SBATCH` line found"),
        (
            script("-N 1", body=""),
            "error",
            "the script starts no program",
        ),
        (script("--nodes=many"), "error", "`--nodes`: expected a number, got `many`"),
        (script("--time=tomorrow"), "error", "`--time`: expected a time, got `tomorrow`"),
        (script("--mem=lots"), "error", "`--mem`: expected a size, got `lots`"),
        (script("--array=a"), "error", "`--array`: expected numbers, got `a`"),
        (script("--array=0-1000:2"), "error", "the array has more than 256 tasks"),
        (script("--job-name"), "error", "`--job-name` has no value"),
        (script('--comment="a'), "error", "a quote is not closed"),
        (script("-N 1", body="curl -H AKIAIOSFODNN7ABCDEFG"), "error", "`command` has what looks like"),
        (script("--export=API_TOKEN=abcdefgh12345678"), "warning", "the value of `API_TOKEN` is a secret"),
        (script("--nodes=2-4"), "warning", "the range of `--nodes` is not carried: a job has a fixed number"),
        (script("--gres=gpu:a100:2"), "warning", "the type `a100` of the GPUs is not carried"),
        (script("--gres=shard:2"), "warning", "`shard:2` is not carried: it is not a GPU"),
        (script("--mem=0"), "warning", "`--mem=0` is not carried"),
        (script("-N 2", "--array=0-9%2"), "warning", "the limit of the array is not carried"),
        (script("--frobnicate=1"), "warning", "`--frobnicate` is not carried: gen does not know this option"),
        (script("-N 1", body="module load cuda\nx"), "warning", "`module load cuda` is not carried"),
        (script("-N 1", body="conda activate a\nx"), "warning", "`conda activate a` is not carried"),
        (script("-N 1", body="source env.sh\nx"), "warning", "the file `env.sh` is not carried"),
        (script("-N 1", body="cd $SCRATCH/a\nx"), "warning", "the folder of `cd` is not carried"),
        (script("-N 1", body="x $SCRATCH/a"), "warning", "`$SCRATCH` has no value in a pod"),
        (script("-N 1", body="x /scratch/a"), "warning", "no pod has the folder `/scratch/a`"),
        (script("-N 2", body="python a.py\nsrun b"), "warning", "the single start of `python` is not carried"),
        (script("-N 2", body="python a.py"), "warning", "1 of 2 nodes is not carried: the script starts its programs"),
        (script("-N 1", body="nvidia-smi\nx"), "warning", "`nvidia-smi` is not carried: it only shows"),
        (script("-N 1", body="export HTTPS_PROXY=a\nx"), "warning", "the variable `HTTPS_PROXY` is not carried"),
        (script("-N 1", body="export A=$HOME/a\nx"), "warning", "the variable `A` is not carried"),
        (script("-N 1", body="x | tee a"), "warning", "the file of `tee` is not carried"),
        (script("-N 1", body="if [ -z $1 ]; then echo usage; exit 1; fi\nx"), "error", "the script ends here without"),
        (script("-N 1", body="x\n#SBATCH -N 9"), "warning", "`#SBATCH -N 9` is not carried: Slurm ignores it"),
        (script("--chdir=a"), "warning", "`--chdir` is not carried"),
        (script("--export=ALL"), "warning", "`--export=ALL` is not carried"),
        (script("nodes=2"), "warning", "`nodes=2` is not carried: it is not an option"),
    ],
)
def test_reports(text: str, severity: str, message: str) -> None:
    _, found = read(text)
    assert any(item.message.startswith(message) and item.severity == severity for item in found), found


def test_the_account_and_the_partition_have_the_values_of_their_options() -> None:
    names = "$SLURM_JOB_ACCOUNT $SLURM_JOB_PARTITION $SLURM_JOB_QOS"
    options = ("--account=a1", "-p gpu", "--qos=high")
    assert job(script(*options, body=f"python a.py {names}")).fields["command"] == "python a.py a1 gpu high"
    given = script("-A a1", "-p gpu,cpu", body=f"python a.py {names}")
    assert job(given).fields["command"] == "python a.py a1 $SLURM_JOB_PARTITION $SLURM_JOB_QOS"


@for_each(
    ("options", "body", "retries"),
    [
        ("-N 1", "python a.py", None),  # the Job ignores pods on drained nodes
        ("--array=0-3", "python a.py $SLURM_ARRAY_TASK_ID", None),
        ("-N 2 -n 2 --gres=gpu:1", "srun torchrun --nnodes=2 a.py", None),
        ("-N 2 -n 2", "srun python a.py", 1),
        ("-N 2 -n 2 --no-requeue", "srun python a.py", None),
    ],
)
def test_a_requeue_is_a_retry_only_of_pods_that_lose_others(options: str, body: str, retries: int | None) -> None:
    jobs, found = read(script(f"{options} --requeue", body=body, interpreter=BASH))
    assert jobs[0].fields.get("retries") == retries
    named = [one for one in found if one.message.startswith("`--requeue` only for lost nodes is not carried")]
    assert [one.place.line for one in named] == [2] * (retries is not None)


@pytest.mark.parametrize("option", ["--cpu_bind=none", "--mem_bind local"])
def test_older_spellings_of_options(option: str) -> None:
    jobs, found = read(script("-N 1", body=f"srun {option} python a.py"))
    assert jobs[0].fields["command"] == "python a.py"
    assert ["Kubernetes has no field for it" in item.message for item in found] == [True]


@for_each(
    ("lines", "workers"),
    [
        (["#SBATCH --nodes={{ nodes }}", "#SBATCH --time={{ hours | default('1') }}:00:00"], None),
        (["#SBATCH --nodes=2", "{% if gpus %}", "#SBATCH --gres=gpu:{{gpus}}", "{% endif %}"], 2),
        (["{% if nodes %}#SBATCH --nodes={{ nodes }}{% endif %}", "#SBATCH --nodes=2"], 2),
    ],
)
def test_a_template_is_named_as_one(lines: list[str], workers: int | None) -> None:
    jobs, found = read("\n".join(["#!/bin/sh", *lines, "srun train", ""]))
    assert jobs[0].fields.get("workers") == workers
    (item,) = found
    assert item.message.startswith("the script is a template: `{")


@for_each(
    ("body", "is_template"),
    [
        ("a --prompt-template '{{ b }}'", False),
        ('a --chat "{% for m in c %}{{ m.d }}{% endfor %}"', False),
        ("A=${A:-\"{{ b }}\"} # it's\na $A '\n{{ b }}'", False),
        ('a --model "{{ model }}"', True),
        ('MODEL="{{ model }}"\na $MODEL', True),
        ("a '{{ b }}' {{ c }}", True),
    ],
)
def test_an_expression_in_quotes_is_a_value(body: str, is_template: bool) -> None:
    jobs, found = read(script("-N 1", body=body, interpreter=BASH))
    assert ["is a template" in one.message for one in found] == [True] * is_template
    assert "{{ '{" in jobs[0].fields["command"]  # which gen renders as `{{`


@pytest.mark.parametrize("line", ["hetjob", "packjob "])
def test_a_heterogeneous_job_has_the_options_of_its_first_component(line: str) -> None:
    options = ("--nodes=2", "--gres=gpu:8", line, "--nodes=1", line, "--mem=1G")
    jobs, found = read(script(*options, body="srun train"))
    assert {name: jobs[0].fields.get(name) for name in ("workers", "gpus", "memory")} == {
        "workers": 2,
        "gpus": 8,
        "memory": None,
    }
    assert [(item.place.line, item.message) for item in found] == [
        (4, f"`{line.strip()}` is not carried: the job has the options above it")
    ]


def test_a_job_without_an_image_needs_one() -> None:
    jobs, found = read(script("-N 1"), image="")
    assert "image" not in jobs[0].fields
    assert [item.hint for item in found] == ["import it again with `--image`"]


@for_each("text", ["", "\0", "#SBATCH\n", "#SBATCH -\nx", "#SBATCH --\nx", "#SBATCH --=\nx"])
def test_any_text_gives_findings_or_a_job(text: str) -> None:
    jobs, found = read(text)
    assert jobs or found


def test_a_long_script_is_read_in_time() -> None:
    body = "\n".join(["srun a \\"] * 3000 + ["cd $SCRATCH; echo " + "a" * 100_000])
    jobs, _ = read(script("-N 1", body=body))
    assert len(jobs) == 1


@for_each("body", ["a && " * 300 + "b", "$(" * 300 + "a" + ")" * 300, "if a; then " * 300 + "b;" + " fi;" * 300])
def test_a_deep_script_is_refused(body: str) -> None:
    with pytest.raises(UsageError, match="the script is nested in more than 200 levels"):
        read(script("-N 1", body=body))


def test_a_script_of_pipes_is_refused() -> None:
    with pytest.raises(UsageError, match="the script has more than 500 pipes"):
        read(script("-N 1", body="a" + " | b" * 501))


@pytest.mark.parametrize(
    "line", ["export DB_PASSWORD=hunter2abc", "  DB_PASSWORD='hunter2abc'", 'DB_PASSWORD="hunter2abc"']
)
def test_a_secret_that_the_script_exports_is_a_reference(line: str) -> None:
    made = job(script("--job-name=train", body=f"{line}\npython train.py"))
    assert made.fields["env"] == {"DB_PASSWORD": {"secret": "train-env", "key": "DB_PASSWORD"}}
    assert "hunter2abc" not in text_of(made, "")


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD=hunter2abc python train.py",
        "export A=1 DB_PASSWORD=hunter2abc; run",
        "srun bash -c 'DB_PASSWORD=hunter2abc python train.py'",
        "DB_PASSWORD=hunter2abc\nrun --password $DB_PASSWORD",
    ],
)
def test_a_secret_near_a_command_is_a_reference(line: str) -> None:
    jobs, found = read(script("--job-name=train", body=line))
    assert "hunter2abc" not in str(found) + text_of(jobs[0], "")
    assert jobs[0].fields["env"]["DB_PASSWORD"] == {"secret": "train-env", "key": "DB_PASSWORD"}


@pytest.mark.parametrize("name", ["<account>", "<your account>", "{ account }", "{{ account }}"])
def test_a_name_to_complete_is_no_name(name: str) -> None:
    jobs, found = read(script("-N 1", f"-A {name}", f"--partition={name}"))
    assert not {"labels", "queue"} & jobs[0].fields.keys()
    expected = ["the script is a template"] if name.startswith("{{") else ["the account `", "the partition `"]
    assert [item.message.startswith(one) for item, one in zip(found, expected, strict=True)] == [True] * len(expected)


@for_each(
    ("account", "label"),
    [("project_46", ""), ("A.b-C", ""), ("46", ""), ("six@v100", "six-v100"), ("a" * 64, "a" * 63), ("_a", "a")],
)
def test_an_account_is_a_label_of_kubernetes(account: str, label: str) -> None:
    (made,), found = read(script(f"--account={account}"))
    assert made.fields["labels"] == {"account": label or account}
    lost = f"the account `{account[:60]}` is not carried: it is not a valid label value, and becomes `{label}`"
    assert [one.message for one in found] == ([lost] if label else [])


def test_a_name_that_begins_with_a_digit_gets_a_prefix() -> None:
    (made,), found = read(script("--job-name=176B.test"))
    assert made.name == "job-176b-test"
    assert "the name `176b-test` is not carried: names of jobs start with a letter" in found[0].message


@for_each(
    "option",
    [
        *("-K", "--kill-on-bad-exit", "-K1", "--wait 60", "-W 60", "-W60", "--propagate", "--propagate=ALL", "-I"),
        *("--container-entrypoint", "--container-entrypoint-log", "--x11", "-E", "--whole", "--bcast", "-r 1", "-Z"),
        *("--container-env A", "--task-prolog ./a.sh", "--some-new-flag", "--some-new-flag -l", "--some-new-flag 1"),
    ],
)
def test_an_option_takes_its_value_and_leaves_the_program(option: str) -> None:
    jobs, found = read(script("-N 1", body=f"srun {option} bash run.sh --lr 1"))
    assert jobs[0].fields["command"] == "bash run.sh --lr 1"
    assert any(one.message.startswith("`--") for one in found)
    assert not SWITCHES & VALUED


def test_an_unknown_option_names_its_value() -> None:
    _, found = read(script("-N 1", body="srun --new-flag 60 a b"))
    assert "gen does not know this option, and takes `60` for its value" in found[0].message


@for_each(
    ("options", "body", "messages"),
    [
        (("--err=a.err", "--job-n b"), "a", ["`--error` is not carried: the cluster keeps the logs"]),
        (
            ("--environment=a.toml",),
            "a",
            ["`--environment` is not carried: gen does not read the file of the container"],
        ),
        (("-N 1",), "srun -w n1 a", ["`--nodelist` is not carried: jobs do not name nodes"]),
        (("-N 1",), "A=($B)\nsrun -w ${A[@]:0:$C} a", ["`--nodelist` is not carried: jobs do not name nodes"]),
        (("-N 1",), "srun --mem $M a", ["the value `$M` of `--mem` is not carried: the script gets it from outside"]),
    ],
)
def test_an_option_is_named_once(options: tuple[str, ...], body: str, messages: list[str]) -> None:
    _, found = read(script(*options, body=body))
    assert [one.message for one in found if one.severity is not Severity.ERROR] == messages


def test_a_task_of_an_array_needs_the_array() -> None:
    made, _ = read(script("-N 1", body="python a.py $SLURM_ARRAY_TASK_ID"))
    hints = [one.hint for one in made[0].obstacles if "the script has no `--array`" in one.message]
    assert hints == ["add it, or give one task with `--define SLURM_ARRAY_TASK_ID=VALUE`"]


@for_each(
    ("name", "expected", "quoted"),
    [
        ("convert-llama-weights-to-megatron-deepspeed", "convert-llama-weights-to-megatron", True),
        ("7b-llama-weights-to-megatron-deepspeed", "job-7b-llama-weights-to-megatron", True),
        ("a" * 40, "a" * 36, True),
        (f"a-{'b' * 40}", f"a-{'b' * 34}", True),
        (f"{'a' * 17}-{'b' * 18}", f"{'a' * 17}-{'b' * 18}", False),
    ],
)
def test_a_long_name_is_cut_behind_a_word(name: str, expected: str, quoted: bool) -> None:
    (made,), found = read(script("-N 1", f"-J {name}", body="a"))
    assert made.name == expected
    said = [(one.place.line, one.message) for one in found if "the name" in one.message]
    why = f"the names of its pods are longer, so it is `{expected}`"
    assert said == ([(3, f"the name `{name}` is not carried: {why}")] if quoted else [])
