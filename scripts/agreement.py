"""Compares the verdicts of gen with those of a real API server for the manifests in any folders.

    KUBEBUILDER_ASSETS=DIR python -m scripts.agreement FOLDER… [--crds FOLDER] [--verdicts FILE] [--mutations N]

Splits files into documents like kubectl, sends each to a throw-away kube-apiserver (strict dry run), and prints two
verdicts. A server refuses: of the objects that it rejects, and that it accepts, those that gen rejects. Its pods would
fail: of the accepted custom resources, those with a pod template that the server rejects as a PodTemplate, and those
that gen reports, as errors or warnings. `--crds` names CustomResourceDefinitions that both use. `--verdicts` keeps the
answers of the server, so that the next run only sends new documents. `--mutations` also compares N random changes of
accepted objects of built-in kinds, or of `--custom` ones. `--own-crds` first collects the definitions in the folders
into that of `--crds`. `--list` prints every difference. `scripts/apiserver.sh DIR` builds the server.
docs/validation.md lists what is not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gen.base.findings import Findings, Severity
from gen.base.routes import dotted
from gen.kubernetes.check.objects import check
from gen.kubernetes.facts.api_versions import RETIRED
from gen.kubernetes.manifests.files import named_files
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.rules import ObjectView, RuleSource, is_custom
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from tests.e2e.cluster import Cluster, read_definitions
from tests.e2e.mutations import Mutator, accident
from tests.e2e.server import api_server

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.kubernetes.objects import Body

VERSION = "1.34"
_AT_ONCE = 3
_SEPARATOR = re.compile(r"^---[ \t]*(?:#.*)?\r?\n?", re.MULTILINE)
"""Lines that separate documents for kubectl (`YAMLReader` of `apimachinery/pkg/util/yaml/decoder.go`)."""
_TEMPLATE = re.compile(r"\{\{|\$\{\{|<%")
_KIND = re.compile(r"^kind:\s*[\"']?(\w+)", re.MULTILINE)
_NAME_OF_DEFINITION = re.compile(r"^  name:\s*[\"']?([a-z0-9-]+\.[a-z0-9.-]+)", re.MULTILINE)
_OF_TESTS = re.compile(r"test|example|vendor|docs|hack|old")
_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_CHUNK = 500
_SEED = 20261122

ACCEPTED = ""
_OF_PODS = "template "
"""How verdicts about a pod template inside an accepted object start."""
_MAY_FAIL = "pods-may-fail"
_NOT_COMPARED = {
    "not a manifest": r"unreadable$|no kind None in |no kind \S+ in None$",
    "kind without a definition": r".* is not installed$",
    "kind that is off by default": r".* is off by default$",
    "list": r"list$",
    "other objects": r'404 \w+ ".*" not found|.*requires the `.*` label on the containing namespace',
    "conversion by an operator": r"500 conversion webhook",
    "admission": r"403 |.*serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
    "addresses": r".*(?:ipFamil|IPFamil|IPv6 is not configured|IP is not in the valid range|"
    r"port is not in the valid range|already allocated|failed to allocate)",
    "volumes that operators add": r"template .*volumeMounts\[\d+\]\.name: Not found",
}
"""Verdicts that are not compared, as patterns. The server of the tests has no admission plugin for service accounts,
which sets `serviceAccountName` of pods."""
_SCHEMA_ONLY = frozenset(
    {"ControllerRevision", "CSIDriver", "CSINode", "CSIStorageCapacity", "CertificateSigningRequest", "EndpointSlice"}
    | {"Endpoints", "Event", "FlowSchema", "IPAddress", "Lease", "Node", "PriorityLevelConfiguration", "ServiceCIDR"}
    | {"VolumeAttachment", "VolumeAttributesClass"}
)
"""Built-in kinds that gen does not check beyond their schema, so they are not compared."""
_PATTERNS = {reason: re.compile(pattern, re.DOTALL) for reason, pattern in _NOT_COMPARED.items()}


def aside(verdict: str) -> str:
    """Why a verdict is not compared; empty if it is."""
    return next((reason for reason, pattern in _PATTERNS.items() if pattern.match(verdict)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One manifest of a stranger."""

    file: str
    text: str

    @property
    def key(self) -> str:
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What both say of a document."""

    document: Document
    server: str
    """The reason of the rejection, or `ACCEPTED`."""
    problems: tuple[str, ...]
    """Errors that gen reports and that a server could report."""
    operators: tuple[str, ...]
    """Errors of gen that only an operator would report."""
    pods: tuple[str, ...]
    """Warnings of gen about pod templates that an operator may complete."""

    @property
    def of_pods(self) -> bool:
        """Whether the server accepts the object and rejects a pod template in it."""
        return self.server.startswith(_OF_PODS)


def documents(folders: Iterable[str]) -> Iterator[Document]:
    """Documents that name an API version and a kind and are not templates, each text once."""
    seen = set()
    for file in named_files(folders):
        raw = Path(file).read_bytes()
        try:
            text = raw.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
        for part in [text] if text.lstrip().startswith("{") else _SEPARATOR.split(text):
            document = Document(file=file, text=part)
            named = "apiVersion" in part and "kind" in part and not _TEMPLATE.search(part)
            if named and document.key not in seen and _kind(part) not in _SCHEMA_ONLY:
                seen.add(document.key)
                yield document


def _kind(text: str) -> str:
    found = _KIND.search(text)
    return found[1] if found is not None else ""


class Server:
    """Asks the API server, and remembers its answers."""

    def __init__(self, cluster: Cluster, kinds: Kinds) -> None:
        self._cluster, self._kinds = cluster, kinds
        groups = cluster.client.get("/apis").body["groups"]
        retired = {version for version, _ in RETIRED}
        built_in = {*retired, *(version for version, _ in kinds.schemas.kinds())}
        self._built_in = {group for version in built_in if not is_custom(group := version.rpartition("/")[0])}
        self._served = {version["groupVersion"] for group in groups for version in group["versions"]} | {"v1"}

    def verdicts(self, found: list[Document]) -> list[str]:
        bodies = [_plain(document.text) for document in found]
        self._cluster.add_namespaces(sorted({name for body in bodies if (name := _namespace(body))}))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self._verdict, found, bodies))

    def _verdict(self, document: Document, body: Any) -> str:
        if not isinstance(body, dict):
            return "unreadable"
        api_version, kind = str(body.get("apiVersion")), str(body.get("kind"))
        if kind.endswith("List") and "items" in body:
            return "list"
        path = self._path(api_version, kind, body)
        if path is None:
            return self._unserved(api_version, kind)
        return self._created(path, document.text.encode()) or self._templates(body)

    def _unserved(self, api_version: str, kind: str) -> str:
        if api_version.rpartition("/")[0] not in self._built_in:
            return f"{api_version} {kind} is not installed"
        known = (api_version, kind) in self._kinds.schemas.kinds()
        return f"{api_version} {kind} is off by default" if known else f"no kind {kind} in {api_version}"

    def _created(self, path: str, text: bytes) -> str:
        response = self._cluster.client.create(path, text, dryRun="All", fieldValidation="Strict")
        # 409: accepted, but an object with this name exists
        return ACCEPTED if response.status in {201, 409} else f"{response.status} {response.message}"

    def _templates(self, body: Body) -> str:
        """The reason why the pods of an operator would be rejected."""
        view = ObjectView.of(body, VERSION)
        for route, template in view.templates if view.is_custom else ():
            holder = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "template"}, "template": template}
            text = json.dumps(holder, default=str).encode()
            if verdict := self._created("/api/v1/namespaces/default/podtemplates", text):
                return f"{_OF_PODS}{dotted(route)}: {verdict}"
        return ACCEPTED

    def _path(self, api_version: str, kind: str, body: Body) -> str | None:
        """The collection of an object; None for a kind that is not served."""
        if api_version not in self._served:
            return None
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        resource = self._cluster.resource(base, kind)
        if resource is None:
            return None
        folder = f"/namespaces/{_namespace(body) or 'default'}" if resource["namespaced"] else ""
        return f"{base}{folder}/{resource['name']}"


def _plain(text: str) -> Any:
    try:
        return yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        return None


def _namespace(body: Any) -> str:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    name = metadata.get("namespace") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and _NAMESPACE.fullmatch(name) else ""


def problems_of(document: Document, kinds: Kinds) -> tuple[tuple[str, ...], ...]:
    """The errors that gen reports and a server could report, those of operators, and warnings about their pods."""
    found = Findings()
    manifests = read_manifests(document.text.encode(), document.file, found)
    ours = [f"{one.code}: {one.message}" for one in found.items if one.severity is Severity.ERROR]
    others: list[str] = []
    pods: list[str] = []
    for body in manifests.documents if manifests is not None else ():
        for problem in check(body, kinds).problems:
            rule, text = RULES[problem.rule], f"{problem.rule} {dotted(problem.route)}: {problem.message}"
            if rule.severity_of(body) is Severity.ERROR:
                (ours if rule.source is RuleSource.SERVER else others).append(text)
            elif problem.rule == _MAY_FAIL:
                pods.append(text)
    return tuple(ours), tuple(others), tuple(pods)


def mutations(
    found: list[Document], verdicts: dict[str, str], kinds: Kinds, count: int, *, custom: bool = False
) -> Iterator[Document]:
    """Accepted objects of built-in or `custom` kinds, each with one random change: all kinds equally often."""
    by_kind: dict[str, list[tuple[Document, Body]]] = {}
    for document in found:
        body = _plain(document.text) if verdicts[document.key] == ACCEPTED else None
        if isinstance(body, dict) and _is_defined(body, kinds) is custom:
            by_kind.setdefault(body["kind"], []).append((document, body))
    chance, mutator = random.Random(_SEED), Mutator(kinds.schemas)  # noqa: S311 - no secret
    names = sorted(by_kind)
    for number in range(count):
        document, original = chance.choice(by_kind[names[number % len(names)]])
        body = ObjectView.of(json.loads(json.dumps(original, default=str)), VERSION).body  # without nulls
        kind = kinds.get(body["apiVersion"], body["kind"])
        if number // len(names) % 2 or kind is None or custom:  # few definitions say what their texts mean
            what = accident(body, chance)
        else:
            path, value = next(mutator.some(body, kind.schema, 9, chance), ((), None))
            what = f"{dotted(path)} = {value!r:.60}"
            body = mutator.changed(body, kind.schema, path, value) if path else body
        yield Document(file=f"{document.file} with {what}", text=json.dumps(body))


def _is_defined(body: Body, kinds: Kinds) -> bool:
    """Whether a definition describes the kind of an object."""
    kind = kinds.get(str(body["apiVersion"]), str(body["kind"]))
    return kind is not None and kind.extra_checks is not None


def collect_definitions(folders: Iterable[str], target: Path) -> None:
    """Write the CustomResourceDefinitions in some folders to another: of each name the longest, which is mostly the
    newest, and none of tests if there is another.
    """
    chosen: dict[str, tuple[bool, int, str]] = {}
    for file in named_files(folders):
        text = Path(file).read_text("utf-8", "replace")
        for part in _SEPARATOR.split(text) if "CustomResourceDefinition" in text else ():
            found = _NAME_OF_DEFINITION.search(part)
            if found and _kind(part) == "CustomResourceDefinition" and not _TEMPLATE.search(part.split("schema:")[0]):
                one = _OF_TESTS.search(file) is None, len(part), part
                chosen[found[1]] = max(one, chosen.get(found[1], one))
    target.mkdir(parents=True, exist_ok=True)
    for name, (_, _, text) in sorted(chosen.items()):
        (target / f"{name}.yaml").write_text(text, "utf-8")


def install(cluster: Cluster, folder: Path) -> None:
    """Install definitions, without those that the server refuses."""
    for body in read_definitions(folder):
        try:
            cluster.install([body])
        except AssertionError as error:
            print(f"not installed: {body['metadata']['name']}: {str(error)[:200]}")


def compared(found: list[Document], verdicts: dict[str, str], kinds: Kinds) -> Iterator[Compared]:
    for document in found:
        ours, others, pods = problems_of(document, kinds)
        yield Compared(document=document, server=verdicts[document.key], problems=ours, operators=others, pods=pods)


def ask(found: list[Document], crds: Path | None, kinds: Kinds, kept: Path | None) -> dict[str, str]:
    """The verdict of the server for each document, by key."""
    verdicts: dict[str, str] = json.loads(kept.read_text("utf-8")) if kept is not None and kept.exists() else {}
    new = [document for document in found if document.key not in verdicts]
    if not new:
        return verdicts
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        sys.exit("set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver; scripts/apiserver.sh builds one")
    with tempfile.TemporaryDirectory() as folder, api_server(Path(assets), Path(folder)) as client:
        cluster = Cluster(client)
        if crds is not None:
            install(cluster, crds)
        server = Server(cluster, kinds)
        for start in range(0, len(new), _CHUNK):
            chunk = new[start : start + _CHUNK]
            verdicts.update(zip((one.key for one in chunk), server.verdicts(chunk), strict=True))
            if kept is not None:
                kept.write_text(json.dumps(verdicts), "utf-8")
    return verdicts


def report(results: list[Compared], *, listed: bool) -> None:
    not_compared = Counter(aside(one.server) for one in results if aside(one.server))
    both = [one for one in results if not aside(one.server)]
    rejected = [one for one in both if one.server and not one.of_pods]
    accepted = [one for one in both if not one.server]
    failing = [one for one in both if one.of_pods]
    missed = [one for one in rejected if not one.problems]
    wrong = [one for one in accepted if one.problems]
    silent = [one for one in failing if not one.problems and not one.pods]
    warned = [one for one in accepted if one.pods]
    if listed:
        for what, found in (("missed", missed), ("pods would fail, without a finding", silent)):
            for one in found:
                print(f"{what}: {one.document.file}: {one.server[:400]!r}")
        for what, pairs in (
            ("wrongly rejected", [(one, one.problems) for one in wrong]),
            ("wrongly warned of", [(one, one.pods) for one in warned]),
            ("only by operators", [(one, one.operators) for one in accepted if one.operators]),
        ):
            for one, problems in pairs:
                print(f"{what}: {one.document.file}: {' | '.join(problems[:3])[:400]}")
    absent = sum(_only_lacks(one.server) for one in silent)
    print(f"{len(results)} documents; not compared: {dict(not_compared.most_common())}")
    print(f"rejected by the server: {len(rejected)}; by gen, too: {_share(len(rejected) - len(missed), len(rejected))}")
    print(f"accepted by the server: {len(accepted)}; rejected by gen: {_share(len(wrong), len(accepted))}")
    print(f"accepted, with pods that would fail: {len(failing)}; found by gen: {len(failing) - len(silent)}; ", end="")
    print(f"of the others, {absent} lack a field, which an operator may add")
    print(f"accepted, with pods that would not fail, if any: {len(accepted)}; warned of by gen: {len(warned)}")


def _only_lacks(verdict: str) -> bool:
    """Whether all reasons are absent fields."""
    _, _, reasons = verdict.partition(" is invalid: ")
    return bool(reasons) and all(": Required value" in one for one in reasons.split(", template."))


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.2%})" if whole else "0"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.agreement")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--crds", type=Path)
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--own-crds", action="store_true")
    parser.add_argument("--custom", action="store_true")
    options = parser.parse_args()
    if options.own_crds:
        collect_definitions(options.folders, options.crds)
    kinds = Kinds(VERSION, Definitions((options.crds,)) if options.crds is not None else None)
    found = list(documents(options.folders))
    verdicts = ask(found, options.crds, kinds, options.verdicts)
    report(list(compared(found, verdicts, kinds)), listed=options.list)
    if options.mutations:
        changed = list(mutations(found, verdicts, kinds, options.mutations, custom=options.custom))
        print(f"\n{len(changed)} mutations of accepted objects of {'custom' if options.custom else 'built-in'} kinds")
        verdicts = ask(changed, options.crds, kinds, options.verdicts)
        report(list(compared(changed, verdicts, kinds)), listed=options.list)


if __name__ == "__main__":
    main()
