"""Every flag of every job type of Arena 0.15.5: carried to a named field, or named in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.importers.arena.submission import CRON, ROOT, TYPES, Flag, JobType
from tests.cases import for_each
from tests.importers.arena.samples import NEEDED, sample, target
from tests.importers.support import imported

if TYPE_CHECKING:
    from gen.importers import ImportedJob

COUNTS = {
    "tfjob": (74, 20),
    "pytorchjob": (41, 6),
    "mpijob": (39, 6),
    "etjob": (47, 6),
    "deepspeedjob": (42, 6),
    "horovodjob": (37, 6),
    "rayjob": (61, 6),
    "sparkjob": (13, 0),
    "volcanojob": (12, 8),
    "cron tfjob": (79, 20),
}
"""Flags and former names of flags that `arena submit TYPE --help` lists."""
ALL = (*TYPES, CRON)


def read(kind: JobType, *words: str) -> tuple[ImportedJob | None, str]:
    """The job, and all that is reported."""
    action = kind.name if " " in kind.name else f"submit {kind.name}"
    base = "" if any(word.startswith("--name=") for word in words) else "--name=demo"
    jobs, found = imported(f"arena {action} {base} {' '.join(words)} 'run it'\n")
    return (jobs[0] if jobs else None), "\n".join(f"{item.severity.value}: {item.message}" for item in found)


def at(fields: dict[str, Any], route: str) -> Any:
    value: Any = fields
    first, _, rest = route.partition(".")
    steps = [
        first,
        *([rest] if first in ("podAnnotations", "env", "labels", "data") else rest.split(".") if rest else []),
    ]
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


@for_each("kind", ALL, ids=lambda kind: kind.name)
def test_the_table_has_all_flags(kind: JobType) -> None:
    assert (len({flag.name for flag in kind.flags}), len(kind.deprecated)) == COUNTS[kind.name]
    assert len(kind.flags) == len({flag.name for flag in kind.flags})
    assert set(kind.deprecated.values()) <= {flag.name for flag in kind.flags}


@for_each(
    ("kind", "flag"),
    [(kind, flag) for kind in ALL for flag in (*ROOT, *kind.flags)],
    ids=lambda value: value.name.replace(" ", "-"),
)
def test_a_flag_is_carried_or_reported(kind: JobType, flag: Flag) -> None:
    needed = NEEDED.get(flag.name, "").split()
    without, before = read(kind, *needed)
    job, report = read(kind, *needed, f"--{flag.name}='{sample(flag)}'")
    new = [line for line in report.splitlines() if line not in before.splitlines()]
    assert not [line for line in new if line.startswith("error")]
    if kind.name == "sparkjob":
        assert (job, new) == (None, []), "the type of the job is the only finding"
    elif flag.name == "name":
        assert job is not None
        assert job.name == "demo"
    elif flag.name == "namespace":
        assert job is not None
        assert job.namespace == "2"
    elif (route := target(kind, flag)) is not None:
        assert job is not None
        assert without is not None
        assert at(job.fields, route) is not None
        if flag.name not in ("sync-mode", "sync-source"):  # each is an error without the other
            assert at(job.fields, route) != at(without.fields, route)
    else:
        assert job is not None
        assert without is not None
        assert any(f"`--{flag.name}`" in line and line.startswith("warning") for line in new), report
        assert {**job.fields} == {**without.fields}


@for_each(
    ("kind", "old", "new"),
    [(kind, old, new) for kind in ALL for old, new in kind.deprecated.items()],
    ids=lambda value: getattr(value, "name", value).replace(" ", "-"),
)
def test_a_former_name_is_read_as_the_new_one(kind: JobType, old: str, new: str) -> None:
    flag = next(flag for flag in kind.flags if flag.name == new)
    needed = NEEDED.get(new, "").split()
    both = [read(kind, *needed, f"--{name}='{sample(flag)}'") for name in (old, new)]
    assert both[0][0] is not None
    assert both[1][0] is not None
    assert both[0][0].fields == both[1][0].fields
    assert both[0][1] == both[1][1]


@for_each("kind", ALL, ids=lambda kind: kind.name)
def test_an_alias_is_the_type(kind: JobType) -> None:
    for alias in kind.aliases:
        jobs, _ = imported(f"arena submit {alias} --name=demo 'run'\n")
        assert [job.fields["kind"] for job in jobs] == ([kind.kind] if kind.kind else [])


VOID = "`NVIDIA_VISIBLE_DEVICES=void`, which Arena sets in pods without `--gpus`, is not carried"


@for_each(
    ("command", "message"),
    [
        ("pytorchjob", f"{VOID}: the overlay decides about it"),
        ("tfjob --ps=1 --gpus=1", f"{VOID}: the overlay decides about it"),
        ("pytorchjob --device=nvidia.com/mig-1g.5gb=1", f"{VOID}: it would hide the GPUs of other flags"),
        ("rayjob --worker-gpu=1", f"{VOID}: it would hide the GPUs of other flags"),
        (
            "mpijob --gpus=1 --gputopology",
            "the network of the nodes, which Arena sets with `--gputopology`, is not carried",
        ),
        ("rayjob --gpus=1 --hostNetwork", "`--hostNetwork` is not carried: Arena ignores it for Ray"),
        ("pytorchjob --gpus=1", ""),
        ("tfjob --ps=1 --ps-gpus=1 --gpus=1", ""),
        ("tfjob --device=aliyun.com/gpu-mem=3", ""),
        ("mpijob --gpus=1 --gputopology --hostNetwork", ""),
        ("volcanojob", ""),
    ],
)
def test_what_arena_sets_in_silence_is_listed(command: str, message: str) -> None:
    (job,), found = imported(f"arena submit {command} --name=demo 'run it'\n")
    listed = [one.message for one in found if "which Arena sets" in one.message or "ignores" in one.message]
    assert [one[: len(message)] for one in listed] == [message] * bool(message)
    assert ("network" in job.fields) == (job.fields["kind"] == "mpi" and "--hostNetwork" in command)


@for_each(("kind", "is_listed"), [("mpijob", True), ("etjob", False), ("horovodjob", False)])
def test_images_that_need_ssh_only_here_are_listed(kind: str, is_listed: bool) -> None:
    (job,), found = imported(f"arena submit {kind} --name=demo --gpus=1 --image=a/b:1 'run it'\n")
    hints = [one.hint for one in found if "`kubectl exec`" in one.message]
    assert hints == ["use an image with `sshd` and an ssh client"] * is_listed
    assert not job.obstacles


@for_each(
    ("command", "is_listed"),
    [("rayjob", True), ("rayjob --active-deadline-seconds=0s", True), ("rayjob --active-deadline-seconds=5m", False)],
)
def test_the_limit_of_the_chart_for_ray_is_listed(command: str, is_listed: bool) -> None:
    (job,), found = imported(f"arena submit {command} --name=demo --worker-gpu=1 --image=a/b:1 'run it'\n")
    limit = "the limit of 120 s, which Arena's chart sets without `--active-deadline-seconds`, is not carried"
    assert [one.message.startswith(limit) for one in found if "limit" in one.message] == [True] * is_listed
    assert job.fields.get("timeout") == (None if is_listed else "5m")


@for_each(
    ("command", "expected"),
    [
        ("python a.py    --lr 1", "python a.py --lr 1"),
        ("python -c 'a    b'", "python -c 'a    b'"),
        (f"python a.py\n{' ' * 17}--lr 1 \n{' ' * 20}--seed 2\n", "python a.py --lr 1 --seed 2"),
        (f"python a.py \\\\\n{' ' * 17}--lr 1", f"python a.py \\\n{' ' * 17}--lr 1"),
        ("python a.py\n  python b.py", "python a.py\n  python b.py"),
    ],
)
def test_blanks_without_meaning_are_one(command: str, expected: str) -> None:
    jobs, _ = imported(f'arena submit pytorch --name=demo --image=a/b:1 "{command}"\n')
    assert jobs[0].fields["command"] == expected


def test_a_command_with_an_error_is_not_called_missing() -> None:
    _, found = imported("arena submit tf --name=a --image=a/b:1 --env=USER=<GIT-USERNAME> 'python a.py'\n")
    assert [one.message for one in found] == ["`<GIT-USERNAME>` is a placeholder, which a shell reads as redirections"]


def test_the_branch_of_code_that_is_not_fetched_is_reported() -> None:
    """Arena ignores `--sync-source` without `--sync-mode`."""
    command = "arena submit tf --name=a --image=a/b:1 --sync-source=https://example.com/a.git --env=GIT_SYNC_BRANCH=v1"
    (job,), found = imported(f"{command} 'python a.py'\n")
    assert "code" not in job.fields
    assert {
        "`GIT_SYNC_BRANCH` is not carried: the job fetches no code",
        "`--sync-source` is not carried: Arena ignores it without `--sync-mode`",
    } <= {one.message for one in found}


@for_each(
    "command", ["arena submit pytorch --help", "arena submit --help", "arena submit mpi --name=a -h", "arena --help"]
)
def test_help_is_no_mistyped_flag(command: str) -> None:
    jobs, found = imported(f"{command}\n")
    assert jobs == []
    (finding,) = found
    assert (finding.code, finding.message.partition("` ")[2]) == ("invalid-command-line", "shows the help of Arena")


def test_the_same_image_of_all_tasks_is_that_of_the_job() -> None:
    jobs, _ = imported("arena submit volcanojob --name=a --task-images=busybox,busybox --task-replicas=2 'sleep 5'\n")
    fields = jobs[0].fields
    assert fields["image"] == "busybox"
    assert fields["roles"] == {"task-0": {"replicas": "2"}, "task-1": {"replicas": "2"}}
    jobs, _ = imported("arena submit volcanojob --name=a --task-images=busybox 'sleep 5'\n")
    assert (jobs[0].fields["image"], jobs[0].fields["roles"]) == ("busybox", {"task-0": {}})
    jobs, _ = imported("arena submit volcanojob --name=a --task-images=busybox,nginx 'sleep 5'\n")
    assert jobs[0].fields["roles"] == {"task-0": {"image": "busybox"}, "task-1": {"image": "nginx"}}


def test_a_volcano_job_of_arena_has_no_policies_and_plugins() -> None:
    jobs, _ = imported("arena submit volcanojob --name=a --task-images=busybox 'exit 1'\n")
    assert (jobs[0].fields["policies"], jobs[0].fields["plugins"]) == ([], {})
