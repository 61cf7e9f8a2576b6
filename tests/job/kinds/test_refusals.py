"""Refusals of a kind beyond its model: place, problem and remedy."""

from __future__ import annotations

from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "image: registry.example.com/train:1\ncommand: python train.py\n"
REFUSED: dict[str, list[tuple[str, str, str, str]]] = {
    "jobset": [
        (
            "roles: {a: {dependsOn: {b: Ready}}, b: {}}",
            "4:28",
            "`b` is not a role before `a`",
            "list the roles so that each depends on earlier ones",
        ),
        (
            "workers: 3\nroles: {learner: {}}",
            "4:1",
            "`workers` has no effect without a role `worker`",
            "set `parallelism` of the roles, or add the role `worker`",
        ),
        (
            "workers: 3\nroles: {worker: {parallelism: 2}}",
            "4:1",
            "`workers` has no effect together with `roles.worker.parallelism`",
            "remove one of the two",
        ),
        (
            "successPolicy: {operator: Any, targetReplicatedJobs: [master]}",
            "4:55",
            "the job has no role `master`",
            "use one of worker",
        ),
        (
            "failurePolicy: {rules: [{action: FailJobSet, targetReplicatedJobs: [x]}]}",
            "4:69",
            "the job has no role `x`",
            "use one of worker",
        ),
        (
            "failurePolicy: {rules: [{name: rule1, action: FailJobSet}, {action: FailJobSet}]}",
            "4:60",
            "another rule has the name `rule1`",
            "give each rule a `name` of its own",
        ),
        (
            "roles: {a: {}, b: {dependsOn: {a: Ready}}}\nstartupPolicy: InOrder",
            "5:16",
            "`startupPolicy: InOrder` and `dependsOn` are mutually exclusive",
            "remove one of the two",
        ),
        (
            "restart: OnFailure\npodFailurePolicy: [{action: Ignore, exitCodes: [3]}]",
            "5:19",
            "`podFailurePolicy` requires `restart: Never`",
            "remove one of the two",
        ),
        (
            "roles: {tensorboard: {}}",
            "4:9",
            "`tensorboard` is the name of the pods of TensorBoard",
            "choose another name for the role",
        ),
        (
            f"roles: {{{'a' * 40}: {{}}}}",
            "1:1",
            f"the name has 4 characters and is longer than 63 with the suffix `-<hash>-{'a' * 40}-0-0-xxxxx`",
            "shorten it to at most 3 characters",
        ),
    ],
    "ray": [
        (
            "submissionMode: K8sJobMode\nargs: [a]",
            "5:7",
            "a shell `command` cannot have `args`",
            "move them into `command`, or make `command` a list",
        ),
        (
            "roles: {head: {replicas: 2}}",
            "4:26",
            "`head` cannot have `replicas`: it is one pod",
            "remove it",
        ),
        (
            "roles: {worker: {command: sleep 1}}",
            "4:27",
            "`worker` cannot have `command`: KubeRay sets the command of its pods",
            "remove it",
        ),
        (
            "roles: {submitter: {cpu: 1}}",
            "4:20",
            "`HTTPMode` has no pod that submits the job",
            "remove it, or set `submissionMode: K8sJobMode`",
        ),
        (
            "workers: 3\nroles: {worker: {numOfHosts: 2}}",
            "4:10",
            "3 workers are not a multiple of 2, the pods of each replica",
            "use a multiple of 2, or set `replicas` of the group",
        ),
        (
            "submissionMode: InteractiveMode",
            "3:1",
            "`command` has no effect in `InteractiveMode`",
            "remove it, or remove `submissionMode`",
        ),
        (
            "workers: 3\nroles: {cpu: {}}",
            "4:1",
            "`workers` has no effect without a role `worker`",
            "set `replicas` of the roles, or add the role `worker`",
        ),
        (
            "roles: {worker: {maxReplicas: 4}}",
            "4:31",
            "`maxReplicas` has no effect without `autoscaler`",
            "set `autoscaler: true`, or remove it",
        ),
        (
            "workers: 6\nautoscaler: true\nroles: {worker: {maxReplicas: 4}}",
            "6:17",
            "`worker` starts with 6 replicas, outside of its range",
            "choose `replicas` between `minReplicas` and `maxReplicas`",
        ),
        (
            "autoscaler: true\nqueue: research",
            "4:13",
            "queue `research` takes only runs of a fixed size, and `autoscaler` changes it",
            "remove one of the two; a queue with `kueue` and `elastic: true` allows `autoscaler`",
        ),
        (
            "autoscaler: true\nrestart: OnFailure",
            "5:10",
            "the autoscaler replaces pods, and requires `restart: Never`",
            "remove `restart`",
        ),
        (
            f"name: {'a' * 39}",
            "4:7",
            "the name of a RayJob has at most 47 characters, with the suffix `-<hash>`",
            "shorten it to at most 38 characters",
        ),
    ],
    "volcano": [
        (
            "timeout: 1h",
            "4:1",
            "`timeout` is not supported for `kind: volcano`: a Volcano Job has no field that limits its run time",
            "remove `timeout`; a default for other kinds belongs in `defaults.kinds` of the overlay",
        ),
        (
            "state: suspended",
            "4:8",
            "a Volcano Job cannot be suspended",
            "write `state: stopped` instead, as `gen stop` does",
        ),
        (
            "roles: {a: {dependsOn: [b]}, b: {dependsOn: [a]}}",
            "4:8",
            "cyclic dependency: a → b → a",
            "remove one `dependsOn`",
        ),
        (
            "roles: {a: {dependsOn: [c]}}",
            "4:25",
            "the job has no role `c`",
            "use one of a",
        ),
        (
            "roles: {worker: {replicas: 2, minAvailable: 3}}",
            "4:45",
            "`minAvailable` is more than the 2 pods of `worker`",
            "use at most 2",
        ),
        (
            "workers: 2\nminAvailable: 3",
            "5:15",
            "`minAvailable` is more than the 2 pods of the job",
            "use at most 2",
        ),
        (
            "plugins: {pytorch: []}\nenv: {RANK: 1}",
            "5:13",
            "`RANK` is set by the plugin `pytorch`",
            "remove it, or the plugin",
        ),
        (
            "policies: [{action: RestartJob}]",
            "4:12",
            "a policy requires events or an exit code",
            "set exactly one of `event`, `events` and `exitCode`",
        ),
        (
            "policies: [{event: PodFailed, action: RestartJob}, {events: [PodFailed], action: AbortJob}]",
            "4:52",
            "`PodFailed` already has a policy",
            "remove one of the two",
        ),
        (
            'policies: [{event: "*", action: RestartJob}, {event: PodFailed, action: AbortJob}]',
            "4:11",
            "`*` matches all events, so no other event is allowed",
            "remove `*` or the other events",
        ),
    ],
    "train": [
        (
            "files: {/etc/a: x, /etc/b: x}",
            "4:8",
            "a TrainJob can mount a volume only once, so it can have only one file",
            "keep one file, or put the files on a volume",
        ),
        (
            "code: {git: https://a.example/b.git}",
            "4:1",
            "`code` is not supported for `kind: train`: a TrainJob cannot add a container to the pods of its runtime",
            "remove `code`; a default for other kinds belongs in `defaults.kinds` of the overlay",
        ),
        (
            "network: host",
            "4:10",
            "a TrainJob cannot use the network of its nodes, as `host` does",
            "use a network without `hostNetwork`, or another kind",
        ),
        (
            "env: {PET_NNODES: 2}",
            "4:7",
            "`PET_NNODES` is reserved for the operator of `train`",
            "remove it; the operator sets it in every pod",
        ),
    ],
    "pytorch": [
        (
            "workers: 9\nelastic: {min: 2, max: 8}",
            "4:10",
            "the job starts with 9 workers, outside of `elastic`: 2 to 8",
            "choose `workers` between `elastic.min` and `elastic.max`",
        ),
        (
            "elastic: {min: 9, max: 8}",
            "4:16",
            "`elastic`: `min` is 9, which is more than `max`, 8",
            "decrease `min`, or increase `max`",
        ),
        (
            "elastic: {min: 1, max: 8}\nroles: {master: {cpu: 1}}",
            "5:17",
            "an elastic job has no master",
            "move the values to `worker`, or to the job",
        ),
        (
            "elastic: {min: 1, max: 8, cpuUtilization: 70}\nqueue: research",
            "4:43",
            "a queue takes a fixed number of workers, and the autoscaler would change it",
            "remove `cpuUtilization` or `queue`",
        ),
        (
            "elastic: {min: 1, max: 8}\nenv: {PET_NNODES: 3}",
            "5:7",
            "`PET_NNODES` is reserved for the operator of `pytorch`",
            "remove it; the operator sets it in every pod",
        ),
    ],
}
CASES = [(kind, *case) for kind, cases in REFUSED.items() for case in cases]


@for_each(("kind", "fields", "place", "message", "hint"), CASES, ids=[f"{c[0]}-{c[3]}" for c in CASES])
def test_a_kind_refuses(kind: str, fields: str, place: str, message: str, hint: str, repo: Repository) -> None:
    repo.job(f"kind: {kind}\n{JOB}{fields}\n")
    report, code = repo.render()
    assert code == 1
    found = [one for one in report.findings if one.severity == "error"]
    assert [(str(one.place), one.message, one.hint) for one in found] == [
        (f"jobs/team/demo.yaml:{place}", message, hint)
    ]


OLDER = [
    ("2.1", "timeout: 1h", "4:10", "the Kubeflow Trainer 2.1 has no field for `timeout`"),
    ("2.1", "network: eni", "4:10", "the Kubeflow Trainer 2.1 has no field for `network`"),
    ("2.0", "imagePullSecrets: [a]", "4:19", "the Kubeflow Trainer 2.0 has no field for `imagePullSecrets`"),
    ("2.0", "podLabels: {a: b}", "4:12", "the Kubeflow Trainer 2.0 has no field for `podLabels`"),
    ("2.0", "podAnnotations: {a: b}", "4:17", "the Kubeflow Trainer 2.0 has no field for `podAnnotations`"),
    ("2.0", "placement: {zone: [a, b]}", "4:19", "the Kubeflow Trainer 2.0 can select nodes by only one `zone`"),
]


@for_each(("release", "fields", "place", "message"), OLDER, ids=[case[3] for case in OLDER])
def test_an_older_trainer_has_fewer_fields(
    release: str, fields: str, place: str, message: str, repo: Repository
) -> None:
    repo.job(f"kind: train\n{JOB}{fields}\n")
    assert repo.render()[1] == 0
    repo.overlay(f"{OVERLAY}operators: {{train: {release}}}\n")
    found = [(str(one.place), one.message) for one in repo.render()[0].findings if one.severity == "error"]
    assert found == [(f"jobs/team/demo.yaml:{place}", message)]


def test_a_release_that_does_not_exist_is_refused_in_the_overlay(repo: Repository) -> None:
    repo.job(f"kind: train\n{JOB}")
    repo.overlay(f"{OVERLAY}operators: {{train: 1.9}}\n")
    (finding,) = [one for one in repo.render()[0].findings if one.severity == "error"]
    assert finding.message == "`train` has no API version or release `1.9`"
