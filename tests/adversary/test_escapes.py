"""Generated jobs, states and changes of overlays: no pod starts with more than the overlay of today grants.

`ESCAPES=200000 pytest -m '' tests/adversary/test_escapes.py` generates more.
"""

from __future__ import annotations

import os
import random
import shutil
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gen.base.findings import Findings
from gen.base.repository.git import Base, Entry
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.overlay.read import OverlayReader
from gen.render.committed import CommittedRuns
from gen.render.emit import HEADER, digest_of, header
from gen.render.pipeline import render_files
from gen.render.work import Inputs
from gen.render.write.folders import Folders
from gen.review.kept_runs import compare_kept_runs
from tests.adversary.pod_security import SKIPS, escapes, runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gen.overlay.overlay import Overlay
    from gen.render.results import RenderedJob

EXAMPLES = int(os.environ.get("ESCAPES", "0"))
OVERLAYS = 300
GENEROUS = 150
"""The first overlays grant nearly everything."""
PHASES = (Phase.explicit, Phase.generate)
"""The first failure is small enough; making it smaller takes minutes."""
STATES = ("active", "suspended", "finished")
KINDS = ("pytorch", "batch", "mpi", "jobset", "volcano", "ray", "tensorflow", "train")
JOB = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS), "image": st.sampled_from(["registry.example.com/a:1", "docker.io/b:1"])},
    optional={
        "network": st.sampled_from(["host", "rdma", "none"]),
        "serviceAccount": st.sampled_from(["trainer", "trainer", "admin"]),
        "priority": st.sampled_from(["high", "high", "low"]),
        "queue": st.just("research"),
        "gpus": st.integers(0, 8),
        "workers": st.integers(1, 3),
        "data": st.dictionaries(st.sampled_from(["nas", "node", "data", "stage"]), st.just("/data"), max_size=1),
        "env": st.fixed_dictionaries(
            {
                "T": st.fixed_dictionaries(
                    {"secret": st.sampled_from(["of-store", "of-stage", "own"]), "key": st.just("k")}
                )
            }
        ),
        "inputs": st.just({"/in": {"store": "models", "path": "a"}}),
        "code": st.fixed_dictionaries(
            {"git": st.just("https://git.example.com/a.git"), "ref": st.just("main")},
            optional={"credentials": st.sampled_from(["of-store", "own"])},
        ),
        "imagePullSecrets": st.sampled_from([["of-store"], ["own"]]),
        "placement": st.sampled_from(
            [{"nodeSelector": {"pool": "a"}}, {"tolerations": [{"key": "spare", "operator": "Exists"}]}]
        ),
    },
)


def overlay_text(seed: int) -> str:
    """An overlay with some grants, defaults and patches."""
    pick = random.Random(seed)  # noqa: S311 - no secret
    odds = 0.97 if seed < GENEROUS else 0.7

    def some(values: list[str]) -> list[str]:
        return [one for one in values if pick.random() < odds]

    grant: dict[str, Any] = {
        "allow": some(["hostNetwork", "hostPath"]),
        "queues": some(["research"]),
        "priorities": some(["high"]),
        "serviceAccounts": some(["trainer"]),
        "nodeLabels": some(["pool"]),
        "taints": some(["spare"]),
    }
    for field, names in (
        ("networks", ["host", "rdma"]),
        ("volumes", ["nas", "node", "data", "stage"]),
        ("stores", ["models"]),
    ):
        if pick.random() > odds:
            grant[field] = some(names)
    if pick.random() > odds:
        grant["registries"] = ["registry.example.com"]
    defaults = {
        "network": pick.choice(["host", "rdma"]),
        "data": {pick.choice(["nas", "node"]): "/mnt"},
        "placement": pick.choice(
            [{"nodeSelector": {"zone": "b"}}, {"tolerations": [{"key": "odd", "operator": "Exists"}]}]
        ),
        "priority": "high",
        "env": {"D": {"secret": "of-defaults", "key": "k"}},
    }
    patch = pick.choice(
        [
            {"securityContext": {"runAsNonRoot": True}},
            {"hostPID": True},
            {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"},
            {"containers": [{"name": "$training", "securityContext": {"privileged": True}}]},
            {"volumes": [{"name": "logs", "hostPath": {"path": "/var/log"}}]},
            None,
            None,
        ]
    )
    data = {
        "kubernetes": "1.34",
        "namespaces": {pick.choice(["*", "team", "team"]): grant},
        "volumes": {
            "nas": {"size": "1Gi", "nfs": {"server": "a.example.com", "path": "/a"}},
            "node": {"hostPath": {"path": "/mnt/node"}},
            "data": {"claim": "data"},
            "stage": {"size": "1Gi", "csi": {"driver": "a.example.com", "stageSecret": "of-stage"}},
        },
        "networks": {"host": {"hostNetwork": True}, "rdma": {"rdma": "rdma/hca"}},
        "stores": {"models": {"bucket": "models", "secret": "of-store", "s3": {}}},
        "runtimes": {"torch-distributed": {}} if pick.random() < odds else {},
        "defaults": {name: value for name, value in defaults.items() if pick.random() < 0.25},
        "patches": [{"target": {"pods": {}}, "patch": {"spec": patch}}] if patch else [],
        "gitops": {pick.choice(list(SKIPS)): {"repoURL": "https://git.example.com/a.git"}},
    }
    return str(yaml.safe_dump(data))


class NoGit:
    """Commits of a repository without any."""

    def refs_with(self, *_: object) -> tuple[str, ...]:
        return ()


class Commit(Base, frozen=True):
    """A base whose files are given."""

    texts: dict[str, str] = {}

    def files(self, folder: str = "") -> dict[str, Entry]:
        return {path: Entry(mode="100644", digest=path) for path in self.texts}

    def blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        return {path: self.texts[path].encode() for path in digests}


class World:
    """A repository with one job, rendered by one overlay and then by another."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cache  # noqa: B019 - one world
    def overlay(self, seed: int) -> tuple[Any, Overlay]:
        folder = self.root / str(seed)
        (folder / "overlays/dev").mkdir(parents=True)
        (folder / "overlays/dev/overlay.yaml").write_text(text := overlay_text(seed))
        found = Findings()
        (overlay,) = OverlayReader(folder, found).read()
        assert not found.failed(), found.items
        return yaml.safe_load(text), overlay

    def rendered(self, seed: int, job: dict[str, Any], *, kept: bool, namespace: str = "team") -> RenderedJob | None:
        """The result of the job alone; None if it is refused."""
        file = JobFile(namespace, "demo")
        source = source_of(yaml.safe_dump(job).encode(), file.file, Findings())
        assert source is not None
        _, overlay = self.overlay(seed)
        committed = CommittedRuns(self.root, Folders(self.root), NoGit()) if kept else None  # type: ignore[arg-type]
        inputs = Inputs(root=self.root, overlays=[overlay], committed=committed, sources={file.file: source})
        (result,) = render_files(inputs, [file])
        failed = any(one.is_error for one in result.findings)
        return None if failed or not result.rendered else result.rendered[0]

    def write(self, texts: dict[str, str]) -> None:
        shutil.rmtree(self.root / "rendered", ignore_errors=True)
        for path, text in texts.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)


def texts_of(job: RenderedJob) -> dict[str, str]:
    return {file.path: file.text or "" for file in job.files}


def bodies(texts: dict[str, str]) -> list[Any]:
    return [yaml.safe_load(text) for text in texts.values()]


def started(before: dict[str, str], after: dict[str, str], old: str, new: str) -> list[Any]:
    """Objects whose pods an engine starts by the merge. The engine of the base still reads the new files."""
    ran = {_key(body) for body in bodies(before) if runs(body, old)}
    return [body for body in bodies(after) if any(runs(body, one) for one in {old, new}) and _key(body) not in ran]


def _key(body: Any) -> tuple[str, str, str]:
    return body["kind"], body["metadata"]["namespace"], body["metadata"]["name"]


def forged(texts: dict[str, str]) -> dict[str, str]:
    """The files of another state without a render: an author takes out the lines that keep the run from running."""
    result = {}
    for path, text in texts.items():
        first, _, rest = text.partition("\n")
        for mark in (
            "    suspend: true\n",
            "  suspend: true\n",
            *(f"    {key}: {value}\n" for key, value in SKIPS.values()),
        ):
            rest = rest.replace(mark, "")
        rest = rest.replace("  annotations:\n  labels:", "  labels:").replace("  annotations:\nspec:", "spec:")
        match = HEADER.match(first + "\n")
        assert match is not None
        result[path] = header(match["source"], digest_of(rest), match["record"] or "") + rest
    return result


def engine_of(overlay: Any) -> str:
    (name,) = overlay["gitops"]
    return str(name)


def check(world: World, first: int, second: int, job: dict[str, Any], states: tuple[str, str], way: str) -> str:
    """Judge a change, and return the answer of gen."""
    one = {**job, "command": "python train.py", "cpu": 1, "memory": "1Gi", "state": states[0]}
    two = {**one, "state": states[1]}
    (old, _), (new, _) = world.overlay(first), world.overlay(second)
    before = world.rendered(first, one, kept=False)
    if before is None:
        return "refused at first"
    base = texts_of(before)
    for body in started({}, base, engine_of(old), engine_of(old)):
        assert list(escapes(body, old)) == [], (body, old)
    world.write(forged(base) if way == "forged" else base)
    place = "moved" if way == "moved" else "team"
    after = world.rendered(second, two, kept=way != "restarted", namespace=place)
    if after is None:
        return "refused"
    found = Findings()
    if after.behind is not None:
        commit = Commit(root=world.root, prefix="", ref="main", commit="0" * 40, texts=base)
        compare_kept_runs([after], world.root, commit, found)
    if found.failed():
        return "refused by the base"
    for body in started(base, texts_of(after), engine_of(old), engine_of(new)):
        assert list(escapes(body, new)) == [], (body, yaml.safe_dump(new), way)
    return "kept" if after.behind is not None else "new"


CASE = {
    "first": st.integers(0, GENEROUS - 1),
    "second": st.integers(0, OVERLAYS - 1),
    "job": JOB,
    "states": st.tuples(st.sampled_from(STATES), st.sampled_from(STATES)),
    "way": st.sampled_from(["kept", "kept", "forged", "forged", "restarted", "moved"]),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@settings(max_examples=150, derandomize=True, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(**CASE)
def test_no_pod_starts_with_more_than_is_granted(world: World, **case: Any) -> None:
    check(world, **case)


@pytest.mark.slow
@settings(max_examples=EXAMPLES or 3000, suppress_health_check=list(HealthCheck), database=None, phases=PHASES)
@given(**CASE)
def test_no_pod_of_many_starts_with_more(world: World, **case: Any) -> None:
    check(world, **case)
