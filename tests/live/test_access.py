"""Permissions of users, and kinds that a cluster does not serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.live.world import READS, World

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[str], World]


def test_a_user_who_may_read_nothing_and_one_who_may_read_a_namespace(world: Make) -> None:
    here = world("rights")
    name = here.job()["metadata"]["name"]
    row = here.runs(context="nobody")[name]
    assert (row["phase"], row["pods"]["running"]) == ("unknown", None)
    assert set(here.codes(context="nobody")) == {"cluster-forbidden"}
    assert here.code == 1

    rules = [{"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["get", "list"]}]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "r", "namespace": "rights"},
        "rules": rules,
    }
    here.cluster.apply(role)
    here.cluster.apply(binding("rights", "member"))
    row = here.runs("rights/demo", context="member")[name]
    assert (row["phase"], row["pods"]["running"]) == ("pending", None), "pods may not be read"
    assert here.codes("rights/demo", context="member") == ["cluster-forbidden", "cluster-forbidden"], "pods, events"
    here.cluster.apply({**role, "rules": READS})
    assert here.codes(context="member") == []
    assert here.runs(context="member")[name]["pods"]["running"] == 0
    assert here.code == 0


def binding(namespace: str, user: str) -> dict[str, object]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "r", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
    }


def test_credentials_that_are_not_accepted(world: Make) -> None:
    here = world("login")
    here.job()
    output = here.gen("status", context="stranger")
    assert here.code == 1
    assert "[cluster-login]" in output
    assert "wrong" not in output, "no token is printed"


def test_a_kind_that_the_cluster_does_not_serve(world: Make) -> None:
    here = world("unserved")
    (here.repository.root / "overlays/dev/overlay.yaml").write_text(
        'kubernetes: "1.34"\ncluster: {context: admin}\noperators: {train: "2.3"}\n', "utf-8"
    )
    run = here.job(kind="mpi", more="workers: 1\n", apply=False)
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mpijobs.kubeflow.org"
    served = here.cluster.client.get(definition).body
    versions = [{**one, "served": False} for one in served["spec"]["versions"]]
    assert here.cluster.client.merge(definition, {"spec": {"versions": versions}}).status == 200
    try:
        row = _eventually(here, run["metadata"]["name"])
        assert (row["phase"], row["reason"]) == ("missing", "NotServed")
        assert here.codes() == ["not-served"]
    finally:
        versions = served["spec"]["versions"]
        assert here.cluster.client.merge(definition, {"spec": {"versions": versions}}).status == 200


def _eventually(here: World, name: str) -> dict[str, object]:
    """The row after the server has noticed the change of a definition."""
    for _ in range(50):
        row = here.runs()[name]
        if row["reason"]:
            break
    return row
