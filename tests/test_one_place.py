"""Paths, identities of objects and facts of kinds and engines are each written in one place."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from gen.base.engines import ENGINES
from gen.job.kinds import KINDS
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Phases
from tests.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator
from tests.source_tree import modules, strings, tree, walk

FOLDERS = {"JOBS": "jobs", "OVERLAYS": "overlays", "RENDERED": "rendered"}
PATH = re.compile(rf"(?:.*[^\w-])?(?:{'|'.join(FOLDERS.values())})/\S*|rendered|overlay\.yaml")


def written_paths(module: ast.Module) -> Iterator[str]:
    """Paths below `jobs/`, `overlays/` and `rendered/` that a module composes.

    A text with a space in it is a message, which may name such a path to people.
    """
    docstrings = {id(node.value) for node in walk(module) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in walk(module) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in walk(module):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            inner = node.left.right if isinstance(node.left, ast.BinOp) else node.left
            if isinstance(inner, ast.Name) and inner.id in FOLDERS:
                yield ast.unparse(node)
        elif isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in docstrings | parts:
            text = flattened(node)
            if " " not in text and PATH.fullmatch(text):
                yield ast.unparse(node)


def flattened(node: ast.expr) -> str:
    """The text of a constant or an f-string; a value in it is `{}`, unless it is one of the folders."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(flattened, node.values))
    if isinstance(node, ast.FormattedValue):
        return FOLDERS.get(node.value.id, "{}") if isinstance(node.value, ast.Name) else "{}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@for_each(
    "source",
    [
        "f'rendered/{overlay}/jobs/{namespace}'",
        "f'{RENDERED}/{overlay}'",
        "f'{root}/jobs/{namespace}'",
        "root / JOBS / namespace",
        "'overlays/dev/overlay.yaml'",
        "root / 'jobs/team'",
        "'/'.join(('rendered', overlay))",
        "rf'(?:.*/)?{RENDERED}/[^/]+/'",
    ],
)
def test_a_path_put_together_by_hand_is_found(source: str) -> None:
    assert list(written_paths(ast.parse(f"x = {source}")))


@for_each(
    "source",
    ["'no jobs/ in this folder'", "f'{JOBS}: {count}'", "root / JOBS", "f'{OVERLAYS}/ is a link'", "'jobs'"],
)
def test_a_message_and_a_folder_are_no_path_put_together(source: str) -> None:
    assert list(written_paths(ast.parse(f"x = {source}"))) == []


IDENTITY = re.compile(r"\{\} \{\}/\{\}.*")


def written_identities(module: ast.Module) -> Iterator[str]:
    """`Kind namespace/name` that a module puts together."""
    for node in walk(module):
        if isinstance(node, ast.JoinedStr) and IDENTITY.fullmatch(flattened(node)):
            yield ast.unparse(node)


def test_one_author_of_object_identities() -> None:
    assert list(written_identities(ast.parse("f'{kind} {namespace}/{name}'")))
    assert list(written_identities(ast.parse("f'{run.namespace}/{run.name}'"))) == []
    found = {module: list(written_identities(tree(module))) for module in modules()}
    assert {module: texts for module, texts in found.items() if texts} == {}


def test_one_author_of_paths_in_a_repository() -> None:
    found = {
        module: list(written_paths(tree(module))) for module in modules() if module != "gen.base.repository.layout"
    }
    assert {module: paths for module, paths in found.items() if paths} == {}


def test_no_kind_of_job_is_named_outside_its_own_file() -> None:
    # kinds of jobs have the names of frameworks, API groups, schedulers, launchers and programs of commands, users
    # of images, and plugins of operators; importers choose one
    for module in modules():
        if not module.startswith(
            (
                "gen.importers",
                "gen.job.launchers",
                "gen.job.kinds",
                "gen.overlay.profiles.queues",
                "gen.kubernetes.facts",
                "gen.kubernetes.rules.operators",
                "gen.render.parts.command_checks",
            )
        ):
            assert sorted(KINDS.keys() & set(strings(module))) == [], module


def test_facts_of_kubernetes_kinds_are_in_one_place() -> None:
    assert [f"{module}: {fact}" for module in modules() for fact in facts_in(tree(module), module)] == []


def test_annotations_of_engines_are_in_one_place() -> None:
    prefixes = tuple(prefix for engine in ENGINES.values() for prefix in engine.prefixes)
    for module in modules():
        if not module.startswith(("gen.overlay.profiles.engines", "gen.base.engines")):
            assert [text for text in strings(module) if text.startswith(prefixes)] == [], module


def test_a_fact_in_two_places_is_found() -> None:
    source = """
RUNS = ("PyTorchJob", "kubeflow.org/TFJob")
DEADLINE = ("spec", "runPolicy", "activeDeadlineSeconds")
def ttl(body): return at(body, "spec", "ttlSecondsAfterFinished")
def jobs(body): return body["spec"]["mpiReplicaSpecs"]
HEALTH = {"field": ("status", "state", "phase")}
"""
    assert sorted(facts_in(ast.parse(source), "gen.kubernetes.rules.example")) == [
        "PyTorchJob",
        "kubeflow.org/TFJob",
        "mpiReplicaSpecs",
        "spec.runPolicy.activeDeadlineSeconds",
        "spec.ttlSecondsAfterFinished",
        "status.state.phase",
    ]


def facts_in(node: ast.Module, module: str) -> Iterator[str]:
    """Names of kinds, of replica maps and routes of fields that only `gen.kubernetes.facts` may have."""
    if module.startswith("gen.kubernetes.facts"):
        return
    names, routes = known_names(), known_routes()
    for inner in walk(node):
        if isinstance(inner, ast.Constant) and inner.value in names:
            yield str(inner.value)
        if isinstance(inner, ast.Tuple | ast.Call):
            parts = inner.elts if isinstance(inner, ast.Tuple) else inner.args
            words = tuple(part.value if isinstance(part, ast.Constant) else None for part in parts)
            found = next((words[start:] for start in range(2) if words[start:] in routes), None)
            if found is not None:
                yield ".".join(map(str, found))


@cache
def known_names() -> frozenset[object]:
    """Names of operators' kinds that are not also words of Kubernetes, and names of replica maps."""
    own = [one for one in RESOURCES.values() if one.group.count(".") and not one.group.startswith("networking.")]
    common = {"Job", "Queue", "Workload"}
    maps = {pods.role_map for one in own for pods in one.pods if pods.roles}
    return frozenset({one.kind for one in own} - common | {str(one) for one in own} | maps)


@cache
def known_routes() -> frozenset[tuple[object, ...]]:
    found: set[tuple[object, ...] | None] = set()
    for one in RESOURCES.values():
        found |= {one.suspend, one.deadline, one.ttl, one.cleanup}
        if isinstance(one.status, Phases):
            found |= {phase.field for phase in (*one.status.succeeded, *one.status.failed)}
    return frozenset(route for route in found if route is not None)
