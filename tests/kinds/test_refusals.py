"""What a kind refuses beyond its model: the place, the problem and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support import Repository

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
            "4:10",
            "`workers` has no effect without a role `worker`",
            "set `parallelism` of the roles, or add the role `worker`",
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
}
CASES = [(kind, *case) for kind, cases in REFUSED.items() for case in cases]


@pytest.mark.parametrize(("kind", "fields", "place", "message", "hint"), CASES, ids=[f"{c[0]}-{c[3]}" for c in CASES])
def test_a_kind_refuses(kind: str, fields: str, place: str, message: str, hint: str, repo: Repository) -> None:
    repo.job(f"kind: {kind}\n{JOB}{fields}\n")
    report, code = repo.render()
    assert code == 1
    found = [one for one in report.findings if one.severity == "error"]
    assert [(str(one.place), one.message, one.hint) for one in found] == [
        (f"jobs/team/demo.yaml:{place}", message, hint)
    ]
