"""Policies in ours and in a real server: verdict and message, over thousands of changed objects.

All bindings warn, so one request has the verdicts of all policies. `POLICY_SEED` chooses other changes, and
`POLICY_CASES` how many of each object.
"""

from __future__ import annotations

import os
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import yaml
from msgspec import Struct

from gen.kubernetes.objects import POLICY
from gen.kubernetes.policies.policy_set import PolicySet
from gen.kubernetes.schemas.lookup import Kinds
from tests.e2e.mutations import Mutator
from tests.kubernetes.policies.support import (
    EXAMPLES,
    NAMESPACE,
    PARAMS,
    bases,
    binding,
    cases,
    findings,
    policy_set,
    update_cases,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.client import Response
    from tests.e2e.cluster import Cluster

SEED = int(os.environ.get("POLICY_SEED", "20261122"))
EACH = int(os.environ.get("POLICY_CASES", "120"))
LEAST = 0.995
_AT_ONCE = 3
_READY_S = 60
_POLL_S = 0.5
_WARNING = re.compile(
    r'299 - "Validation failed for ValidatingAdmissionPolicy \'(?P<policy>[^\']+)\' with binding \'[^\']+\': '
    r'(?P<message>.*)"',
    re.DOTALL,
)
CASES = cases()


class Compared(Struct, frozen=True):
    """The messages of both about one object, by policy."""

    body: Body
    server: dict[str, list[str]]
    ours: dict[str, list[str]]


@pytest.fixture(scope="module")
def policies(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicySet]:
    objects = [*(case.policy for case in CASES), *(binding(case.policy) for case in CASES)]
    created = cluster.client.create("/api/v1/namespaces/default/configmaps", PARAMS)
    assert created.status == 201, created.message
    for body in objects:
        collection = body["kind"].lower().replace("policy", "policies") if "Binding" not in body["kind"] else ""
        path = f"/apis/{body['apiVersion']}/{collection or 'validatingadmissionpolicybindings'}"
        response = cluster.client.create(path, body)
        assert response.status == 201, (body["metadata"]["name"], response.message)
    _wait(cluster)
    yield policy_set(tmp_path_factory.mktemp("policies"), *objects, PARAMS, NAMESPACE)
    for body in reversed(objects):
        cluster.client.delete(cluster.path({**body, "metadata": {**body["metadata"], "namespace": ""}}))
    cluster.client.delete("/api/v1/namespaces/default/configmaps/limits")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_server_takes_the_policies_that_gen_init_offers(path: Path, cluster: Cluster) -> None:
    (policy,) = (one for one in yaml.safe_load_all(path.read_text("utf-8")) if one["kind"] == POLICY)
    where = f"/apis/{policy['apiVersion']}/validatingadmissionpolicies"
    response = cluster.client.create(where, policy)
    assert response.status == 201, response.message
    cluster.client.delete(f"{where}/{policy['metadata']['name']}")


def _wait(cluster: Cluster) -> None:
    """Until the server evaluates every policy."""
    deadline = time.monotonic() + _READY_S
    waiting = [case for case in CASES if case.denied is not None]
    while waiting:
        assert time.monotonic() < deadline, [case.name for case in waiting]
        time.sleep(_POLL_S)
        waiting = [
            case for case in waiting if case.name not in said(cluster.try_to_create_in(case.denied or {}, "default"))
        ]


def said(response: Response) -> dict[str, list[str]]:
    """The messages in the warnings of a response, by policy."""
    found: dict[str, list[str]] = {}
    for warning in response.warnings:
        match = _WARNING.fullmatch(warning)
        if match is not None:
            message = re.sub(r"\\(.)", r"\1", match["message"])
            found.setdefault(match["policy"], []).append(message)
    return found


def changed(kinds: Kinds) -> Iterator[Body]:
    """The base objects and the denied ones, each with changes of its fields."""
    objects = [*bases().values(), *(case.denied for case in CASES if case.denied is not None)]
    for number, body in enumerate(objects):
        yield body
        kind = kinds.get(body["apiVersion"], body["kind"])
        assert kind is not None
        mutator = Mutator(kinds.schemas)
        chance = random.Random(SEED + number)  # noqa: S311 - no secret
        for path, value in mutator.some(body, kind.schema, EACH, chance):
            yield mutator.changed(body, kind.schema, path, value)


@pytest.fixture(scope="module")
def compared(cluster: Cluster, policies: PolicySet) -> list[Compared]:
    objects = list(changed(Kinds("1.34")))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        responses = list(pool.map(lambda body: cluster.try_to_create_in(body, "default"), objects))
    return [
        Compared(body, said(response), findings(policies, body))
        for body, response in zip(objects, responses, strict=True)
        if response.status == 201
    ]


def test_every_case_has_the_same_verdict(cluster: Cluster, policies: PolicySet) -> None:
    for case in CASES:
        for body in (case.denied, case.accepted):
            if body is not None:
                response = cluster.try_to_create_in(body, "default")
                assert response.status == 201, (case.name, response.message)
                assert said(response) == findings(policies, body), case.name


def test_updates_have_the_same_verdict(cluster: Cluster, tmp_path: Path) -> None:
    every = update_cases()
    objects = {case.name: case.policy for case in every}
    bindings = {name: binding(policy) for name, policy in objects.items()}
    ours = policy_set(tmp_path, *objects.values(), *bindings.values(), NAMESPACE)
    known = [
        cluster.apply({**case.old, "metadata": {**case.old["metadata"], "namespace": "default"}}) for case in every
    ]
    installed = [cluster.apply(body) for body in (*objects.values(), *bindings.values())]
    try:
        deadline = time.monotonic() + _READY_S
        while not all(case.name in said(_update(cluster, case.denied)) for case in every if case.denied is not None):
            assert time.monotonic() < deadline, "the server does not evaluate every policy"
            time.sleep(_POLL_S)
        for case in every:
            for body in (case.denied, case.accepted):
                if body is not None:
                    response = _update(cluster, body)
                    assert response.status == 200, (case.name, response.message)
                    assert said(response) == findings(ours, body, case.old), case.name
    finally:
        for body in reversed((*known, *installed)):
            cluster.client.delete(cluster.path(body))


def test_an_audit_annotation_that_fails_denies(cluster: Cluster, tmp_path: Path) -> None:
    """Also if the binding only warns. Without the label, the expression has an error."""
    (case,) = (one for one in CASES if one.name == "labels-required")
    spec = {
        **case.policy["spec"],
        "validations": [{"expression": "true"}],
        "auditAnnotations": [{"key": "owner", "valueExpression": "string(object.metadata.labels.owner)"}],
    }
    policy = {**case.policy, "metadata": {"name": "audited"}, "spec": spec}
    bound = binding(policy)
    installed = [cluster.apply(policy), cluster.apply(bound)]
    body = bases()["pods"]
    try:
        deadline = time.monotonic() + _READY_S
        while (response := cluster.try_to_create_in(body, "default")).status == 201:
            assert time.monotonic() < deadline, "the server does not evaluate the policy"
            time.sleep(_POLL_S)
        ((message,),) = findings(policy_set(tmp_path, policy, bound, NAMESPACE), body).values()
        assert f"denied request: {message}" in response.message
        owned = {**body, "metadata": {**body["metadata"], "labels": {**body["metadata"]["labels"], "owner": "a"}}}
        assert cluster.try_to_create_in(owned, "default").status == 201
        assert findings(policy_set(tmp_path, policy, bound, NAMESPACE), owned) == {}
    finally:
        for one in reversed(installed):
            cluster.client.delete(cluster.path(one))


def _update(cluster: Cluster, body: Body | None) -> Response:
    assert body is not None
    named = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
    return cluster.client.apply(cluster.path(named), named, fieldManager="test", dryRun="All")


def test_verdicts_and_messages_agree(compared: list[Compared], capsys: pytest.CaptureFixture[str]) -> None:
    denied = {(number, name): one for number, found in enumerate(compared) for name, one in found.server.items()}
    ours = {(number, name): one for number, found in enumerate(compared) for name, one in found.ours.items()}
    missed = {key: one for key, one in denied.items() if not _alike(one, ours.get(key))}
    wrong = {key: one for key, one in ours.items() if key not in denied}
    accepted = len(compared) * len(CASES) - len(denied)
    share, fault = 1 - len(missed) / len(denied), len(wrong) / accepted
    with capsys.disabled():
        print(f"\nseed {SEED}: {len(compared)} objects, {len(CASES)} policies")
        print(f"the server denied {len(denied)} times, gen denied {share:.2%} of them with the same message")
        print(f"the server accepted {accepted} times, gen denied {fault:.3%} of them")
        for (number, name), one in [*missed.items(), *wrong.items()][:60]:
            print(
                f"  {name}: {compared[number].body['kind']}: {one[0][:200]!r} / {str(ours.get((number, name)))[:200]}"
            )
    assert len(compared) >= 2000
    assert share >= LEAST
    assert fault <= 1 - LEAST


def _alike(server: list[str], ours: list[str] | None) -> bool:
    """Long warnings are cut by the server."""
    return ours is not None and len(ours) == len(server) and all(map(_same, server, ours))


def _same(server: str, ours: str) -> bool:
    return server == ours or (server.endswith("...") and ours.startswith(server[:-3]))
