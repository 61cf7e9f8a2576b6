"""Compares the verdicts of gen with those of a real API server for the admission policies in any folders.

    KUBEBUILDER_ASSETS=DIR python -m scripts.policy_agreement FOLDER… [--objects N] [--list]

Installs the ValidatingAdmissionPolicies in the folders, each with a binding that warns, and sends up to N objects of
each namespaced built-in kind in the folders (dry run). A server cuts warnings at 4 KB, so a few policies share a
namespace, and each object is sent to all namespaces. What is cut all the same is not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gen.kubernetes.facts.api_versions import is_cluster_scoped
from gen.kubernetes.manifests.files import named_files
from gen.kubernetes.objects import POLICY
from gen.kubernetes.policies.policy_set import PolicySet
from gen.kubernetes.policies.request import GENERATED
from gen.kubernetes.schemas.lookup import Kinds
from tests.e2e.cluster import Cluster
from tests.e2e.server import api_server
from tests.e2e.test_policies import _alike, said
from tests.kubernetes.policies.support import findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body

_VERSION = "1.34"
_GROUP = "admissionregistration.k8s.io/v1"
_TOGETHER = 6
_AT_ONCE = 3
_READY_S = 20
_CUT = 4000
"""Characters of all warnings near which a server cuts them."""
_CREATED, _NOT_FOUND = 201, 404
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that a header cannot have: a server drops such warnings (`NewWarningHeader` of `apimachinery`)."""
_CRD = "CustomResourceDefinition"


def bodies(folders: list[str]) -> Iterator[Body]:
    for file in named_files(folders):
        text = Path(file).read_text("utf-8", "replace")
        if "{{" not in text and "kind:" in text:
            try:
                yield from (one for one in yaml.load_all(text, yaml.CSafeLoader) if _is_object(one))
            except (yaml.YAMLError, ValueError):
                continue


def _is_object(body: Any) -> bool:
    named = isinstance(body, dict) and isinstance(body.get("metadata"), dict)
    return named and all(isinstance(body.get(field), str) for field in ("apiVersion", "kind"))


class Material:
    """What the folders have: policies with their parameters, and objects to judge."""

    def __init__(self, folders: list[str], most: int) -> None:
        kinds = Kinds(_VERSION)
        self.policies: dict[str, Body] = {}
        self.definitions: dict[tuple[str, str], Body] = {}
        self.params: dict[tuple[str, str], Body] = {}
        self.objects: list[Body] = []
        count: Counter[str] = Counter()
        found = {json.dumps(body, default=str): body for body in bodies(folders)}
        for body in found.values():
            key = body["apiVersion"], body["kind"]
            if key == (_GROUP, POLICY):
                self.policies.setdefault(json.dumps(body.get("spec")), body)
            elif body["kind"] == _CRD:
                spec = body.get("spec") or {}
                for version in spec.get("versions") or ():
                    self.definitions.setdefault((f"{spec['group']}/{version['name']}", spec["names"]["kind"]), body)
            elif kinds.get(*key) is not None and not is_cluster_scoped(*key):
                count[body["kind"]] += 1
                self.objects += [body] if count[body["kind"]] <= most else []
            else:
                self.params.setdefault(key, body)

    def param(self, policy: Body) -> Body | None:
        """The parameters of a policy; None without."""
        kind = policy["spec"].get("paramKind")
        return self.params.get((kind["apiVersion"], kind["kind"])) if kind else None


def install(cluster: Cluster, material: Material) -> list[tuple[str, list[Body]]]:
    """Install the policies that the server takes; returns the objects of each namespace."""
    taken: list[tuple[Body, Body | None]] = []
    for number, original in enumerate(material.policies.values()):
        param = material.param(original)
        if original["spec"].get("paramKind") and not param:
            continue
        if param is not None and (definition := material.definitions.get((param["apiVersion"], param["kind"]))):
            material.definitions = {key: one for key, one in material.definitions.items() if one is not definition}
            cluster.install([definition])
        if param is not None:
            cluster.apply(_in("default", param))
            param = _in("default", param) if _is_namespaced(cluster, param) else param
        policy = {**original, "metadata": {"name": f"p{number}"}}
        if cluster.client.create(f"/apis/{_GROUP}/validatingadmissionpolicies", policy).status == _CREATED:
            taken.append((policy, param))
    groups = []
    for start in range(0, len(taken), _TOGETHER):
        namespace, group = f"policies-{start}", taken[start : start + _TOGETHER]
        cluster.add_namespaces([namespace])
        objects = [body for policy, param in group for body in _with_binding(cluster, policy, param, namespace)]
        groups.append((namespace, [*objects, cluster.client.get(f"/api/v1/namespaces/{namespace}").body]))
    return groups


def _with_binding(cluster: Cluster, policy: Body, param: Body | None, namespace: str) -> Iterator[Body]:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    spec: Body = {"policyName": policy["metadata"]["name"], "validationActions": ["Warn"]}
    spec["matchResources"] = {"namespaceSelector": selector}
    if param is not None:
        spec["paramRef"] = {"name": param["metadata"]["name"], "parameterNotFoundAction": "Deny"}
        spec["paramRef"] |= {"namespace": "default"} if _is_namespaced(cluster, param) else {}
        yield param
    name = policy["metadata"]["name"]
    bound = {"apiVersion": _GROUP, "kind": f"{POLICY}Binding", "metadata": {"name": name}, "spec": spec}
    response = cluster.client.create(f"/apis/{_GROUP}/validatingadmissionpolicybindings", bound)
    if response.status != _CREATED:
        raise RuntimeError(response.message)
    yield from (policy, bound)


def _is_namespaced(cluster: Cluster, body: Body) -> bool:
    """Whether the server has the kind, in namespaces."""
    version = body["apiVersion"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if cluster.client.get(base).status == _NOT_FOUND:
        return False
    resource = cluster.resource(base, body["kind"])
    return resource is not None and bool(resource["namespaced"])


def _in(namespace: str, body: Body) -> Body:
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}


def compare(cluster: Cluster, namespace: str, own: list[Body], objects: list[Body]) -> Iterator[tuple[str, str]]:
    """The outcome of each policy for each object, with a line for a difference."""
    placed = [_in(namespace, body) for body in objects]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        responses = list(pool.map(lambda body: cluster.try_to_create_in(body, namespace), placed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policies.yaml")
        path.write_text(yaml.safe_dump_all(own), "utf-8")
        policies = PolicySet(((path, path.name),))
        names = [body["metadata"]["name"] for body in own if body["kind"] == POLICY]
        for body, response in zip(placed, responses, strict=True):
            if response.status != _CREATED:
                yield "refused objects", ""
                continue
            if sum(map(len, response.warnings)) > _CUT:
                yield "cut warnings", ""
                continue
            server, ours = said(response), findings(policies, _as_admitted(body))
            for name in names:
                theirs, mine = server.get(name, []), ours.get(name, [])
                shown = f"{name} {body['kind']} {body['metadata'].get('name')}: {theirs!s:.400} / {mine!s:.400}"
                if any(one.startswith("not evaluated") for one in mine):
                    yield "not evaluated", shown
                elif any(_CONTROL.search(one) for one in mine):
                    yield "not shown as warnings", ""
                elif not theirs and not mine:
                    yield "equal acceptances", ""
                elif theirs and mine:
                    server_texts = [_anonymous(one, body) for one in theirs]
                    yield ("equal denials", "") if _alike(server_texts, mine) else ("other messages", shown)
                else:
                    yield "missed" if theirs else "wrong", shown


def _as_admitted(body: Body) -> Body:
    return json.loads(json.dumps(body, default=str))  # type: ignore[no-any-return] # what was sent


def _anonymous(text: str, body: Body) -> str:
    """A message without the random end of a generated name."""
    base = body["metadata"].get("generateName")
    if not base or base not in text:
        return text
    before, after = text.split(base, 1)
    return f"{before}{base}{GENERATED}{after[len(GENERATED) :]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.policy_agreement")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--objects", type=int, default=40)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    material = Material(options.folders, options.objects)
    with (
        tempfile.TemporaryDirectory() as folder,
        api_server(Path(os.environ["KUBEBUILDER_ASSETS"]), Path(folder)) as client,
    ):
        cluster = Cluster(client)
        groups = install(cluster, material)
        material.objects = [body for body in material.objects if _is_namespaced(cluster, body)]
        time.sleep(_READY_S)
        found = [one for namespace, own in groups for one in compare(cluster, namespace, own, material.objects)]
    if options.list:
        print(*sorted({f"{outcome}: {shown}" for outcome, shown in found if shown}), sep="\n")
    policies = sum(body["kind"] == POLICY for _, own in groups for body in own)
    print(f"{policies} policies, {len(material.objects)} objects: {dict(Counter(outcome for outcome, _ in found))}")


if __name__ == "__main__":
    main()
